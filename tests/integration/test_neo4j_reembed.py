"""On a server another encoder takes over in steps: what is seen between them, and who ends them."""

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import StoreUnavailableError
from kgrag.ingestion.samples import sample_folder
from kgrag.store.neo4j import staged
from kgrag.store.neo4j.store import Neo4jStore
from kgrag.vectors.vector import KINDS
from tests.fixtures.kit import lines_of

TEXT = "工信部印发节能办法。绿色工厂达到500家。"
META = {"embedder": "new"}


@pytest.fixture
def store(empty_neo4j, make):
    """Two documents, the vectors of another encoder staged for both."""
    store = Neo4jStore.open(empty_neo4j)
    store.set_meta({"embedder": "old"})
    for name in "ab":
        bundle = make.bundle(name, TEXT, facts=[("工信部", "印发", "节能办法")])
        store.upsert_document(bundle, source=f"/{name}.txt")
    store.refresh(sizes=[make.LEAF])
    store.staged.begin(META)
    vectors = {f"d-{name}": [wide(make, f"d-{name}")] for name in "ab"}
    store.staged.put(vectors, meta=META, as_of=store.change_counter())
    yield store
    store.close()


def wide(make, doc_id):
    return make.node_vector(f"{doc_id}:{make.LEAF}:0", "chunk", f"new {doc_id}", dimension=12)


def begin_switch(store):
    """Do what a process does that is killed in the middle: one document of two."""
    database = store._database
    assert database.write(lambda tx: staged._begin_switch(tx, {**META, "languages": "zh"}))
    for kind in KINDS:
        database.define(f"drop_{kind}_vectors")
    staged._DOCUMENTS, before = 1, staged._DOCUMENTS
    try:
        assert database.write(staged._switch_some)
    finally:
        staged._DOCUMENTS = before


def test_between_the_steps_nothing_wrong_is_found(store, make):
    """Searches by vectors and writers are told to wait; words are found as ever."""
    query, words = make.unit_vector(TEXT[:8]), {"工信部": 1.0, "节能": 1.0}
    found = store.search_words(words, field="text", size=make.LEAF, top_k=9)
    begin_switch(store)

    for search in (
        lambda: store.search_vectors(query, kind="chunk", top_k=9),
        lambda: store.search_vectors(query, kind="fact", top_k=9),
        lambda: store.search_vectors(query, kind="chunk", top_k=9, doc_ids=["d-a", "d-b"]),
        lambda: store.similarities(query, ["d-a:8:0", "d-b:8:0"]),
        lambda: store.upsert_document(make.bundle("c", TEXT), source="/c.txt"),
        lambda: store.delete_document("d-a"),
    ):
        with pytest.raises(StoreUnavailableError, match="changed to another encoder just now"):
            search()
    assert store.search_words(words, field="text", size=make.LEAF, top_k=9) == found
    assert store.get_meta("embedder") == "old"


@pytest.mark.parametrize("create", [True, False])
def test_whoever_opens_the_knowledge_base_ends_what_was_cut_off(store, make, empty_neo4j, create):
    """For a search, too; a store that was open all the time finds the new vectors then."""
    begin_switch(store)
    Neo4jStore.open(empty_neo4j, create=create).close()

    assert store.verify() == []
    assert store.get_meta("embedder") == "new"
    assert store.get_meta("languages") == "zh"  # told by the one that was cut off
    assert store.counts().vectors == 2
    for doc_id in ("d-a", "d-b"):
        nearest = store.search_vectors(wide(make, doc_id).vector, kind="chunk", top_k=2)
        assert nearest[0] == (f"{doc_id}:8:0", 1.0)
        assert len(nearest) == 2


def test_the_one_that_was_cut_off_may_begin_again(store):
    """Staging for a third encoder first ends the switch to the second."""
    begin_switch(store)
    store.staged.begin({"embedder": "newer"})

    assert store.get_meta("embedder") == "new"
    assert store.staged.meta() == {"embedder": "newer"}
    store.staged.drop()
    assert store.staged.doc_ids() == set()
    assert store.verify() == []


def test_reembed_on_a_server_leaves_what_it_leaves_in_a_folder(tmp_path, empty_neo4j):
    """Record for record, and there is nothing to take in again."""
    exports = []
    for place in (tmp_path / "kb", empty_neo4j):
        with KnowledgeBase.open(place, embedder=HashEmbedder(64)) as base:
            assert not base.ingest([sample_folder()]).failed
        with KnowledgeBase.open(place, embedder=HashEmbedder(32)) as base:
            assert base.reembed().documents == 10
            assert base.ingest([sample_folder()]).counts == {"unchanged": 10}
            assert base.search("绿色工厂", system="vector", top_k=3)
            assert base.verify() == []
            exports.append(lines_of(base))
    assert exports[0] == exports[1]
