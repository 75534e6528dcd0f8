"""Cypher of strangers on a real server: what must be stopped, and what must come through.

The texts of a local web server count as requests: whatever reaches it has left the database.
"""

import logging
import time
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from neo4j import Query
from neo4j.exceptions import Neo4jError

from kgrag.errors import StatementError, StoreUnavailableError
from kgrag.store.neo4j.gate.tokens import written_text
from kgrag.store.neo4j.gate.vocabulary import FUNCTIONS, PROCEDURES
from kgrag.store.neo4j.liveness import in_thread
from kgrag.store.neo4j.query import end
from tests.fixtures.cypher_statements import DOORS, ENDLESS, GRAPH, HONEST, REFUSED, URL
from tests.fixtures.honest_cypher import ANALYST
from tests.fixtures.hostile_cypher import HOSTILE
from tests.integration.listener import listener
from tests.neo4j_server import plugin

LIMITS: dict[str, Any] = {"max_rows": 200, "timeout_s": 5.0}
BROWSER = sorted((Path(__file__).parents[2] / "cypher" / "browser").glob("*.cypher"))


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

    return lambda text, **limits: run_query(database, text, **LIMITS | limits)


@pytest.fixture(scope="module")
def web():
    """A web server's port, and the requests that it got."""
    with listener() as found:
        yield found


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


def test_what_an_analyst_asks_runs(ask):
    """All of it, with the list above more than 150; nobody must know the gate to ask."""
    assert len(ANALYST) + len(HONEST) > 150
    wrong = []
    for text in ANALYST:
        try:
            ask(text, timeout_s=60)
        except StatementError as exc:
            wrong.append(str(exc))
    assert wrong == []


@pytest.mark.parametrize("path", BROWSER, ids=[path.stem for path in BROWSER])
def test_a_saved_query_of_the_browser_runs(ask, path):
    assert isinstance(ask(path.read_text("utf-8"), timeout_s=60), list)


@pytest.mark.parametrize(("name", "text"), DOORS, ids=[name for name, _ in DOORS])
def test_a_door_is_shut(ask, web, unchanged, name, text):
    """The server alone would go through: what follows `as` is a clause to it."""
    port, requests = web
    with pytest.raises(StatementError, match=r"refused|AS is expected"):
        ask(text.replace("{port}", str(port)), timeout_s=20)
    assert requests == []


def test_the_server_alone_would_go_through_a_door(database, web):
    """So that it means something that they are shut."""
    port, requests = web
    with database.driver.session(default_access_mode="READ") as session:
        for name, text in DOORS:
            if name in ("comprehension", "condition", "count", "reduce", "any", "case", "ids"):
                session.run(text.replace("{port}", str(port))).consume()
    assert len(requests) == 8
    requests.clear()


def test_no_hostile_statement_reaches_anything(ask, web, unchanged):
    """All of them, though the words alone stop each."""
    port, requests = web
    allowed = [t for t, _ in HOSTILE if not is_refused(ask, t.replace("{port}", str(port)))]
    assert allowed == []
    assert requests == []


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
    """It would go on for ever; nothing of it is left on the server, which still answers."""
    with pytest.raises(StatementError):
        ask(text, timeout_s=1)
    deadline = time.monotonic() + 120  # a regular expression takes a second of a free core
    while under_way(database):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert ask("RETURN 1 AS x", timeout_s=30) == [{"x": 1}]


def under_way(database):
    """Return what the server computes."""
    with database.driver.session() as session:
        running = session.run("SHOW TRANSACTIONS YIELD currentQuery AS q").values()
    return [q for (q,) in running if "SHOW TRANSACTIONS" not in q]


def test_what_is_stopped_has_stopped(database):
    """Nothing of it is left on the server, where time was up for us and not for the server."""
    text = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(*)"
    mark = uuid4().hex
    with database.driver.session() as slow:
        running = in_thread(lambda: slow.run(Query(text, metadata={"kgrag": mark})).consume())
        while not database.read("under_way", mark=mark):
            assert not running.done()
        assert end(database, mark) == ""
        assert database.read("under_way", mark=mark) == []
        assert isinstance(running.exception(60), Neo4jError)


def test_a_list_of_rows_has_an_end(ask):
    """And what is counted, or asked for in part, need not be one."""
    rows = "UNWIND range(1, 5000) AS x RETURN "
    for text in ("collect(x)", "COLLECT { UNWIND range(1, 5000) AS y RETURN x + y }"):
        with pytest.raises(StatementError, match="a list has more than 1,000 items"):
            ask(f"{rows}{text} AS a")
    assert ask(f"{rows}size(collect(x)) AS n, collect(x)[..2] AS a") == [{"n": 5000, "a": [1, 2]}]


def test_a_server_without_a_limit_of_memory_is_told_of(new_neo4j_server, caplog):
    """By a warning, once; the test server has one, as docker/compose.yaml has."""
    from kgrag.store.neo4j.address import parse
    from kgrag.store.neo4j.connection import Database
    from kgrag.store.neo4j.query import run_query

    limited, free = new_neo4j_server(heap="512m"), new_neo4j_server(heap="512m", memory="0")
    for server in (limited, free, free):
        database = Database.open(parse(server.uri))
        assert run_query(database, "RETURN 1 AS x", **LIMITS) == [{"x": 1}]
        database.close()
    warned = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert len(warned) == 1
    assert warned[0].startswith(f"{free.uri}: a query may take all memory")


@pytest.mark.parametrize("hop", ["--", "-->", "-[:%]-"])
def test_a_long_chain_of_anything_never_runs(ask, hop):
    """Of ten nodes the server computed on for minutes after it was told to stop."""
    with pytest.raises(StatementError, match="relationships without a type more than 4 times"):
        ask(f"MATCH {hop.join(f'({name})' for name in 'abcdefghij')} RETURN count(*)")


def test_more_rows_than_asked_for_are_not_computed(ask):
    """Ten thousand million of them would take minutes."""
    text = "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN y AS x"
    found = ask(text, max_rows=3)
    assert found == [{"x": 1}, {"x": 2}, {"x": 3}]


def test_rows_that_are_too_large_are_an_error(ask):
    text = "UNWIND range(1, 200) AS i RETURN [j IN range(1, 900) | '%s'] AS x"
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
        ask("MATCH (e:KgragEntity) RETURN e.id")
    assert caplog.messages == ["3 rows of MATCH (e:KgragEntity) RETURN e.id"]


def test_every_function_and_procedure_of_the_gate_is_the_servers_own(database):
    """Plugins cannot define such; those of the grammar itself are not listed."""
    with database.driver.session() as session:
        functions = session.run("SHOW FUNCTIONS YIELD name, isBuiltIn").values()
        procedures = session.run("SHOW PROCEDURES YIELD name, mode").values()
    own = {name.lower() for name, built_in in functions if built_in}
    assert FUNCTIONS - own <= {"normalize", "trim", "exists"}
    modes = dict(procedures)
    assert {modes[name] for name in PROCEDURES} == {"READ"}


def test_a_text_is_the_same_after_it_was_written_anew(ask, database):
    """With every escape that Neo4j knows and some that it does not."""
    for value in (
        "'",
        '"',
        "\\",
        "\n",
        "\t\r\b\f",
        "`",
        "a\\d",
        "\\n",
        "绿色",
        "\u2028",
        "//",
        "/*",
    ):
        assert ask(f"RETURN {written_text(value)} AS x") == [{"x": value}]
    for body in (r"\d", r"\_", r"\%", r"\`", r"\/", r"\'", r"\"", r"\\", r"\x", r"\0"):
        for quote in "'\"":
            text = f"RETURN {quote}{body}{quote} AS x"
            with database.driver.session() as session:
                assert ask(text) == session.run(text).data()


def test_a_server_that_is_gone_is_unavailable(neo4j_proxy):
    """The database is at fault, not the statement."""
    from kgrag.store.neo4j.address import parse
    from kgrag.store.neo4j.connection import Database
    from kgrag.store.neo4j.query import run_query

    database = Database.open(parse(neo4j_proxy.uri()))
    neo4j_proxy.close()
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        run_query(database, "RETURN 1", max_rows=1, timeout_s=60)
    database.close()


@pytest.mark.parametrize("limits", [{"max_rows": 0}, {"timeout_s": 0}, {"timeout_s": -1}])
def test_limits_that_allow_nothing_are_wrong(ask, limits):
    """A timeout of 0 would mean none to the server."""
    with pytest.raises(ValueError, match="must be positive"):
        ask("RETURN 1", **limits)
