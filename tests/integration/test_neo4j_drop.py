"""A whole knowledge base is deleted from a real Neo4j, and nothing else."""

from contextlib import closing

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.errors import NoKnowledgeBaseError, StoreError
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.drop import documents_held, drop
from kgrag.store.neo4j.store import Neo4jStore
from tests.fixtures import extent, foreign_graphs
from tests.fixtures.typed_documents import typed_document
from tests.integration.test_neo4j_beside import exported, kgrag, put
from tests.neo4j_server import plugin


@pytest.fixture
def session(bare_neo4j):
    """A session of an administrator."""
    with plugin.driver_of(bare_neo4j) as driver, driver.session() as session:
        yield session


def ours(session):
    """Return the labels and indexes of kgrag that are in use."""
    labels = session.run("MATCH (n) UNWIND labels(n) AS l RETURN DISTINCT l").value()
    indexes = session.run("SHOW INDEXES YIELD name").value()
    constraints = session.run("SHOW CONSTRAINTS YIELD name").value()
    found = {*labels, *indexes, *constraints}
    return {name for name in found if name.casefold().startswith("kgrag")}


def test_only_the_one_named_goes(bare_neo4j, session, make):
    """Others and foreign graphs stay as they are; with the last goes what they shared."""
    foreign_graphs.create(session)
    left, before = foreign_graphs.seen(session), ours(session)
    places = [f"{bare_neo4j}#energy", bare_neo4j, f"{bare_neo4j}#energy_2025"]
    for place in places:
        put(place, make, "a", "b", "c")
        with closing(Neo4jStore.open(place)) as store:
            store.upsert_document(typed_document(make, "t"), source="/archive/t.txt")
    with closing(Neo4jStore.open(places[0])) as store:
        store.staged.begin({"embedder": "other"})  # half-done work of `kgrag reembed` goes, too
    whole = exported(places[1])
    assert before == set()
    for i, place in enumerate(places):
        done = kgrag("drop", "--kb", place, "--yes")
        assert done.stdout == f"dropped {place}: 4 documents\n"
        assert "no knowledge base" in kgrag("stats", "--kb", place, fails=True).stderr
        for other in places[i + 1 :]:
            assert exported(other) == whole
            with closing(Neo4jStore.open(other, create=False)) as store:
                assert store.verify() == []
        assert foreign_graphs.seen(session) == left
    assert ours(session) == set()


@pytest.mark.parametrize("killed_at", extent.among([1, 5, 20, 24, 30], 2))
def test_one_that_was_cut_off_is_finished_by_the_next(
    bare_neo4j, session, make, monkeypatch, killed_at
):
    """Until then nobody opens it, or writes to it who had it open before."""
    put(bare_neo4j, make, "a", "b", "c")
    n_writes, write = 0, Database.write

    def cut_off(self, work):
        nonlocal n_writes
        n_writes += 1
        if n_writes > killed_at:
            raise KeyboardInterrupt
        return write(self, work)

    with closing(Neo4jStore.open(bare_neo4j)) as store:
        monkeypatch.setattr("kgrag.store.neo4j.drop._PAGE", 5)
        monkeypatch.setattr(Database, "write", cut_off)
        with pytest.raises(KeyboardInterrupt):
            drop(bare_neo4j)
        monkeypatch.undo()
        with pytest.raises(StoreError, match="was deleted meanwhile"):
            store.delete_document("d-a")
    for create in (False, True):
        with pytest.raises(StoreError, match="is being deleted: `kgrag drop` goes on"):
            Neo4jStore.open(bare_neo4j, create=create)
    documents_held(bare_neo4j)
    drop(bare_neo4j)
    with pytest.raises(NoKnowledgeBaseError):
        documents_held(bare_neo4j)
    assert ours(session) == set()


def test_nothing_goes_that_nobody_said_yes_to(bare_neo4j, make, monkeypatch):
    """At a terminal it asks; elsewhere it wants --yes."""
    put(bare_neo4j, make, "a")
    whole = exported(bare_neo4j)
    assert "--yes" in kgrag("drop", "--kb", bare_neo4j, fails=True).stderr
    monkeypatch.setattr("kgrag.cli.manage._at_a_terminal", lambda: True)
    done = CliRunner().invoke(main, ["drop", "--kb", bare_neo4j], input="n\n")
    assert f"{bare_neo4j}: 1 document. Delete all of it? [y/N]" in done.stderr
    assert (done.exit_code, done.stdout) == (0, "nothing was deleted\n")
    assert exported(bare_neo4j) == whole
    done = CliRunner().invoke(main, ["drop", "--kb", bare_neo4j], input="y\n")
    assert "dropped" in done.stdout
    assert "no knowledge base" in kgrag("drop", "--kb", bare_neo4j, "--yes", fails=True).stderr
