"""The connection without a server: faults, retries, batches, and what is closed."""

import socket
import subprocess
import sys
import threading
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import IncompleteCommit, Neo4jError, ServiceUnavailable, SessionExpired

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.store.neo4j import connection
from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.connection import Database, Transaction
from kgrag.store.neo4j.statements import statement
from tests.fixtures.double import Double

ADDRESS = parse("bolt://graph:7687/kb")


class Session(Double):
    """A session whose statements and commits fail as told."""

    def __init__(self, driver):
        self.driver = driver

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.close()

    def close(self):
        """End it."""
        self.driver.open_sessions -= 1

    def run(self, text, parameters=None, **more):
        """Answer a statement."""
        return self.driver.answer("run", text, {**(parameters or {}), **more})

    def execute_write(self, work):
        """Do as the driver does: repeat what may succeed later."""
        while True:
            try:
                result = work(self)
                self.driver.answer("commit")
            except Neo4jError as exc:
                if not exc.is_retryable():
                    raise
            else:
                return result


class Driver(Double):
    """A driver that answers from a list; exceptions in it are raised."""

    def __init__(self, *answers, agent="Neo4j/5.26.28"):
        self.answers, self.agent = list(answers), agent
        self.calls, self.sessions, self.open_sessions, self.closed = [], [], 0, 0
        self.execute_query_bookmark_manager = object()

    def answer(self, *call):
        """Note a call; return or raise the next answer, nothing in the end."""
        self.calls.append(call)
        answer = self.answers.pop(0) if self.answers else []
        if isinstance(answer, Exception):
            raise answer
        return answer

    def session(self, **options):
        """Open a session."""
        self.sessions.append(options)
        self.open_sessions += 1
        return Session(self)

    def execute_query(self, text, parameters=None, **options):
        """Answer a statement that is repeated where it may."""
        records = self.answer("execute_query", text, {**(parameters or {}), **options})
        summary: Any = None
        return neo4j.EagerResult(records, summary, [])

    def get_server_info(self):
        """Say who the server is."""
        self.answer("info")
        return self

    def close(self):
        """Count how often."""
        self.closed += 1


def database(*answers):
    driver = Driver(*answers)
    return Database(ADDRESS, driver), driver


def opened(monkeypatch, driver):
    monkeypatch.setattr(neo4j.GraphDatabase, "driver", lambda uri, **options: driver)
    return Database.open(ADDRESS)


def server_error(code):
    return Neo4jError._hydrate_neo4j(code=code, message="it said so")


@pytest.mark.parametrize(
    "agent", ["Neo4j/5.25.1", "Neo4j/4.4.40", "Neo4j/5.9.0", "Neo4j/dev", "other"]
)
def test_an_old_server_is_refused_and_left(monkeypatch, agent):
    """With the version seen and the one needed."""
    driver = Driver(agent=agent)
    with pytest.raises(StoreUnavailableError, match=r"too old: use 5\.26 or newer"):
        opened(monkeypatch, driver)
    assert driver.closed == 1


@pytest.mark.parametrize("agent", ["Neo4j/5.26.0", "Neo4j/5.26.0-SNAPSHOT", "Neo4j/2025.10.1"])
def test_a_newer_server_is_taken(monkeypatch, agent):
    """Whatever comes after the oldest."""
    assert opened(monkeypatch, Driver(agent=agent)).address == ADDRESS


def test_a_server_that_refuses_us_is_left(monkeypatch):
    """No connection stays behind an error."""
    driver = Driver(server_error("Neo.ClientError.Security.Unauthorized"))
    with pytest.raises(StoreUnavailableError, match="NEO4J_PASSWORD"):
        opened(monkeypatch, driver)
    assert driver.closed == 1


def test_a_server_that_does_not_run_is_unavailable():
    """At once: nothing listens at this port."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    with pytest.raises(StoreUnavailableError, match=r"cannot be reached.*the server runs"):
        Database.open(parse(f"bolt://127.0.0.1:{port}"))


@pytest.mark.parametrize("query", ["?x=1", "?policy=eu"])
def test_an_address_that_the_driver_refuses_is_told(query):
    """`bolt` takes no routing context."""
    with pytest.raises(StoreError, match="127"):
        Database.open(parse(f"bolt://127.0.0.1:1{query}"))


def test_lines_of_the_driver_are_not_printed_for_who_does_not_listen():
    """A program that uses us and no log; `logging` would print them to stderr as a last resort."""
    said = (
        "import logging, kgrag.store.neo4j.connection;"
        "logging.getLogger('neo4j.pool').error('Unable to retrieve routing information')"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_closed_database_is_told():
    """With the remedy; closing twice is no error."""
    base, driver = database()
    base.close()
    base.close()

    assert driver.closed == 1
    for use in (
        lambda: base.read("base"),
        lambda: list(base.stream("base")),
        lambda: base.write(lambda tx: tx.run("count_change")),
        lambda: base.define("index_states"),
        base.await_indexes,
    ):
        with pytest.raises(StoreError, match="is closed: open it again"):
            use()


def test_a_statement_is_sent_by_name():
    """To the database of the address, with its parameters beside the text."""
    base, driver = database([{"id": 1}])
    assert base.read("source", source="'}) DETACH DELETE (s) //") == [{"id": 1}]

    assert driver.calls == [
        ("run", statement("source"), {"source": "'}) DETACH DELETE (s) //"})
    ]  # fmt: skip
    assert driver.sessions == [
        {"database": "kb", "default_access_mode": neo4j.READ_ACCESS,
         "bookmark_manager": driver.execute_query_bookmark_manager}
    ]  # fmt: skip
    assert driver.open_sessions == 0


@pytest.mark.parametrize(
    "exc",
    [
        ServiceUnavailable("?"),
        SessionExpired("?"),
        server_error("Neo.TransientError.Transaction.DeadlockDetected"),
        server_error("Neo.ClientError.Cluster.NotALeader"),
    ],
)
def test_a_read_that_may_succeed_later_is_repeated(exc):
    """By the driver, which waits and looks for another member."""
    base, driver = database(exc, [{"id": 1}])
    assert base.read("source", source="x") == [{"id": 1}]
    kind, text, parameters = driver.calls[1]
    assert (kind, text) == ("execute_query", statement("source"))
    assert parameters == {
        "source": "x", "routing_": neo4j.RoutingControl.READ, "database_": "kb"
    }  # fmt: skip


def test_a_read_that_cannot_succeed_is_not_repeated():
    """It is told, with the address."""
    base, driver = database(server_error("Neo.ClientError.Statement.SyntaxError"))
    with pytest.raises(StoreError, match=r"graph:7687/kb: it said so"):
        base.read("base")
    assert len(driver.calls) == 1


@pytest.mark.parametrize("failures", [0, 1, 4])
def test_a_write_of_unknown_outcome_is_repeated(failures):
    """Every write leaves the same when it is done twice; it is told what it did before."""
    base, driver = database(*[IncompleteCommit("?")] * failures)
    earlier = []

    def work(tx):
        earlier.append(tx.earlier)
        return len(earlier)

    assert base.write(work) == failures + 1
    assert earlier == [tuple(range(1, n + 1)) for n in range(failures + 1)]
    assert driver.open_sessions == 0


def test_a_write_of_unknown_outcome_is_given_up_in_the_end():
    """Five times are enough."""
    base, driver = database(*[IncompleteCommit("?")] * 9)
    with pytest.raises(StoreUnavailableError, match=r"cannot be reached"):
        base.write(lambda tx: None)
    assert len(driver.calls) == 5


def test_a_database_that_takes_no_writes_is_told_soon():
    """The driver takes that for passing, and would go on for two minutes."""
    refusal = server_error("Neo.ClientError.General.ForbiddenOnReadOnlyDatabase")
    base, driver = database(*[refusal] * 99)
    with pytest.raises(StoreError, match="may only be read"):
        base.write(lambda tx: tx.run("count_change"))
    assert len(driver.calls) < 6


def test_a_write_that_may_succeed_later_is_repeated():
    """By the driver: after a deadlock, for instance."""
    base, driver = database(server_error("Neo.TransientError.Transaction.DeadlockDetected"))
    assert base.write(lambda tx: tx.run("any_embedding")) == []
    assert [call[0] for call in driver.calls] == ["run", "run", "commit"]


def test_definitions_go_together():
    """Of an index that is dropped and made again nobody sees the gap."""
    base, driver = database([], [{"name": "kgrag_terms_8"}])
    rows = base.define("drop_index_terms", "index_terms", size=8)
    assert rows == [{"name": "kgrag_terms_8"}]
    assert [call[0] for call in driver.calls] == ["run", "run", "commit"]
    texts = [statement(name, size=8) for name in ("drop_index_terms", "index_terms")]
    assert [text for _, text, _ in driver.calls[:2]] == texts
    assert len(driver.sessions) == 1


def test_an_error_of_ours_comes_out_of_a_write_as_it_is():
    """Only the driver's are translated."""
    base, _ = database()

    def refuse(tx):
        raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        base.write(refuse)


@pytest.mark.parametrize("after", [0, 1])
def test_a_stream_that_breaks_is_told(after):
    """Wherever it breaks; rows come many at a time."""

    def rows():
        yield from range(after)
        raise ServiceUnavailable("?")

    base, driver = database(rows())
    seen = []
    with pytest.raises(StoreUnavailableError):
        seen.extend(base.stream("every_entity"))
    assert seen == []
    assert driver.open_sessions == 0


def test_a_stream_that_is_left_closes_its_session():
    """The rest stays on the server."""
    base, driver = database(iter(range(9)))
    rows = base.stream("every_entity")
    assert next(rows) == 0
    assert driver.open_sessions == 1
    rows.close()
    assert driver.open_sessions == 0


class Work(Double):
    """A transaction of the driver's that notes what runs in it."""

    def __init__(self):
        self.ran = []

    def run(self, text, parameters):
        """Note it."""
        self.ran.append((text, parameters))
        return self

    def __iter__(self):
        return iter([1, 2])


def test_a_transaction_that_is_given_up_sends_nothing_more():
    """Who waited for it was interrupted, and closes the connection."""
    work, given_up = Driver(), threading.Event()
    given = transaction(Session(work), given_up)
    given.run("put_source", source="/a", id="d")
    given_up.set()
    with pytest.raises(StoreError, match="given up"):
        given.run("put_source", source="/a", id="d")
    with pytest.raises(StoreError, match="given up"):
        given.run_rows("put_names", [1], id="d")
    assert len(work.calls) == 1


def test_what_cannot_be_closed_in_order_is_left():
    """A thread may be at work on it still: the driver fails over that in many ways."""
    driver: Any = Driver()
    driver.close = lambda: dict[str, int]()["response"]
    Database(ADDRESS, driver).close()


def test_a_session_is_closed_behind_the_thread_that_waits_on_its_connection(monkeypatch):
    """Two threads on one connection take each other's answers; nobody waits for it, though."""
    monkeypatch.setattr(connection, "_CLOSING_S", 0.05)
    turn, closed = threading.Lock(), threading.Event()
    session: Any = Driver()
    session.close = closed.set
    with turn:
        connection._close(session, turn)
        assert not closed.is_set()
    assert closed.wait(10)
    closed.clear()
    connection._close(session, turn)  # at once, as after a stream that was read to its end
    assert closed.is_set()


def transaction(work, given_up=None):
    return Transaction(work, (), "", given_up or threading.Event())


def test_rows_go_in_batches():
    """Each with the other parameters; none at all without rows."""
    work = Work()
    assert transaction(work).run_rows("put_names", list(range(5)), size=2, id="d") == [1, 2] * 3
    assert transaction(work).run_rows("put_names", [], id="d") == []

    assert work.ran == [
        (statement("put_names"), {"id": "d", "rows": rows}) for rows in ([0, 1], [2, 3], [4])
    ]


def test_a_transaction_runs_statements_by_name():
    """And reads their rows, so that an error shows where it happened."""
    work = Work()
    assert transaction(work).run("put_source", source="/a", id="d") == [1, 2]
    assert work.ran == [(statement("put_source"), {"source": "/a", "id": "d"})]
    with pytest.raises(KeyError):
        transaction(work).run("MATCH (n) DETACH DELETE n")
