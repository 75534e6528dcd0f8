"""Which files are read: every path accounted for."""

import os
from pathlib import Path

import pytest

from kgrag.ingestion.load.source import Discovery, Failure, Skipped, Source, discover


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
    touch(tmp_path, "old.caj", "table.xlsx", "README")

    found = discover([tmp_path])

    assert found.sources == ()
    reasons = {s.path.name: s.reason for s in found.skipped}
    assert set(reasons) == {"old.caj", "table.xlsx", "README"}
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


def test_source_names_its_record():
    """A record is shown as path#id, and the ending decides the type in either case."""
    assert Source(Path("c.jsonl"), "7").name == "c.jsonl#7"
    assert Source(Path("a.DOCX")).media_type == "docx"
    assert Source(Path("a.caj")).media_type is None


def test_sidecar_files_are_no_documents(tmp_path):
    """Neither to be read nor left out; whoever names one is told to name its folder."""
    touch(tmp_path, "a.txt", "metadata.csv", "b/metadata.jsonl", "b/metadata.txt", "c.csv")

    found = discover([tmp_path, tmp_path / "metadata.csv"])

    assert names(found) == ["a.txt", "metadata.txt"]
    assert [s.path.name for s in found.skipped] == ["c.csv"]
    assert [(s.path.name, s.within) for s in found.sidecars] == [
        ("metadata.csv", tmp_path.resolve()),
        ("metadata.jsonl", tmp_path.resolve()),
    ]
    assert [f.file for f in found.failures] == [str(tmp_path / "metadata.csv")]
    assert "take in its folder" in found.failures[0].reason
