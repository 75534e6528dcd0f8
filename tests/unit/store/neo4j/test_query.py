import threading
from types import SimpleNamespace
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import Neo4jError, ServiceUnavailable

from kgrag.errors import StatementError, StoreUnavailableError
from kgrag.store.neo4j import query
from kgrag.store.neo4j.address import Address
from kgrag.store.neo4j.query import run_query
from tests.fixtures.double import Double

READS = {"operatorType": "ProduceResults@neo4j"}
LATE = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"


class Result:
    """Rows of one column, and a summary."""

    def __init__(self, rows, summary=None, columns=("x",)):
        self._rows = rows
        self._columns = list(columns)
        self._summary = summary

    def keys(self):
        """Return the name of the column."""
        return self._columns

    def __iter__(self):
        return (SimpleNamespace(values=lambda row=row: [row]) for row in self._rows)

    def consume(self):
        """Return the summary."""
        return self._summary


class Server(Double):
    """A database that answers as it is told, and keeps what it was asked."""

    def __init__(self, rows=(), *, query_type="r", plan=READS, fault=None):
        self.address = Address("bolt://there:7687", "neo4j")
        self.driver = self
        self.execute_query_bookmark_manager = None
        self.asked = []
        self.options = {}
        self.columns = ["x"]
        self._rows, self._fault = rows, fault
        self._summary = SimpleNamespace(query_type=query_type, plan=plan)

    def session(self, **options):
        """Return itself, and keep the options."""
        self.options = options
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def run(self, query):
        """Return what it was told to, and keep the query."""
        self.asked.append(query)
        if query.text.startswith("EXPLAIN "):
            return Result([], self._summary)
        if self._fault:
            raise self._fault
        return Result(self._rows, columns=self.columns)


def ask(server, text, *, max_rows=200, timeout_s=5.0):
    return run_query(server, text, max_rows=max_rows, timeout_s=timeout_s)


def server_fault(code, message="No"):
    return Neo4jError._hydrate_neo4j(code=code, message=message)


def test_a_statement_is_explained_then_run_in_read_mode_with_a_timeout():
    """As it was written, nothing but EXPLAIN before it."""
    server = Server([1, 2])
    sent = "return 1 AS x; // all"
    assert ask(server, sent, timeout_s=3) == [{"x": 1}, {"x": 2}]
    assert [query.text for query in server.asked] == [f"EXPLAIN {sent}", sent]
    assert all(2 < query.timeout <= 3 for query in server.asked)
    assert server.options["default_access_mode"] == neo4j.READ_ACCESS
    assert server.options["database"] == "neo4j"


def test_what_is_nested_too_deep_for_the_driver_is_the_statements_fault():
    """It reads values and plans by recursion."""
    with pytest.raises(StatementError, match=r"^RETURN 1: its plan .* nested too deep"):
        ask(Server(fault=RecursionError()), "RETURN 1")


@pytest.mark.parametrize(
    "answer",
    [
        {"query_type": "s"},
        {"plan": None},
        *(
            {"plan": {"operatorType": operator, "args": {"Details": details}}}
            for operator, details in (
                ("LoadCSV@neo4j", "row"),
                ("ShowSettings@neo4j", ""),
                ("TerminateTransactions@neo4j", ""),
                ("ProcedureCall@neo4j", "dbms.listConfig() :: (name)"),
                ("Filter@neo4j", "exists { LOAD CSV FROM 'http://x' AS row }"),
                ("PartitionedDirectedSomethingNew@neo4j", ""),
                ("Projection@neo4j", "[x IN y | COLLECT { CALL dbms.listConfig() }]"),
            )
        ),
        {"plan": {"operatorType": "Limit@neo4j", "children": [{"operatorType": "LoadCSV@neo4j"}]}},
    ],
)
def test_what_the_plan_shows_to_be_refused_is_not_run(answer):
    """Only EXPLAIN was sent."""
    server = Server(**answer)
    with pytest.raises(StatementError, match=r"^RETURN 1: its? "):
        ask(server, "RETURN 1")
    assert [query.text for query in server.asked] == ["EXPLAIN RETURN 1"]


@pytest.mark.parametrize(
    "operator",
    ["NodeByLabelScan", "PartitionedDirectedRelationshipTypeScan", "UndirectedAllRelationshipsScan",
     "DirectedRelationshipIndexSeekByRange"],
)  # fmt: skip
def test_what_reads_is_run(operator):
    calls = {"operatorType": "ProcedureCall@neo4j", "args": {"Details": "db.labels() :: (label)"}}
    plan = {"operatorType": f"{operator}@neo4j", "children": [calls]}
    assert ask(Server([1], plan=plan), "RETURN 1") == [{"x": 1}]


def test_no_more_rows_are_fetched_than_asked_for():
    """The rest is left with the server."""
    rows = iter(range(10))
    assert len(ask(Server(rows), "RETURN 1", max_rows=4)) == 4
    assert next(rows) == 4


def test_rows_of_more_than_ten_megabytes_are_refused():
    """Texts count as UTF-8, in lists and mappings too."""
    row = {"a": ["字" * 1_000_000]}
    assert len(ask(Server([row] * 3), "RETURN 1")) == 3
    with pytest.raises(StatementError, match="more than 10 MB: return fewer"):
        ask(Server([row] * 4), "RETURN 1")


def test_a_statement_that_the_server_stops_took_too_long():
    """The remedy is the user's."""
    server = Server(fault=server_fault(LATE))
    with pytest.raises(StatementError, match=r"stopped after 2 s: ask for less, or allow more"):
        ask(server, "RETURN 1", timeout_s=2)


def silent(*_, **__):
    raise StoreUnavailableError("cannot be reached")


def test_the_caller_does_not_wait_for_a_server_that_does_not_stop():
    """It heeds no timeout within an expression."""
    free = threading.Event()
    server: Any = Server()
    server.session = lambda **_: free.wait(30)
    server.read = silent
    with pytest.raises(StatementError, match=r"no answer after 0\.01 s, and nobody knows whether"):
        ask(server, "RETURN 1", timeout_s=0.01)
    free.set()


@pytest.mark.parametrize(
    ("looks", "said"),
    [
        (0, r"stopped after 0\.01 s: ask for less"),
        (2, r"stopped after 0\.01 s: ask for less"),
        (
            10**9,
            r"no answer after 0\.01 s, and the server computes on \(tx-7\), though",
        ),
    ],
)
def test_what_the_server_still_does_is_ended_or_told(monkeypatch, looks, said):
    """It is told to end, and looked for until it has; what does not end is no word of `stopped`."""
    monkeypatch.setattr(query, "_ENDING_S", 0.3)
    monkeypatch.setattr(query, "_LOOK_S", 0.01)
    free = threading.Event()
    server: Any = Server()
    ended: list[list[str]] = []

    def read(name, **given):
        if name == "under_way":  # so many times; its mark is that of the statement
            assert {asked.metadata["kgrag"] for asked in server.asked} == {given["mark"]}
            return [{"id": "tx-7"}] * (len(ended) < looks)
        assert name == "terminate"
        ended.append(given["ids"])
        return []

    run, server.read = server.run, read

    def hang(query):
        run(query)
        free.wait(30)

    server.run = hang
    with pytest.raises(StatementError, match=said):
        ask(server, "RETURN 1", timeout_s=0.01)
    free.set()
    assert all(ids == ["tx-7"] for ids in ended)
    assert len(ended) == looks or looks > 2


@pytest.mark.parametrize(
    "code",
    [
        "Neo.ClientError.Statement.SyntaxError",
        "Neo.ClientError.Procedure.ProcedureCallFailed",
        "Neo.TransientError.General.OutOfMemoryError",
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
        "Neo.DatabaseError.General.UnknownError",
    ],
)
def test_what_a_statement_brings_about_is_its_own_fault(code):
    """Without the place and echo that the server adds, which count EXPLAIN."""
    fault = server_fault(code, 'Wrong (line 1, column 16 (offset: 15))\n"EXPLAIN RETURN 1"')
    with pytest.raises(StatementError, match=r"^RETURN 1: Wrong: correct the statement"):
        ask(Server(fault=fault), "RETURN 1")


@pytest.mark.parametrize(
    "fault",
    [
        ServiceUnavailable("gone"),
        server_fault("Neo.TransientError.General.DatabaseUnavailable"),
        server_fault("Neo.ClientError.Security.Unauthorized"),
    ],
)
def test_a_server_that_does_not_serve_is_unavailable(fault):
    """Not the statement is at fault."""
    with pytest.raises(StoreUnavailableError, match=r"^bolt://there:7687"):
        ask(Server(fault=fault), "RETURN 1")


@pytest.mark.parametrize("limits", [{"max_rows": 0}, {"timeout_s": 0.0}])
def test_limits_that_allow_nothing_are_wrong(limits):
    """A timeout of 0 would mean none to the server."""
    with pytest.raises(ValueError, match="must be positive"):
        ask(Server(), "RETURN 1", **limits)
