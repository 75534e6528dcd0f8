"""Records of a .jsonl: each a document or a failure that names its line."""

import json
from pathlib import Path

import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.jsonl import read_records
from kgrag.ingestion.load.source import Failure, Source
from kgrag.types import Document


def records(
    tmp_path: Path, *lines: str | bytes, max_bytes: int = 10_000
) -> list[Document | Failure]:
    """Write lines to a file and return what is read of them."""
    path = tmp_path / "c.jsonl"
    path.write_bytes(b"\n".join(x if isinstance(x, bytes) else x.encode() for x in lines))
    return list(read_records(Source(path), max_bytes=max_bytes))


def test_read_records_when_a_record_is_whole(tmp_path):
    """The id is verbatim, the file is path#id, other plain fields become metadata."""
    line = json.dumps(
        {"id": "a/1 ", "title": " 节能 办法 ", "text": "甲\n乙", "year": 2024, "tags": ["x"]}
    )

    (document,) = records(tmp_path, line)

    assert isinstance(document, Document)
    assert document.doc_id == "a/1 "
    assert document.title == "节能 办法"
    assert document.text == "甲\n乙"
    assert document.file == f"{tmp_path / 'c.jsonl'}#a/1 "
    assert document.media_type == "jsonl"
    assert document.properties == {"year": "2024"}
    assert [s.number for s in document.segments] == [1, 2]


def test_read_records_when_the_id_is_an_integer(tmp_path):
    """An integer id is its digits; zero is an id, too."""
    found = records(tmp_path, '{"id": 0, "title": "t", "text": "x"}')

    assert isinstance(found[0], Document)
    assert found[0].doc_id == "0"


def test_read_records_hash_covers_title_and_text(tmp_path):
    """The content hash changes with title or text, and with nothing else."""
    lines = [
        '{"id": "a", "title": "t", "text": "x"}',
        '{"id": "b", "title": "t", "text": "x", "year": 1}',
        '{"id": "c", "title": "tx", "text": ""}',
        '{"id": "d", "title": "t", "text": "y"}',
        '{"id": "e", "title": "u", "text": "x"}',
    ]

    hashes = [d.content_hash for d in records(tmp_path, *lines) if isinstance(d, Document)]

    assert len(hashes) == 4
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3
    assert len(hashes[0]) == 64


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("{oops", "not JSON"),
        ("[1, 2]", "object"),
        ('{"title": "t", "text": "x"}', "id"),
        ('{"id": true, "text": "x"}', "id"),
        ('{"id": " ", "text": "x"}', "id"),
        ('{"id": "a", "text": " \\n"}', "text"),
        ('{"id": "a", "text": 3}', "text"),
        ('{"id": "a", "title": 3, "text": "x"}', "title"),
        (b'{"id": "b", "text": "caf\xe9"}', "UTF-8"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_read_records_when_a_line_is_bad(tmp_path, line, word):
    """A bad line is a failure naming file and line; the lines around it are read."""
    good = '{"id": "%s", "title": "t", "text": "x"}'

    found = records(tmp_path, good % "a1", line, good % "a2", max_bytes=1_000_000)

    assert isinstance(found[0], Document)
    assert isinstance(found[2], Document)
    assert isinstance(found[1], Failure)
    assert found[1].file == f"{tmp_path / 'c.jsonl'}:2"
    assert word in found[1].reason


def test_read_records_when_an_id_comes_again(tmp_path):
    """The second record of an id is refused: it would replace the first unseen."""
    line = '{"id": %s, "title": "t", "text": "x"}'

    found = records(tmp_path, line % '"1"', "", line % "1")

    assert isinstance(found[1], Failure)
    assert found[1].file.endswith(":3")
    assert "line 1" in found[1].reason


def test_read_records_when_a_line_is_too_long(tmp_path):
    """A line over the limit is a failure, and the next is read from its beginning."""
    long = json.dumps({"id": "a", "title": "t", "text": "x" * 500})
    short = '{"id": "b", "title": "t", "text": "x"}'

    found = records(tmp_path, long, short, max_bytes=100)

    assert isinstance(found[0], Failure)
    assert isinstance(found[1], Document)
    assert found[1].doc_id == "b"


def test_read_records_when_a_line_is_exactly_the_limit(tmp_path):
    """The limit itself is allowed, and the line after it is not swallowed."""
    short = '{"id": "b", "title": "t", "text": "x"}'

    found = records(tmp_path, short, short.replace('"b"', '"c"'), max_bytes=len(short) + 1)

    assert [type(item) for item in found] == [Document, Document]


def test_read_records_when_a_mark_or_surrogates_stand_in_it(tmp_path):
    """A byte order mark is passed over; lone surrogates are replaced with a warning."""
    found = records(tmp_path, b"\xef\xbb\xbf" + b'{"id": "a", "title": "", "text": "x\\ud800y"}')

    assert isinstance(found[0], Document)
    assert found[0].text == "x\ufffdy"
    assert len(found[0].warnings) == 1


def test_read_records_when_the_title_is_missing(tmp_path):
    """Without a title the text's first lines give it, and at last the id."""
    found = records(
        tmp_path,
        '{"id": "a", "text": "关于节能的通知\\n各市："}',
        json.dumps({"id": "b", "title": None, "text": "为了节能。" * 30}),
    )

    assert [d.title for d in found if isinstance(d, Document)] == ["关于节能的通知", "b"]


@pytest.mark.parametrize("lines", [(), ("", "  ")])
def test_read_records_when_nothing_is_in_it(tmp_path, lines):
    """A file without a record is an error with the shape that is wanted."""
    with pytest.raises(IngestionError, match="holds no record"):
        records(tmp_path, *lines)


def test_read_records_when_the_file_is_gone(tmp_path):
    """A file that cannot be opened is an ingestion error."""
    with pytest.raises(IngestionError, match="cannot be read"):
        list(read_records(Source(tmp_path / "none.jsonl"), max_bytes=10))
