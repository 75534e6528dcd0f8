"""Run one SELECT within limits: the script of the process that `kgrag.store.sqlite.query` starts.

Only the standard library is imported, so that it starts in some 30 ms. Only ending a process stops
everything: SQLite checks the time between two steps of its virtual machine, not within a function
call, and not while preparing a statement, where 800 characters of nested WITH or subqueries can
take gigabytes.
"""

import json
import math
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from itertools import islice

_STEPS = 1000  # of SQLite's virtual machine between two checks of the time
_MOST_MEMORY = 1 << 30  # bytes of the process
_MOST_BYTES = 32_000_000  # of all rows; the texts of 250 policy documents are 10 million
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: 10_000_000,  # bytes of one value: more than any document's text
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 32,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1000,  # bytes; a long title has 300
}
# Reading is all: no statement of another kind, no other file, no setting of the engine.
_READS = (
    *(sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ),
    *(sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE),
)

Answer = dict[str, object]
Files = Mapping[str, str]  # how documents' files are shown, by id


def answer(sql: str, *, uri: str, files: Files, max_rows: int, timeout_s: float) -> Answer:
    """Return the result of a statement without parameters.

    It is stopped after `timeout_s` where SQLite checks the time.

    Returns:
        `names` and `rows`; or the `reason` for a failure, with SQLite's name of the `error` if any.
    """
    try:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=timeout_s)
        with closing(connection):
            connection.execute("PRAGMA temp_store = MEMORY")  # memory is limited, unlike the disk
            if files:
                _show(connection, files)
            _limit(connection, until=time.monotonic() + timeout_s)
            cursor = connection.execute(sql)
            if cursor.description is None:
                return {"reason": "not a SELECT: ask for rows"}
            names = [column[0] for column in cursor.description]
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                return {"reason": f"two columns are called {twice}: rename one (... AS other)"}
            return {"names": names, "rows": list(_bounded(cursor, max_rows))}
    except MemoryError:
        return {"reason": "it needs too much memory: ask for less"}
    except ValueError as exc:
        return {"reason": str(exc)}
    except (sqlite3.Error, sqlite3.Warning) as exc:
        return {"reason": str(exc), "error": getattr(exc, "sqlite_errorname", "")}


def _show(connection: sqlite3.Connection, files: Files) -> None:
    """Let `kg_documents` have the files as they are shown, not with absolute paths."""
    connection.execute("CREATE TEMP TABLE sources (doc_id PRIMARY KEY, source)")
    connection.executemany("INSERT INTO sources VALUES (?, ?)", files.items())
    text = "SELECT sql FROM main.sqlite_schema WHERE name = 'kg_documents'"
    ((sql,),) = connection.execute(text)
    connection.execute(sql.replace("CREATE VIEW", "CREATE TEMP VIEW", 1))


def _limit(connection: sqlite3.Connection, *, until: float) -> None:
    connection.execute("PRAGMA query_only = ON")
    connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')")  # sets them up
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    connection.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in _READS else sqlite3.SQLITE_DENY
    )


def _bounded(cursor: sqlite3.Cursor, max_rows: int) -> Iterator[tuple[object, ...]]:
    """Yield rows; ValueError if they are too large in all."""
    size = 0
    for row in islice(cursor, max_rows):
        size += sum(map(_size, row))
        if size > _MOST_BYTES:
            raise ValueError(f"its rows hold more than {_MOST_BYTES // 1_000_000} MB: ask for less")
        yield row


def _size(value: object) -> int:
    if isinstance(value, str):
        return len(value.encode())
    return len(value) if isinstance(value, bytes) else 8


def as_json(value: Answer) -> bytes:
    """Return an answer as JSON, blobs as `{"hex": ...}`."""
    text = json.dumps(value, ensure_ascii=False, default=lambda blob: {"hex": blob.hex()})
    return text.encode(errors="replace")


def bound_process(seconds: float) -> None:
    """Limit CPU time and memory of this process; not possible on Windows."""
    try:
        import resource
    except ImportError:
        return
    for limit, value in (
        (resource.RLIMIT_AS, _MOST_MEMORY),
        (resource.RLIMIT_CPU, math.ceil(seconds)),
    ):
        with suppress(ValueError, OSError):  # a lower limit is already set
            resource.setrlimit(limit, (value, value))


def main() -> None:
    """Answer the request on standard input to standard output."""
    request = json.load(sys.stdin.buffer)
    # Later than the timeout, in case the parent is gone.
    bound_process(request["timeout_s"] + 5)
    sys.stdout.buffer.write(as_json(answer(**request)))


if __name__ == "__main__":
    main()
