from dataclasses import replace

import pytest

from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.pipeline import ingest
from kgrag.ingestion.prepare import prepare
from kgrag.ingestion.vector_set import VectorSet
from kgrag.qualifiers import Qualifiers
from kgrag.store.sqlite.store import SQLiteStore
from tests.fixtures.readable import SIZES, enricher, policy


@pytest.fixture
def store(tmp_path):
    """A store with one document that a model has read."""
    (tmp_path / "a.txt").write_text(policy(0), "utf-8")
    with_model, _ = enricher()
    store = SQLiteStore.open(tmp_path / "kb")
    ingest(
        [tmp_path / "a.txt"],
        store=store,
        embedder=HashEmbedder(64),
        sizes=SIZES,
        vectors=VectorSet((SIZES.leaf,)),
        enricher=with_model,
    )
    yield store
    store.close()


def again(store, *, held, text=None, model=""):
    [document] = store.documents()
    if text is not None:
        document = type(document)(
            document.doc_id, document.title, text, document.file, "txt", document.content_hash
        )
    return prepare(
        document, fingerprint=Fingerprint("new", model), held=held, sizes=SIZES, store=store
    )


def extractors(bundle):
    """Return who found facts, the rules left out."""
    found = {e.extractor for f in bundle.facts for e in f.evidence}
    return found - {"rules"}


def test_prepare_without_a_model_keeps_what_one_has_read(store):
    """New rules do not throw away what was paid for, and the fingerprint says whose it is."""
    bundle = again(store, held=Fingerprint("old", "m1"))

    assert extractors(bundle) == {"m"}
    assert bundle.fingerprint == "new+m1"


def test_prepare_keeps_what_stands_beside_a_kept_fact(store):
    """On the new chunks as on the old ones."""
    facts, mentions, _ = store.knowledge_of(store.document_cards()[0].doc_id)
    fact = next(f for f in facts if f.evidence[0].extractor == "m")
    others = [f for f in facts if f is not fact]
    told = Qualifiers("target", value="500", unit="家", year="2025")
    said = replace(fact, evidence=tuple(replace(e, qualifiers=told) for e in fact.evidence))
    doc_id = fact.evidence[0].doc_id
    store.replace_knowledge(doc_id, facts=[said, *others], mentions=mentions)

    bundle = again(store, held=Fingerprint("old", "m1"))
    kept = {
        f.fact_id: {e.qualifiers for e in f.evidence}
        for f in bundle.facts
        if all(e.extractor != "rules" for e in f.evidence)
    }
    assert kept.pop(fact.fact_id) == {told}
    assert not any(told in qualifiers for qualifiers in kept.values())


def test_prepare_after_failures_has_the_next_model_read_again(store):
    """The marks were positions among the old chunks."""
    bundle = again(store, held=Fingerprint("old", "m1", (0,)))

    assert extractors(bundle) == {"m"}
    assert bundle.fingerprint == "new"


def test_prepare_with_a_model_is_fingerprinted_as_its_reading(store):
    """The earlier reading stays until the new one replaces it, passage by passage."""
    bundle = again(store, held=Fingerprint("old", "m1"), model="m2")

    assert extractors(bundle) == {"m"}
    assert bundle.fingerprint == "new+m2"


def test_prepare_of_another_text_keeps_nothing(store):
    """Offsets of the old text say nothing about the new one."""
    bundle = again(store, held=Fingerprint("old", "m1"), text="另一份方案，没有目标。")

    assert extractors(bundle) == set()
    assert bundle.fingerprint == "new"


def test_prepare_of_a_new_document_does_not_ask_the_store(store):
    """Nothing is held of it."""
    bundle = again(store, held=None)

    assert extractors(bundle) == set()
