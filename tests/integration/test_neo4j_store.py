"""The store on a real Neo4j: how it opens, what its graph is made of, how its indexes keep up."""

import threading
from contextlib import closing
from dataclasses import replace

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import NoKnowledgeBaseError, StoreError
from kgrag.ingestion.samples import sample_folder
from kgrag.store.neo4j.nodes import TOLD, TYPED
from kgrag.store.neo4j.schema import VERSION
from kgrag.store.neo4j.store import Neo4jStore
from kgrag.store.neo4j.typed import REFERENCES, REFERS_TO
from kgrag.store.terms import terms_version
from tests.neo4j_server import plugin

KEYS = "UNWIND keys(n) AS key RETURN DISTINCT key"
# What the graph is made of: labels, relationship types and their properties. Whoever queries or
# draws the graph relies on these names; they change with VERSION only.
NODES = {
    "KgragKnowledgeBase": {"id", "version", "seq", "sizes", "ready", "terms_version", "dimension",
                      "indexed", "deleting", "dead_terms", "staged", "switching",
                      "mark", "hidden", "relabelling"},
    "KgragSetting": {"id", "value"},
    "KgragSource": {"id", "doc_id"},
    "Document": {"id", "title", "name", "caption", "file", "media_type", "characters",
                 "content_hash", "fingerprint", "layout", "warnings", "properties", "metadata",
                 "title_key", "name_key", "node_id", "name_id", "embedding_key", "region",
                 "regions", "year", "kind", "kinds", "author", "revision"},
    "KgragDocumentLayout": {"id", "headings", "segments"},
    "ParentChunk": {"id", "doc_id", "size", "index", "start", "end", "text", "heading_path",
                    "heading"},
    "ChildChunk": {"id", "doc_id", "size", "index", "start", "end", "text", "parent_id",
                   "heading_path", "heading", "embedding_key"},
    "Summary": {"id", "doc_id", "start", "end", "level", "source", "target_ids", "text",
                "embedding_key"},
    "Entity": {"id", "name", "caption", "normalized", "type"},
    "Target": {"id", "doc_id", "chunk_id", "start", "end", "fact_id", "extractor", "confidence",
               "indicator", "indicator_text", "predicate", "value_text", "value", "value_to",
               "unit", "comparator", "bound", "year", "period", "base_year", "base_value",
               "region", "scope",
               "standing", "binding", "condition", "caption"},
    "Duty": {"id", "doc_id", "chunk_id", "start", "end", "extractor", "task", "deadline", "year",
             "region", "condition", "caption"},
    "Organ": {"id", "name", "caption"},
    "Region": {"id", "name", "caption", "path", "level", "province"},
    "KgragChunkEmbedding": {"id", "vector", "checksum"},
    "KgragSummaryEmbedding": {"id", "vector", "checksum"},
    "KgragDocumentEmbedding": {"id", "vector", "checksum"},
    "KgragFactEmbedding": {"id", "vector", "checksum"},
    "KgragFactVector": {"id", "doc_id", "fact_id", "embedding_key"},
    "KgragTerms512": {"id", "doc_id", "doc_key", "size", "words", "pairs", "path_words",
                      "path_pairs"},
}  # fmt: skip
NODES["Chunk"] = NODES["ParentChunk"] | NODES["ChildChunk"]
NODES["KgragEmbedding"] = NODES["KgragChunkEmbedding"]
TOLD_BY_SOME = {"value_to", "bound", "year", "period", "base_year", "base_value", "scope",
                "binding", "condition", "deadline", "region", "province"}  # fmt: skip
for label in ("Document", "Chunk", "Summary", "Entity", "Target", "Duty", "Organ", "Region"):
    NODES[f"Kgrag{label}"] = NODES[label]
NODES["KgragTerms"] = NODES["KgragTerms256"] = NODES["KgragTerms512"]
# (label, type, label): properties.
LINKS = {
    ("ParentChunk", "PART_OF", "Document"): set(),
    ("Document", "FIRST_CHUNK", "Chunk"): {"size"},
    ("Chunk", "NEXT_CHUNK", "Chunk"): set(),
    ("ParentChunk", "HAS_CHILD", "ChildChunk"): set(),
    ("Summary", "SUMMARIZES", "ParentChunk"): set(),
    ("Chunk", "MENTIONS", "Entity"): {"fact_ids", "starts", "ends", "extractors", "confidences"},
    ("Document", "NAMES", "Entity"): {"names", "types"},
    ("Entity", "RELATED", "Entity"): {"id", "predicate", "doc_ids", "chunk_ids", "starts", "ends",
                                      "extractors", "confidences", "predicates", "qualifiers"},
    ("Document", "CITES", "Document"): {"predicates"},
    ("Document", "ISSUED_BY", "Organ"): {"name", "written", "index"},
    ("Document", "APPLIES_TO", "Region"): set(),
    ("Document", "STATES", "Target"): set(),
    ("Target", "OF", "Entity"): set(),
    ("Target", "APPLIES_TO", "Region"): set(),
    ("Document", "ASSIGNS", "Duty"): set(),
    ("Duty", "OF", "Entity"): set(),
    ("Duty", "ASSIGNED_TO", "Organ"): {"role", "name", "written", "fact_id", "confidence"},
}  # fmt: skip
# Of references, to documents or entities; the samples have some of the types.
REFERENCE = {"object_id", "role", "titles", "numbers", "matches", "fact_ids", "chunk_ids", "starts",
             "ends", "extractors", "confidences"}  # fmt: skip
UNIQUE = {
    *(
        "KgragKnowledgeBase",
        "KgragSetting",
        "KgragDocument",
        "KgragDocumentLayout",
        "KgragSource",
        "KgragChunk",
        "KgragSummary",
    ),
    *("KgragEntity", "KgragEmbedding", "KgragFactVector", "KgragTerms"),
    *("KgragCorrection", "KgragDecision"),
    *("KgragTarget", "KgragDuty", "KgragOrgan", "KgragRegion"),
}
INDEXES = {
    ("RANGE", "RELATED", "id"),
    ("RANGE", "KgragChunk", "doc_id"), ("RANGE", "KgragChunk", "size"),
    ("RANGE", "KgragChunk", "embedding_key"),
    ("RANGE", "KgragSummary", "doc_id"), ("RANGE", "KgragSummary", "embedding_key"),
    ("RANGE", "KgragDocument", "embedding_key"), ("RANGE", "KgragDocument", "name_key"),
    ("RANGE", "KgragEntity", "normalized"), ("RANGE", "KgragSource", "doc_id"),
    ("RANGE", "KgragTerms", "doc_id"), ("RANGE", "KgragCorrection", "doc_id"),
    ("RANGE", "KgragDocument", "node_id"), ("RANGE", "KgragDocument", "name_id"),
    ("RANGE", "KgragTarget", "doc_id"), ("RANGE", "KgragTarget", "year"),
    ("RANGE", "KgragDuty", "doc_id"), ("RANGE", "KgragRegion", "name"),
    ("TEXT", "KgragTarget", "indicator"), ("TEXT", "KgragOrgan", "name"),
    ("TEXT", "KgragEntity", "normalized"), ("TEXT", "KgragDocument", "title_key"),
    ("FULLTEXT", "KgragChunk KgragSummary", "text"), ("FULLTEXT", "KgragEntity", "name normalized"),
    ("FULLTEXT", "KgragTerms512", "words pairs path_words path_pairs doc_key"),
    ("FULLTEXT", "KgragTerms256", "words pairs path_words path_pairs doc_key"),
    ("VECTOR", "KgragChunkEmbedding", "vector"), ("VECTOR", "KgragSummaryEmbedding", "vector"),
    ("VECTOR", "KgragDocumentEmbedding", "vector"), ("VECTOR", "KgragFactEmbedding", "vector"),
    ("RANGE", "KgragFactVector", "fact_id"), ("RANGE", "KgragFactVector", "doc_id"),
    ("RANGE", "KgragFactVector", "embedding_key"),
    ("RANGE", "KgragDocument", "region"), ("RANGE", "KgragDocument", "kind"),
    ("RANGE", "KgragDocument", "year"),
}  # fmt: skip


@pytest.fixture
def run(neo4j_uri):
    """A function that runs Cypher and returns the values of its rows."""
    with plugin.driver_of(neo4j_uri) as driver:
        yield lambda text, **values: [
            r.values() for r in driver.execute_query(text, values).records
        ]


@pytest.fixture
def opened(empty_neo4j):
    """Open stores on an empty server; they are closed in the end."""
    stores = []

    def open_(**more):
        stores.append(Neo4jStore.open(empty_neo4j, **more))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


def put(store, *bundles):
    for bundle in bundles:
        store.upsert_document(bundle, source=f"/archive/{bundle.document.file}")


def words(store, *terms, size=8, top_k=100, field="text"):
    return store.search_words(dict.fromkeys(terms, 1.0), field=field, size=size, top_k=top_k)


def test_an_empty_database_is_no_knowledge_base_until_it_is_made_one(bare_neo4j, opened, run):
    """Looking for one leaves nothing behind."""
    with pytest.raises(NoKnowledgeBaseError, match=r"no knowledge base.*kgrag ingest"):
        opened(create=False)
    assert run("MATCH (n) RETURN count(n)") == [[0]]
    assert run("SHOW CONSTRAINTS YIELD name RETURN count(*)") == [[0]]

    opened()
    assert opened(create=False).counts().documents == 0
    assert opened().verify() == []


def test_nodes_of_other_names_are_no_reason_to_refuse(opened, run):
    """They are left alone as well."""
    run("CREATE (:Person {name: 'Ann'})")
    assert opened().verify() == []
    assert run("MATCH (p:Person) RETURN p.name") == [["Ann"]]


@pytest.mark.parametrize("create", [True, False])
def test_a_newer_version_is_refused(opened, run, create):
    opened()
    run("MATCH (k:KgragKnowledgeBase) SET k.version = $version", version=VERSION + 1)
    with pytest.raises(StoreError, match=rf"is of version {VERSION + 1}.*reads version {VERSION}"):
        opened(create=create)
    assert run("MATCH (k:KgragKnowledgeBase) RETURN k.version") == [[VERSION + 1]]


@pytest.fixture(scope="module")
def samples(neo4j_uri, make):
    """The sample documents, and one with what they lack: a summary and the vector of nothing."""
    plugin.clear(neo4j_uri, bare=True)
    with KnowledgeBase.open(neo4j_uri, embedder=HashEmbedder()) as base:
        base.ingest([sample_folder()])
        doc_id = base.store.document_cards()[0].doc_id
        held = base.store.bundle(doc_id)
        assert held is not None
        summary = make.summary(doc_id, held.document.text, "摘要")
        parents = tuple(c.chunk_id for c in held.chunks if c.parent_id is None)
        vector = held.vectors[0].vector
        assert vector is not None
        size = vector.size
        base.store.add_knowledge(
            doc_id,
            summaries=[replace(summary, target_ids=parents)],
            vectors=[
                make.node_vector(summary.summary_id, "summary", "摘要", dimension=size),
                make.node_vector(doc_id, "document", "摘要", dimension=size),
            ],
        )
        assert base.store.verify() == []
        yield base


def test_the_graph_is_made_of_known_names(samples, run):
    """Nodes, relationships and properties are those of the tables above, no more and no less."""
    nodes = {
        label: {key for (key,) in run(f"MATCH (n:{label}) {KEYS}")}
        for (label,) in run("MATCH (n) UNWIND labels(n) AS label RETURN DISTINCT label")
    }
    links: dict[tuple[str, str, str], set[str]] = {}
    for a, type_, b, keys in run(
        "MATCH (a)-[r]->(b) RETURN DISTINCT labels(a), type(r), labels(b), keys(r)"
    ):
        if type_ in (*REFERENCES.values(), REFERS_TO):
            assert "Document" in a
            assert {"Document", "Entity"} & set(b)
            assert set(keys) == REFERENCE
            continue
        (kind,) = (k for k in LINKS if k[1] == type_ and k[0] in a and k[2] in b)
        links.setdefault(kind, set()).update(keys)

    told = {*TOLD, *TYPED, "governs"}  # the samples tell some of these
    for label in ("Document", "KgragDocument"):
        assert nodes[label] <= NODES[label] | told
        nodes[label] = NODES[label]
    for label in ("Target", "Duty", "Region"):
        for name in (label, f"Kgrag{label}"):
            assert NODES[name] - TOLD_BY_SOME <= nodes[name] <= NODES[name]
            nodes[name] = NODES[name]
    assert nodes == NODES
    assert links == LINKS


# What the graph's schema leaves out: of use to kgrag only.
def test_constraints_and_indexes_are_the_known_ones(samples, run):
    """Every label has a unique id; every search has its index."""
    unique = run("SHOW CONSTRAINTS YIELD labelsOrTypes, properties, type "
                 "RETURN labelsOrTypes[0], properties, type")  # fmt: skip
    assert {label for label, _, _ in unique} == UNIQUE
    assert all(keys == ["id"] and "UNIQUENESS" in type_ for _, keys, type_ in unique)
    found = run("SHOW INDEXES YIELD type, labelsOrTypes, properties, owningConstraint, state "
                "WHERE owningConstraint IS NULL AND type <> 'LOOKUP' "
                "RETURN type, labelsOrTypes, properties, state")  # fmt: skip
    assert {
        (type_, " ".join(labels), " ".join(keys)) for type_, labels, keys, _ in found
    } == INDEXES
    assert {state for *_, state in found} == {"ONLINE"}


def found_by_text(run, query):
    return [
        i for (i,) in run("CALL db.index.fulltext.queryNodes('kgrag_chunk_text', $query) "
                          "YIELD node RETURN node.id ORDER BY node.id", query=query)
    ]  # fmt: skip


def test_the_text_index_finds_chinese_phrases(opened, run, make):
    """For everyone who searches in Cypher: chunks of every size, and summaries."""
    put(
        opened(),
        make.bundle("a", "推进绿色工厂。节能降碳", summaries=["绿色工厂的摘要"]),
        make.bundle("b", "工厂绿色化。降碳节能"),
    )
    run("CALL db.awaitIndexes(60)")

    assert found_by_text(run, '"绿色工厂"')[:2] == ["d-a:24:0", "d-a:8:0"]
    assert len(found_by_text(run, '"绿色工厂"')) == 3  # with the summary
    assert found_by_text(run, '"工厂绿色"') == ["d-b:24:0", "d-b:8:0"]
    assert found_by_text(run, '"色厂"') == []
    assert {i[:3] for i in found_by_text(run, "节能")} == {"d-a", "d-b"}


def words_held(run):
    return run("MATCH (t:KgragTerms) RETURN t.id, labels(t), t.words ORDER BY t.id")


@pytest.mark.parametrize("way", ["search", "refresh"])
def test_words_that_were_made_otherwise_are_made_anew(opened, run, make, monkeypatch, way):
    """By the next search or refresh; from then on the knowledge base says so."""
    store = opened()
    put(store, make.bundle("a", "推进绿色工厂。节能降碳"), make.bundle("b", "节能标准"))
    before = words(store, "节能")
    held = words_held(run)
    assert before
    run("MATCH (t:KgragTerms) SET t.words = 'old', t.pairs = 'old'")
    run("MATCH (t:KgragTerms {id: 'd-b:8:0'}) DELETE t")
    run("MATCH (k:KgragKnowledgeBase) SET k.terms_version = 'old'")

    other = opened(create=False)
    if way == "refresh":
        other.refresh(sizes=[8])
    assert words(other, "节能") == before
    assert words(other, "old") == []
    assert words_held(run) == held
    version = terms_version()
    assert run("MATCH (k:KgragKnowledgeBase) RETURN k.terms_version, k.ready") == [[version, [8]]]
    assert other.verify() == []


def archive(make, numbers):
    """Return documents whose lengths differ, as BM25 needs them to."""
    return [
        make.bundle(
            f"{i:02}", "节能工厂，" * (i % 5 + 1) + "绿色标准。" * (i % 3), title=f"第{i}号"
        )
        for i in numbers
    ]


def test_too_many_dead_words_are_left_behind(opened, run, make, neo4j_uri):
    """Lucene counts what was deleted; after a refresh, scores are those of a fresh index."""
    store = opened()
    put(store, *archive(make, range(20)))
    store.refresh(sizes=[8])
    for i in range(0, 20, 2):
        store.delete_document(f"d-{i:02}")
    dead = run("MATCH (k:KgragKnowledgeBase) RETURN k.dead_terms")[0][0]
    held = run("MATCH (t:KgragTerms) RETURN count(t)")[0][0]
    assert dead > 0.2 * (held + dead)

    store.refresh(sizes=[8])
    assert run("MATCH (k:KgragKnowledgeBase) RETURN k.dead_terms") == [[0]]
    scores = [words(store, "节能", "标准"), words(store, "号", field="path")]
    phrase = store.search_phrase("绿色标准", field="text", size=8, top_k=100)
    assert all([*scores, phrase])
    assert store.verify() == []

    plugin.clear(neo4j_uri, bare=True)
    fresh = opened()
    put(fresh, *archive(make, range(1, 20, 2)))
    fresh.refresh(sizes=[8])
    assert [words(fresh, "节能", "标准"), words(fresh, "号", field="path")] == scores
    assert fresh.search_phrase("绿色标准", field="text", size=8, top_k=100) == phrase


def test_few_dead_words_stay(opened, run, make):
    """Indexes, also of some vectors, are not made anew for every document."""
    store = opened()
    put(store, *archive(make, range(5)))
    store.refresh(sizes=[8])
    put(store, *archive(make, range(5, 20)))
    store.delete_document("d-00")
    dead = run("MATCH (k:KgragKnowledgeBase) RETURN k.dead_terms")
    assert dead[0][0] > 0
    indexes = run("SHOW INDEXES YIELD id RETURN id ORDER BY id")
    store.refresh(sizes=[8])
    assert run("SHOW INDEXES YIELD id RETURN id ORDER BY id") == indexes
    assert run("MATCH (k:KgragKnowledgeBase) RETURN k.dead_terms") == dead


def test_a_reader_notices_another_dimension_whatever_it_asks(opened, make):
    """Its question was encoded by the model that the knowledge base had when it was opened."""
    store, reader = opened(), opened()
    put(store, make.bundle("a", "节能工厂"))
    question = make.unit_vector("节能工厂")
    assert reader.search_vectors(question, kind="chunk", top_k=1)
    store.delete_document("d-a")
    put(store, make.bundle("a", "节能工厂", dimension=16))

    for within in (None, ["d-a"]):
        with pytest.raises(StoreError, match=r"shape .* use the model"):
            reader.search_vectors(question, kind="chunk", top_k=1, doc_ids=within)
    with pytest.raises(StoreError, match=r"shape .* use the model"):
        reader.similarities(question, ["d-a:8:0"])


@pytest.mark.parametrize(
    "use",
    [
        lambda store, make: store.change_counter(),
        lambda store, make: store.refresh(sizes=[8]),
        lambda store, make: put(store, make.bundle("a", "节能工厂")),
        lambda store, make: store.delete_document("d-a"),
        lambda store, make: words(store, "节能", size=24),
        lambda store, make: store.search_vectors(make.unit_vector("x", 9), kind="chunk", top_k=1),
    ],
)
def test_a_knowledge_base_that_was_deleted_meanwhile_is_told(opened, run, make, use):
    store = opened()
    put(store, make.bundle("a", "节能工厂"))
    run("MATCH (n) DETACH DELETE n")
    with pytest.raises(StoreError, match="deleted meanwhile: open it again"):
        use(store, make)


def test_indexes_that_were_dropped_are_made_again(opened, run, make):
    """By opening it and by the refresh that ends every ingestion.

    Of a constraint that was being made when its server ended, its index is left.
    """
    store = opened()
    put(store, make.bundle("a", "节能工厂", summaries=["摘要"], facts=[("节能", "用于", "工厂")]))
    store.refresh(sizes=[8])
    names = [name for (name,) in run("SHOW INDEXES YIELD name, type, owningConstraint "
             "WHERE owningConstraint IS NULL AND type <> 'LOOKUP' RETURN name")]  # fmt: skip
    for name in names:
        run(f"DROP INDEX {name}")
    assert {p.subject for p in store.verify()} == set(names)
    run("DROP CONSTRAINT kgrag_terms_id")
    run("CREATE INDEX kgrag_terms_id FOR (n:KgragTerms) ON (n.id)")

    other = opened()
    other.refresh(sizes=[8])
    assert other.verify() == []
    assert run("SHOW CONSTRAINTS YIELD name WHERE name = 'kgrag_terms_id' RETURN count(*)") == [[1]]
    assert words(other, "节能")
    assert other.search_vectors(make.unit_vector("节能工厂"), kind="chunk", top_k=1)


def test_what_others_delete_meanwhile_is_read_whole_or_not_at_all(empty_neo4j, make):
    """Of a node that goes while it is read, Neo4j gives properties as null."""
    bundles = [make.bundle(f"n{i}", f"工信部印发第{i}号。", summaries=["摘要"]) for i in range(4)]
    ids = [bundle.document.doc_id for bundle in bundles]
    with (
        closing(Neo4jStore.open(empty_neo4j)) as writing,
        closing(Neo4jStore.open(empty_neo4j)) as reading,
    ):

        def write():
            for _ in range(3):
                for bundle in bundles:
                    writing.upsert_document(bundle, source=f"/{bundle.document.doc_id}")
                for doc_id in ids:
                    writing.delete_document(doc_id)

        thread = threading.Thread(target=write)
        thread.start()
        seen: set[str] = set()
        while thread.is_alive():
            seen.update(reading.revisions(), (d.doc_id for d in reading.document_cards()))
            seen.update(d.doc_id for d in reading.documents())
            seen.update(c.doc_id for c in reading.chunks_of(ids, size=24) if c.text)
            seen.update(s.doc_id for s in reading.summaries())
            seen.update(reading.headings(ids))
        thread.join()
    assert seen == set(ids)
