"""SQLite files that several processes open at the same moment."""

import sqlite3
import threading
import time
from contextlib import closing

import pytest

from kgrag.files.sqlite_file import use_write_ahead_log, whose


def opened(file):
    return sqlite3.connect(file, isolation_level=None, timeout=0, check_same_thread=False)


def test_a_new_file_is_nobodys(tmp_path):
    """Then whose it is, which version, and how many tables."""
    with closing(opened(tmp_path / "a.db")) as connection:
        assert whose(connection) == (0, 0, 0)
        connection.executescript(
            "BEGIN; PRAGMA application_id = 7; PRAGMA user_version = 3; CREATE TABLE t (a); COMMIT"
        )
        assert whose(connection) == (7, 3, 1)


def test_the_log_is_turned_on_once_others_are_done(tmp_path):
    """SQLite would say at once that the file is locked."""
    file = tmp_path / "a.db"
    with closing(opened(file)) as holder, closing(opened(file)) as connection:
        holder.execute("BEGIN EXCLUSIVE")
        release = threading.Timer(0.1, holder.execute, ["COMMIT"])
        release.start()
        use_write_ahead_log(connection, wait_s=30)
        release.join()
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_it_does_not_wait_for_ever(tmp_path):
    """Who holds the file longer is told."""
    file = tmp_path / "a.db"
    with closing(opened(file)) as holder, closing(opened(file)) as connection:
        holder.execute("BEGIN EXCLUSIVE")
        since = time.monotonic()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            use_write_ahead_log(connection, wait_s=0.05)
        assert time.monotonic() - since < 20
