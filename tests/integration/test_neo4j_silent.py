"""A server that was stopped (SIGSTOP) answers nothing, and its sockets stay open."""

import gc
import os
import signal
import threading
from contextlib import closing, contextmanager

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.errors import StoreUnavailableError
from kgrag.maintenance.copying import export_line
from kgrag.store.neo4j import connection, liveness
from kgrag.store.neo4j.store import Neo4jStore
from tests.fixtures import extent

# What a thread that was left behind held is closed by the collection of garbage (below).
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
SAID = r"has not answered for \d+ s: see whether it is stopped or out of memory, then try again"


@pytest.fixture
def store(empty_neo4j, make):
    """A knowledge base of three documents."""
    with closing(Neo4jStore.open(empty_neo4j)) as store:
        for name in ("a", "b", "c"):
            store.upsert_document(
                make.bundle(name, "工信部印发绿色工厂标准", facts=[("工信部", "印发", "绿色工厂")]),
                source=f"/archive/{name}.txt",
            )
        store.refresh(sizes=[8])
        yield store


@pytest.fixture(autouse=True)
def collected():
    """Leave nothing to be collected during the tests of another file."""
    yield
    settled()
    gc.collect()


@pytest.fixture
def stopped(neo4j_server, monkeypatch):
    """A context in which the server is stopped, and asked about soon."""
    if neo4j_server is None:
        pytest.skip("it stops the server, and the one that the user names is not ours to stop")

    @contextmanager
    def stop():
        os.kill(neo4j_server.pid, signal.SIGSTOP)
        try:
            with monkeypatch.context() as soon:
                soon.setattr(liveness, "SILENT_S", 0.5)
                soon.setattr(liveness, "ASKED_S", 2.0)
                soon.setattr(connection, "_CLOSING_S", 0.5)
                yield
        finally:
            os.kill(neo4j_server.pid, signal.SIGCONT)

    return stop


def records(store):
    return [export_line(record) for record in store.export()]


def settled():
    """Wait for the threads that were left behind, which go on when the server does."""
    for thread in threading.enumerate():
        if thread.name == "kgrag-neo4j":
            thread.join(60)


def rest_of_export(store):
    """Return how to go on with an export that has begun."""
    begun = store.export()
    next(begun)
    return lambda: list(begun)


def write(store, make):
    return lambda: store.upsert_document(
        make.bundle("new", "节能标准"), source="/archive/new.txt"
    )  # fmt: skip


WAYS = {
    "open": lambda store, make, uri: lambda: Neo4jStore.open(uri),
    "search": lambda store, make, uri: (
        lambda: store.search_words({"绿色": 1.0}, field="text", size=8, top_k=5)
    ),
    "search in a thread": lambda store, make, uri: (
        lambda: store.begin_search_vectors(make.unit_vector("x"), kind="chunk", top_k=3)()
    ),
    "stats": lambda store, make, uri: store.counts,
    "export": lambda store, make, uri: rest_of_export(store),
    "query": lambda store, make, uri: (
        lambda: store.run_query("MATCH (d:KgragDocument) RETURN d.id", max_rows=9, timeout_s=1.0)
    ),
    "verify": lambda store, make, uri: store.verify,
    "write": lambda store, make, uri: write(store, make),
    "delete": lambda store, make, uri: lambda: store.delete_document("d-a"),
}


@pytest.mark.parametrize("way", extent.among([*WAYS], 6))
def test_nothing_waits_for_a_server_that_was_stopped(store, stopped, make, empty_neo4j, way):
    """One clear error within the limit; when the server goes on, everything is whole."""
    before = records(store)
    use = WAYS[way](store, make, empty_neo4j)
    with stopped(), pytest.raises(StoreUnavailableError, match=SAID):
        use()
    settled()

    assert records(store) == before  # nor is it done later, after it was told to have failed
    assert store.verify() == []
    write(store, make)()
    assert store.delete_document("d-new")


def test_closing_does_not_wait_for_a_server_that_was_stopped(store, stopped):
    """The process can end."""
    with stopped():
        store.close()


@pytest.mark.parametrize("command", extent.among(["ingest", "ask", "stats", "delete"], 2))
def test_a_command_ends_with_one_message(store, stopped, tmp_path, empty_neo4j, command):
    """And exit code 1; none of the driver's own lines."""
    (tmp_path / "a.txt").write_text("节能标准。", "utf-8")
    more = {"ingest": [str(tmp_path)], "ask": ["节能？"], "delete": ["a"]}.get(command, [])
    with stopped():
        done = CliRunner().invoke(main, [command, "--kb", empty_neo4j, *more])
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit), done.exception
    said = [line for line in done.stderr.splitlines() if line.startswith("kgrag: ")]
    assert len(said) == 1, done.output
    assert "takes connections, but has not answered" in said[0] or "cannot be reached" in said[0]
    assert "[#" not in done.output
    assert "Traceback" not in done.output
