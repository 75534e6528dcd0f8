"""Who may come in, and who may only look: passwords, wrong addresses, read-only databases."""

import json
import logging
import socket
from contextlib import closing
from functools import partial

import pytest
from click.testing import CliRunner

from kgrag.api import KnowledgeBase
from kgrag.cli.main import main
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.retrieval.grim import PRESETS
from kgrag.store.neo4j import connection
from kgrag.store.neo4j.connection import Transaction
from kgrag.store.neo4j.store import Neo4jStore
from tests.fixtures.extent import FULL
from tests.fixtures.kit import few_samples
from tests.neo4j_server.plugin import driver_of

pytestmark = pytest.mark.neo4j

PASSWORD = "Geheim-密码-7"
UNBLOCKED = "dbms.security.auth_max_failed_attempts=0"  # after three wrong ones


@pytest.fixture(autouse=True)
def no_credentials(monkeypatch):
    """Have none but those that a test sets."""
    monkeypatch.delenv("NEO4J_USERNAME", raising=False)
    monkeypatch.delenv("NEO4J_PASSWORD", raising=False)


def refused(location, remedy):
    """Say that a place is refused, with a remedy; return the message."""
    with pytest.raises(StoreUnavailableError, match=remedy) as caught:
        Neo4jStore.open(location).close()
    return str(caught.value)


@pytest.mark.slow
def test_a_server_with_a_password_is_opened_from_the_environment_only(
    new_neo4j_server, monkeypatch, caplog
):
    """Neither a message, nor a log, nor the graph ever holds the password.

    A database that may only be read answers everything, and refuses to be written.
    """
    caplog.set_level(logging.DEBUG)
    server = new_neo4j_server(password=PASSWORD, settings=(UNBLOCKED,))
    uri = server.uri
    messages = [refused(uri, "set NEO4J_USERNAME and NEO4J_PASSWORD")]
    monkeypatch.setenv("NEO4J_PASSWORD", "wrong-" + PASSWORD)
    messages.append(refused(uri, "set NEO4J_USERNAME and NEO4J_PASSWORD"))
    messages.append(refused(uri.replace("bolt", "neo4j"), "set NEO4J_USERNAME|cannot be reached"))
    done = CliRunner().invoke(main, ["documents", "--kb", uri])
    assert (done.exit_code, done.stdout) == (1, "")
    messages.append(done.stderr)

    monkeypatch.setenv("NEO4J_PASSWORD", PASSWORD)
    monkeypatch.setenv("NEO4J_USERNAME", "nobody")
    messages.append(refused(uri, "set NEO4J_USERNAME and NEO4J_PASSWORD"))
    monkeypatch.setenv("NEO4J_USERNAME", "neo4j")
    messages.append(refused(f"{uri}/nosuch", "no such database"))
    messages.append(refused(f"neo4j{uri[4:]}/nosuch", "no such database"))
    messages.append(
        refused(uri.replace("//", f"//neo4j:{PASSWORD}@"), "do not belong into the address")
    )
    for scheme in ("bolt", "neo4j"):
        with KnowledgeBase.open(scheme + uri[4:], embedder=HashEmbedder()) as base:
            base.ingest(few_samples())
            assert base.verify() == []
            with pytest.raises(StoreError) as caught:
                base.store.run_query("THIS IS NO CYPHER", max_rows=1, timeout_s=5)
            messages.append(str(caught.value))
    monkeypatch.setenv("NEO4J_PASSWORD", PASSWORD)
    with driver_of(uri) as driver:
        rows = driver.execute_query(
            "MATCH (n) UNWIND keys(n) AS key RETURN DISTINCT n[key] AS value"
        ).records
    assert rows
    stored = json.dumps([r["value"] for r in rows], ensure_ascii=False)
    said = "\n".join(r.getMessage() for r in caplog.records if r.name.startswith("kgrag"))
    for text in (*messages, stored, said):
        assert PASSWORD not in text
    if FULL:
        only_reads(server, monkeypatch)


def only_reads(server, monkeypatch):
    """Every preset and every check works; whatever writes is told so, and nothing changes."""
    tries: list[object] = []
    monkeypatch.setattr(connection, "Transaction", partial(begun, tries))
    with KnowledgeBase.open(server.uri, create=False, embedder=HashEmbedder()) as base:
        question = f"{base.documents()[0].title}的目标是什么？"
        expected = answers(base, question)
    server.stop()
    server.settings = (UNBLOCKED, "server.databases.default_to_read_only=true")
    server.start()

    with KnowledgeBase.open(server.uri, create=False, embedder=HashEmbedder()) as base:
        assert_same(answers(base, question), expected)
        assert base.verify() == []
        for write in (
            lambda: base.ingest(few_samples()),
            lambda: base.delete(base.documents()[0].doc_id),
            lambda: base.store.attach_source("/x", base.documents()[0].doc_id),
        ):
            tries.clear()
            with pytest.raises(StoreError, match="may only be read"):
                write()
            assert 0 < len(tries) <= connection._REFUSED
        assert_same(answers(base, question), expected)


def test_an_address_where_no_bolt_server_is_is_refused_soon(neo4j_server):
    """Nobody listens; somebody else does; somebody does and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        refused(f"bolt://127.0.0.1:{port}", "check the address")
    for scheme in ("bolt", "neo4j"):
        refused(f"{scheme}://127.0.0.1:{port}", "check the address")  # closed now
        refused(f"{scheme}://no-such-host.invalid:7687", "check the address")
    refused("bolt://127.0.0.1:7687?x=y", "only .policy=NAME")
    if neo4j_server is not None:
        for scheme in ("bolt", "neo4j"):
            refused(neo4j_server.http.replace("http", scheme), "check the address")


def begun(tries, *args):
    """Return a transaction, and note that it was tried."""
    tries.append(args)
    return Transaction(*args)


def assert_same(told, expected):
    """Check that answers are the same.

    The server adds up cosines in another order once it has compiled the code that does: the
    sixth digit may be another one.
    """
    assert told[0] == expected[0]
    assert told[1] == pytest.approx(expected[1], rel=1e-4, abs=1e-4)


def answers(base, question):
    """Return what a knowledge base answers, by every preset, what it exports, and the scores."""
    found = [base.search(question, system=preset) for preset in PRESETS]
    ids = [[r.chunk.chunk_id for r in results] for results in found]
    scores = [r.score for results in found for r in results]
    asked = base.ask(question)
    with closing(base.export()) as records:
        exported = [json.dumps(r, sort_keys=True) for r in records]
    return (ids, asked.text, base.counts(), exported), scores
