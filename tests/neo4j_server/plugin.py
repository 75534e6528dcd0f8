"""Fixtures of a real Neo4j, for tests that get the marker `neo4j` by using them.

KGRAG_TEST_NEO4J=1 starts a server of the test session; whatever keeps it from starting is an
error. KGRAG_TEST_NEO4J_URI names a server to use instead (NEO4J_USERNAME and NEO4J_PASSWORD open
it): tests delete everything on it, so it must be empty or hold a knowledge base that may go. With
neither, these tests are skipped.
"""

import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.neo4j_server.proxy import BoltProxy
from tests.neo4j_server.server import Neo4jServer

if TYPE_CHECKING:
    from neo4j import Driver, Session

FIXTURES = {
    *("neo4j_server", "neo4j_uri", "empty_neo4j", "bare_neo4j", "neo4j_proxy", "new_neo4j_server")
}
ROWS = 10_000  # nodes deleted in one transaction
OURS = (
    "name STARTS WITH 'kgrag_' AND all(l IN labelsOrTypes WHERE l =~ 'Kgrag[A-Za-z0-9]+|RELATED')"
)


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses by marker
def pytest_collection_modifyitems(items):
    """Mark the tests that need a server, and skip them where there is none."""
    reason = reason_to_skip()
    for item in items:
        if FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.neo4j)
        if reason and item.get_closest_marker("neo4j"):
            item.add_marker(pytest.mark.skip(reason=reason))
    # Files are shared out in this order: what takes long must not be begun last.
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    n_tests = Counter(item.path for item in items if item.get_closest_marker("neo4j"))
    items.sort(key=lambda item: (item.path not in slow, -n_tests[item.path]))


def server_of_user() -> str:
    """Return the address that the user names, or an empty text."""
    return os.environ.get("KGRAG_TEST_NEO4J_URI", "")


def may_start() -> bool:
    """Say whether tests are to start servers of their own."""
    return os.environ.get("KGRAG_TEST_NEO4J", "") not in ("", "0")


def reason_to_skip() -> str:
    """Return why tests with a server cannot run, or an empty text."""
    if server_of_user():
        if "PYTEST_XDIST_WORKER" in os.environ:
            return "one server of KGRAG_TEST_NEO4J_URI serves one process: run pytest without -n"
        return ""
    if may_start():
        return ""
    return "set KGRAG_TEST_NEO4J=1 (needs Java and Maven) or KGRAG_TEST_NEO4J_URI to run it"


def driver_of(uri: str) -> "Driver":
    """Return a driver with the user's credentials, if there are any."""
    from neo4j import GraphDatabase

    password = os.environ.get("NEO4J_PASSWORD")
    auth = (os.environ.get("NEO4J_USERNAME", "neo4j"), password) if password else None
    return GraphDatabase.driver(uri, auth=auth, notifications_min_severity="OFF")


def refuse_to_wipe_what_is_not_ours(session: "Session") -> None:
    """Fail where a user's server holds nodes, but no knowledge base of kgrag."""
    nodes = session.run("MATCH (n) RETURN count(n)").single(strict=True).value()
    bases = session.run("MATCH (k:KgragKnowledgeBase) RETURN count(k)").single(strict=True).value()
    if nodes and not bases:
        pytest.fail(
            f"{server_of_user()} holds {nodes} nodes and no knowledge base of kgrag; tests would "
            "delete them. Remedy: name an empty server in KGRAG_TEST_NEO4J_URI"
        )


def wipe(session: "Session", *, bare: bool = True) -> None:
    """Delete all nodes, and the constraints and indexes but those by label.

    Args:
        session: Of an administrator.
        bare: Whether to delete those, too, that kgrag makes for a knowledge base without a name:
            after each that is made or deleted, the server plans every statement anew.
    """
    kept = "" if bare else f"AND NOT ({OURS})"
    session.run(
        f"MATCH (n) CALL (n) {{ DETACH DELETE n }} IN TRANSACTIONS OF {ROWS} ROWS"
    ).consume()
    for kind in ("CONSTRAINT", "INDEX"):
        made = session.run(
            f"SHOW {kind} YIELD name, type, labelsOrTypes WHERE type <> 'LOOKUP' {kept} RETURN name"
        ).value()
        for name in made:
            session.run(f"DROP {kind} `{name}` IF EXISTS").consume()


def clear(uri: str, *, bare: bool = False) -> None:
    """Wipe a server; one of the user's only where it holds nothing but knowledge bases."""
    with driver_of(uri) as driver, driver.session() as session:
        if server_of_user():
            refuse_to_wipe_what_is_not_ours(session)
        wipe(session, bare=bare)


def cleared(uri: str, *, bare: bool = False) -> Iterator[str]:
    """Yield the address once it holds nothing; a user's server is left bare, as it was found."""
    clear(uri, bare=bare)
    yield uri
    if server_of_user():  # so that the next run does not refuse it
        with driver_of(uri) as driver, driver.session() as session:
            wipe(session)


@pytest.fixture(scope="session")
def neo4j_server(tmp_path_factory):
    """The session's own server, without password; None where the user names one."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    if server_of_user():
        yield None
        return
    server = Neo4jServer(tmp_path_factory.mktemp("neo4j"))
    try:
        server.start()
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="session")
def neo4j_uri(neo4j_server):
    """The address of a server, which may hold anything."""
    return server_of_user() if neo4j_server is None else neo4j_server.uri


@pytest.fixture
def empty_neo4j(neo4j_uri):
    """The address of a server without a node, or any index but those that kgrag makes itself."""
    yield from cleared(neo4j_uri)


@pytest.fixture
def bare_neo4j(neo4j_uri):
    """The address of a server without a node, a constraint or an index."""
    yield from cleared(neo4j_uri, bare=True)


@pytest.fixture
def neo4j_proxy(neo4j_uri):
    """A proxy before the server, which fails when it is told to."""
    if "+" in urlsplit(neo4j_uri).scheme:
        pytest.skip("the proxy cannot stand before a server that encrypts")
    with BoltProxy(neo4j_uri) as proxy:
        yield proxy


@pytest.fixture
def new_neo4j_server(tmp_path):
    """A function that starts a server of one's own, with the options of `Neo4jServer`."""
    if not may_start():
        pytest.skip("it starts a server, even beside KGRAG_TEST_NEO4J_URI: set KGRAG_TEST_NEO4J=1")
    servers: list[Neo4jServer] = []

    def start(**options):
        home = tmp_path / f"neo4j{len(servers)}"
        servers.append(Neo4jServer(home, **options))
        servers[-1].start()
        return servers[-1]

    yield start
    for server in servers:
        server.kill()
