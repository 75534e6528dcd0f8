import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from kgrag.store.sqlite import log_check
from kgrag.store.sqlite.log_check import _FRAME_BYTES, _HEADER_BYTES, lost_in_log
from kgrag.store.sqlite.store import SQLiteStore


@pytest.fixture
def crashed(tmp_path, put):
    """A folder as a crash leaves it: four documents, all but the first in the log alone."""
    with closing(SQLiteStore.open(tmp_path / "alive")) as store:
        put(store, 0)
        with closing(sqlite3.connect(tmp_path / "alive" / "kgrag.db")) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for i in range(1, 4):
            put(store, i)
        shutil.copytree(tmp_path / "alive", tmp_path / "kb")
    return tmp_path / "kb"


def flip(folder, at):
    """Flip a bit of the log; a negative place is counted from its end."""
    log = folder / "kgrag.db-wal"
    data = bytearray(log.read_bytes())
    data[at] ^= 4
    log.write_bytes(data)


def held(folder):
    """Return how many documents are there."""
    with closing(SQLiteStore.open(folder)) as store:
        return len(store.document_cards())


def test_a_whole_log_loses_nothing(crashed, caplog):
    """Our sums are SQLite's: by others, every frame would be damaged."""
    assert lost_in_log(crashed / "kgrag.db") == ""
    assert held(crashed) == 4
    assert not caplog.records
    assert lost_in_log(crashed / "kgrag.db") == ""  # nor one that is not there


@pytest.mark.parametrize(
    ("at", "byte"),
    [
        (9, 0),  # the header's version
        (17, 0),  # its salts: then none of the frames is of this log
        (_HEADER_BYTES + 2, _HEADER_BYTES),  # a frame's page
        (_HEADER_BYTES + 9, _HEADER_BYTES),  # its salts
        (_HEADER_BYTES + 20, _HEADER_BYTES),  # its sums
        (_HEADER_BYTES + _FRAME_BYTES + 4000, _HEADER_BYTES + _FRAME_BYTES),
    ],
)
def test_commits_behind_a_flipped_bit_are_told(crashed, caplog, at, byte):
    """SQLite would drop them, and all that is left would be in order."""
    flip(crashed, at)
    with closing(SQLiteStore.open(crashed)) as store:
        assert len(store.document_cards()) == 1
        (problem,) = store.verify()
    (record,) = caplog.records
    said = record.getMessage()
    assert record.levelname == "WARNING"
    assert f"kgrag.db-wal is damaged at byte {byte}: what was stored behind that is lost" in said
    assert "kgrag ingest" in said
    assert (problem.invariant, problem.subject, problem.detail) == ("lost", "kgrag.db-wal", said)
    with closing(SQLiteStore.open(crashed)) as store:
        assert store.verify() == []


def test_a_torn_end_is_silent(crashed, caplog):
    """A crash leaves it: what is cut off was not told to be stored, or is the disk's to keep."""
    log = crashed / "kgrag.db-wal"
    whole = log.read_bytes()
    for n_bytes in (0, 20, _HEADER_BYTES, _HEADER_BYTES + 30, len(whole) // 2, len(whole) - 1):
        log.write_bytes(whole[:n_bytes])
        assert lost_in_log(crashed / "kgrag.db") == "", n_bytes
    log.write_bytes(whole)
    flip(crashed, -5)  # of the last commit: no other follows
    log.write_bytes(log.read_bytes()[:-_FRAME_BYTES])
    assert lost_in_log(crashed / "kgrag.db") == ""


def test_what_was_rolled_back_is_silent(tmp_path):
    """A transaction too large for the memory leaves frames that no commit ends."""
    alive = tmp_path / "alive"
    SQLiteStore.open(alive).close()
    with closing(sqlite3.connect(alive / "kgrag.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA cache_size = 2")
        connection.execute("BEGIN")
        for i in range(60):
            connection.execute("INSERT INTO meta VALUES (?, ?)", (f"big {i}", "x" * 9000))
        connection.execute("ROLLBACK")
        connection.execute("INSERT INTO meta VALUES ('small', 'x')")
        assert (alive / "kgrag.db-wal").stat().st_size > 40 * _FRAME_BYTES
        shutil.copytree(alive, tmp_path / "kb")
    assert lost_in_log(tmp_path / "kb" / "kgrag.db") == ""
    flip(tmp_path / "kb", _HEADER_BYTES + 50)
    assert lost_in_log(tmp_path / "kb" / "kgrag.db")


def test_an_earlier_round_of_the_log_is_silent(tmp_path, put):
    """Its frames lie behind the new ones until they are written over."""
    alive = tmp_path / "alive"
    with closing(SQLiteStore.open(alive)) as store:
        for i in range(4):
            put(store, i)
        with closing(sqlite3.connect(alive / "kgrag.db")) as other:
            other.execute("PRAGMA wal_checkpoint(RESTART)")
        store.set_meta({"a": "b"})
        shutil.copytree(alive, tmp_path / "kb")
    assert (tmp_path / "kb" / "kgrag.db-wal").stat().st_size > 8 * _FRAME_BYTES
    assert lost_in_log(tmp_path / "kb" / "kgrag.db") == ""


@pytest.mark.skipif(not os.access(log_check._LOCKS, os.R_OK), reason="needs /proc/locks")
def test_the_log_of_an_open_knowledge_base_is_left_alone(crashed):
    """Who has it open reads what it knows of, and may be writing it just now."""
    with closing(SQLiteStore.open(crashed)) as store:
        store.set_meta({"a": "b"})
        store.set_meta({"a": "c"})
        flip(crashed, _HEADER_BYTES + 50)
        assert lost_in_log(crashed / "kgrag.db") == ""
        shutil.copytree(crashed, crashed / "copy")
    assert lost_in_log(crashed / "copy" / "kgrag.db")


def test_a_log_that_is_emptied_meanwhile_is_silent(crashed, monkeypatch):
    """A process that closes the knowledge base between two looks at the log empties it."""
    file = crashed / "kgrag.db"

    def emptied(file):
        os.truncate(file.with_name(file.name + "-wal"), 0)
        return False

    monkeypatch.setattr(log_check, "_in_use", emptied)

    assert lost_in_log(file) == ""
