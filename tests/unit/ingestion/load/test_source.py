"""Which files are read: every path accounted for."""

import os
from pathlib import Path

import pytest

from ingestion.load.source import Discovery, Failure, Skipped, Source, discover


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
    touch(tmp_path, "old.doc", "table.xlsx", "README")

    found = discover([tmp_path])

    assert found.sources == ()
    reasons = {s.path.name: s.reason for s in found.skipped}
    assert set(reasons) == {"old.doc", "table.xlsx", "README"}
    assert "save it as .docx" in reasons["old.doc"]
    assert "without an ending" in reasons["README"]


def test_discover_when_paths_given_are_bad(tmp_path):
    """A missing or unsupported path is an entry among the failures; the rest goes on."""
    touch(tmp_path, "old.doc", "good.txt")

    found = discover([tmp_path / "none", tmp_path / "old.doc", tmp_path / "good.txt"])

    assert names(found) == ["good.txt"]
    assert [f.file for f in found.failures] == [str(tmp_path / "none"), str(tmp_path / "old.doc")]
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


def test_discover_when_a_link_leads_elsewhere(tmp_path):
    """Links are followed; one that leads nowhere is listed apart."""
    touch(tmp_path / "other", "x.txt")
    (tmp_path / "in").mkdir()
    (tmp_path / "in/linked").symlink_to(tmp_path / "other", target_is_directory=True)
    (tmp_path / "in/broken.txt").symlink_to(tmp_path / "gone.txt")

    found = discover([tmp_path / "in"])

    assert names(found) == ["x.txt"]
    assert found.skipped == (Skipped(tmp_path / "in/broken.txt", "the link leads nowhere"),)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_discover_when_a_file_is_a_pipe(tmp_path):
    """A pipe is never opened: reading it would wait for ever."""
    os.mkfifo(tmp_path / "pipe.txt")

    found = discover([tmp_path])

    assert found.sources == ()
    assert found.skipped[0].reason == "not a regular file"


def test_source_names_its_record():
    """A record is shown as path#id, and the ending decides the type in either case."""
    assert Source(Path("c.jsonl"), "7").name == "c.jsonl#7"
    assert Source(Path("a.DOCX")).media_type == "docx"
    assert Source(Path("a.doc")).media_type is None
