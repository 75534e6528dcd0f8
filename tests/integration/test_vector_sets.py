"""Which nodes of a knowledge base carry vectors, the whole way."""

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder
from tests.fixtures.plain_samples import put_plain_samples

FEW = [f"{path.stem}.txt" for path in sorted(sample_folder().iterdir())[:4]]


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """The folder of the sample documents as text."""
    folder = tmp_path_factory.mktemp("samples")
    put_plain_samples(folder)
    return folder


def few(samples):
    return [samples / name for name in FEW]


def vectors(kb, kind="chunk"):
    """Return the nodes of a kind that carry vectors."""
    every = [v for d in kb.store.document_cards() for v in kb.store.bundle(d.doc_id).vectors]
    return [v.node_id for v in every if v.kind == kind]


def built(folder, samples):
    kb = KnowledgeBase.open(folder, embedder=HashEmbedder(128))
    assert not kb.ingest(few(samples)).failed
    return kb


def test_of_facts_that_only_rules_found_figures_carry_vectors(tmp_path, samples):
    """The others are found by the names in them; their clause has a vector."""
    with built(tmp_path, samples) as kb:
        known = [f for d in kb.store.document_cards() for f in kb.store.knowledge_of(d.doc_id)[0]]
        assert {e.extractor for f in known for e in f.evidence} == {"rules"}
        figures = {
            f.fact_id for f in known if any(e.qualifiers.kind == "target" for e in f.evidence)
        }
        assert 0 < len(figures) < len(known)
        assert set(vectors(kb, "fact")) == figures
