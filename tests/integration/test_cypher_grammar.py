"""Random Cypher of the server's own grammar: what the gate lets through only reads.

KGRAG_TEST_GRAMMAR says how many statements (1,000 without, 5,000 in a full run), KGRAG_TEST_SEED
with which seed; --log-level=info shows the counts.
"""

import itertools
import logging
import os
import random
from collections import Counter

import pytest

from kgrag.errors import StatementError
from kgrag.store.neo4j.gate.admit import admit
from kgrag.store.neo4j.gate.vocabulary import FUNCTIONS, PROCEDURES
from tests.fixtures import extent
from tests.fixtures.cypher_statements import DOORS, GRAPH, HONEST
from tests.fixtures.honest_cypher import ANALYST
from tests.fixtures.hostile_cypher import HOSTILE
from tests.integration.listener import listener
from tests.neo4j_server import plugin
from tests.neo4j_server.grammar import Reader, grammar, mutants

_log = logging.getLogger(__name__)
STATEMENTS = int(os.environ.get("KGRAG_TEST_GRAMMAR", extent.of(5000, 1000)))
SEED = int(os.environ.get("KGRAG_TEST_SEED", "14"))
# Of the server's grammar; whatever else is in a statement that passes is a failure.
CLAUSES = {
    *("matchClause", "unwindClause", "withClause", "returnClause", "callClause", "subqueryClause"),
    *("orderBySkipLimitClause", "whereClause"),
}
REFUSED_RULES = {
    *("dynamicLabelType", "dynamicProperty", "dynamicExpression", "parameter", "hint"),
    *("subqueryInTransactionsParameters", "command", "graphReference", "setItem", "removeItem"),
}


def wrong(found):
    """Return what the server reads in a statement that must not be there."""
    for what in found:
        kind, _, name = what.partition(":")
        known = {
            "rule": name not in REFUSED_RULES and (not name.endswith("Clause") or name in CLAUSES),
            "function": name.lower() in FUNCTIONS,
            "procedure": name in PROCEDURES,
            "within": False,
        }
        if not known[kind]:
            yield what


def statements(rng):
    """Yield statements: three of the grammar, two that are changed here and there."""
    rules = grammar()
    seeds = [t for t, *_ in HONEST] + ANALYST + [t for _, t in DOORS] + [t for t, _ in HOSTILE]
    changed = mutants(seeds, rng)
    for number in itertools.count():
        if number % 5 < 2:
            yield next(changed)
        else:
            rule = "statements" if number % 10 == 4 else "regularQuery"
            yield rules.statement(rng, rule=rule, most=rng.randint(5, 40))


@pytest.fixture
def database(bare_neo4j):
    """A small knowledge base."""
    from kgrag.store.neo4j.address import parse
    from kgrag.store.neo4j.connection import Database

    with plugin.driver_of(bare_neo4j) as driver, driver.session() as session:
        for statement in GRAPH:
            session.run(statement).consume()
    found = Database.open(parse(bare_neo4j))
    yield found
    found.close()


def contents(database):
    """Return all that the database holds, names in use included."""
    with database.driver.session(database=database.address.database) as session:
        return [
            session.run(question).values()
            for question in (
                "MATCH (n) RETURN elementId(n) AS id, labels(n), properties(n) ORDER BY id",
                "MATCH ()-[r]->() RETURN elementId(r) AS id, properties(r) ORDER BY id",
                "CALL db.labels() YIELD label RETURN label ORDER BY label",
                "CALL db.propertyKeys() YIELD propertyKey AS k RETURN k ORDER BY k",
                "SHOW INDEXES YIELD name RETURN name ORDER BY name",
            )
        ]


def outcome(database, text):
    """Return how a statement ended that the gate let through."""
    from kgrag.store.neo4j.query import run_query

    try:
        run_query(database, text, max_rows=20, timeout_s=2)
    except StatementError as exc:
        said = str(exc)
        if "not known to only read" in said or "only reading is allowed" in said:
            return "refused by its plan"
        return "stopped" if "stopped after" in said else "wrong"
    return "ran"


@pytest.mark.slow
def test_nothing_that_passes_the_gate_does_more_than_read(database):
    """Neither by the server's own parser nor by what happens when it runs."""
    counts: Counter[str] = Counter()
    failures, before = [], contents(database)
    with listener() as (port, requests), Reader() as reader:
        for text in itertools.islice(statements(random.Random(SEED)), STATEMENTS):
            text = text.replace("{port}", str(port))
            counts["generated"] += 1
            try:
                admitted = admit(text)
            except ValueError:
                continue
            counts["passed"] += 1
            is_cypher, found = reader.read(admitted.text)
            counts["read by the server"] += is_cypher
            failures += [(text, what) for what in wrong(found)] if is_cypher else []
            if is_cypher:
                counts[outcome(database, text)] += 1
            if requests:
                failures.append((text, f"requests {requests}"))
                requests.clear()
    _log.info("seed %d: %s, failures %d", SEED, dict(counts), len(failures))
    assert failures == []
    assert contents(database) == before
    assert counts["passed"] > STATEMENTS / 100
    assert counts["ran"] > STATEMENTS / 1000
