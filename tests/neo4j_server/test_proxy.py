"""What the driver sees of each fault, without kgrag."""

import threading
from typing import TYPE_CHECKING

import pytest

from tests.neo4j_server.plugin import driver_of

if TYPE_CHECKING:
    from neo4j import Driver

neo4j = pytest.importorskip("neo4j")
pytestmark = pytest.mark.neo4j

CREATE = "CREATE (:Trial {x: $x})"


@pytest.fixture
def connect(empty_neo4j, neo4j_proxy):
    """A function that returns a driver through the proxy."""
    drivers = []

    def open_driver(scheme="bolt"):
        drivers.append(driver_of(neo4j_proxy.uri(scheme)))
        return drivers[-1]

    yield open_driver
    for driver in drivers:
        driver.close()


@pytest.fixture
def count(empty_neo4j):
    """A function that asks the server itself how much was created."""
    with driver_of(empty_neo4j) as direct:
        yield lambda: direct.execute_query("MATCH (n:Trial) RETURN count(n) AS n").records[0]["n"]


def create(driver: "Driver", x: int = 1) -> int:
    """Run one transaction that the driver may repeat; return how often it began."""
    tries = []

    def work(tx):
        tries.append(x)
        tx.run(CREATE, x=x).consume()

    with driver.session() as session:
        session.execute_write(work)
    return len(tries)


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_proxy_is_not_seen_without_faults(connect, neo4j_proxy, scheme):
    """Writes, reads and results beyond one fetch pass; routing stays on the proxy."""
    driver = connect(scheme)
    assert create(driver) == 1
    result = driver.execute_query("UNWIND range(1, 5000) AS i RETURN i, $big", big="碳" * 70_000)
    assert [record["i"] for record in result.records] == list(range(1, 5001))
    assert result.summary.server.address[1] == neo4j_proxy.port
    assert neo4j_proxy.seen["COMMIT"] == 2
    assert (neo4j_proxy.seen["ROUTE"] > 0) is (scheme == "neo4j")


@pytest.mark.parametrize("scheme", ["bolt", "neo4j"])
def test_cut_connections_are_replaced_when_the_transaction_may_be_repeated(
    connect, neo4j_proxy, count, scheme
):
    """What waits in the driver's pool is dead; a managed transaction gets a new connection."""
    driver = connect(scheme)
    create(driver)
    neo4j_proxy.cut()
    create(driver)
    assert count() == 2


def test_cut_in_a_transaction_is_an_error_of_the_transaction(connect, neo4j_proxy, count):
    """One that is not managed is lost, and rolled back."""
    with connect().session() as session:
        tx = session.begin_transaction()
        tx.run(CREATE, x=1).consume()
        neo4j_proxy.cut()
        with pytest.raises((neo4j.exceptions.ServiceUnavailable, neo4j.exceptions.SessionExpired)):
            tx.run(CREATE, x=2).consume()
        tx.close()
    assert count() == 0


@pytest.mark.parametrize("to", ["server", "client"])
def test_cut_after_bytes_strikes_in_the_middle_of_a_message(connect, neo4j_proxy, count, to):
    """A long parameter, or a long result, is broken off; the driver begins again."""
    driver = connect()
    driver.verify_connectivity()
    neo4j_proxy.cut_after(20_000, to)
    tries = []

    def work(tx):
        tries.append(1)
        query = "CREATE (n:Trial {x: $x}) RETURN n.x AS x"
        return tx.run(query, x="x" * 60_000).single(strict=True)["x"]

    with driver.session() as session:
        assert session.execute_write(work) == "x" * 60_000
    assert len(tries) == 2
    assert count() == 1


def test_lost_commit_is_rolled_back(connect, neo4j_proxy, count):
    """The server never heard of it; the driver cannot know, and does not try again."""
    neo4j_proxy.cut_at("COMMIT", lost="request")
    with pytest.raises(neo4j.exceptions.IncompleteCommit):
        create(connect())
    assert count() == 0


def test_lost_answer_to_commit_leaves_the_write_behind(connect, neo4j_proxy, count):
    """The server did it and nobody heard; to the driver it looks the same."""
    neo4j_proxy.cut_at("COMMIT", lost="reply")
    with pytest.raises(neo4j.exceptions.IncompleteCommit):
        create(connect())
    assert count() == 1


def test_cut_lets_messages_through_that_are_to_be_skipped(connect, neo4j_proxy, count):
    """The third transaction is struck, no other."""
    driver = connect()
    neo4j_proxy.cut_at("RUN", lost="request", skip=2)
    assert [create(driver, x) for x in range(4)] == [1, 1, 2, 1]
    assert count() == 4


@pytest.mark.parametrize("scheme", ["neo4j", "bolt"])
def test_followers_refusal_makes_the_driver_try_again(connect, neo4j_proxy, count, scheme):
    """Managed transactions are repeated; with routing, who leads is asked for anew."""
    driver = connect(scheme)
    driver.execute_query("RETURN 1")
    asked = neo4j_proxy.seen["ROUTE"]
    neo4j_proxy.not_a_leader(2)
    assert create(driver) == 3
    assert count() == 1
    assert (neo4j_proxy.seen["ROUTE"] > asked) is (scheme == "neo4j")


def test_followers_refusal_does_not_touch_reads(connect, neo4j_proxy):
    """A follower answers them; a statement without transaction that writes is refused."""
    neo4j_proxy.not_a_leader(1)
    driver = connect("neo4j")
    with driver.session(default_access_mode=neo4j.READ_ACCESS) as session:
        assert session.execute_read(lambda tx: tx.run("RETURN 1").single(strict=True)[0]) == 1
        assert session.run("RETURN 2").single(strict=True)[0] == 2
    with driver.session() as session, pytest.raises(neo4j.exceptions.NotALeader):
        session.run(CREATE, x=1).consume()
    assert create(driver) == 1


def test_failure_of_any_code_reaches_the_driver(connect, neo4j_proxy, count):
    """Passing ones are repeated, others raised as the driver's class for them."""
    driver = connect()
    neo4j_proxy.fail("COMMIT", "Neo.TransientError.Transaction.DeadlockDetected")
    assert create(driver) == 2
    neo4j_proxy.fail("RUN", "Neo.ClientError.Statement.SyntaxError")
    with pytest.raises(neo4j.exceptions.CypherSyntaxError, match="refused by the proxy"):
        create(driver)
    assert create(driver) == 1
    assert count() == 2


def test_refused_connections_are_tried_again_until_they_are_taken(connect, neo4j_proxy, count):
    """A server that is away for a moment costs a moment."""
    driver = connect()
    neo4j_proxy.refuse()
    with pytest.raises(neo4j.exceptions.ServiceUnavailable):
        driver.verify_connectivity()
    back = threading.Timer(0.5, neo4j_proxy.listen)
    back.start()
    create(driver)
    back.join()
    assert count() == 1


def test_faults_name_messages_that_there_are(neo4j_proxy):
    """A misspelt one would never strike."""
    with pytest.raises(ValueError, match="COMIT"):
        neo4j_proxy.cut_at("COMIT", lost="reply")
