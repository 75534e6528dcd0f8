"""A file is opened as what it was found to be."""

import os

import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.load import load_all
from kgrag.ingestion.load.opening import open_regular
from kgrag.ingestion.load.source import Failure, discover


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
