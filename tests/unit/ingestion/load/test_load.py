"""A file in, a document out, with identity."""

import hashlib
from pathlib import Path

import pytest

import kgrag.ingestion.load as package
from kgrag.errors import IngestionError, UnsupportedFormatError
from kgrag.ids import document_id
from kgrag.ingestion.load import Failure, Source, discover, fingerprint, load, load_all
from kgrag.types import Document


def write(path: Path, text: str) -> Source:
    """Write a file and return it as a source."""
    path.write_bytes(text.encode())
    return Source(path)


def test_load_gives_identity_by_name_and_bytes(tmp_path):
    """The id depends on the file's name and bytes, not on its folder."""
    (tmp_path / "x").mkdir()
    first = load(write(tmp_path / "a.txt", "关于节能的通知\n"))
    moved = load(write(tmp_path / "x" / "a.txt", "关于节能的通知\n"))
    changed = load(write(tmp_path / "a.txt", "关于节能的通知\n\n"))

    digest = hashlib.sha256("关于节能的通知\n".encode()).hexdigest()
    assert first.doc_id == moved.doc_id == document_id("a.txt", digest)
    assert first.content_hash == digest
    assert changed.doc_id != first.doc_id
    assert first.file == str(tmp_path / "a.txt")
    assert first.media_type == "txt"


def test_fingerprint_agrees_with_load(tmp_path):
    """The id can be had without parsing, also of a file that does not parse."""
    source = write(tmp_path / "a.md", "# 条例\n")
    document = load(source)

    assert fingerprint(source) == (document.doc_id, document.content_hash)
    assert fingerprint(write(tmp_path / "bad.pdf", "no pdf"))[0].startswith("d-")


@pytest.mark.parametrize("text", ["", " \n\t\r\n", "\ufeff"])
@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html"])
def test_load_when_there_is_no_text(tmp_path, name, text):
    """An empty or blank file is an error that names it."""
    with pytest.raises(IngestionError, match=name):
        load(write(tmp_path / name, text))


def test_load_when_the_format_is_unknown(tmp_path):
    """A format that no loader reads is refused with the way out."""
    with pytest.raises(UnsupportedFormatError, match="export it as PDF"):
        load(write(tmp_path / "a.caj", "x"))


def test_load_when_the_file_is_too_large(tmp_path):
    """A file over the limit is refused before it is read."""
    source = write(tmp_path / "a.txt", "x" * 100)

    with pytest.raises(IngestionError, match="100 bytes, more than 99"):
        load(source, max_bytes=99)
    assert load(source, max_bytes=100).text == "x" * 100


def test_load_when_the_file_is_gone(tmp_path):
    """A file that vanished after discovery is an ingestion error."""
    with pytest.raises(IngestionError, match="cannot be read"):
        load(Source(tmp_path / "a.txt"))


@pytest.mark.parametrize("name", ["a.docx", "a.pdf"])
def test_load_when_a_file_is_no_such_file(tmp_path, name):
    """Plain text under a Word or PDF ending is an error with a remedy."""
    with pytest.raises(IngestionError, match="save it again"):
        load(write(tmp_path / name, "just text"))


def test_load_when_a_record_is_named(tmp_path):
    """One record of a .jsonl can be had by its id, and only by an id that is there."""
    path = tmp_path / "c.jsonl"
    write(path, '{"id": 7, "title": "t", "text": "x"}\n{"id": 8, "title": "u", "text": "y"}\n')

    assert load(Source(path, "8")).text == "y"
    with pytest.raises(IngestionError, match="no such record"):
        load(Source(path, "9"))
    with pytest.raises(IngestionError, match="many documents"):
        load(Source(path))


def test_load_all_when_files_fail(tmp_path):
    """A bad file is yielded as a failure and stops nothing; its reason does not say it twice."""
    write(tmp_path / "1.pdf", "no pdf")
    write(tmp_path / "2.txt", "")
    write(tmp_path / "3.txt", "关于节能的通知")
    write(tmp_path / "4.jsonl", '{"id": 1, "title": "t", "text": "x"}\n{}\n')

    found = [item for source in discover([tmp_path]).sources for item in load_all(source)]

    kinds = [type(item) for item in found]
    assert kinds == [Failure, Failure, Document, Document, Failure]
    assert isinstance(found[0], Failure)
    assert found[0].file == str(tmp_path / "1.pdf")
    assert str(tmp_path) not in found[0].reason


def test_what_is_stated_wins_over_what_is_read(tmp_path):
    """Title and properties, not identity; a record has fields of its own."""
    (tmp_path / "a.txt").write_text("云岭省节能规划\n为推进节能。", "utf-8")
    (tmp_path / "r.jsonl").write_text('{"id": "r1", "title": "甲", "text": "乙。"}', "utf-8")
    stated = {"stated.title": "丙", "stated.level": "省"}
    read, told = (load(Source(tmp_path / "a.txt"), stated=some) for some in ({}, stated))

    assert (read.title, told.title) == ("云岭省节能规划", "丙")
    assert dict(told.properties) == {**read.properties, **stated}
    assert (told.doc_id, told.content_hash) == (read.doc_id, read.content_hash)
    (record,) = load_all(Source(tmp_path / "r.jsonl"), stated=stated)
    assert isinstance(record, Document)
    assert (record.title, dict(record.properties)) == ("甲", {})


def test_package_names_are_sorted_and_there():
    """`__all__` is sorted and every name in it exists."""
    assert package.__all__ == sorted(package.__all__)
    assert all(hasattr(package, name) for name in package.__all__)
