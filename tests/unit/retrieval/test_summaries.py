from types import SimpleNamespace

import numpy as np
import pytest

from kgrag.ids import embedding_key
from kgrag.question.query import analyse
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings
from kgrag.retrieval.summaries import chunks_and_summaries, summarised_chunks
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.types import Document, Summary

QUESTION = np.array([1.0, 0.0], dtype=np.float32)


def at(cosine):
    """Return the unit vector with this cosine to the question."""
    return np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)


@pytest.fixture
def search(store):
    """A search over document a: its leaves 0..3 in a summary's span, 4 outside."""
    (document,) = store.documents(["a"])
    chunks = [*store.chunks_of(["a"], size=40), *store.chunks_of(["a"], size=10)]
    summary = Summary("s-1", "a", 0, 40, "总述", "section", "import", ("a:40:0",))
    cosines = {"a:10:0": 0.2, "a:10:1": 0.6, "a:10:4": 0.5, "s-1": 0.8}
    vectors = [
        NodeVector(
            node, "summary" if node == "s-1" else "chunk", embedding_key("t", node), at(cosine)
        )
        for node, cosine in cosines.items()
    ]
    store.upsert_document(
        DocumentBundle(
            Document("a", "文件a", document.text, "a.txt", "txt", "00"),
            "g",
            chunks=chunks,
            summaries=[summary],
            vectors=vectors,
        ),
        source="/a.txt",
    )
    embedder = SimpleNamespace(embed=lambda texts, task: np.stack([QUESTION] * len(texts)))
    settings = Settings(leaf=10, coarse=40)
    return Search(analyse("内容"), store=store, embed=lambda: embedder, settings=settings)


def test_a_chunk_reached_through_a_summary_has_the_mean_of_both(search):
    """GRIM, 3.2.1: what is reached has the similarity that it was reached with."""
    hits = dict(chunks_and_summaries(search).hits)
    assert hits["a:10:1"] == pytest.approx((0.8 + 0.6) / 2)
    assert hits["a:10:0"] == pytest.approx((0.8 + 0.2) / 2)


def test_a_chunk_outside_of_every_summary_keeps_its_own(search):
    """Nothing lifts it; what the summary lifts comes before it."""
    ranking = chunks_and_summaries(search)
    assert dict(ranking.hits)["a:10:4"] == pytest.approx(0.5)
    assert [c for c, _ in ranking.hits][:1] == ["a:10:1"]


def test_only_summarised_chunks_are_found_through_summaries(search):
    """The reason names the summary."""
    ranking = summarised_chunks(search)
    assert {c for c, _ in ranking.hits} == {"a:10:0", "a:10:1"}
    assert ranking.reasons["a:10:1"] == "summary 0.80: 总述"
