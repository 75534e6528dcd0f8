"""Cypher that the owner writes, and the statements of forms: read-only, within limits.

The owner's text is explained first: its plan may hold only operators that read. Both run in a read
transaction with time, rows and size bounded. What is stopped is looked for on the server, ended
there, and told where it goes on.
"""

import json
import logging
import math
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import TypeVar
from uuid import uuid4

import neo4j
from neo4j.exceptions import Neo4jError
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

from kgrag.errors import StatementError, StoreError
from kgrag.store.graph_query import GraphQuery
from kgrag.store.graph_statement import FORM_S, GraphRows, compiled
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.faults import FAULTS, store_error
from kgrag.store.neo4j.liveness import in_thread, is_silent, silent_error
from kgrag.store.neo4j.statements import DIALECT, of_base
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
# The operators of Neo4j 5.26 that read the graph or combine rows; the rest write, load files, show
# settings or open transactions. One of a later version is refused until it is listed here.
_OPERATORS = frozenset(
    {
        *("AllNodesScan", "IntersectionNodeByLabelsScan", "NodeByLabelScan"),
        *("SubtractionNodeByLabelsScan", "UnionNodeByLabelsScan", "NodeCountFromCountStore"),
        *("RelationshipCountFromCountStore", "MultiNodeIndexSeek", "NodeByElementIdSeek"),
        *("NodeByIdSeek", "NodeIndexContainsScan", "NodeIndexEndsWithScan", "NodeIndexScan"),
        *("NodeIndexSeek", "NodeIndexSeekByRange", "NodeUniqueIndexSeek"),
        *("NodeUniqueIndexSeekByRange", "AllRelationshipsScan", "RelationshipTypeScan"),
        *("UnionRelationshipTypesScan", "RelationshipByElementIdSeek", "RelationshipByIdSeek"),
        *("RelationshipIndexContainsScan", "RelationshipIndexEndsWithScan"),
        *("RelationshipIndexScan", "RelationshipIndexSeek", "RelationshipIndexSeekByRange"),
        *("RelationshipUniqueIndexSeek", "RelationshipUniqueIndexSeekByRange", "Expand(All)"),
        *("Expand(Into)", "OptionalExpand(All)", "OptionalExpand(Into)", "VarLengthExpand(All)"),
        *("VarLengthExpand(Into)", "VarLengthExpand(Pruning)", "VarLengthExpand(Pruning,BFS)"),
        *("VarLengthExpand(Pruning,BFS,All)", "VarLengthExpand(Pruning,BFS,Into)"),
        *("PathPropagatingBFS", "ProjectEndpoints", "Repeat(Trail)", "Repeat(Walk)"),
        *("BidirectionalRepeat(Trail)", "BidirectionalRepeat(Walk)", "RepeatOptions"),
        *("ShortestPath", "StatefulShortestPath(All)", "StatefulShortestPath(Into)"),
        *("TriadicBuild", "TriadicFilter", "TriadicSelection", "Anti", "AntiConditionalApply"),
        *("AntiSemiApply", "Apply", "Argument", "ArgumentTracker", "AssertSameNode"),
        *("AssertSameRelationship", "CacheProperties", "CartesianProduct", "ConditionalApply"),
        *("Distinct", "Eager", "EagerAggregation", "EmptyResult", "EmptyRow", "ExhaustiveLimit"),
        *("Filter", "LetAntiSemiApply", "LetSelectOrAntiSemiApply", "LetSelectOrSemiApply"),
        *("LetSemiApply", "Limit", "NodeHashJoin", "NodeLeftOuterHashJoin"),
        *("NodeRightOuterHashJoin", "NonFuseable", "NullifyMetadata", "Optional"),
        *("OrderedAggregation", "OrderedDistinct", "OrderedUnion", "PartialSort", "PartialTop"),
        *("PreserveOrder", "ProcedureCall", "ProduceResults", "Projection", "RollUpApply"),
        *("SelectOrAntiSemiApply", "SelectOrSemiApply", "SemiApply", "Skip", "Sort", "Top"),
        *("Top1WithTies", "Union", "Unwind", "ValueHashJoin"),
    }
)
_WAY = re.compile(r"(?:Partitioned)?(?:Directed|Undirected)?")
# Names in use, and the nodes that an index finds.
_PROCEDURES = (
    *("db.index.fulltext.queryNodes", "db.index.vector.queryNodes", "db.labels"),
    *("db.propertyKeys", "db.relationshipTypes", "db.schema.visualization"),
)
# A subquery that is no operator of its own shows only in the words of one.
_INSIDE = re.compile(r"\b(?:LOAD\s+CSV|SHOW|TERMINATE|CALL\s+[\w.]+\()", re.IGNORECASE)
# Of nodes: vectors, and the words and pairs of characters that full-text indexes read.
_HIDDEN = frozenset({"vector", "embedding", "words", "pairs", "path_words", "path_pairs"})
_MOST_FLOATS = 64  # in a list; more are a vector

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

    def rows(session: neo4j.Session, asked: Callable[[str], neo4j.Query]) -> list[Row]:
        summary = session.run(asked("EXPLAIN " + text)).consume()
        check_plan(summary.query_type, summary.plan)
        return _rows(session.run(asked(text)), max_rows=max_rows)

    found = _stopped_in_time(database, text, rows, max_rows=max_rows, timeout_s=timeout_s)
    _log.info("%d rows of %s", len(found), text)
    return found


def run_form(
    database: Database, query: GraphQuery, *, most: int, doc_ids: Collection[str] | None = None
) -> GraphRows:
    """Return the rows of a form, at most so many; see `WholeStore.graph_rows`.

    Raises:
        OutOfRangeError: If the form asks for what there is not.
        StatementError: If it takes too long.
        StoreUnavailableError: If the server cannot be reached.
    """
    made = compiled(query, DIALECT, most=most, doc_ids=doc_ids)
    made = replace(made, text=of_base(made.text, database.address.base))

    def rows(session: neo4j.Session, asked: Callable[[str], neo4j.Query]) -> GraphRows:
        result = session.run(asked(made.text), {**made.parameters})
        return made.rows(record.values() for record in result)

    return _stopped_in_time(database, "graph-query", rows, max_rows=1000, timeout_s=FORM_S)


def _stopped_in_time(
    database: Database,
    text: str,
    work: Callable[[neo4j.Session, Callable[[str], neo4j.Query]], _T],
    *,
    max_rows: int,
    timeout_s: float,
) -> _T:
    """Return what is read in a session; what takes longer is ended.

    Raises:
        StatementError: If it takes too long, or the server refuses it.
        StoreUnavailableError: If the server cannot be reached.
    """
    mark, until = uuid4().hex, time.monotonic() + timeout_s

    def asked(text: str) -> neo4j.Query:
        # A timeout of 0 would mean none.
        seconds = max(until - time.monotonic(), 0.001)
        return neo4j.Query(text, metadata={"kgrag": mark}, timeout=seconds)

    def run() -> _T:
        driver = database.driver
        with driver.session(
            database=database.address.database,
            default_access_mode=neo4j.READ_ACCESS,
            bookmark_manager=driver.execute_query_bookmark_manager,
            fetch_size=min(max_rows, _FETCHED),
            notifications_min_severity="OFF",
        ) as session:
            return work(session, asked)

    try:
        # The server heeds a timeout between two rows, not within an expression or while it plans.
        # The thread that still waits for it ends with the server's answer, or with the driver.
        return in_thread(run).result(timeout=timeout_s + _GRACE_S)
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


def check_plan(query_type: str | None, plan: Mapping[str, object] | None) -> None:
    """Refuse a plan that does more than read the graph.

    Args:
        query_type: Of the summary of EXPLAIN: r, w, rw or s.
        plan: Of the same.

    Raises:
        StatementError: If it is refused; says why.
    """
    if query_type != "r" or plan is None:
        raise StatementError("it does more than read the graph: only reading is allowed")
    for name, details in _operators(plan):
        if name not in _OPERATORS and _WAY.sub("", name, count=1) not in _OPERATORS:
            raise StatementError(f"its plan holds {name}, which is not known to only read")
        if name == "ProcedureCall" and not details.startswith(_PROCEDURES):
            raise StatementError(f"its plan calls {details.partition('(')[0]}, which is refused")
        if name != "ProcedureCall" and (found := _INSIDE.search(details)):
            raise StatementError(f"its plan holds {found[0]}, which is refused within {name}")


def _operators(plan: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield the name and details of each operator."""
    arguments = plan.get("args")
    details = arguments.get("Details", "") if isinstance(arguments, Mapping) else ""
    yield str(plan.get("operatorType", "")).partition("@")[0], str(details)  # "Filter@neo4j"
    children = plan.get("children")
    for child in children if isinstance(children, list) else ():
        yield from _operators(child)


def _rows(result: neo4j.Result, *, max_rows: int) -> list[Row]:
    rows: list[Row] = []
    size = 0
    names = list(result.keys())
    for record in result:
        row = dict(zip(names, map(plain, record.values()), strict=True))
        size += len(json.dumps(row, ensure_ascii=False).encode(errors="replace"))
        if size > _MOST_BYTES:
            raise StatementError(
                f"its rows hold more than {_MOST_BYTES // 1_000_000} MB: return fewer of them, or "
                "only some properties"
            )
        rows.append(row)
        if len(rows) == max_rows:
            break
    return rows


def plain(value: object) -> object:
    """Return a value as text, number, list or mapping, without vectors.

    Nodes become {labels, properties}, relationships {type, properties}, paths the list of both
    in turn, dates and points texts; of a vector only its size is given.
    """
    if isinstance(value, Path | Node | Relationship):
        return _of_graph(value)
    if isinstance(value, Point):
        return f"point({', '.join(map(str, value))}), srid {value.srid}"
    if isinstance(value, Date | DateTime | Time | Duration):
        return value.iso_format()
    if isinstance(value, dict):
        return {key: plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        if len(value) > _MOST_FLOATS and all(isinstance(v, float) for v in value):
            return f"(vector of {len(value)} numbers)"
        return [plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON knows none
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _of_graph(value: Path | Node | Relationship) -> object:
    if isinstance(value, Path):
        steps = [plain(value.start_node)]
        for relationship, node in zip(value.relationships, value.nodes[1:], strict=True):
            steps += [plain(relationship), plain(node)]
        return steps
    shown = {k: plain(value[k]) for k in sorted(value) if k not in _HIDDEN}
    kind = {"labels": sorted(value.labels)} if isinstance(value, Node) else {"type": value.type}
    return {**kind, "properties": shown}


def _error(database: Database, text: str, exc: Exception, timeout_s: float) -> StoreError:
    code = str(getattr(exc, "code", None) or "")
    if code.startswith(_TIMED_OUT):
        return stopped(text, timeout_s)
    if isinstance(exc, Neo4jError) and _ITS_OWN.match(code):
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
