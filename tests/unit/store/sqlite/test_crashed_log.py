import os
import shutil
import sqlite3
from contextlib import closing

import pytest

from kgrag.store.sqlite import opening
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.opening import _FRAME_BYTES, _LOG_HEADER_BYTES, CrashedLog
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


def lost(folder):
    """Return what is said to be lost when a copy of a folder is opened."""
    shutil.copytree(folder, folder / "opened")
    try:
        with closing(Database.open(folder / "opened")) as database:
            return database.seen.lost
    finally:
        shutil.rmtree(folder / "opened")


def test_a_whole_log_loses_nothing(crashed, caplog):
    """SQLite reads all of it."""
    assert held(crashed) == 4
    assert not caplog.records
    assert lost(crashed) == ""  # nor one that is not there


@pytest.mark.parametrize(
    "at",
    [
        9,  # the header's version
        17,  # its salts
        _LOG_HEADER_BYTES + 2,  # a frame's page
        _LOG_HEADER_BYTES + 9,  # its salts
        _LOG_HEADER_BYTES + 20,  # its sums
        _LOG_HEADER_BYTES + _FRAME_BYTES + 4000,
    ],
)
def test_commits_behind_a_flipped_bit_are_told(crashed, caplog, at):
    """SQLite would drop them, and all that is left would be in order."""
    flip(crashed, at)
    with closing(SQLiteStore.open(crashed)) as store:
        assert len(store.document_cards()) == 1
        (problem,) = store.verify()
    (record,) = caplog.records
    said = record.getMessage()
    assert record.levelname == "WARNING"
    assert "kgrag.db-wal is damaged behind byte 0: what was stored behind that is lost" in said
    assert "kgrag ingest" in said
    assert (problem.invariant, problem.subject, problem.detail) == ("lost", "kgrag.db-wal", said)
    with closing(SQLiteStore.open(crashed)) as store:
        assert store.verify() == []


def test_a_torn_end_is_silent(crashed, caplog):
    """A crash leaves it: what is cut off was not told to be stored, or is the disk's to keep."""
    log = crashed / "kgrag.db-wal"
    whole = log.read_bytes()
    for n_bytes in (
        0,
        20,
        _LOG_HEADER_BYTES,
        _LOG_HEADER_BYTES + 30,
        len(whole) // 2,
        len(whole) - 1,
    ):
        log.write_bytes(whole[:n_bytes])
        assert lost(crashed) == "", n_bytes
    log.write_bytes(whole)
    flip(crashed, -5)  # of the last commit: no other follows
    log.write_bytes(log.read_bytes()[:-_FRAME_BYTES])
    assert lost(crashed) == ""


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
    assert lost(tmp_path / "kb") == ""
    flip(tmp_path / "kb", _LOG_HEADER_BYTES + 50)
    assert lost(tmp_path / "kb")


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
    assert lost(tmp_path / "kb") == ""


@pytest.mark.skipif(not os.access(opening._LOCKS, os.R_OK), reason="needs /proc/locks")
def test_the_log_of_an_open_knowledge_base_is_left_alone(crashed):
    """Who has it open reads what it knows of, and may be writing it just now."""
    with closing(SQLiteStore.open(crashed)) as store:
        store.set_meta({"a": "b"})
        store.set_meta({"a": "c"})
        flip(crashed, _LOG_HEADER_BYTES + 50)
        assert CrashedLog.of(crashed / "kgrag.db") == CrashedLog(crashed / "kgrag.db-wal")
        assert lost(crashed)  # a copy, which nobody has open


def test_a_log_that_is_emptied_meanwhile_is_silent(crashed, monkeypatch):
    """A process that closes the knowledge base between two looks at the log empties it."""

    def emptied(file):
        os.truncate(file.with_name(file.name + "-wal"), 0)
        return False

    monkeypatch.setattr(opening, "_in_use", emptied)

    assert lost(crashed) == ""


def test_a_log_that_is_begun_anew_meanwhile_is_silent(crashed, monkeypatch):
    """What a process that came meanwhile has copied into the database is not lost."""
    found = CrashedLog.of

    def overtaken(file):
        log = found(file)
        with closing(sqlite3.connect(file)) as other:
            other.execute("SELECT * FROM meta")
        return log

    monkeypatch.setattr(CrashedLog, "of", overtaken)

    assert lost(crashed) == ""
