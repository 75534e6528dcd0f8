"""Queries in SQL: read-only, with limits; docs/commands.md has the views that they are made for.

The owner's statement runs in a separate process, `kgrag.store.sqlite.query_process`; that of a form
here, with the time limited.
"""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Collection
from typing import Any

from kgrag.errors import StatementError, StoreError
from kgrag.store.folders import shown_from
from kgrag.store.graph_query import FIELDS, RELATIONS, GraphQuery
from kgrag.store.graph_statement import FORM_S, Dialect, GraphRows, compiled
from kgrag.store.sqlite import query_process
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.faults import store_error
from kgrag.store.sqlite.statements import run, statements
from kgrag.store.whole import shown, stopped
from kgrag.text.facets import NATIONAL
from kgrag.text.regions import level_of
from kgrag.text.titles import document_kinds

_GRACE_S = 1.0  # for the process to start, and to report a timeout itself
_LONGEST_S = 86_400.0
_STEPS = 1000  # of SQLite's virtual machine between two looks at the clock
# SQLite's errors of the storage rather than the statement.
_STORAGE = (
    *("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_CORRUPT", "SQLITE_IOERR", "SQLITE_LOCKED"),
    *("SQLITE_NOTADB", "SQLITE_PERM", "SQLITE_PROTOCOL"),
)

Row = dict[str, object]


def run_query(database: Database, sql: str, *, max_rows: int, timeout_s: float) -> list[Row]:
    """Return the rows of one SELECT, without parameters.

    It is stopped after `timeout_s`, one second later at the latest; a day at most.

    Raises:
        StatementError: If it is not one SELECT, is malformed, takes too long or too much memory, or
            returns too much.
        StoreError: If the storage fails, or no process can be started.
        ValueError: If max_rows or timeout_s is out of range.
    """
    database.check_open()
    if max_rows < 1 or not 0 < timeout_s <= _LONGEST_S:
        raise ValueError(
            f"max_rows must be positive, timeout_s between 0 and {_LONGEST_S:g}: "
            f"got {max_rows} and {timeout_s}"
        )
    request = {
        "sql": sql,
        "uri": database.uri,
        "files": _files(database) if "kg_documents" in sql.lower() else {},
        "max_rows": max_rows,
        "timeout_s": timeout_s,
    }
    try:
        answer = _answer(json.dumps(request), timeout_s + _GRACE_S)
    except subprocess.TimeoutExpired:
        raise stopped(sql, timeout_s) from None
    if "rows" in answer:
        return [dict(zip(answer["names"], map(_value, row), strict=True)) for row in answer["rows"]]
    raise _refused(database, sql, answer, timeout_s)


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
    until = time.monotonic() + FORM_S
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    try:
        text = f"{made.tables}\n{made.text}"
        rows = connection.execute(text, made.parameters).fetchall()
    except sqlite3.OperationalError as exc:
        if exc.sqlite_errorname == "SQLITE_INTERRUPT":
            raise stopped("graph-query", FORM_S) from None
        raise
    finally:
        connection.set_progress_handler(None, 0)
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


def _files(database: Database) -> dict[str, str]:
    """Return the files of documents by id, as `kgrag documents` shows them."""
    with database.read() as connection:
        rows = run(connection, "shown_sources").fetchall()
    return {doc_id: shown_from(note)(source) for doc_id, source, note in rows}


def _answer(request: str, seconds: float) -> dict[str, Any]:
    """Return the answer of the process, which is killed after so many seconds.

    Raises:
        subprocess.TimeoutExpired: If it has not answered by then.
        StoreError: If it cannot be started, or fails.
    """
    # -I and -S: nothing of the user's or of installed packages runs, and it starts faster.
    command = [sys.executable, "-I", "-S", query_process.__file__]
    try:
        done = subprocess.run(
            command, input=request.encode(), capture_output=True, timeout=seconds, check=False
        )
    except OSError as exc:
        raise StoreError(
            f"{exc}: queries run in a process of their own: allow starting {sys.executable!r}"
        ) from exc
    if done.returncode < 0:
        return {"reason": f"the system ended it (signal {-done.returncode}): ask for less"}
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or ["nothing"]
        raise StoreError(
            f"{sys.executable} ended with {done.returncode} and said {said[-1]}: "
            "queries run in a process of their own, by this Python: make it start"
        )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _value(value: object) -> object:
    """Decode a value; see `query_process.as_json`."""
    return bytes.fromhex(value["hex"]) if isinstance(value, dict) else value


def _refused(database: Database, sql: str, answer: dict[str, Any], timeout_s: float) -> StoreError:
    reason = answer["reason"]
    if "error" not in answer:
        return StatementError(f"{shown(sql)}: {reason}")
    name = answer["error"]
    if name == "SQLITE_INTERRUPT":
        return stopped(sql, timeout_s)
    if name.startswith(_STORAGE):
        fault = sqlite3.OperationalError(reason)
        fault.sqlite_errorname = name
        return store_error(database.file, fault)
    return StatementError(f"{shown(sql)}: {reason}: one SELECT, over the views kg_*")
