"""Knowledge bases in which other chunks carry vectors, the whole way."""

from itertools import pairwise

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ConfigError
from kgrag.ingestion.samples import sample_folder
from tests.fixtures.plain_samples import put_plain_samples

QUESTION = "云岭省农村污水治理目标"
FEW = [f"{path.stem}.txt" for path in sorted(sample_folder().iterdir())[:4]]


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """The folder of the sample documents as text."""
    folder = tmp_path_factory.mktemp("samples")
    put_plain_samples(folder)
    return folder


def config(**embedding):
    return Config(embedding=EmbeddingConfig(**embedding))


def few(samples):
    return [samples / name for name in FEW]


def vectors(kb, kind="chunk"):
    """Return the nodes of a kind that carry vectors."""
    every = [v for d in kb.store.document_cards() for v in kb.store.bundle(d.doc_id).vectors]
    return [v.node_id for v in every if v.kind == kind]


def built(folder, samples, *, embedder=None, **embedding):
    kb = KnowledgeBase.open(
        folder, config=config(**embedding), embedder=embedder or HashEmbedder(128)
    )
    assert not kb.ingest(few(samples)).failed
    return kb


@pytest.mark.parametrize("sizes", [(1024,), (2048, 512, 256), (2048, 1024)])
@pytest.mark.parametrize("system", ["vector", "hybrid", "grim", "recursive"])
def test_search_finds_leaves_by_the_vectors_of_any_sizes(tmp_path, samples, sizes, system):
    """No text comes twice, and no result lies in another."""
    with built(tmp_path, samples, sizes=sizes) as kb:
        counts = kb.store.counts().chunks
        assert len(vectors(kb)) == sum(counts[size] for size in sizes)
        found = [r.chunk for r in kb.search(QUESTION, system=system, top_k=10)]
        assert not kb.verify()

    assert len(found) >= 5
    places = sorted((c.doc_id, c.start, c.end) for c in found)
    assert all(a[0] != b[0] or a[2] <= b[1] for a, b in pairwise(places))


def test_what_carries_vectors_is_recorded_and_cannot_be_mixed(tmp_path, samples):
    """Without settings, more documents get vectors as the others did."""
    built(tmp_path, samples, sizes=(512,), facts=False).close()

    with KnowledgeBase.open(tmp_path, embedder=HashEmbedder(128)) as kb:
        assert kb.ingest(few(samples)).counts == {"unchanged": len(FEW)}
        kb.ingest([samples])
        assert {int(node.split(":")[1]) for node in vectors(kb)} == {512}
    other = config(sizes=(256,))
    with (
        KnowledgeBase.open(tmp_path, config=other, embedder=HashEmbedder(128)) as kb,
        pytest.raises(ConfigError, match="has vectors of chunks of 512: run `kgrag reembed`"),
    ):
        kb.ingest(few(samples))


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
