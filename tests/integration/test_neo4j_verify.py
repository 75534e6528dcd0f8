"""Each invariant of the graph, broken on purpose behind the store's back, is reported by name."""

import re
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError

from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.statements import statement
from kgrag.store.neo4j.store import Neo4jStore
from kgrag.store.neo4j.verify import _CHECKS, _TYPED_DETAILS, verify
from tests.fixtures import extent, typed_documents
from tests.neo4j_server import plugin

TEXTS = {
    "a": ("节能规划", "《节能规划》指出，工信部印发绿色工厂标准，建设节能工厂。推进节能降碳工作"),
    "b": ("绿色方案", "依据《节能规划》，工信部印发绿色工厂。各地推进节能降碳"),
    "c": ("关于工厂的意见", "工信部印发绿色工厂，推进建设，落实责任。"),
}
FACTS = {
    "a": [("工信部", "印发", "绿色工厂")],
    "b": [("工信部", "印发", "绿色工厂"), ("绿色工厂", "依据", "节能规划")],
    "c": [("工信部", "印发 ", "绿色工厂")],
}
MENTIONS = {"a": ["节能", "标准"], "b": ["节能"], "c": ["责任"]}
SIZES = (8, 24)


def bundles(make):
    return [
        make.bundle(
            n, text, title=title, headings=[text[1:5]], facts=FACTS[n], mentions=MENTIONS[n],
            summaries=[f"{title}的摘要"],
        )
        for n, (title, text) in TEXTS.items()
    ]  # fmt: skip


def fill(store, make):
    told = typed_documents.typed_document(make, "t"), typed_documents.cited_document(make, "u")
    for bundle in (*bundles(make), *told):
        store.upsert_document(bundle, source=f"/archive/{bundle.document.file}")
    store.refresh(sizes=SIZES)
    return store


@pytest.fixture(scope="module")
def filled(neo4j_uri, make):
    """A store of documents that cite each other; tests leave it as it is."""
    plugin.clear(neo4j_uri, bare=True)
    store = Neo4jStore.open(neo4j_uri)
    fill(store, make)
    yield store
    assert store.verify() == []
    store.close()


class InTransaction:
    """A knowledge base as it would be after some Cypher, which is taken back in the end."""

    address = parse("bolt://graph")

    def __init__(self, transaction):
        self._transaction, self.broken = transaction, set()

    def damage(self, text):
        """Run Cypher that changes something."""
        summary = self._transaction.run(text).consume()
        assert summary.counters.contains_updates, f"nothing was damaged by {text}"

    def read(self, name, /, **parameters):
        """Return the rows of a statement."""
        rows = list(self._transaction.run(statement(name), parameters))
        if rows:
            self.broken.add(name)
        return rows

    stream = read


@pytest.fixture
def damaged(filled, neo4j_uri):
    """A transaction to damage the graph in; it is rolled back."""
    with (
        plugin.driver_of(neo4j_uri) as driver,
        driver.session() as session,
        session.begin_transaction() as tx,
    ):
        yield InTransaction(tx)
        tx.rollback()


A0, A2 = "(c:Chunk {id: 'd-a:8:0'})", "(c:Chunk {id: 'd-a:8:2'})"
P0, P1 = "(p:Chunk {id: 'd-a:24:0'})", "(q:Chunk {id: 'd-a:24:1'})"
A, B = "(a:Document {id: 'd-a'})", "(b:Document {id: 'd-b'})"
SUMMARY = "(s:Summary {doc_id: 'd-a'})"
VECTOR = "[1.0, 0, 0, 0, 0, 0, 0, 0]"
ISSUED = "(:Entity {name: '工信部'})-[r:RELATED]->(:Entity {name: '绿色工厂'})"
PLACE = "(c:Chunk {doc_id: 'd-a'})-[m:MENTIONS]->(e:Entity {name: '节能'})"
STATED = "(c:Chunk {doc_id: 'd-a'})-[m:MENTIONS]->(e:Entity {name: '工信部'})"
LISTS = ("doc_ids", "starts", "ends", "chunk_ids", "extractors", "confidences", "predicates")

# What is damaged: a statement of `_CHECKS`, or an invariant; and how.
DAMAGE = [
    ("documents_without_source", "MATCH (s:KgragSource {doc_id: 'd-a'}) DELETE s"),
    ("documents_without_source", "MATCH (s:KgragSource {doc_id: 'd-a'}) SET s.doc_id = 'd-b'"),
    ("sources_without_document", "CREATE (:KgragSource {id: '/archive/x.txt', doc_id: 'd-x'})"),
    ("documents_without_layout", "MATCH (l:KgragDocumentLayout {id: 'd-a'}) DELETE l"),
    ("layouts_without_document",
     "CREATE (:KgragDocumentLayout {id: 'd-x', headings: '[]', segments: '[]'})"),
    ("chunks_without_document", f"MATCH {B} DETACH DELETE b"),
    ("nodes_with_wrong_labels", f"MATCH {A} REMOVE a:Document"),
    ("nodes_with_wrong_labels", f"MATCH {SUMMARY} REMOVE s:Summary"),
    ("nodes_with_wrong_labels", f"MATCH {P0} REMOVE p:Chunk"),
    ("nodes_with_wrong_labels", "MATCH (e:Entity {name: '标准'}) REMOVE e:Entity"),
    ("nodes_with_wrong_labels", f"MATCH {P0} REMOVE p:ParentChunk"),
    ("nodes_with_wrong_labels", f"MATCH {P0} SET p:ChildChunk"),
    ("nodes_with_wrong_labels", f"MATCH {A0} REMOVE c:ChildChunk"),
    ("nodes_with_wrong_labels", f"MATCH {A0} SET c:ParentChunk"),
    ("parents_not_part_of_document", f"MATCH {P0}-[r:PART_OF]->() DELETE r"),
    ("parents_not_part_of_document", f"MATCH {P0}, {B} CREATE (p)-[:PART_OF]->(b)"),
    ("parents_not_part_of_document", f"MATCH {P0}, {A} CREATE (p)-[:PART_OF]->(a)"),
    ("parents_not_part_of_document",
     f"MATCH {P0}-[r:PART_OF]->() MATCH {B} DELETE r CREATE (p)-[:PART_OF]->(b)"),
    ("children_without_parent_link", f"MATCH ()-[r:HAS_CHILD]->{A0} DELETE r"),
    ("children_without_parent_link", f"MATCH {A0}, {P0} CREATE (p)-[:HAS_CHILD]->(c)"),
    ("children_without_parent_link", f"MATCH {A0}, {P1} CREATE (q)-[:HAS_CHILD]->(c)"),
    ("children_without_parent_link",
     f"MATCH ()-[r:HAS_CHILD]->{A0} MATCH {P1} DELETE r CREATE (q)-[:HAS_CHILD]->(c)"),
    ("chunks_without_neighbour", f"MATCH ()-[r:NEXT_CHUNK]->{A2} DELETE r"),
    ("chunks_without_neighbour",
     f"MATCH (d)-[:NEXT_CHUNK]->{A2} CREATE (d)-[:NEXT_CHUNK]->(c)"),
    ("chunks_without_neighbour", "MATCH (c:Chunk {id: 'd-a:8:0'}), (d:Chunk {id: 'd-a:8:2'}) "
     "CREATE (c)-[:NEXT_CHUNK]->(d)"),
    ("chunks_without_neighbour",
     "MATCH (c:Chunk {id: 'd-a:8:4'}), (d:Chunk {id: 'd-b:8:0'}) CREATE (c)-[:NEXT_CHUNK]->(d)"),
    ("first_chunks_without_link", f"MATCH ()-[r:FIRST_CHUNK]->{A0} DELETE r"),
    ("first_chunks_without_link", f"MATCH {A}, {A2} CREATE (a)-[:FIRST_CHUNK {{size: 8}}]->(c)"),
    ("first_chunks_without_link", f"MATCH {A}, {A0} CREATE (a)-[:FIRST_CHUNK {{size: 8}}]->(c)"),
    ("first_chunks_without_link", f"MATCH ()-[r:FIRST_CHUNK]->{A0} SET r.size = 24"),
    ("summaries_outside_text", f"MATCH {SUMMARY} SET s.end = 999"),
    ("summaries_outside_text", f"MATCH {SUMMARY} SET s.start = -1"),
    ("summaries_outside_text", f"MATCH {SUMMARY} SET s.end = s.start - 1"),
    ("summaries_outside_text", f"MATCH {SUMMARY} SET s.doc_id = 'd-x'"),
    ("summaries_without_target", f"MATCH {SUMMARY}-[r:SUMMARIZES]->() DELETE r"),
    ("summaries_without_target", f"MATCH {SUMMARY} SET s.target_ids = s.target_ids + 'd-a:24:9'"),
    ("summaries_without_target", f"MATCH {SUMMARY} SET s.doc_id = 'd-b'"),
    ("summaries_with_other_target",
     f"MATCH {SUMMARY}, (c:Chunk {{id: 'd-b:24:0'}}) CREATE (s)-[:SUMMARIZES]->(c)"),
    ("summaries_with_other_target", f"MATCH {SUMMARY} SET s.target_ids = ['d-a:24:0']"),
    ("nodes_without_stored_embedding", "MATCH (e:KgragDocumentEmbedding) DELETE e"),
    ("nodes_without_stored_embedding",
     "MATCH (e:KgragChunkEmbedding) REMOVE e:KgragChunkEmbedding"),
    ("nodes_without_stored_embedding", f"MATCH {A0} SET c.embedding_key = 'lost'"),
    ("nodes_without_stored_embedding", f"MATCH {SUMMARY} SET s.embedding_key = 'lost'"),
    ("embeddings_without_node",
     f"CREATE (:KgragEmbedding:KgragChunkEmbedding {{id: 'x', vector: {VECTOR}}})"),
    ("embeddings_without_node", f"CREATE (:KgragEmbedding {{id: 'x', vector: {VECTOR}}})"),
    ("embeddings_without_node", "MATCH (e:KgragChunkEmbedding) SET e:KgragDocumentEmbedding"),
    ("embeddings_without_node", f"MATCH {SUMMARY} REMOVE s.embedding_key"),
    ("nodes_without_stored_embedding", "MATCH (f:KgragFactVector) SET f.embedding_key = 'lost'"),
    ("embeddings_without_node", "MATCH (f:KgragFactVector) DELETE f"),
    ("fact_vectors_without_fact", f"MATCH {ISSUED} DELETE r"),
    ("fact_vectors_without_fact", "MATCH (f:KgragFactVector {doc_id: 'd-a'}) SET f.doc_id = 'd-x'"),
    ("fact_vectors_without_fact", f"MATCH {ISSUED} SET r.doc_ids = ['d-b', 'd-b', 'd-b']"),
    ("embeddings_of_other_dimension", "MATCH (k:KgragKnowledgeBase) SET k.dimension = 9"),
    ("embeddings_of_other_dimension", "MATCH (k:KgragKnowledgeBase) REMOVE k.dimension"),
    ("embeddings_of_other_dimension", "MATCH (e:KgragSummaryEmbedding) SET e.vector = [1.0]"),
    ("terms_without_chunk", "CREATE (:KgragTerms:KgragTerms8 {id: 'x', doc_id: 'd-a', "
     "doc_key: '', size: 8, words: '', pairs: '', path_words: '', path_pairs: ''})"),
    ("terms_without_chunk", "MATCH (t:KgragTerms {id: 'd-a:8:0'}) SET t.size = 24"),
    ("terms_without_chunk", "MATCH (t:KgragTerms {id: 'd-a:8:0'}) SET t.doc_id = 'd-b'"),
    ("terms_without_chunk", "MATCH (k:KgragKnowledgeBase) SET k.sizes = [8]"),
    ("chunks_without_terms", "MATCH (t:KgragTerms {id: 'd-a:8:0'}) DELETE t"),
    ("entities_without_document",
     "CREATE (:KgragEntity:Entity {id: 'e-x', name: 'x', caption: 'x', normalized: 'x', "
     "type: 'entity'})"),
    ("entities_without_document", "MATCH ()-[n:NAMES]->(:Entity {name: '责任'}) DELETE n"),
    ("names_without_use", f"MATCH {A}, (e:Entity {{name: '责任'}}) "
     "CREATE (a)-[:NAMES {names: ['责任'], types: ['entity']}]->(e)"),
    ("mentions_without_name", f"MATCH {A}-[n:NAMES]->(:Entity {{name: '节能'}}) DELETE n"),
    ("deletion-finished", "MATCH (k:KgragKnowledgeBase) SET k.deleting = ['d-x']"),
    ("document-title", f"MATCH {A} SET a.title_key = 'x'"),
    ("document-title", f"MATCH {A} SET a.name_key = 'x'"),
    ("document-title", f"MATCH {A} SET a.title = 'x'"),
    ("document-file", f"MATCH {A} SET a.file = '/archive/x.txt'"),
    ("document-file", "CREATE (:KgragSource {id: '/a.txt', doc_id: 'd-a'})"),
    ("vector-length", "MATCH (e:KgragSummaryEmbedding) SET e.vector = [x IN e.vector | 2 * x]"),
    ("vector-length", "MATCH (e:KgragChunkEmbedding) SET e.vector = [x IN e.vector | 0.0 / 0.0]"),
    ("vector-numbers",
     "MATCH (e:KgragSummaryEmbedding) SET e.vector = [x IN e.vector | x * 1.00000001]"),
    ("vector-checksum", "MATCH (e:KgragChunkEmbedding) SET e.vector = [x IN e.vector | -x]"),
    ("vector-checksum", "MATCH (d:KgragDocumentEmbedding), (s:KgragSummaryEmbedding) "
     "SET s.vector = d.vector, s.checksum = d.checksum"),
    ("document-characters", f"MATCH {A} SET a.characters = 7"),
    ("document-chunks", f"MATCH {A0} SET c.heading_path = ['x']"),
    ("document-chunks", f"MATCH {A} SET a.layout = 'x'"),
    ("document-places",
     "MATCH (l:KgragDocumentLayout {id: 'd-a'}) SET l.headings = '[[0, 999, 1, \"x\"]]'"),
    ("document-places",
     "MATCH (l:KgragDocumentLayout {id: 'd-a'}) SET l.segments = '[[-1, 3, \"page\", 1]]'"),
    ("chunk-text", f"MATCH {A0} SET c.text = 'other'"),
    ("chunk-text", f"MATCH {P0} SET p.text = '改' + substring(p.text, 1)"),
    ("chunk-positions", f"MATCH {A2} SET c.index = 77"),
    ("parents-cover-document", f"MATCH {P1} SET q.start = 23"),
    ("child-has-parent", f"MATCH {A0} SET c.parent_id = 'd-a:24:9'"),
    ("child-has-parent", f"MATCH {A0} SET c.parent_id = 'd-a:8:1'"),
    ("child-inside-parent", f"MATCH {A0} SET c.parent_id = 'd-a:24:1'"),
    ("children-cover-parent", f"MATCH {A0} DETACH DELETE c"),
    ("children-cover-parent", "MATCH (c:Chunk {parent_id: 'd-a:24:1'}) DETACH DELETE c"),
    ("fact-has-evidence", f"MATCH {ISSUED} SET r.doc_ids = []"),
    ("fact-has-evidence", f"MATCH {ISSUED} SET r.ends = r.ends[1..]"),
    ("fact-wording", f"MATCH {ISSUED} SET r.predicate = '印发 '"),
    ("fact-order", f"MATCH {ISSUED} SET " + ", ".join(
        f"r.{name} = [r.{name}[1], r.{name}[0], r.{name}[2]]" for name in LISTS)),
    ("fact-order", f"MATCH {ISSUED} SET " + ", ".join(
        f"r.{name} = [r.{name}[0]] + r.{name}" for name in LISTS)),
    ("evidence-chunk", f"MATCH {ISSUED} SET r.chunk_ids = ['x'] + r.chunk_ids[1..]"),
    ("evidence-chunk", f"MATCH {ISSUED} SET r.chunk_ids = ['d-b:8:0'] + r.chunk_ids[1..]"),
    ("evidence-chunk", f"MATCH {ISSUED} SET r.starts = [99] + r.starts[1..]"),
    ("evidence-chunk", f"MATCH {ISSUED} SET r.ends = [0] + r.ends[1..]"),
    ("evidence-confidence", f"MATCH {ISSUED} SET r.confidences = [0.0, 1.0, 1.0]"),
    ("evidence-confidence", f"MATCH {ISSUED} SET r.confidences = [1.0, 1.5, 1.0]"),
    ("evidence-confidence", f"MATCH {ISSUED} SET r.confidences = [0.0 / 0.0, 1.0, 1.0]"),
    ("mention-once", f"MATCH {PLACE} CREATE (c)-[n:MENTIONS]->(e) SET n = properties(m)"),
    ("mention-facts", f"MATCH {STATED} SET m.fact_ids = []"),
    ("mention-facts", f"MATCH {STATED} SET m.fact_ids = m.fact_ids + 'f-x'"),
    ("mention-facts", f"MATCH {STATED} DELETE m"),
    ("mention-supported", f"MATCH {PLACE} SET m.starts = [], m.ends = [], m.extractors = [], "
     "m.confidences = []"),
    ("mention-places", f"MATCH {PLACE} SET m.qualifiers = ['{{}}', '{{}}', '{{}}']"),
    ("mentions-qualifiers", f"MATCH {PLACE} SET m.qualifiers = [x IN m.starts | '{{']"),
    ("evidence-qualifiers", f"MATCH {ISSUED} SET r.qualifiers = ['{{', '[]', '7']"),
    ("document-metadata", f"MATCH {A} SET a.metadata = '{{'"),
    ("document-metadata", f"MATCH {A} SET a.metadata = '{{\"issued\":\"gestern\"}}'"),
    ("document-metadata", f"MATCH {A} SET a.properties = '[]'"),
    ("mentions-chunk", f"MATCH {PLACE} SET m.starts = [99], m.ends = [100]"),
    ("mentions-chunk", f"MATCH {PLACE} SET m.ends = [x IN m.starts | x - 1]"),
    ("mentions-confidence", f"MATCH {PLACE} SET m.confidences = [2.0]"),
    ("mention-facts", "MATCH (:Entity {name: '绿色工厂'})-[r:RELATED]->() DELETE r"),
    ("entity-name", "MATCH (e:Entity {name: '标准'}) SET e.normalized = 'x'"),
    ("entity-wording", "MATCH (e:Entity {name: '标准'}) SET e.name = '《标准》'"),
    ("entity-wording", "MATCH (e:Entity {name: '标准'}) SET e.type = 'law'"),
    ("document-caption", f"MATCH {A} SET a.caption = 'x'"),
    ("document-caption", f"MATCH {A} SET a.name = 'x'"),
    ("document-property", f"MATCH {A} SET a.year = 1900"),
    ("document-property", f"MATCH {A} SET a.kinds = ['通知']"),
    ("document-property", f"MATCH {A} SET a.issuer = 'x'"),
    ("terms_without_chunk", "MATCH (t:KgragTerms8 {id: 'd-a:8:0'}) REMOVE t:KgragTerms8"),
    ("relationships_doubled", f"MATCH {B}-[r:CITES]->(d) CREATE (b)-[n:CITES]->(d) "
     "SET n = properties(r)"),
    ("relationships_doubled", f"MATCH {SUMMARY}-[:SUMMARIZES]->(c) CREATE (s)-[:SUMMARIZES]->(c)"),
    ("relationships_doubled", f"MATCH {A}-[r:NAMES]->(e {{name: '标准'}}) "
     "CREATE (a)-[n:NAMES]->(e) SET n = properties(r)"),
    ("knowledge-base", "MATCH (k:KgragKnowledgeBase) DELETE k"),
    ("entity-caption", "MATCH (e:Entity {name: '标准'}) SET e.caption = 'x'"),
    ("entity-wording", "MATCH (:Document)-[n:NAMES]->(e:Entity {name: '标准'}) "
     "SET n.types = ['law']"),
    ("citation-follows-facts", f"MATCH {B}-[r:CITES]->() DELETE r"),
    ("citation-follows-facts", f"MATCH {B}-[r:CITES]->() SET r.predicates = ['落实']"),
    ("citation-follows-facts",
     f"MATCH {A}, {B} CREATE (a)-[:CITES {{predicates: ['依据']}}]->(b)"),
    ("citation-follows-facts", f"MATCH {A} SET a.name_id = 'x'"),
    ("nodes_with_wrong_labels", "MATCH (t:KgragTarget) REMOVE t:Target"),
    ("nodes_with_wrong_labels", "MATCH (u:KgragDuty) REMOVE u:Duty"),
    ("nodes_with_wrong_labels", "MATCH (o:KgragOrgan) REMOVE o:Organ"),
    ("nodes_with_wrong_labels", "MATCH (r:KgragRegion) REMOVE r:Region"),
    ("statement-follows-facts", "MATCH (t:Target {year: 2025}) SET t.value = 25.0"),
    ("statement-follows-facts", "MATCH (t:Target {year: 2025}) DETACH DELETE t"),
    ("statement-follows-facts", "CREATE (:KgragTarget:Target {id: 't-x', doc_id: 'd-t'})"),
    ("statement-follows-facts", "MATCH (:Document)-[r:STATES]->(:Target {year: 2025}) DELETE r"),
    ("statement-follows-facts", "MATCH (:Target {year: 2025})-[r:OF]->() DELETE r"),
    ("statement-follows-facts", "MATCH (:Target {year: 2025})-[r:APPLIES_TO]->() DELETE r"),
    ("statement-follows-facts", "MATCH (u:Duty) SET u.deadline = '2030年'"),
    ("statement-follows-facts", "MATCH ()-[r:ASSIGNED_TO {role: '牵头'}]->() SET r.role = '配合'"),
    ("statement-follows-facts", "MATCH (u:Duty)-[r:ASSIGNED_TO]->(o) "
     "CREATE (u)-[n:ASSIGNED_TO]->(o) SET n = properties(r)"),
    ("link-follows-facts", "MATCH ()-[r:ISSUED_BY {index: 0}]->() DELETE r"),
    ("link-follows-facts", "MATCH ()-[r:ISSUED_BY {index: 0}]->() SET r.index = 7"),
    ("link-follows-facts", "MATCH (d:Document)-[r:APPLIES_TO]->() DELETE r"),
    ("link-follows-facts", "MATCH ()-[r:BASED_ON]->(:Document) DELETE r"),
    ("link-follows-facts", "MATCH ()-[r:BASED_ON]->(:Document) SET r.titles = ['x']"),
    ("link-follows-facts", "MATCH (d)-[r:BASED_ON]->(u:Document) MATCH (e:Entity {id: u.node_id})"
     " CREATE (d)-[n:BASED_ON]->(e) SET n = properties(r) DELETE r"),
    ("link-follows-facts", f"MATCH {A}, {B} CREATE (a)-[:REPEALS {{role: '废止'}}]->(b)"),
    ("shared-node", "MATCH (o:Organ {name: '云岭省能源局'}) SET o.name = 'x'"),
    ("shared-node", "CREATE (:KgragOrgan:Organ {id: 'e-x', name: 'x', caption: 'x'})"),
    ("shared-node", "MATCH (r:Region {name: '云岭省'}) SET r.level = '市'"),
    ("shared-node", "MATCH (r:Region {name: '云岭省'}) DETACH DELETE r"),
]  # fmt: skip
OF_STATEMENT = {name: invariant for invariant, name, _ in _CHECKS}


@pytest.mark.parametrize(("broken", "text"), DAMAGE)
def test_damage_is_named(damaged, broken, text):
    """With the invariant, what breaks it and the remedy; by the statement that is to see it."""
    damaged.damage(text)
    found = {p.invariant: p for p in verify(damaged)}
    invariant = OF_STATEMENT.get(broken, broken)
    problem = found[invariant]
    assert broken in damaged.broken or broken == invariant
    assert problem.subject
    assert any(word in problem.detail for word in ("ingest", "delete", "drop")), problem.detail
    assert "{" not in problem.detail


def invariants():
    """Return the names of all invariants that `verify` may report, as its sources write them."""
    root = Path(__file__).parents[2] / "kgrag" / "store"
    files = ("checks.py", "neo4j/verify.py")
    sources = "".join((root / file).read_text("utf-8") for file in files)
    plain = set(re.findall(r'Problem\("([\w-]+)"', sources))
    made = set(re.findall(r'Problem\(f"\{what\}-([\w-]+)"', sources))
    assert made == {"chunk", "confidence", "qualifiers"}
    plain |= _TYPED_DETAILS.keys()
    return plain | {f"{what}-{end}" for what in ("evidence", "mentions") for end in made}


def test_every_check_is_tried():
    """A new check comes with damage that it sees."""
    tried = {broken for broken, _ in DAMAGE} | {"index-online"}
    assert {name for _, name, _ in _CHECKS} - tried == set()
    elsewhere = {"index-exists"}  # below
    assert invariants() - tried - elsewhere == set()


def test_an_index_that_failed_is_named(neo4j_uri, filled):
    """A text that is too long for it, for instance: what it should hold is not found."""
    with plugin.driver_of(neo4j_uri) as driver:
        driver.execute_query("DROP INDEX kgrag_source_document")
        driver.execute_query("CREATE (:KgragSource {id: 'long', doc_id: $x})", x="长" * 40_000)
        make = "CREATE INDEX kgrag_source_document FOR (n:KgragSource) ON (n.doc_id)"
        driver.execute_query(make)
        with pytest.raises(ClientError, match="FAILED"):
            driver.execute_query("CALL db.awaitIndexes(60)")
        found = {p.invariant: p for p in filled.verify()}
        driver.execute_query("DROP INDEX kgrag_source_document")
        driver.execute_query("MATCH (s:KgragSource {id: 'long'}) DELETE s")
        driver.execute_query(make)

    assert found["index-online"].subject == "kgrag_source_document"
    assert "FAILED" in found["index-online"].detail


NODES = "MATCH (n) UNWIND labels(n) AS label UNWIND keys(n) AS key RETURN DISTINCT label, key"
LINKS = "MATCH ()-[n]->() UNWIND keys(n) AS key RETURN DISTINCT type(n) AS label, key"
MAY_BE_MISSING = {  # told by other checks, if at all
    *("embedding_key", "parent_id", "dimension"),
    # An older knowledge base has none.
    *("staged", "switching", "mark", "revision", "hidden", "relabelling"),
    "checksum",
}


def test_what_lacks_a_property_is_reported(filled, neo4j_uri):
    """As a problem, not as an error: who edits the graph by hand asks `verify` what is wrong."""
    silent, failed = [], []
    with plugin.driver_of(neo4j_uri) as driver, driver.session() as session:
        places = [("(n:{})", r.values()) for r in session.run(NODES)]
        places += [("()-[n:{}]->()", r.values()) for r in session.run(LINKS)]
        for pattern, (label, key) in extent.among(sorted(places), 30):
            if key in MAY_BE_MISSING:
                continue
            with session.begin_transaction() as tx:
                base: Any = InTransaction(tx)
                one = f"MATCH {pattern.format(label)} WITH n WHERE n.{key} IS NOT NULL LIMIT 1"
                base.damage(f"{one} REMOVE n.{key}")
                try:
                    if not verify(base):
                        silent.append(f"{label}.{key}")
                except Exception as exc:  # whatever it is, it is no report
                    failed.append(f"{label}.{key}: {type(exc).__name__}")
                tx.rollback()
    assert (failed, silent) == ([], [])


@pytest.mark.parametrize(
    "name",
    extent.among(
        [
            *("kgrag_chunk_text", "kgrag_entity_names", "kgrag_terms_8", "kgrag_chunk_embedding"),
            *("kgrag_entity_normalized", "kgrag_fact_embedding", "kgrag_fact_vector_document"),
        ],
        3,
    ),
)
def test_a_missing_index_is_named(filled, neo4j_uri, name):
    """Searching fails without it, and sends the user to `verify`."""
    with plugin.driver_of(neo4j_uri) as driver:
        shown = driver.execute_query(
            "SHOW INDEXES YIELD name, createStatement WHERE name = $name RETURN createStatement",
            name=name,
        )
        driver.execute_query(f"DROP INDEX {name}")
        try:
            found = {(p.invariant, p.subject) for p in filled.verify()}
        finally:
            driver.execute_query(shown.records[0].value())
            driver.execute_query("CALL db.awaitIndexes(60)")
    assert ("index-exists", name) in found


def test_damage_that_is_repaired_is_forgotten(filled, neo4j_uri):
    """Nothing is remembered of what was wrong."""
    with plugin.driver_of(neo4j_uri) as driver:
        driver.execute_query("MATCH (k:KgragKnowledgeBase) SET k.deleting = ['d-x']")
        driver.execute_query(f"MATCH {A0} SET c.text = 'x' + c.text")
        assert {p.invariant for p in filled.verify()} == {"deletion-finished", "chunk-text"}
        driver.execute_query(f"MATCH {A0} SET c.text = substring(c.text, 1)")
        driver.execute_query("MATCH (k:KgragKnowledgeBase) SET k.deleting = []")
    assert filled.verify() == []


def test_a_document_that_is_ingested_again_is_whole_again(neo4j_uri, filled, make):
    """The remedy that most problems name."""
    bundle = next(b for b in bundles(make) if b.document.doc_id == "d-b")
    before = list(filled.export())
    with plugin.driver_of(neo4j_uri) as driver:
        driver.execute_query("MATCH (b:Document {id: 'd-b'})-[r:CITES]->() DELETE r")
        driver.execute_query(
            "MATCH (b:Document {id: 'd-b'}) SET b.title_key = 'x', b.characters = 1"
        )
        driver.execute_query("MATCH (l:KgragDocumentLayout {id: 'd-b'}) DELETE l")
        driver.execute_query("MATCH (s:Summary {doc_id: 'd-b'})-[r:SUMMARIZES]->() DELETE r")
        driver.execute_query("MATCH (c:Chunk {doc_id: 'd-b'})-[m:MENTIONS]->() DELETE m")
    assert len({p.invariant for p in filled.verify()}) >= 5
    filled.upsert_document(bundle, source="/archive/b.txt")
    assert filled.verify() == []
    assert list(filled.export()) == before
