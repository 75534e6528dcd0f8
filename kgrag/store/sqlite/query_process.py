"""Run one SELECT within limits: the script of the process that `kgrag.store.sqlite.query` starts.

Only the standard library is imported, so that it starts in some 30 ms. Only ending a process stops
everything: SQLite checks the time between two steps of its virtual machine, not within a function
call, and not while preparing a statement, where 800 characters of nested WITH or subqueries can
take gigabytes.
"""

import _thread
import json
import math
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
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
# From sqlite.org/lang_corefunc, _aggfunc, _datefunc, _mathfunc, json1 and windowfunctions, without
# functions that create long values (printf, format, zeroblob, randomblob), take more than linear
# time (json_patch), or access or describe the engine.
_ALLOWED = """
    abs char coalesce concat concat_ws glob hex if ifnull iif instr length like likelihood likely
    lower ltrim max min nullif octet_length quote random replace round rtrim sign soundex substr
    substring trim typeof unhex unicode unlikely upper

    avg count group_concat string_agg sum total
    cume_dist dense_rank first_value lag last_value lead nth_value ntile percent_rank rank
    row_number

    current_date current_time current_timestamp date datetime julianday strftime time timediff
    unixepoch

    acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10
    log2 mod pi pow power radians sin sinh sqrt tan tanh trunc

    -> ->> json json_array json_array_length json_error_position json_extract json_group_array
    json_group_object json_insert json_object json_pretty json_quote json_remove json_replace
    json_set json_type json_valid
"""
_FUNCTIONS = frozenset(_ALLOWED.split())
_OF_JSON = ("json_each", "json_tree")

Authorizer = Callable[[int, str | None, str | None, str | None, str | None], int]
Answer = dict[str, object]
Files = Mapping[str, str]  # how documents' files are shown, by id


def answer(
    sql: str, *, uri: str, views: Iterable[str], files: Files, max_rows: int, timeout_s: float
) -> Answer:
    """Return the result of a statement without parameters.

    It is stopped after `timeout_s` where SQLite checks the time.

    Returns:
        `names` and `rows`; or the `reason` for a failure, with SQLite's name of the `error` if any.
    """
    try:
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=timeout_s)
        with closing(connection):
            connection.execute("PRAGMA temp_store = MEMORY")  # memory is limited, unlike the disk
            # Instead of the table of this name, which has absolute paths.
            connection.execute("CREATE TEMP TABLE sources (doc_id PRIMARY KEY, source)")
            connection.executemany("INSERT INTO sources VALUES (?, ?)", files.items())
            _limit(connection, views, until=time.monotonic() + timeout_s)
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


def _limit(connection: sqlite3.Connection, views: Iterable[str], *, until: float) -> None:
    behind = _hidden(connection, views)
    connection.execute("PRAGMA query_only = ON")
    connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')")  # sets them up
    for limit, value in _LIMITS.items():
        connection.setlimit(limit, value)
    connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
    connection.set_authorizer(_authorizer(behind))


def _hidden(connection: sqlite3.Connection, views: Iterable[str]) -> dict[str, str]:
    """Hide each view behind a secretly named one; return the secret names.

    SQLite's authorizer names the view within which a table is read, but a WITH clause of the
    statement may have the name of a view, too.
    """
    secret = os.urandom(16).hex()
    behind = {view: f"{secret}_{view}" for view in views}
    for view, hidden in behind.items():
        text = "SELECT sql FROM sqlite_schema WHERE type = 'view' AND name = ?"
        ((sql,),) = connection.execute(text, (view,))
        connection.execute(f'CREATE TEMP VIEW "{hidden}" AS {sql.partition(" AS")[2]}')
        connection.execute(f'CREATE TEMP VIEW "{view}" AS SELECT * FROM "{hidden}"')
    return behind


def _authorizer(behind: Mapping[str, str]) -> Authorizer:
    """Return an authorizer that allows a SELECT over some views only."""
    open_to_all = {*behind, *behind.values(), *_OF_JSON}
    within = frozenset(behind.values())

    def authorize(
        action: int, first: str | None, second: str | None, _database: str | None, by: str | None
    ) -> int:
        allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)
        if action == sqlite3.SQLITE_READ:
            # No column: rows are only counted; `first` may be the name of a WITH clause then.
            allowed = first in open_to_all or by in within or not second
        elif action == sqlite3.SQLITE_FUNCTION:
            allowed = second in _FUNCTIONS
        return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY

    return authorize


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


def end_with(lifeline: int) -> None:
    """End this process when its parent ends, which holds the other end of the pipe `lifeline`."""

    def wait() -> None:
        os.read(lifeline, 1)
        os._exit(1)

    _thread.start_new_thread(wait, ())


def main() -> None:
    """Answer the request on standard input to standard output."""
    if len(sys.argv) > 1:
        end_with(int(sys.argv[1]))
    request = json.load(sys.stdin.buffer)
    # Later than the timeout, in case the parent is gone.
    bound_process(request["timeout_s"] + 5)
    sys.stdout.buffer.write(as_json(answer(**request)))


if __name__ == "__main__":
    main()
