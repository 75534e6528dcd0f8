"""What models were asked is closed to other users."""

import os
from contextlib import closing

import numpy as np
import pytest

from kgrag.embedding.vector_cache import VectorCache
from kgrag.files.cache_folder import make_private
from kgrag.llm.chat import Completion, Usage
from kgrag.llm.ledger import Calls

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such rights")
ANSWER = Completion("a", "m", "stop", Usage(1, 1))


@pytest.fixture(autouse=True)
def open_umask():
    """Let every file be made readable by all, unless it is closed on purpose."""
    before = os.umask(0)
    yield
    os.umask(before)


def rights(folder):
    """Return the rights of all files in a folder by name, octal."""
    return {path.name: oct(path.stat().st_mode & 0o777) for path in folder.iterdir()}


def test_calls_are_closed_to_others(tmp_path):
    """The database, its log and its shared memory; and a folder that was made for them."""
    with closing(Calls.open(tmp_path / "new/calls.db")) as calls:
        calls.keep("k", ANSWER)

        assert rights(tmp_path / "new") == dict.fromkeys(
            ("calls.db", "calls.db-wal", "calls.db-shm"), "0o600"
        )
    assert rights(tmp_path)["new"] == "0o700"


def test_calls_of_an_earlier_version_are_closed_when_opened(tmp_path):
    """So are a log and a shared memory that a killed process left."""
    Calls.open(tmp_path / "calls.db").close()
    with closing(Calls.open(tmp_path / "calls.db")) as calls:
        calls.keep("k", ANSWER)
        for path in tmp_path.iterdir():
            path.chmod(0o644)
        assert rights(tmp_path)["calls.db-wal"] == "0o644"
        with closing(Calls.open(tmp_path / "calls.db")) as other:
            assert other.has_answer("k")
        assert set(rights(tmp_path).values()) == {"0o600"}


def test_vectors_that_are_kept_are_closed_to_others(tmp_path):
    """They are made of texts."""
    kept = VectorCache(tmp_path / "vectors.db")
    kept.keep({"k": np.array([1.0, 0.0], np.float32)})

    assert rights(tmp_path) == {"vectors.db": "0o600"}
    (tmp_path / "vectors.db").chmod(0o644)
    kept.keep({"k2": np.array([1.0, 0.0], np.float32)})
    assert rights(tmp_path) == {"vectors.db": "0o600"}


def test_make_private_leaves_folders_and_contents(tmp_path):
    """A folder of the name keeps its rights, a file its bytes."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.db").write_bytes(b"x")

    make_private(tmp_path / "folder")
    make_private(tmp_path / "a.db")

    assert rights(tmp_path) == {"folder": "0o777", "a.db": "0o600"}
    assert (tmp_path / "a.db").read_bytes() == b"x"
