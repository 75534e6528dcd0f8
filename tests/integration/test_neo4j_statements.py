"""Every statement on a real Neo4j: it is understood, reads only where it says so, and seeks."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from kgrag.qualifiers import Qualifiers
from kgrag.store.decisions import Decision
from kgrag.store.neo4j.statements import statement, statements_of
from kgrag.store.neo4j.store import Neo4jStore
from kgrag.store.neo4j.typed import REFERENCES
from kgrag.vectors.vector import KINDS
from tests.fixtures.kit import each
from tests.fixtures.typed_documents import cited_document, typed_document
from tests.neo4j_server import plugin

ROOT = Path(__file__).parents[2]
# Of what is asked by a form there are fragments: tests/contract/test_graph_query.py.
FILES = sorted(p.stem for p in (ROOT / "cypher").glob("*.cypher") if p.stem != "form")
# Files that only read.
READING = {"documents", "ending", "graph", "integrations", "verify", "whole"}
# Statements in the other files that only read.
ALSO_READING = {
    *("labels", "base"),
    *("count_embeddings", "setting", "index_states", "await_indexes"),
    "await_fulltext",
    *("source", "sources_of", "layout", "count_chunks_of", "chunk_ids_held", "names_counted"),
    *("embeddings_held", "embedding_keys_of", "embeddings_used", "any_embedding"),
    *("cites", *(set(statements_of("search")) - {"delete_any_terms"})),
    *("staged_documents", "documents_not_staged", "some_staged_documents", "staged_dimension"),
    *("staged_vectors", "any_dimension", "constraints", "hidden_labels"),
    *("corrections", "corrections_of", "decisions", "described"),
    *("organs_counted", "issuers_of_documents"),
}
# These files are meant to read everything of a kind.
READING_ALL = {"verify"}
# So are these statements of others.
WHOLE = {
    *(name for name in statements_of("whole") if name.startswith("every_")),
    *("count_foreign", "delete_any_terms"),
    *("sources", "revisions", "all_cards", "all_summaries", "chunk_sizes", "counts"),
    *("staged_documents", "documents_not_staged", "some_staged_documents", "staged_dimension"),
    *("delete_some_staged_documents", "delete_some_staged_embeddings", "any_dimension"),
    *("relabel_some", "delete_some_nodes", "corrections", "decisions", "stating_facts"),
    "issuers_of_documents",
    # Vectors of empty texts, of which there are few.
    *(f"search_{kind}_vectors" for kind in KINDS),
}
SCANS = re.compile(
    r"(AllNodes|NodeByLabel|\w*NodeByLabels|\w*RelationshipType|\w*AllRelationships|"
    r"\w*RelationshipIndex|NodeIndex)Scan"
)
# Indexes read from their beginning: up to a limit that is asked for.
LIMITED = {f"some_{kind}_with_embedding" for kind in KINDS}

EXPECTED = {"01N60"}  # of all notifications: EXPLAIN is given no parameters

# Documents enough for the planner to care; of each chunk two entities and a fact.
MANY = """
CREATE (:KgragEmbedding:KgragChunkEmbedding:KgragZeroEmbedding {id: 'zero'})
WITH 1 AS one
UNWIND range(0, 99) AS i
WITH 'x-' + i AS doc_id
CREATE (d:KgragDocument:Document {id: doc_id, title_key: doc_id, name_key: doc_id,
  embedding_key: doc_id})
CREATE (:KgragSource {id: doc_id, doc_id: doc_id}), (:KgragDocumentLayout {id: doc_id})
CREATE (:KgragStagedDocument {id: doc_id, nodes: [], kinds: [], keys: []})
CREATE (:KgragStagedEmbedding {id: doc_id})
CREATE (:Summary:KgragSummary {id: doc_id, doc_id: doc_id, embedding_key: 's' + doc_id})
CREATE (:KgragEmbedding:KgragDocumentEmbedding {id: doc_id})
CREATE (:KgragEmbedding:KgragSummaryEmbedding {id: 's' + doc_id})
WITH d
CALL (d) {
  UNWIND range(0, 3) AS i
  CREATE (p:KgragChunk:Chunk:ParentChunk {id: d.id + ':' + i, doc_id: d.id, size: 24})
  CREATE (p)-[:PART_OF]->(d)
  WITH d, p
  UNWIND range(0, 3) AS j
  CREATE (p)-[:HAS_CHILD]->(c:KgragChunk:Chunk:ChildChunk {id: p.id + ':' + j, doc_id: d.id,
    size: 8, parent_id: p.id, embedding_key: p.id + j})
  CREATE (:KgragEmbedding:KgragChunkEmbedding {id: p.id + j})
  CREATE (:KgragTerms {id: c.id, doc_id: d.id, size: 8})
  CREATE (s:KgragEntity:Entity {id: c.id, normalized: c.id})
  CREATE (o:KgragEntity:Entity {id: 'o' + c.id, normalized: 'o' + c.id})
  CREATE (s)-[:RELATED {id: c.id, predicate: '有', doc_ids: [d.id]}]->(o)
  CREATE (:KgragFactVector {id: d.id + c.id, doc_id: d.id, fact_id: c.id,
    embedding_key: 'f' + c.id})
  CREATE (:KgragEmbedding:KgragFactEmbedding {id: 'f' + c.id})
  CREATE (c)-[:MENTIONS {fact_ids: [c.id]}]->(s), (c)-[:MENTIONS {fact_ids: [c.id]}]->(o)
  CREATE (d)-[:NAMES]->(s), (d)-[:NAMES]->(o)
  CREATE (d)-[:STATES]->(t:KgragTarget:Target {id: 't' + c.id, doc_id: d.id, year: 2025})
  CREATE (t)-[:OF]->(s)
  CREATE (d)-[:ASSIGNS]->(u:KgragDuty:Duty {id: 'u' + c.id, doc_id: d.id})
  CREATE (u)-[:OF]->(s)
  CREATE (u)-[:ASSIGNED_TO]->(n:KgragOrgan:Organ {id: 'n' + c.id})
  CREATE (t)-[:APPLIES_TO]->(:KgragRegion:Region {id: 'r' + c.id})
  CREATE (d)-[:ISSUED_BY]->(n)
  CREATE (d)-[:BASED_ON {object_id: o.id}]->(o)
}
"""


def every_role(make):
    """Return a document with each kind of reference."""
    bundle = make.bundle("r", "参照《技术指南》。")
    told = [
        make.qualified("d-r", "参照《技术指南》。", ("本文", role, "技术指南"),
                       Qualifiers("reference", role=role), place="技术指南")
        for role in REFERENCES
    ]  # fmt: skip
    return replace(bundle, facts=told)


def names():
    """Return (file, name) of every statement."""
    return [(file, name) for file in FILES for name in statements_of(file)]


@pytest.fixture(scope="module")
def explain(neo4j_uri, make):
    """Return a function that gives the summary of EXPLAIN, on a graph of some size."""
    plugin.clear(neo4j_uri)
    with (
        plugin.driver_of(neo4j_uri) as driver,
        driver.session(notifications_min_severity="INFORMATION") as session,
    ):
        store = Neo4jStore.open(neo4j_uri)
        # With every kind of node, relationship and property: the planner names unknown ones.
        text, fact = "工信部印发绿色工厂标准", ("工信部", "印发", "绿色工厂")
        bundle = make.bundle("a", text, facts=[fact], mentions=["标准"], summaries=["摘要"])
        store.set_meta({"embedder": "test"})
        told = Qualifiers(kind="reference")
        facts = [make.qualified("d-a", text, fact, told)]
        (mention,) = bundle.mentions
        spot = replace(mention.evidence, qualifiers=told)
        bundle = replace(bundle, facts=facts, mentions=[replace(mention, evidence=spot)])
        store.upsert_document(bundle, source="/archive/a.txt")
        store.decide(corrections=[("d-a", "region", "云岭省")])
        store.decide(decisions=[Decision("merge", "省林业局", "云岭省林业局")])
        store.upsert_document(make.bundle("b", "正文", title="绿色工厂"), source="/archive/b.txt")
        for typed in (typed_document(make, "t"), cited_document(make, "u"), every_role(make)):
            store.upsert_document(typed, source=f"/archive/{typed.document.file}")
        store.refresh(sizes=[8])
        store.staged.begin({"embedder": "other"})
        session.run(MANY).consume()
        session.run("CALL db.prepareForReplanning(120)").consume()
        yield lambda text: session.run("EXPLAIN " + text).consume()
        store.close()


def text_of(file, name):
    text = statement(name, size=8, dimension=8)
    if file == "integrations":  # pieces that follow a search
        index = "CALL db.index.vector.queryNodes('kgrag_chunk_embedding', $k, $v) YIELD node, score"
        return f"{index} {text}"
    return text


def operators(plan):
    """Yield (name, details) of each operator of a plan."""
    yield plan["operatorType"].partition("@")[0], plan["args"].get("Details", "")
    for child in plan.get("children", ()):
        yield from operators(child)


def test_a_statement_is_understood(explain):
    """With the type that its file stands for; nothing in it is deprecated or unknown."""

    def check(file, name):
        summary = explain(text_of(file, name))
        if file in READING or name in ALSO_READING:
            assert summary.query_type == "r"
        elif file in ("schema", "indexes"):
            assert summary.query_type == "s"
        else:
            assert summary.query_type in ("w", "rw")
        said = {s.gql_status for s in summary.gql_status_objects if s.is_notification}
        assert said - EXPECTED == set()

    each(check, names())


def test_a_statement_reads_no_more_than_it_needs(explain):
    """Only what is meant to read everything of a kind does so, and nothing reads all nodes."""
    scanning = set()
    for file, name in names():
        plan = explain(text_of(file, name)).plan
        found = {operator for operator, _ in operators(plan)} if plan else set()
        assert "AllNodesScan" not in found, name
        if file not in READING_ALL and any(map(SCANS.fullmatch, found)):
            scanning.add(name)
    assert scanning == WHOLE | LIMITED
