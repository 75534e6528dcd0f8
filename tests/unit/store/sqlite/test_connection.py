import sqlite3
import threading
from contextlib import closing

import pytest

from kgrag.errors import NewerVersionError, StoreError, StoreUnavailableError
from kgrag.store.sqlite import connection as module
from kgrag.store.sqlite.connection import VERSION, Database, connect, make_schema
from kgrag.store.sqlite.opening import TABLES


def test_open_makes_folder_and_schema_when_there_is_none(tmp_path):
    """A new knowledge base has the newest schema, and a log that readers do not wait for."""
    with closing(Database.open(tmp_path / "a" / "b")) as database, database.read() as c:
        assert c.execute("PRAGMA user_version").fetchone() == (VERSION,)
        assert c.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert c.execute("PRAGMA foreign_keys").fetchone() == (1,)
        # Of a 512-dimensional vector's 2 KB, a page of 4 KB would hold one.
        assert c.execute("PRAGMA page_size").fetchone() == (8192,)


def test_open_refuses_when_missing_and_not_to_be_created(tmp_path):
    """Asking a knowledge base that is not there must not make one."""
    with pytest.raises(StoreUnavailableError, match="ingest"):
        Database.open(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("version", "error"), [(VERSION + 1, NewerVersionError), (VERSION - 1, StoreUnavailableError)]
)
def test_open_refuses_another_schema(tmp_path, version, error):
    """No kgrag must write what it does not understand."""
    Database.open(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "kgrag.db")) as other:
        other.execute(f"PRAGMA user_version = {version}")

    with pytest.raises(error, match=f"has schema version {version}"):
        Database.open(tmp_path)


def test_two_that_create_at_once_get_one_schema(tmp_path):
    """Threads stand in for processes: each opens its own connections."""
    opened, errors = [], []

    def open_it():
        try:
            opened.append(Database.open(tmp_path))
        except StoreError as exc:
            errors.append(exc)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for database in opened:
        database.close()
    assert (len(opened), errors) == (6, [])


def test_a_write_that_cannot_get_the_lock_says_so(tmp_path, monkeypatch):
    """Another process that writes for long is named as the cause."""
    monkeypatch.setattr(module, "BUSY_TIMEOUT_S", 0.01)
    with closing(Database.open(tmp_path)) as database, closing(connect(database.uri)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailableError, match="another process"), database.write():
            pass
        other.execute("ROLLBACK")


@pytest.mark.parametrize("name", ["SQLITE_CANTOPEN", "SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"])
def test_a_folder_that_cannot_be_written_is_read(tmp_path, monkeypatch, name):
    """A read-only or full disk (SQLite wants 32 KB beside the file) is enough to search."""
    with closing(Database.open(tmp_path)) as database, database.write() as c:
        c.execute("INSERT INTO meta VALUES ('a', '1')")

    def read_only(uri):
        """Root may write anywhere: act as SQLite does where it may not."""
        if "mode=ro" not in uri:
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorname = name
            raise error
        return connect(uri)

    monkeypatch.setattr(module, "connect", read_only)
    with closing(Database.open(tmp_path, create=False)) as database:
        with database.read() as c:
            assert c.execute("SELECT value FROM meta").fetchall() == [("1",)]
        told = "may write the folder, and that its disk has space"
        with pytest.raises(StoreUnavailableError, match=told), database.write() as c:
            c.execute("INSERT INTO meta VALUES ('b', '2')")


def foreign(folder, journal="WAL"):
    """Make a database of another program, in a log as well as in the file."""
    with closing(sqlite3.connect(folder / "kgrag.db")) as other:
        other.execute(f"PRAGMA journal_mode = {journal}")
        other.execute("CREATE TABLE theirs (a)")


def only_header(folder):
    """Leave a database of nobody's, with nothing in it, as a crash does."""
    with closing(sqlite3.connect(folder / "kgrag.db")) as other:
        other.execute("PRAGMA user_version = 0")
        other.execute("CREATE TABLE gone (a)")
        other.execute("DROP TABLE gone")


def cut(folder):
    Database.open(folder).close()
    file = folder / "kgrag.db"
    file.write_bytes(file.read_bytes()[:60])


def log_alone(folder):
    (folder / "kgrag.db-wal").write_bytes(b"x" * 5000)


def without_chunks(folder):
    Database.open(folder).close()
    with closing(sqlite3.connect(folder / "kgrag.db")) as connection:
        connection.execute("DROP TABLE chunks")


NO_BASES = [
    (lambda folder: (folder / "kgrag.db").touch(), "empty", True),
    (lambda folder: (folder / "kgrag.db").write_text("一、总则\n"), "begins with", False),
    (lambda folder: (folder / "kgrag.db").mkdir(), "is a folder", False),
    (lambda folder: (folder / "kgrag.db").write_bytes(b"\x00" * 5000), "begins with", False),
    (foreign, "another program", False),
    (lambda folder: foreign(folder, "DELETE"), "another program", False),
    (only_header, "no tables", True),
    (cut, "cut short", False),
    (log_alone, "its log", False),
    (without_chunks, "chunks is missing", False),
]


@pytest.mark.parametrize(("make", "told", "ingested"), NO_BASES)
def test_what_is_no_knowledge_base_is_refused_and_left_as_it_is(tmp_path, make, told, ingested):
    """Whether it is read or written; a crash at creation alone leaves what is taken over."""
    make(tmp_path)
    before = {path: path.is_file() and path.read_bytes() for path in tmp_path.iterdir()}

    for create in (False,) if ingested else (False, True):
        with pytest.raises(StoreUnavailableError, match=told):
            Database.open(tmp_path, create=create)
        assert before == {p: p.is_file() and p.read_bytes() for p in tmp_path.iterdir()}
    if ingested:
        Database.open(tmp_path, create=True).close()
        Database.open(tmp_path, create=False).close()


def test_the_tables_that_are_looked_for_are_those_that_the_schema_makes():
    with closing(connect(":memory:")) as connection:
        make_schema(connection)
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL"
        )
        made = {name for (name,) in names if not name.startswith(("entity_search_", "sqlite_"))}

    assert made == TABLES
