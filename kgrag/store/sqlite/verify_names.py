"""Check the index of entities' names."""

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing

from kgrag.store.contents import Problem
from kgrag.store.sqlite.faults import is_damage

_SHADOWS = ("data", "idx", "docsize", "config")  # tables in which FTS5 keeps an index
_DETAIL = "disagrees with the entities: run `kgrag repair`, or restore the folder from a backup"


def check_name_index(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that the index of names agrees with the entities.

    FTS5's own check has to write, and would wait for others that do: it is given a copy of the
    index in memory.
    """
    uri = f"file:names-{secrets.token_hex(8)}?mode=memory&cache=shared"
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as copy:
        _copy(connection, copy)
        # FTS5 remembers what it read: another connection has read nothing yet.
        with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as checked:
            try:
                checked.execute(
                    "INSERT INTO entity_search (entity_search, rank) VALUES ('integrity-check', 1)"
                )
            except sqlite3.DatabaseError as exc:
                if not is_damage(exc):
                    raise
                yield Problem("name-index", "entity_search", _DETAIL)


def _copy(connection: sqlite3.Connection, copy: sqlite3.Connection) -> None:
    """Write the names and their index into an empty database."""
    copy.execute("CREATE TABLE entities (number INTEGER PRIMARY KEY, normalized)")
    copy.execute(
        "CREATE VIRTUAL TABLE entity_search USING fts5 (normalized, content = 'entities',"
        " content_rowid = 'number', tokenize = 'trigram')"
    )
    copy.execute("BEGIN")
    copy.executemany(
        "INSERT INTO entities VALUES (?, ?)",
        connection.execute("SELECT number, normalized FROM entities"),
    )
    for shadow in _SHADOWS:
        table = f"entity_search_{shadow}"
        rows = connection.execute(f"SELECT * FROM {table}")
        places = ", ".join("?" * len(rows.description))
        copy.execute(f"DELETE FROM {table}")
        copy.executemany(f"INSERT INTO {table} VALUES ({places})", rows)
    copy.execute("COMMIT")
