"""Cypher of the owner on a real server: what reads runs, what does more is refused, all of it ends.

The texts of a local web server count as requests: whatever reaches it has left the database.
"""

import logging
import random
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from neo4j import Query
from neo4j.exceptions import Neo4jError

from kgrag.errors import GarbledTextError, OutOfRangeError, StatementError, StoreUnavailableError
from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.liveness import in_thread
from kgrag.store.neo4j.query import end, run_query
from kgrag.store.neo4j.statements import written_text
from kgrag.store.neo4j.store import Neo4jStore
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.tools.arguments import checked
from kgrag.tools.graph_query import Graphed
from tests.fixtures import extent
from tests.fixtures.forms import form
from tests.fixtures.typed_documents import cited_document, typed_document
from tests.integration.listener import listener

FORMS = extent.of(3_000, 80)
LIMITS: dict[str, Any] = {"max_rows": 200, "timeout_s": 5.0}
BROWSER = sorted((Path(__file__).parents[2] / "cypher" / "browser").glob("*.cypher"))
HONEST = [
    "MATCH (d:Document) RETURN count(d) AS n",
    "MATCH (t:Target) WHERE t.value > 20 RETURN t.indicator, t.value ORDER BY t.value DESC LIMIT 5",
    "MATCH p = (d:Document)-[:STATES]->(:Target)-[:OF]->(e) RETURN p LIMIT 3",
    "MATCH (d:Document)-[:BASED_ON*1..3]->(b) RETURN d.title, collect(b.title) AS titles",
    "MATCH (d:Document) WHERE EXISTS { (d)-[:ASSIGNS]->(:Duty) } RETURN d.title",
    "MATCH (d:Document) CALL (d) { MATCH (d)-[:STATES]->(t) RETURN count(t) AS n } RETURN d.id, n",
    "MATCH p = shortestPath((a:Document)-[*..4]-(b:Organ)) RETURN length(p) AS n LIMIT 1",
    "MATCH (d:Document) OPTIONAL MATCH (d)-[r]->() RETURN DISTINCT type(r) AS type",
    "CALL db.labels() YIELD label RETURN label ORDER BY label",
    "CALL db.index.fulltext.queryNodes('kgrag_chunk_text', '节能') YIELD node RETURN node.id",
    "UNWIND [1, 2] AS x RETURN x UNION ALL RETURN 3 AS x",
    "RETURN [x IN range(1, 3) WHERE x > 1 | x * 2] AS xs, reduce(s = 0, x IN [1, 2] | s + x) AS s",
]
HOSTILE = [
    "CREATE (n:X) RETURN n",
    "MATCH (n) SET n.x = 1",
    "MATCH (n) DETACH DELETE n",
    "MERGE (n:X) RETURN n",
    "MATCH (n) REMOVE n.title",
    "FOREACH (x IN [1] | CREATE (:X))",
    "MATCH (n) CALL (n) { CREATE (:X) } RETURN n",
    "CREATE INDEX x FOR (n:X) ON (n.y)",
    "DROP CONSTRAINT x IF EXISTS",
    "CREATE USER x SET PASSWORD 'password'",
    "LOAD CSV FROM 'http://127.0.0.1:{port}/x.csv' AS row RETURN row",
    "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row",
    "RETURN COLLECT { LOAD CSV FROM 'http://127.0.0.1:{port}/x.csv' AS row RETURN row } AS x",
    "RETURN EXISTS { LOAD CSV FROM 'http://127.0.0.1:{port}/x.csv' AS row RETURN row } AS x",
    "RETURN [x IN [1] | COUNT { LOAD CSV FROM 'http://127.0.0.1:{port}/x' AS r RETURN r }] AS x",
    "RETURN any(x IN [1] WHERE EXISTS { LOAD  CSV FROM 'http://127.0.0.1:{port}' AS r RETURN r })",
    "RETURN CASE WHEN EXISTS { LOAD CSV FROM 'http://127.0.0.1:{port}' AS r RETURN r } THEN 1 END",
    "SHOW SETTINGS",
    "SHOW TRANSACTIONS",
    "SHOW USERS",
    "TERMINATE TRANSACTIONS 'x'",
    "CALL dbms.listConfig() YIELD name RETURN name",
    "CALL db.clearQueryCaches()",
    "CALL dbms.killConnection('x')",
    "RETURN [x IN [1] | COLLECT { CALL dbms.listConfig() YIELD name RETURN name }] AS x",
    "MATCH (n) RETURN n; MATCH (n) DETACH DELETE n",
    "RETURN 1 AS x // \n; CREATE (:X)",
    "MATCH (n) CALL (n) { CREATE (:X) } IN TRANSACTIONS RETURN n",
    "",
    "not Cypher",
]
ENDLESS = [
    "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(*)",
    "MATCH p = (a)-[*]-(b) RETURN count(p) AS n",
]


@pytest.fixture
def database(empty_neo4j, make):
    """A small knowledge base on the server."""
    with closing(Neo4jStore.open(empty_neo4j)) as store:
        for bundle in (typed_document(make), cited_document(make)):
            store.upsert_document(bundle, source=f"/archive/{bundle.document.file}")
        yield store._database


@pytest.fixture
def ask(database):
    return lambda text, **limits: run_query(database, text, **LIMITS | limits)


def contents(database):
    """Return nodes, relationships, names in use, indexes, users, databases."""
    with database.driver.session(database=database.address.database) as session:
        return [
            session.run(question).values()
            for question in (
                "MATCH (n) RETURN elementId(n), labels(n), properties(n) ORDER BY elementId(n)",
                "MATCH ()-[r]->() RETURN elementId(r) AS id, type(r), properties(r) ORDER BY id",
                "CALL db.labels() YIELD label RETURN label ORDER BY label",
                "CALL db.propertyKeys() YIELD propertyKey AS k RETURN k ORDER BY k",
                "SHOW INDEXES YIELD name, state RETURN name, state ORDER BY name",
                "SHOW USERS YIELD user RETURN user ORDER BY user",
            )
        ]


def test_what_reads_the_graph_runs(ask):
    for text in HONEST:
        assert ask(text, timeout_s=60), text
    for path in BROWSER:
        assert isinstance(ask(path.read_text("utf-8"), timeout_s=60), list), path.stem


def test_what_does_more_is_refused_and_reaches_nothing(ask, database):
    before = contents(database)
    with listener() as (port, requests):
        for text in HOSTILE:
            with pytest.raises(StatementError):
                pytest.fail(f"{text}: {ask(text.replace('{port}', str(port)), timeout_s=20)}")
        assert requests == []
        # The server does reach it when nobody holds it back, so that silence means something.
        with database.driver.session(default_access_mode="READ") as session:
            session.run(HOSTILE[14].replace("{port}", str(port))).consume()
        assert requests
    assert contents(database) == before


@pytest.mark.parametrize("text", ENDLESS)
def test_an_endless_statement_is_stopped(ask, database, text):
    """Nothing of it is left on the server, which still answers."""
    with pytest.raises(StatementError):
        ask(text, timeout_s=1)
    deadline = time.monotonic() + 120
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
    mark = uuid4().hex
    with database.driver.session() as slow:
        running = in_thread(lambda: slow.run(Query(ENDLESS[0], metadata={"kgrag": mark})).consume())
        while not database.read("under_way", mark=mark):
            assert not running.done()
        assert end(database, mark) == ""
        assert database.read("under_way", mark=mark) == []
        assert isinstance(running.exception(60), Neo4jError)


def test_rows_are_no_more_and_no_larger_than_asked_for(ask):
    """Ten thousand million of them would take minutes."""
    text = "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN y AS x"
    assert ask(text, max_rows=3) == [{"x": 1}, {"x": 2}, {"x": 3}]
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
        ask("MATCH (d:KgragDocument) RETURN d.id")
    assert caplog.messages == ["2 rows of MATCH (d:KgragDocument) RETURN d.id"]


def test_a_text_is_the_same_after_it_was_written_as_a_literal(ask):
    values = ["'", '"', "\\", "\n", "\t\r\b\f", "`", "a\\d", "\\n", "绿色", "\u2028", "//", "/*",
              "\\u0027", "\\\\u0027", "\\U0027", "\\uuuu0027", "x\\", "\x00\x01"]  # fmt: skip
    for value in values:
        assert ask(f"RETURN {written_text(value)} AS x") == [{"x": value}], ascii(value)


def test_a_server_that_is_gone_is_unavailable(neo4j_proxy):
    """The database is at fault, not the statement."""
    database = Database.open(parse(neo4j_proxy.uri()))
    neo4j_proxy.close()
    with pytest.raises(StoreUnavailableError, match="cannot be reached"):
        run_query(database, "RETURN 1", max_rows=1, timeout_s=60)
    database.close()


def test_hostile_forms_have_the_rows_of_a_folder(database, empty_neo4j, make, tmp_path):
    """Whatever is in them; nothing is changed and nothing asked of the network."""
    before, dice, n_run, n_rows = contents(database), random.Random(4848), 0, 0
    with (
        closing(Neo4jStore.open(empty_neo4j)) as store,
        closing(SQLiteStore.open(tmp_path / "kb")) as folder,
    ):
        for bundle in (typed_document(make), cited_document(make)):
            folder.upsert_document(bundle, source=f"/archive/{bundle.document.file}")
        while n_run < FORMS:
            try:
                query = checked(Graphed, form(dice))
                wanted = folder.graph_rows(query, most=200)
            except (OutOfRangeError, GarbledTextError):
                continue
            assert store.graph_rows(query, most=200)[:2] == wanted[:2], query
            n_run += 1
            n_rows += len(wanted.rows)
    assert n_rows > FORMS // 2
    assert contents(database) == before
