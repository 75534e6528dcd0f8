"""User queries in SQL: read-only, over views, with limits.

The views, with their columns (spans are character offsets in a document's text):

    kg_documents   doc_id, title, media_type, characters, text, file, issuer, issuers, number,
                   written, issued, effective, expires, kind, level, region, regions,
                   recipients, status, notice, year
    kg_headings    doc_id, start, end, level, text
    kg_chunks      chunk_id, doc_id, size, position, start, end, parent_id, heading_path, text
    kg_summaries   summary_id, doc_id, start, end, level, source, target_ids, text
    kg_entities    entity_id, name, normalized, type
    kg_facts       fact_id, subject_id, subject, subject_type, predicate,
                   object_id, object, object_type
    kg_evidence    fact_id, doc_id, chunk_id, start, end, extractor, confidence, qualifiers
    kg_mentions    entity_id, name, doc_id, chunk_id, start, end, extractor, confidence

Qualified statements, a row for each place, with doc_id, fact_id, start, end, chunk_id, extractor,
confidence and:

    kg_targets     indicator, predicate, object, value, value_to, unit, comparator, bound, year,
                   period, base_year, base_value, region, scope, standing, binding, condition
    kg_duties      organ, role, task, deadline, year, region, condition
    kg_references  role, title, number, cited_doc_id, match
    kg_conditions  subject, predicate, object, value, value_to, unit, comparator, year, period,
                   region, scope, condition, deadline
    kg_definitions term, predicate, meaning

A statement runs in a separate process, `kgrag.store.sqlite.query_process`.
"""

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kgrag.errors import StatementError, StoreError
from kgrag.store.folders import shown_from
from kgrag.store.sqlite import query_process
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.faults import store_error
from kgrag.store.sqlite.statements import run
from kgrag.store.whole import shown, stopped

_TABLES = (
    *("documents", "headings", "chunks", "summaries"),
    *("entities", "facts", "evidence", "mentions"),
)
_STATED = ("targets", "duties", "references", "conditions", "definitions")
VIEWS = tuple(f"kg_{name}" for name in (*_TABLES, *_STATED))
_GRACE_S = 1.0  # for the process to start, and to report a timeout itself
_LONGEST_S = 86_400.0
# SQLite's errors of the storage rather than the statement.
_STORAGE = (
    *("SQLITE_BUSY", "SQLITE_CANTOPEN", "SQLITE_CORRUPT", "SQLITE_IOERR", "SQLITE_LOCKED"),
    *("SQLITE_NOTADB", "SQLITE_PERM", "SQLITE_PROTOCOL"),
)

Row = dict[str, object]


def run_query(database: Database, sql: str, *, max_rows: int, timeout_s: float) -> list[Row]:
    """Return the rows of one SELECT over the views, without parameters.

    It is stopped after `timeout_s`, one second later at the latest; a day at most.

    Raises:
        StatementError: If it is not one SELECT over the views, is malformed, takes too long or too
            much memory, or returns too much.
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
        "views": VIEWS,
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
        with _lifeline() as ends:
            done = subprocess.run(
                [*command, *map(str, ends)],
                input=request.encode(),
                capture_output=True,
                timeout=seconds,
                check=False,
                pass_fds=ends,
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


@contextmanager
def _lifeline() -> Iterator[tuple[int, ...]]:
    """Return the end of a pipe that closes when this process ends; none on Windows.

    There, its time limit ends an orphaned process.
    """
    if sys.platform == "win32":  # cannot inherit it
        yield ()
        return
    theirs, ours = os.pipe()
    try:
        yield (theirs,)
    finally:
        os.close(theirs)
        os.close(ours)


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
    return StatementError(f"{shown(sql)}: {reason}: one SELECT over the views {', '.join(VIEWS)}")
