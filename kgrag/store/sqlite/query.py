"""Queries in SQL: read-only, with limits; docs/commands.md has the views that they are made for."""

import json
import sqlite3
import time
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from itertools import islice

from kgrag.errors import StatementError
from kgrag.store.folders import shown_from
from kgrag.store.graph_query import FIELDS, RELATIONS, GraphQuery
from kgrag.store.graph_statement import FORM_S, Dialect, GraphRows, compiled
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.faults import store_error
from kgrag.store.sqlite.statements import run, statements
from kgrag.store.whole import shown, stopped
from kgrag.text.facets import NATIONAL
from kgrag.text.regions import level_of
from kgrag.text.titles import document_kinds

_LONGEST_S = 86_400.0
_STEPS = 1000  # of SQLite's virtual machine between two looks at the clock
_MOST_VALUE = 10_000_000  # bytes of one value: more than any document's text
_MOST_BYTES = 32_000_000  # of all rows; the texts of 250 policy documents are 10 million
# Reading is all: no statement of another kind, no other file, no setting of the engine.
_READS = (
    *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ),
    *(sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE),
)
# SQLite's errors of the storage rather than the statement.
_STORAGE = (
    *("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_CORRUPT", "SQLITE_IOERR", "SQLITE_LOCKED"),
    *("SQLITE_NOTADB", "SQLITE_PERM", "SQLITE_PROTOCOL"),
)

Row = dict[str, object]


def run_query(database: Database, sql: str, *, max_rows: int, timeout_s: float) -> list[Row]:
    """Return the rows of one SELECT, without parameters.

    It is stopped after `timeout_s`, a day at most; SQLite looks at the clock between two steps, not
    within a function or while it prepares the statement.

    Raises:
        StatementError: If it is not one SELECT, is malformed, takes too long, or returns too much.
        StoreError: If the storage fails.
        ValueError: If max_rows or timeout_s is out of range.
    """
    database.check_open()
    if max_rows < 1 or not 0 < timeout_s <= _LONGEST_S:
        raise ValueError(
            f"max_rows must be positive, timeout_s between 0 and {_LONGEST_S:g}: "
            f"got {max_rows} and {timeout_s}"
        )
    try:
        with closing(sqlite3.connect(database.uri, uri=True, isolation_level=None)) as connection:
            _show_files(connection)
            _allow_reading(connection)
            with _stopped_after(connection, timeout_s):
                return list(_rows(connection.execute(sql), max_rows))
    except (sqlite3.Error, sqlite3.Warning, ValueError) as exc:
        name = getattr(exc, "sqlite_errorname", "")
        if name == "SQLITE_INTERRUPT":
            raise stopped(sql, timeout_s) from None
        if isinstance(exc, sqlite3.Error) and name.startswith(_STORAGE):
            raise store_error(database.file, exc) from exc
        raise StatementError(f"{shown(sql)}: {exc}: one SELECT, over the views kg_*") from exc


def _show_files(connection: sqlite3.Connection) -> None:
    """Let `kg_documents` have the files as they are shown, not with absolute paths."""
    files = [
        (doc_id, shown_from(note)(source))
        for doc_id, source, note in run(connection, "shown_sources")
    ]
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("CREATE TEMP TABLE sources (doc_id PRIMARY KEY, source)")
    connection.executemany("INSERT INTO sources VALUES (?, ?)", files)
    text = "SELECT sql FROM main.sqlite_schema WHERE name = 'kg_documents'"
    ((sql,),) = connection.execute(text)
    connection.execute(sql.replace("CREATE VIEW", "CREATE TEMP VIEW", 1))


def _allow_reading(connection: sqlite3.Connection) -> None:
    """Refuse from now on whatever does more than read."""
    connection.execute("PRAGMA query_only = ON")
    connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')")  # sets them up
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE)
    connection.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in _READS else sqlite3.SQLITE_DENY
    )


@contextmanager
def _stopped_after(connection: sqlite3.Connection, seconds: float) -> Iterator[None]:
    """Interrupt what runs within it after so many seconds."""
    until = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    try:
        yield
    finally:
        connection.set_progress_handler(None, 0)


def _rows(cursor: sqlite3.Cursor, max_rows: int) -> Iterator[Row]:
    """Yield rows by the names of their columns.

    Raises:
        ValueError: If there are none to ask for, two columns have one name, or rows are too large
            in all.
    """
    if cursor.description is None:
        raise ValueError("not a SELECT: ask for rows")
    names = [column[0] for column in cursor.description]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two columns are called {twice}: rename one (... AS other)")
    size = 0
    for row in islice(cursor, max_rows):
        size += sum(len(value) if isinstance(value, str | bytes) else 8 for value in row)
        if size > _MOST_BYTES:
            raise ValueError(f"its rows hold more than {_MOST_BYTES // 1_000_000} MB: ask for less")
        yield dict(zip(names, row, strict=True))


def run_form(
    connection: sqlite3.Connection,
    query: GraphQuery,
    *,
    most: int,
    doc_ids: Collection[str] | None = None,
) -> GraphRows:
    """Return the rows of a form, at most so many; see `WholeStore.graph_rows`.

    Raises:
        OutOfRangeError: If the form asks for what there is not.
        StatementError: If it takes too long.
    """
    made = compiled(query, DIALECT, most=most, doc_ids=doc_ids)
    connection.create_function("region_level", 1, _level, deterministic=True)
    connection.create_function("document_kind", 2, _kind, deterministic=True)
    try:
        with _stopped_after(connection, FORM_S):
            text = f"{made.tables}\n{made.text}"
            rows = connection.execute(text, made.parameters).fetchall()
    except sqlite3.OperationalError as exc:
        if exc.sqlite_errorname == "SQLITE_INTERRUPT":
            raise stopped("graph-query", FORM_S) from None
        raise
    return made.rows((*cells, json.loads(places)) for *cells, places in rows)


def _level(region: str | None) -> str | None:
    """Return the level of a place as `Region` nodes of a server have it."""
    return region and ("国家" if region == NATIONAL else level_of(region))


def _kind(kind: str | None, title: str) -> str | None:
    """Return the kind of a document as its node on a server has it."""
    return kind or next(reversed(document_kinds(title)), None)


def written_text(value: str) -> str:
    """Return a text as SQL writes it.

    >>> written_text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


DIALECT = Dialect(
    fragment=lambda name: statements()[name],
    names={
        "start": {kind: f"form_{kind}" for kind in FIELDS} | {"document": "form_held"},
        "type": {kind: f"form_{kind}" for kind in FIELDS},
        "relation": {name: f"form_{name}" for name in RELATIONS},
    },
    quote=written_text,
    listed=json.dumps,
    has_tables=True,
)
