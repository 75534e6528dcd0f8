"""Knowledge bases beside graphs of other programs, and beside each other, on a real Neo4j."""

import json
from contextlib import closing

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.errors import StoreUnavailableError
from kgrag.maintenance.copying import export_line
from kgrag.store.neo4j.store import Neo4jStore
from tests.fixtures import foreign_graphs
from tests.fixtures.kit import few_samples, write

NOTE = (
    f"note: {foreign_graphs.LABELLED} nodes of other programs under the same labels are left alone"
)


def kgrag(*arguments, fails=False):
    """Run a command; return what it printed."""
    done = CliRunner().invoke(main, list(map(str, arguments)))
    assert (done.exit_code != 0) is fails, f"{arguments}: {done.output}"
    assert done.exception is None or isinstance(done.exception, SystemExit), arguments
    assert "Traceback" not in done.output
    return done


def exported(place):
    with closing(Neo4jStore.open(place, create=False)) as store:
        return [export_line(record) for record in store.export()]


def put(place, make, *names):
    with closing(Neo4jStore.open(place)) as store:
        for name in names:
            bundle = make.bundle(
                name, f"{name}市工信部印发绿色工厂标准", facts=[("工信部", "印发", "绿色工厂")],
                mentions=["标准"], summaries=["摘要"],
            )  # fmt: skip
            store.upsert_document(bundle, source=f"/archive/{name}.txt")
        store.refresh(sizes=[8])


def every_command(kb, tmp_path):
    """Use all that there is on a knowledge base of the samples; with `stats` as the last."""
    for arguments in (
        ("documents",), ("search", "绿色工厂"), ("search", "绿色工厂", "--system", "vector"),
        ("ask", "云岭省计划创建多少家绿色工厂？"), ("graph", "碳达峰实施方案"),
        ("query", "MATCH (d:KgragDocument) RETURN count(d) AS n"), ("reembed",),
        ("export", "--out", tmp_path / "all.jsonl"),
    ):  # fmt: skip
        kgrag(arguments[0], "--kb", kb, *arguments[1:])
    kgrag("copy", "--from", kb, "--to", tmp_path / "copy", "--check")
    held = json.loads(kgrag("documents", "--kb", kb, "--json").stdout)
    kgrag("delete", "--kb", kb, held["rows"][0]["doc_id"])
    kgrag("verify", "--kb", kb)
    kgrag("stats", "--kb", kb)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("kgrag_chunk_document", "CREATE INDEX kgrag_chunk_document FOR (n:Chunk) ON (n.doc_id)"),
        ("kgrag_entity_id", "CREATE CONSTRAINT kgrag_entity_id FOR (n:X) REQUIRE n.y IS UNIQUE"),
        ("kgrag_chunk_embedding",
         "CREATE VECTOR INDEX kgrag_chunk_embedding FOR (n:Chunk) ON (n.e) OPTIONS {indexConfig: "
         "{`vector.dimensions`: 8, `vector.similarity_function`: 'cosine'}}"),
        ("kgrag_entity_names",
         "CREATE FULLTEXT INDEX kgrag_entity_names FOR (n:Entity) ON EACH [n.name]"),
    ],
)  # fmt: skip
def test_an_index_of_another_program_is_not_taken_for_ours(bare_neo4j, session, name, text):
    """`IF NOT EXISTS` would leave it in our place; nor is it dropped."""
    session.run(text).consume()
    with pytest.raises(StoreUnavailableError, match=rf"{name} is an index of another program"):
        Neo4jStore.open(bare_neo4j)
    assert name in foreign_graphs.seen(session) or session.run(
        "SHOW INDEXES YIELD name, labelsOrTypes WHERE name = $name RETURN labelsOrTypes[0]",
        name=name,
    ).value() in (["Chunk"], ["X"], ["Entity"])


def test_knowledge_bases_of_one_database_do_not_touch_each_other(empty_neo4j, session, make):
    """The same documents in two: what happens to one leaves the other's export identical."""
    foreign_graphs.create(session, definitions=False)
    places = [empty_neo4j, f"{empty_neo4j}#Energy_2025"]
    for place in places:
        put(place, make, "a", "b", "c")
    left, whole = foreign_graphs.seen(session), exported(places[0])
    assert [exported(place) for place in places] == [whole] * 2
    named = "MATCH ()-[r:RELATED {predicate: '印发'}]->() RETURN count(r)"
    assert session.run(named).value() == [2]

    with closing(Neo4jStore.open(places[1])) as store:
        assert store.delete_document("d-a")
        store.refresh()
    less = exported(places[1])
    assert exported(places[0]) == whole
    assert len(less) < len(whole)
    with closing(Neo4jStore.open(places[0])) as store:
        for doc_id in ("d-a", "d-b", "d-c"):
            assert store.delete_document(doc_id)
        store.refresh()
        assert store.counts().entities == store.counts().facts == store.counts().vectors == 0
        assert store.count_foreign() == foreign_graphs.LABELLED

    assert exported(places[1]) == less
    for place in places:
        with closing(Neo4jStore.open(place, create=False)) as store:
            assert store.verify() == []
    assert foreign_graphs.seen(session) == left


def test_every_command_leaves_other_graphs_and_bases_as_they_are(empty_neo4j, session, tmp_path):
    """On a named one, copied on the server; a new base counts nodes of others in one line."""
    foreign_graphs.create(session)
    kb = f"{empty_neo4j}#energy"
    kgrag("ingest", "--kb", kb, *few_samples())
    kgrag("copy", "--from", kb, "--to", f"{empty_neo4j}#other", "--check")
    assert NOTE in kgrag("ingest", "--kb", empty_neo4j, *few_samples()).stderr
    whole, left = exported(empty_neo4j), foreign_graphs.seen(session)
    every_command(kb.replace("#energy", "#other"), tmp_path)
    with closing(Neo4jStore.open(kb, create=False)) as store:
        assert store.count_foreign() == foreign_graphs.LABELLED
    assert exported(kb) == exported(empty_neo4j) == whole
    assert foreign_graphs.seen(session) == left
    assert "no knowledge base" in kgrag("stats", "--kb", f"{kb}x", fails=True).output


def test_queries_show_no_path_of_the_machine(empty_neo4j, tmp_path):
    """Sources and settings are nodes, too: paths in them are as `kgrag documents` shows them."""
    (tmp_path / "policies").mkdir()
    write(tmp_path / "policies", {"a": "节能办法\n第一条 节能。\n"})
    kgrag("ingest", "--kb", empty_neo4j, tmp_path / "policies")
    for text in ("MATCH (s:KgragSource) RETURN s.id AS x", "MATCH (n) RETURN toString(n.id) AS x"):
        rows = kgrag("query", "--kb", empty_neo4j, text).stdout
        assert str(tmp_path) not in rows
        assert "policies/a" in rows
