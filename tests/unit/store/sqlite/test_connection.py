import sqlite3
import threading
from contextlib import closing

import pytest

from kgrag.errors import NewerVersionError, StoreError, StoreUnavailableError
from kgrag.store.sqlite import connection as module
from kgrag.store.sqlite.connection import Database, connect, known_version, make_schema
from kgrag.store.sqlite.opening import TABLES


def test_open_makes_folder_and_schema_when_there_is_none(tmp_path):
    """A new knowledge base has the newest schema, and a log that readers do not wait for."""
    with closing(Database.open(tmp_path / "a" / "b")) as database, database.read() as c:
        assert c.execute("PRAGMA user_version").fetchone() == (known_version(),)
        assert c.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert c.execute("PRAGMA foreign_keys").fetchone() == (1,)
        # Of a 512-dimensional vector's 2 KB, a page of 4 KB would hold one.
        assert c.execute("PRAGMA page_size").fetchone() == (8192,)


def test_open_refuses_when_missing_and_not_to_be_created(tmp_path):
    """Asking a knowledge base that is not there must not make one."""
    with pytest.raises(StoreUnavailableError, match="ingest"):
        Database.open(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()


def test_open_refuses_a_newer_schema(tmp_path):
    """An old kgrag must not write what it does not understand."""
    Database.open(tmp_path).close()
    with closing(sqlite3.connect(tmp_path / "kgrag.db")) as newer:
        newer.execute(f"PRAGMA user_version = {known_version() + 1}")

    with pytest.raises(NewerVersionError, match="newer kgrag"):
        Database.open(tmp_path)


def test_open_migrates_an_older_schema(tmp_path, monkeypatch):
    """Scripts run once, in order, and what is there stays."""
    scripts = module._migrations()
    with closing(Database.open(tmp_path)) as old, old.write() as c:
        c.execute("INSERT INTO meta VALUES ('a', '1')")
    added = "-- a comment; with a semicolon\nCREATE TABLE more (a);\nINSERT INTO more VALUES (1);\n"
    monkeypatch.setattr(module, "_migrations", lambda: [*scripts, added])

    for _ in range(2):
        with closing(Database.open(tmp_path)) as new, new.read() as c:
            assert c.execute("PRAGMA user_version").fetchone() == (len(scripts) + 1,)
            assert c.execute("SELECT * FROM more").fetchall() == [(1,)]
            assert c.execute("SELECT value FROM meta").fetchall() == [("1",)]


def test_vectors_keep_their_numbers_when_facts_get_theirs(tmp_path, monkeypatch):
    """Search caches know them by number, and a number of the past is not used again."""
    scripts = module._migrations()
    monkeypatch.setattr(module, "_migrations", lambda: scripts[:1])
    with closing(Database.open(tmp_path)) as old, old.write() as c:
        c.execute("PRAGMA defer_foreign_keys = ON")
        document = ("d", *[""] * 5, 0, *["[]"] * 3, "")
        c.execute(f"INSERT INTO documents VALUES ({', '.join('?' * 11)})", document)
        c.execute("INSERT INTO embeddings VALUES ('k', zeroblob(8))")
        insert = "INSERT INTO node_vectors (node_id, kind, doc_id, key) VALUES (?, ?, 'd', 'k')"
        for i in range(1, 8):
            c.execute(insert, (f"c{i}", "chunk"))
        c.execute("DELETE FROM node_vectors WHERE number IN (1, 7)")
        kept = c.execute("SELECT * FROM node_vectors ORDER BY number").fetchall()
        with pytest.raises(sqlite3.IntegrityError):
            c.execute(insert, ("f", "fact"))
    monkeypatch.setattr(module, "_migrations", lambda: scripts)

    with closing(Database.open(tmp_path)) as new, new.write() as c:
        assert c.execute("SELECT * FROM node_vectors ORDER BY number").fetchall() == kept
        c.execute(insert, ("f", "fact"))
        assert c.execute("SELECT max(number) FROM node_vectors").fetchone() == (8,)
        assert not c.execute("SELECT 1 FROM sqlite_sequence WHERE name LIKE '%_2'").fetchone()


def test_a_migration_that_fails_leaves_the_old_schema(tmp_path, monkeypatch):
    """Nothing of a half migrated file is seen."""
    scripts = module._migrations()
    Database.open(tmp_path).close()
    bad = "CREATE TABLE more (a);\nINSERT INTO nowhere VALUES (1);\n"
    with monkeypatch.context() as patch:
        patch.setattr(module, "_migrations", lambda: [*scripts, bad])
        with pytest.raises(StoreError, match="nowhere"):
            Database.open(tmp_path)

    with closing(Database.open(tmp_path)) as database, database.read() as c:
        assert c.execute("PRAGMA user_version").fetchone() == (len(scripts),)
        assert not c.execute("SELECT 1 FROM sqlite_master WHERE name = 'more'").fetchone()


@pytest.mark.parametrize(
    ("version", "gigabytes", "told"),
    [
        (1, 4, "(4.0 GB) was made by an older kgrag and is brought up to date, once: about 2 min"),
        (3, 10, "about 4 min. It may be stopped: then it is as it was"),
        (5, 10, "about 2 min"),
        (5, 1, ""),
        (6, 10, "about 2 min"),
        (6, 2, ""),
    ],
)
def test_a_migration_that_takes_long_is_announced(tmp_path, caplog, version, gigabytes, told):
    """By the size of the file and what is to be done; nothing where it is over at once."""
    file = tmp_path / "kgrag.db"
    with file.open("wb") as sparse:
        sparse.truncate(gigabytes * 10**9)
    module._announce(file, version)

    assert [told in record.getMessage() for record in caplog.records] == [True] * bool(told)


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
    """A table of a later version is added by its script, and not looked for before."""
    with closing(connect(":memory:")) as connection:
        make_schema(connection)
        names = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql IS NOT NULL"
        )
        made = {name for (name,) in names if not name.startswith(("entity_search_", "sqlite_"))}

    later = {"seals", "staged_documents", "staged_embeddings", "staged_nodes"}
    assert made - TABLES == {*later, "corrections", "decisions"}
    assert not TABLES - made
