"""Queries in SQL that others wrote: read-only, over the views, within limits.

The views, with their columns (spans are character offsets in a document's text):

    kg_documents   doc_id, title, media_type, characters, text, file
    kg_headings    doc_id, start, end, level, text
    kg_chunks      chunk_id, doc_id, size, position, start, end, parent_id, heading_path, text
    kg_summaries   summary_id, doc_id, start, end, level, source, target_ids, text
    kg_entities    entity_id, name, normalized, type
    kg_facts       fact_id, subject_id, subject, subject_type, predicate,
                   object_id, object, object_type
    kg_evidence    fact_id, doc_id, chunk_id, start, end, extractor, confidence
    kg_mentions    entity_id, name, doc_id, chunk_id, start, end, extractor, confidence
"""

import sqlite3
import time
from contextlib import closing

from kgrag.errors import StatementError
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.faults import mapped

_TABLES = (
    *("documents", "headings", "chunks", "summaries"),
    *("entities", "facts", "evidence", "mentions"),
)
VIEWS = tuple(f"kg_{table}" for table in _TABLES)
_READABLE = frozenset({*VIEWS, *_TABLES, "sources", "json_each", "json_tree"})
_REFUSED_FUNCTIONS = frozenset({"load_extension"})
_MOST_BYTES = 10_000_000  # of one value: keeps functions that build texts from filling memory
_STEPS = 1000  # of SQLite's machine between two looks at the clock

Row = dict[str, object]


def run_query(database: Database, sql: str, *, max_rows: int, timeout_s: float) -> list[Row]:
    """Return the rows of one SELECT over the views.

    Args:
        database: What to query; a connection of its own is made for it.
        sql: One statement without parameters.
        max_rows: At most so many rows.
        timeout_s: Seconds after which it is stopped.

    Raises:
        StatementError: If it is not one SELECT over the views, is malformed, or takes too long.
        StoreError: If the storage fails.
    """
    database.check_open()
    with mapped(database.file):
        connection = sqlite3.connect(database.uri, uri=True, isolation_level=None)
    with closing(connection):
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')")  # sets them up
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
        deadline = time.monotonic() + timeout_s
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        connection.set_authorizer(_authorize)
        try:
            cursor = connection.execute(sql)
            rows = cursor.fetchmany(max_rows)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as exc:
            raise _refused(sql, exc, timeout_s) from exc
        if cursor.description is None:
            raise StatementError(f"{_short(sql)}: not a SELECT: ask for rows")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in rows]


def _authorize(
    action: int, first: str | None, second: str | None, _database: str | None, _inner: str | None
) -> int:
    """Allow what a SELECT over the views needs, nothing else."""
    if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
        return sqlite3.SQLITE_OK
    # No column: rows are only counted; `first` may be the statement's own WITH name then.
    if action == sqlite3.SQLITE_READ and (first in _READABLE or not second):
        return sqlite3.SQLITE_OK
    if action == sqlite3.SQLITE_FUNCTION and second not in _REFUSED_FUNCTIONS:
        return sqlite3.SQLITE_OK
    return sqlite3.SQLITE_DENY


def _refused(sql: str, exc: Exception, timeout_s: float) -> StatementError:
    name = getattr(exc, "sqlite_errorname", "")
    if name == "SQLITE_INTERRUPT":
        return StatementError(
            f"{_short(sql)}: stopped after {timeout_s:g} s: ask for less, or allow more time"
        )
    return StatementError(f"{_short(sql)}: {exc}: one SELECT over the views {', '.join(VIEWS)}")


def _short(sql: str) -> str:
    line = " ".join(sql.split())
    return line if len(line) <= 200 else line[:199] + "…"
