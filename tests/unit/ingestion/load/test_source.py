"""Files that are found, opened as what they were found to be, and loaded by format."""

import hashlib
import os
import sys
from pathlib import Path

import pytest

import kgrag.ingestion.load as package
from kgrag.errors import IngestionError, PluginError, UnsupportedFormatError
from kgrag.ids import document_id
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.load import Failure, Source, discover, fingerprint, load, load_all
from kgrag.ingestion.load.formats import MEDIA_TYPES, media_type_of, plugin_reader, suffixes
from kgrag.ingestion.load.load import _reader
from kgrag.ingestion.load.source import Discovery, Skipped, open_regular
from kgrag.types import Document
from tests.fixtures.packages import put_package


def touch(folder: Path, *names: str) -> None:
    """Write files below a folder."""
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


def names(found: Discovery) -> list[str]:
    """Return the names of the files to be read."""
    return [source.path.name for source in found.sources]


def test_discover_when_a_folder_is_given(tmp_path):
    """Folders are walked to the bottom in a fixed order, files before folders."""
    touch(tmp_path, "b/2.txt", "b/1.pdf", "a.docx", "z.MD", "c/d/e.html", "r.jsonl")

    found = discover([tmp_path])

    assert names(found) == ["a.docx", "r.jsonl", "z.MD", "1.pdf", "2.txt", "e.html"]
    assert not found.skipped
    assert not found.failures


def test_discover_when_files_are_hidden_or_locks(tmp_path):
    """Hidden files and folders and Word's lock files are passed over without a word."""
    touch(tmp_path, ".a.txt", ".git/b.txt", "~$c.docx", "d.txt")

    found = discover([tmp_path])

    assert names(found) == ["d.txt"]
    assert found.skipped == ()


def test_discover_when_a_hidden_file_is_asked_for(tmp_path):
    """What is given explicitly is read."""
    touch(tmp_path, ".a.txt")

    assert names(discover([tmp_path / ".a.txt"])) == [".a.txt"]


def test_discover_when_a_folder_holds_other_files(tmp_path):
    """Files without a loader are listed apart, with the remedy where there is one."""
    touch(tmp_path, "old.caj", "table.numbers", "README")

    found = discover([tmp_path])

    assert found.sources == ()
    reasons = {s.path.name: s.reason for s in found.skipped}
    assert set(reasons) == {"old.caj", "table.numbers", "README"}
    assert "export it as PDF" in reasons["old.caj"]
    assert "without an ending" in reasons["README"]


def test_discover_when_paths_given_are_bad(tmp_path):
    """A missing or unsupported path is an entry among the failures; the rest goes on."""
    touch(tmp_path, "old.caj", "good.txt")

    found = discover([tmp_path / "none", tmp_path / "old.caj", tmp_path / "good.txt"])

    assert names(found) == ["good.txt"]
    assert [f.file for f in found.failures] == [str(tmp_path / "none"), str(tmp_path / "old.caj")]
    assert all(isinstance(f, Failure) and f.reason for f in found.failures)


def test_discover_when_a_file_is_reached_twice(tmp_path):
    """A file given beside its folder is read once."""
    touch(tmp_path, "a.txt", "b.txt")

    assert names(discover([tmp_path / "b.txt", tmp_path, tmp_path])) == ["b.txt", "a.txt"]


def test_discover_when_links_make_a_loop(tmp_path):
    """A folder that links to one above it ends there."""
    touch(tmp_path, "a/b/c.txt")
    (tmp_path / "a/b/loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a/self.txt").symlink_to(tmp_path / "a/self.txt")

    found = discover([tmp_path])

    assert names(found) == ["c.txt"]
    assert [s.path.name for s in found.skipped] == ["self.txt"]


def outside(tmp_path: Path) -> Path:
    """Return a folder with links out of it, to a file and to a folder."""
    touch(tmp_path / "other", "x.txt")
    touch(tmp_path, "secret.txt", "in/a.txt")
    (tmp_path / "in/linked").symlink_to(tmp_path / "other", target_is_directory=True)
    (tmp_path / "in/secret.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "in/gone.txt").symlink_to(tmp_path / "gone.txt")
    return tmp_path / "in"


def test_discover_when_links_lead_out(tmp_path):
    """What lies outside of the folder is not read, and every such link is named."""
    folder = outside(tmp_path)

    found = discover([folder])

    assert names(found) == ["a.txt"]
    assert found.links == (folder / "gone.txt", folder / "linked", folder / "secret.txt")
    assert not found.skipped
    assert not found.failures


def test_discover_when_links_out_are_to_be_followed(tmp_path):
    """They are read where that is asked for; one that leads nowhere is listed apart."""
    folder = outside(tmp_path)

    found = discover([folder], follow_links=True)

    assert names(found) == ["a.txt", "secret.txt", "x.txt"]
    assert found.skipped == (Skipped(folder / "gone.txt", "the link leads nowhere"),)
    assert not found.links


def test_discover_when_a_link_stays_inside(tmp_path):
    """A link to a place in the folder is followed, and nothing is read twice."""
    touch(tmp_path, "b/x.txt", "c.txt")
    (tmp_path / "a").symlink_to("b", target_is_directory=True)
    (tmp_path / "d.txt").symlink_to("c.txt")

    found = discover([tmp_path])

    assert names(found) == ["c.txt", "x.txt"]
    assert not found.links


def test_discover_when_a_path_given_is_a_link(tmp_path):
    """Who names a link means what it leads to, and what lies there is inside."""
    touch(tmp_path, "far/x.txt", "far/y.txt")
    (tmp_path / "near").symlink_to(tmp_path / "far", target_is_directory=True)
    (tmp_path / "z.txt").symlink_to(tmp_path / "far/y.txt")

    found = discover([tmp_path / "z.txt", tmp_path / "near"])

    assert [source.path for source in found.sources] == [
        tmp_path / "z.txt",
        tmp_path / "near/x.txt",
    ]
    assert not found.links


def test_discover_when_a_folder_beside_has_the_same_beginning(tmp_path):
    """`docs-private` is not inside of `docs`."""
    touch(tmp_path, "docs/a.txt", "docs-private/b.txt")
    (tmp_path / "docs/b").symlink_to(tmp_path / "docs-private", target_is_directory=True)

    assert names(discover([tmp_path / "docs"])) == ["a.txt"]


def test_discover_when_a_folder_cannot_be_listed(tmp_path, monkeypatch):
    """It is a failure, for who gave the folder thinks that all of it was read."""
    touch(tmp_path, "a.txt", "closed/b.txt", "gone/c.txt", "open/d.txt")
    errors = {"closed": PermissionError(13, "Permission denied"), "gone": FileNotFoundError(2, "x")}
    listed = os.scandir

    def scandir(folder: Path):
        if folder.name in errors:
            raise errors[folder.name]
        return listed(folder)

    monkeypatch.setattr(os, "scandir", scandir)

    found = discover([tmp_path])

    assert names(found) == ["a.txt", "d.txt"]
    assert found.failures == (
        Failure(str(tmp_path / "closed"), "cannot be listed: Permission denied"),
        Failure(str(tmp_path / "gone"), "cannot be listed: x"),
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_discover_when_a_pipe_is_given(tmp_path):
    """A pipe is not opened when it is named, either."""
    os.mkfifo(tmp_path / "pipe.txt")

    found = discover([tmp_path / "pipe.txt"])

    assert found.failures == (Failure(str(tmp_path / "pipe.txt"), "not a regular file"),)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_discover_when_a_file_is_a_pipe(tmp_path):
    """A pipe is never opened: reading it would wait for ever."""
    os.mkfifo(tmp_path / "pipe.txt")

    found = discover([tmp_path])

    assert found.sources == ()
    assert found.skipped[0].reason == "not a regular file"


def test_the_ending_decides_the_type_in_either_case():
    assert Source(Path("a.DOCX")).media_type == "docx"
    assert Source(Path("a.caj")).media_type is None


def test_sidecar_files_are_no_documents(tmp_path):
    """Neither to be read nor left out; whoever names one is told to name its folder."""
    touch(tmp_path, "a.txt", "metadata.csv", "b/metadata.jsonl", "b/metadata.txt", "c.tsc")

    found = discover([tmp_path, tmp_path / "metadata.csv"])

    assert names(found) == ["a.txt", "metadata.txt"]
    assert [s.path.name for s in found.skipped] == ["c.tsc"]
    assert [(s.path.name, s.within) for s in found.sidecars] == [
        ("metadata.csv", tmp_path.resolve()),
        ("metadata.jsonl", tmp_path.resolve()),
    ]
    assert [f.file for f in found.failures] == [str(tmp_path / "metadata.csv")]
    assert "take in its folder" in found.failures[0].reason


def test_open_regular_when_a_file_is_one(tmp_path):
    """A regular file below the folder is read."""
    (tmp_path / "a.txt").write_text("x")

    with open_regular(tmp_path / "a.txt", within=tmp_path.resolve()) as file:
        assert file.read() == b"x"


def test_load_when_a_file_has_become_a_link_out(tmp_path):
    """A link that is put in a file's place after it was found is not read."""
    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").write_text("the secret")
    (tmp_path / "in/a.txt").write_text("x")
    (found,) = discover([tmp_path / "in"]).sources
    (tmp_path / "in/a.txt").unlink()
    (tmp_path / "in/a.txt").symlink_to(tmp_path / "secret.txt")

    (outcome,) = load_all(found)

    assert isinstance(outcome, Failure)
    assert "is a link out of the folder by now" in outcome.reason


def test_load_when_a_folder_has_become_a_link_out(tmp_path):
    """Nor is a file through a folder that was swapped, for lines of records, too."""
    (tmp_path / "in/sub").mkdir(parents=True)
    (tmp_path / "far").mkdir()
    for folder in ("in/sub", "far"):
        (tmp_path / folder / "r.jsonl").write_text('{"id": "1", "text": "x"}')
    (found,) = discover([tmp_path / "in"]).sources
    (tmp_path / "in/sub").rename(tmp_path / "was")
    (tmp_path / "in/sub").symlink_to(tmp_path / "far", target_is_directory=True)

    (outcome,) = load_all(found)

    assert isinstance(outcome, Failure)
    assert "is a link out of the folder by now" in outcome.reason


def test_open_regular_without_proc(tmp_path, monkeypatch):
    """Where the system does not say where an open file lies, its path is looked at again."""

    def unknown(path: str) -> str:
        raise FileNotFoundError(path)

    (tmp_path / "in").mkdir()
    (tmp_path / "secret.txt").write_text("the secret")
    (tmp_path / "in/a.txt").write_text("x")
    (tmp_path / "in/b.txt").symlink_to(tmp_path / "secret.txt")
    within = (tmp_path / "in").resolve()
    real = os.readlink
    monkeypatch.setattr(
        os, "readlink", lambda path: unknown(path) if str(path).startswith("/proc") else real(path)
    )

    open_regular(tmp_path / "in/a.txt", within=within).close()
    with pytest.raises(IngestionError, match="link out"):
        open_regular(tmp_path / "in/b.txt", within=within)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_open_regular_when_a_file_has_become_a_pipe(tmp_path):
    """A pipe is not waited for."""
    os.mkfifo(tmp_path / "a.txt")

    with pytest.raises(IngestionError, match="not a regular file"):
        open_regular(tmp_path / "a.txt")


@pytest.fixture
def read_by(tmp_path, monkeypatch):
    """Return a function that installs a loader for `.org` and gives a file that it reads."""

    def install(code, text="甲"):
        source = f"from kgrag.extending import *\ndef read(data, *, name, stem):\n    {code}\n"
        loaders = {"kgrag.loaders": {"org": "plug_org:read"}}
        put_package(tmp_path / "site", "kgrag-org", {"plug_org.py": source}, loaders)
        monkeypatch.syspath_prepend(tmp_path / "site")
        (tmp_path / "a.org").write_text(text, "utf-8")
        return Source(tmp_path / "a.org")

    yield install
    sys.modules.pop("plug_org", None)


def test_a_file_is_read_by_the_loader_of_its_suffix(read_by):
    source = read_by("return Parsed(decode(data, name=name).text + '\\0', '')")
    document = load(source)
    assert (document.text, document.title, document.media_type) == ("甲\ufffd", "a", "org")
    assert len(document.warnings) == 1
    assert "a.org" in [s.path.name for s in discover([source.path.parent]).sources]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise IngestionError('is locked; unlock it')", "is locked; unlock it"),
        ("raise IngestionError(f'{name}: is locked')", "is locked"),
        (
            "raise KeyError('x')",
            r"the plugin 'org' of kgrag-org 1\.0 .*could not read it: KeyError",
        ),
        ("return Parsed(data, stem)", "gave a text, title, warning or property that is no str"),
        ("return Parsed('甲', stem, properties={'n': 5})", "property that is no str"),
        ("return Parsed('甲', '', (Segment(0, 2, 'page', 1),))", "a segment out of order"),
        ("return Parsed('甲', '', (Segment(0, 1, 'line', 1),) * 2)", "a segment out of order"),
        ("return Parsed(' ', stem)", "has no text; check that it opens"),
    ],
)
def test_what_goes_wrong_with_a_file_is_a_failure_of_that_file(read_by, code, told):
    source = read_by(code)
    (failure,) = load_all(source)
    assert isinstance(failure, Failure)
    assert failure.file == source.name
    with pytest.raises(IngestionError, match=rf"a\.org: .*{told}"):
        load(source)
    assert source.name not in failure.reason


def test_what_is_no_parsed_text_is_an_error_of_the_plugin(read_by):
    with pytest.raises(PluginError, match="gave str where Parsed is wanted"):
        load(read_by("return '甲'"))


def test_a_fingerprint_tells_versions_of_a_loader_apart(read_by):
    read_by("return Parsed('甲', '')")
    plain = Fingerprint.of("ab", "txt", settings="s")
    assert Fingerprint.of("ab", "pdf", settings="s") == plain
    assert Fingerprint.of("ab", "org", settings="s") != plain


def test_own_formats_need_no_plugin(read_by):
    assert ".org" not in suffixes()
    assert media_type_of(".org") is None
    read_by("return Parsed('甲', '')")
    assert suffixes() == sorted([*MEDIA_TYPES, ".org"])
    assert (media_type_of(".org"), media_type_of(".htm"), media_type_of("")) == (
        "org",
        "html",
        None,
    )
    assert plugin_reader("pdf") is None
    assert Source(Path("A.ORG")).media_type == "org"


@pytest.mark.parametrize("media_type", sorted({*MEDIA_TYPES.values()} - {"jsonl"}))
def test_each_own_format_has_a_reader(media_type):
    assert callable(_reader(media_type))


def test_each_own_format_is_described():
    page = (Path(__file__).parents[4] / "docs" / "documents.md").read_text("utf-8")
    table = page.partition("## Formats")[2].partition("\n\n## ")[0]
    assert not [suffix for suffix in MEDIA_TYPES if f"`{suffix}`" not in table]


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


def test_load_gives_no_single_record(tmp_path):
    """A .jsonl holds several documents."""
    write(tmp_path / "c.jsonl", '{"id": 7, "title": "t", "text": "x"}\n')
    with pytest.raises(IngestionError, match="many documents"):
        load(Source(tmp_path / "c.jsonl"))


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
