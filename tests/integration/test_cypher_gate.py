"""Cypher of strangers on a real server: what must be stopped, and what must come through.

The texts of a local web server count as requests: whatever reaches it has left the database.
"""

import http.server
import logging
import threading
import time

import pytest

from kgrag.errors import StatementError, StoreUnavailableError
from tests.fixtures.cypher_statements import ENDLESS, GRAPH, HONEST, REFUSED, URL
from tests.neo4j_server import plugin


@pytest.fixture(scope="module")
def database(neo4j_uri):
    """A small knowledge base on the server."""
    from kgrag.store.neo4j.address import parse
    from kgrag.store.neo4j.connection import Database

    with plugin.driver_of(neo4j_uri) as driver, driver.session() as session:
        if plugin.server_of_user():
            plugin.refuse_to_wipe_what_is_not_ours(session)
        plugin.wipe(session)
        for statement in GRAPH:
            session.run(statement).consume()
        found = Database.open(parse(neo4j_uri))
        yield found
        found.close()
        plugin.wipe(session)


@pytest.fixture(scope="module")
def ask(database):
    from kgrag.store.neo4j.query import run_query

    return lambda text, **limits: run_query(database, text, **limits)


@pytest.fixture(scope="module")
def web():
    """A web server's port, and the requests that it got."""
    requests = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            requests.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"a,b\n1,2\n")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, requests
    server.shutdown()
    server.server_close()


@pytest.fixture
def unchanged(database):
    """Compare everything that the database holds before and after."""
    before = contents(database)
    yield
    assert contents(database) == before


def contents(database):
    """Return nodes, relationships, names in use, indexes, constraints, users, databases."""
    with database.driver.session(database=database.address.database) as session:
        return [
            session.run(question).values()
            for question in (
                "MATCH (n) RETURN elementId(n), labels(n), properties(n) ORDER BY elementId(n)",
                "MATCH ()-[r]->() RETURN elementId(r) AS id, type(r), properties(r) ORDER BY id",
                "CALL db.labels() YIELD label RETURN label ORDER BY label",
                "CALL db.propertyKeys() YIELD propertyKey AS k RETURN k ORDER BY k",
                "CALL db.relationshipTypes() YIELD relationshipType AS t RETURN t ORDER BY t",
                "SHOW INDEXES YIELD name, state RETURN name, state ORDER BY name",
                "SHOW CONSTRAINTS YIELD name RETURN name ORDER BY name",
                "SHOW USERS YIELD user RETURN user ORDER BY user",
                "SHOW DATABASES YIELD name, currentStatus RETURN name, currentStatus ORDER BY name",
            )
        ]


@pytest.mark.parametrize(("text", "rows"), HONEST, ids=[text[:60] for text, _ in HONEST])
def test_an_honest_question_gets_its_rows(ask, text, rows):
    """Everything that an analyst or a language model needs to read the graph."""
    found = [list(row.values()) for row in ask(text)]
    assert found == rows or sorted(map(repr, found)) == sorted(map(repr, rows))


def test_a_hostile_statement_is_refused_and_changes_nothing(ask, web, unchanged):
    """Each with a StatementError, and without a request to the outside."""
    port, requests = web
    allowed = [text for text in REFUSED if not is_refused(ask, text.replace("{port}", str(port)))]
    assert allowed == []
    assert requests == []


def is_refused(ask, text):
    """Return whether a statement is refused, rather than run until its time is up."""
    try:
        ask(text, timeout_s=20)
    except StatementError as exc:
        return "stopped after" not in str(exc)
    return False


def test_the_listener_would_hear_a_load(database, web):
    """The server does reach it when nobody holds it back, so that silence means something."""
    port, requests = web
    with database.driver.session(default_access_mode="READ") as session:
        text = "LOAD CSV FROM " + URL.replace("{port}", str(port)) + " AS row RETURN row"
        assert session.run(text).values() == [[["a", "b"]], [["1", "2"]]]
    assert requests == ["/x.csv"]
    requests.clear()


@pytest.mark.parametrize("text", ENDLESS, ids=[text[:60] for text in ENDLESS])
def test_an_endless_statement_is_stopped(ask, database, text):
    """In the time allowed and a little more; the server still answers."""
    began = time.monotonic()
    with pytest.raises(StatementError):
        ask(text, timeout_s=1)
    assert time.monotonic() - began < 3
    assert ask("RETURN 1 AS x", timeout_s=30) == [{"x": 1}]


def test_more_rows_than_asked_for_are_not_computed(ask):
    """A thousand million of them would take minutes."""
    began = time.monotonic()
    found = ask("WITH 1000000000 AS n UNWIND range(1, n) AS x RETURN x", max_rows=3)
    assert found == [{"x": 1}, {"x": 2}, {"x": 3}]
    assert time.monotonic() - began < 5


def test_rows_that_are_too_large_are_an_error(ask):
    """Rather than memory without end."""
    text = "UNWIND range(1, 200) AS i RETURN reduce(s = '', j IN range(1, 1000) | s + '%s')"
    with pytest.raises(StatementError, match="more than 10 MB"):
        ask(text % ("字" * 100), timeout_s=60)


def test_an_error_names_statement_reason_and_remedy(ask):
    """Without the echo of what was put before it."""
    with pytest.raises(StatementError) as caught:
        ask("MATCH (n) RETURN m")
    assert str(caught.value) == (
        "MATCH (n) RETURN m: Variable `m` not defined: correct the statement, or ask for less"
    )


def test_statement_and_rows_are_logged(ask, caplog):
    """What ran can be shown to the user."""
    with caplog.at_level(logging.INFO, logger="kgrag.store.neo4j.query"):
        ask("MATCH (e:Entity) RETURN e.id")
    assert caplog.messages == ["3 rows of MATCH (e:Entity) RETURN e.id"]


def test_functions_without_a_dot_are_the_servers_own(database):
    """The gate lets them pass for that; those with a dot that it knows are the server's too."""
    from kgrag.store.neo4j.gate import _FUNCTIONS

    with database.driver.session() as session:
        found = session.run("SHOW FUNCTIONS YIELD name, isBuiltIn").values()
    assert all(own for name, own in found if "." not in name)
    assert {name.lower() for name, own in found if own} >= _FUNCTIONS


def test_a_server_that_is_gone_is_unavailable(neo4j_proxy):
    """The database is at fault, not the statement."""
    from kgrag.store.neo4j.address import parse
    from kgrag.store.neo4j.connection import Database
    from kgrag.store.neo4j.query import run_query

    database = Database.open(parse(neo4j_proxy.uri()))
    neo4j_proxy.close()
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        run_query(database, "RETURN 1", timeout_s=60)
    database.close()


@pytest.mark.parametrize("limits", [{"max_rows": 0}, {"timeout_s": 0}, {"timeout_s": -1}])
def test_limits_that_allow_nothing_are_wrong(ask, limits):
    """A timeout of 0 would mean none to the server."""
    with pytest.raises(ValueError, match="must be positive"):
        ask("RETURN 1", **limits)
