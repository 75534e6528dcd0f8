"""Cypher that others wrote, a language model for instance: read-only, within limits.

Five steps, each of which would stop most of what it should not do: what it is understood as
(`gate`), the plan that the server makes of it (`plan`), the run in read mode with time, rows and
size bounded, values without vectors (`values`), and a record in the log. What is stopped is looked
for on the server, ended there, and told where it goes on.
"""

import logging
import re
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar
from uuid import uuid4

import neo4j
from neo4j.exceptions import ClientError, Neo4jError

from kgrag.errors import StatementError, StoreError
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.faults import FAULTS, store_error
from kgrag.store.neo4j.gate.admit import MOST_LISTED, MOST_REDUCED, TOO_LARGE, Admitted, admit
from kgrag.store.neo4j.gate.plan import check_plan
from kgrag.store.neo4j.gate.regular import COMPARED
from kgrag.store.neo4j.gate.values import plain
from kgrag.store.neo4j.liveness import in_thread, is_silent, silent_error
from kgrag.store.neo4j.statements import statement
from kgrag.store.whole import shown, stopped

_T = TypeVar("_T")
Row = dict[str, object]

_MOST_BYTES = 10_000_000  # of all rows
_FETCHED = 5  # rows that the server sends at a time, and computes ahead
_GRACE_S = 1.0  # for the server to say itself that time is up
_TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOut"
# Codes of what a statement itself brings about, rather than the server's state.
_ITS_OWN = re.compile(
    r"Neo\.(ClientError\.(Statement|Procedure|Transaction)\.|DatabaseError\.(General|Statement)\."
    r"|TransientError\.General\.\w*(Memory|StackOver))"
)

_TOO_DEEP = "its plan or its values are nested too deep: ask for less at once"
_BOUND = (
    f"a list has more than {MOST_LISTED:,} items (of reduce {MOST_REDUCED}), or =~ looks at more "
    f"than {COMPARED[0]:,} characters, {COMPARED[-1]} where it repeats thrice: return rows, a part "
    "as collect(…)[..20], or use CONTAINS"
)

_log = logging.getLogger(__name__)


def run_query(database: Database, text: str, *, max_rows: int, timeout_s: float) -> list[Row]:
    """Return the rows of one statement that reads the graph.

    Args:
        database: What to query.
        text: Cypher without parameters.
        max_rows: At most so many rows; the rest is not computed.
        timeout_s: Seconds after which it is stopped.

    Raises:
        StatementError: If it is refused, malformed, takes too long or returns too much.
        StoreUnavailableError: If the server cannot be reached.
        ValueError: If there is nothing that max_rows or timeout_s allow.
    """
    if max_rows < 1 or timeout_s <= 0:
        raise ValueError(f"max_rows and timeout_s must be positive, got {max_rows} and {timeout_s}")
    try:
        admitted = admit(text)
    except ValueError as exc:
        raise StatementError(f"{shown(text)}: {exc}") from None
    mark, deadline = uuid4().hex, time.monotonic() + timeout_s
    try:
        rows = _within(
            timeout_s + _GRACE_S,
            lambda: _run(database, admitted, mark, max_rows=max_rows, until=deadline),
        )
    except StatementError as exc:
        raise StatementError(f"{shown(text)}: {exc}") from None
    except RecursionError:  # of the driver, which reads what the server sends
        raise StatementError(f"{shown(text)}: {_TOO_DEEP}") from None
    except TimeoutError:
        if is_silent(database.address):
            raise silent_error(database.address, timeout_s) from None
        raise stopped(text, timeout_s, end(database, mark)) from None
    except FAULTS as exc:
        raise _error(database, text, exc, timeout_s) from exc
    _log.info("%d rows of %s", len(rows), text)
    return rows


_TOLD: set[str] = set()  # addresses of servers whose limit was looked at


def _tell_of_memory(session: neo4j.Session, address: str) -> None:
    """Warn once of a server that limits no transaction's memory; it cannot be asked to for one."""
    if address in _TOLD:
        return
    with suppress(ClientError):  # of a user who may not see settings
        found = session.run(neo4j.Query(statement("memory_limit"), timeout=_ENDING_S))
        if any("0B" in row.values() for row in found):
            _log.warning(
                "%s: a query may take all memory of the server: set db.memory.transaction.max "
                "in neo4j.conf to a quarter of the heap, as 512m",
                address,
            )
    _TOLD.add(address)


def _run(
    database: Database, admitted: Admitted, mark: str, *, max_rows: int, until: float
) -> list[Row]:
    driver = database.driver
    with driver.session(
        database=database.address.database,
        default_access_mode=neo4j.READ_ACCESS,
        bookmark_manager=driver.execute_query_bookmark_manager,
        fetch_size=min(max_rows, _FETCHED),
        notifications_min_severity="OFF",
    ) as session:
        _tell_of_memory(session, str(database.address))
        summary = session.run(_query("EXPLAIN " + admitted.text, mark, until)).consume()
        try:
            check_plan(summary.query_type, summary.plan, admitted.names)
        except ValueError as exc:
            raise StatementError(str(exc)) from None
        return _rows(session.run(_query(admitted.text, mark, until)), admitted, max_rows=max_rows)


def _rows(result: neo4j.Result, admitted: Admitted, *, max_rows: int) -> list[Row]:
    rows: list[Row] = []
    size = 0
    names = [admitted.columns.get(name, name) for name in result.keys()]  # noqa: SIM118
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise StatementError(f"two columns are called {twice}: rename one (... AS other)")
    for record in result:
        row = dict(zip(names, map(plain, record.values()), strict=True))
        size += _size(row)
        if size > _MOST_BYTES:
            raise StatementError(
                f"its rows hold more than {_MOST_BYTES // 1_000_000} MB: return fewer of them, or "
                "only some properties"
            )
        rows.append(row)
        if len(rows) == max_rows:
            break
    return rows


def _query(text: str, mark: str, until: float) -> neo4j.Query:
    # A timeout of 0 would mean none.
    seconds = max(until - time.monotonic(), 0.001)
    return neo4j.Query(text, metadata={"kgrag": mark}, timeout=seconds)


def _within(seconds: float, work: Callable[[], _T]) -> _T:
    """Return what `work` returns; wait no longer than so many seconds.

    The server heeds a timeout between two rows, not within an expression or while it plans. The
    thread that still waits for it then ends with the server's answer, or with the driver.

    Raises:
        TimeoutError: If it takes longer.
    """
    return in_thread(work).result(timeout=seconds)


def _size(value: object) -> int:
    """Return about how many bytes a plain value takes."""
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, dict):
        return sum(_size(key) + _size(v) for key, v in value.items())
    if isinstance(value, list):
        return sum(map(_size, value)) + 8
    return 8


def _error(database: Database, text: str, exc: Exception, timeout_s: float) -> StoreError:
    code = str(getattr(exc, "code", None) or "")
    if code.startswith(_TIMED_OUT):
        return stopped(text, timeout_s)
    if isinstance(exc, Neo4jError) and _ITS_OWN.match(code):
        if TOO_LARGE in (exc.message or ""):
            return StatementError(f"{shown(text)}: {_BOUND}")
        message = (exc.message or code).partition(" (line ")[0].partition("\n")[0]
        return StatementError(f"{shown(text)}: {message}: correct the statement, or ask for less")
    return store_error(database.address, exc)


_ENDING_S = 5.0  # for the server to end what it was told to
_LOOK_S = 0.2  # between two looks at whether it has
_LOOKING_S = 1.0  # for the looks themselves


def end(database: Database, mark: str) -> str:
    """End a statement's transactions, and report those that continue.

    Args:
        database: Where it runs.
        mark: That its transactions were given.

    Returns:
        Words for it; empty where nothing does.
    """

    def left() -> str:
        until = time.monotonic() + _ENDING_S
        while ids := [row["id"] for row in database.read("under_way", mark=mark)]:
            if time.monotonic() > until:
                return f"the server computes on ({', '.join(ids)}), though it was told to end"
            database.read("terminate", ids=ids)
            time.sleep(_LOOK_S)
        return ""

    try:
        return in_thread(left).result(timeout=_ENDING_S + _LOOKING_S)
    except (TimeoutError, StoreError):
        return "nobody knows whether the server computes on"
