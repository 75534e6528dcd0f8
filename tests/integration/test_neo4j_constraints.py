"""Knowledge bases in a database where other programs have constraints, on a real Neo4j."""

import logging
from contextlib import closing

import pytest

from kgrag.errors import StoreError
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.store import Neo4jStore
from tests.fixtures import extent, foreign_graphs
from tests.fixtures.kit import few_samples
from tests.integration.test_neo4j_beside import every_command, exported, kgrag

# Each would refuse something of the sample documents, or another knowledge base's copy of them.
CONSTRAINTS = (
    "CREATE CONSTRAINT FOR (n:Entity) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:Chunk) REQUIRE n.index IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:Document) REQUIRE (n.media_type, n.kind) IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:Summary) REQUIRE n.level IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:Target) REQUIRE n.standing IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:Duty) REQUIRE n.extractor IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:Organ) REQUIRE n.name IS UNIQUE",
    "CREATE CONSTRAINT FOR (n:Region) REQUIRE n.level IS UNIQUE",
)
ON_NAME, *_ = CONSTRAINTS
THEIRS = "CREATE (:Entity {name: '绿色工厂', id: 7}), (:Chunk {index: 0}), (:Summary {level: 0})"
LABELS = ["Chunk", "Document", "Duty", "Entity", "Organ", "Region", "Summary", "Target"]
READABLE = f"MATCH (n:{'|'.join(LABELS)}) WHERE any(l IN labels(n) WHERE l =~ 'Kgrag.*')"


def n_readable(session):
    """Return how many nodes of ours have which label that others use."""
    rows = session.run(
        f"{READABLE} UNWIND labels(n) AS l WITH l WHERE l IN {LABELS} RETURN l, count(*) ORDER BY l"
    )
    return dict(row.values() for row in rows)


def bundle(make, name):
    return make.bundle(
        name, f"{name}市工信部印发绿色工厂标准", facts=[("工信部", "印发", "绿色工厂")],
        mentions=["标准"], summaries=["摘要"],
    )  # fmt: skip


def put(store, make, name):
    store.upsert_document(bundle(make, name), source=f"/archive/{name}.txt")


def test_constraints_of_other_programs_refuse_nothing(empty_neo4j, session, tmp_path, caplog):
    """Every command works, also again and beside another base; their nodes stay as they are."""
    for text in (THEIRS, *CONSTRAINTS):
        session.run(text).consume()
    left = foreign_graphs.seen(session)
    kgrag("ingest", "--kb", empty_neo4j, *few_samples())
    assert n_readable(session) == {}
    assert [r.message for r in caplog.records if r.levelno == logging.WARNING] == [
        f"{empty_neo4j}: another program has a constraint on {', '.join(LABELS)}: ours are "
        f"labelled {', '.join(f'Kgrag{label}' for label in LABELS)} alone"
    ]
    whole = exported(empty_neo4j)
    again = kgrag("ingest", "--kb", empty_neo4j, *few_samples())
    assert "another program has" not in again.stderr
    assert exported(empty_neo4j) == whole
    kgrag("copy", "--from", empty_neo4j, "--to", f"{empty_neo4j}#other", "--check")

    if extent.FULL:
        every_command(empty_neo4j, tmp_path)

    kgrag("verify", "--kb", f"{empty_neo4j}#other")
    assert foreign_graphs.seen(session) == left


def test_a_constraint_made_while_we_write_refuses_nothing(empty_neo4j, session, make):
    """Nodes that are there lose the label as soon as it hinders; it comes back, too."""
    with closing(Neo4jStore.open(empty_neo4j)) as store:
        put(store, make, "a")
        labelled = n_readable(session)
        assert labelled["Entity"] == 3
        session.run(ON_NAME).consume()
        with closing(Neo4jStore.open(empty_neo4j, create=False)) as other:
            store.delete_document("d-a")
            session.run("CREATE (:Entity {name: '绿色工厂'})").consume()
            put(other, make, "a")
            assert n_readable(session) == {k: v for k, v in labelled.items() if k != "Entity"}
            assert other.verify() == []
        put(store, make, "b")
        assert store.verify() == []
        assert store.count_foreign() == 1
    (name,) = session.run(
        "SHOW CONSTRAINTS YIELD name, labelsOrTypes WHERE 'Entity' IN labelsOrTypes RETURN name"
    ).value()
    session.run(f"DROP CONSTRAINT {name}").consume()
    with closing(Neo4jStore.open(empty_neo4j)) as store:
        assert store.verify() == []
        assert n_readable(session)["Entity"] == 3
        assert store.count_foreign() == 1


@pytest.mark.parametrize("killed_at", extent.among([1, 2, 4], 2))
def test_relabelling_goes_on_where_it_was_cut_off(
    empty_neo4j, session, make, monkeypatch, killed_at
):
    """Each transaction labels some nodes; `verify` names those left until the next ingestion."""
    with closing(Neo4jStore.open(empty_neo4j)) as store:
        put(store, make, "a")
    labelled = n_readable(session)
    session.run("CREATE CONSTRAINT FOR (n:Chunk) REQUIRE n.caption IS UNIQUE").consume()
    n_writes, write = 0, Database.write

    def cut_off(self, work):
        nonlocal n_writes
        n_writes += 1
        if n_writes > killed_at + 1:  # the first is that of opening
            raise KeyboardInterrupt
        return write(self, work)

    monkeypatch.setattr("kgrag.store.neo4j.labels._PAGE", 1)
    monkeypatch.setattr("kgrag.store.neo4j.schema.statements_of", lambda file: ())
    monkeypatch.setattr(Database, "write", cut_off)
    with pytest.raises(KeyboardInterrupt):
        Neo4jStore.open(empty_neo4j)
    monkeypatch.undo()
    with closing(Neo4jStore.open(empty_neo4j, create=False)) as store:
        assert {p.invariant for p in store.verify()} <= {"node-labels"}
    with closing(Neo4jStore.open(empty_neo4j)) as store:
        assert store.verify() == []
    assert n_readable(session) == {k: v for k, v in labelled.items() if k != "Chunk"}


def test_a_constraint_on_a_label_that_ours_need_is_named(empty_neo4j, session, make):
    """Nobody else has that label; the error says what to do."""
    session.run("CREATE CONSTRAINT FOR (n:ParentChunk) REQUIRE n.size IS UNIQUE").consume()
    with closing(Neo4jStore.open(empty_neo4j)) as store:
        put(store, make, "a")
        with pytest.raises(StoreError, match=r"`ParentChunk`.*constraint of another program"):
            put(store, make, "b")
        assert store.verify() == []
