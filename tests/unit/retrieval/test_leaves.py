"""How similar leaves are where larger chunks carry vectors."""

from types import SimpleNamespace

import numpy as np
import pytest

from kgrag.ids import embedding_key
from kgrag.question.query import analyse
from kgrag.retrieval.leaves import leaf_similarities, nearest_leaves
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings
from kgrag.store.contents import DocumentBundle, NodeVector

QUESTION = np.array([1.0, 0.0], dtype=np.float32)
COSINES = {"a:40:0": 0.8, "a:40:1": 0.3, "a:10:0": 0.2, "a:10:5": 0.5}


def at(cosine):
    """Return the unit vector with this cosine to the question."""
    return np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)


@pytest.fixture
def search(store):
    """Give a search over document a, in which chunks of some sizes carry vectors."""

    def over(*embedded):
        (document,) = store.documents(["a"])
        chunks = [*store.chunks_of(["a"], size=40), *store.chunks_of(["a"], size=10)]
        vectors = [
            NodeVector(node, "chunk", embedding_key("t", node), at(cosine))
            for node, cosine in COSINES.items()
            if int(node.split(":")[1]) in (embedded or (10,))
        ]
        bundle = DocumentBundle(document, "g", chunks=chunks, vectors=vectors)
        store.upsert_document(bundle, source="/a.txt")
        embedder = SimpleNamespace(embed=lambda texts, task: np.stack([QUESTION] * len(texts)))
        settings = Settings(leaf=10, coarse=40, embedded=embedded)
        return Search(analyse("内容"), store=store, embed=lambda: embedder, settings=settings)

    return over


@pytest.mark.parametrize("embedded", [(), (10,)])
def test_leaves_that_alone_carry_vectors_have_their_own_cosine(search, embedded):
    """As the store gives it; those without a vector are not found."""
    found = nearest_leaves(search(*embedded), top_k=5)
    assert found == pytest.approx({"a:10:5": 0.5, "a:10:0": 0.2})
    assert leaf_similarities(search(*embedded), ["a:10:0", "a:10:1"]) == pytest.approx(
        {"a:10:0": 0.2}
    )


def test_leaves_in_a_larger_chunk_that_alone_carries_a_vector_share_its_cosine(search):
    """But for what words of the question add: less than would change places with another."""
    found = nearest_leaves(search(40), top_k=1)
    assert found == pytest.approx({f"a:10:{i}": 0.8 for i in range(4)}, abs=2e-4)


def test_of_leaves_with_one_cosine_those_with_more_words_of_the_question_come_first(search):
    """A question for 002 is answered by the third leaf, not by the first in reading order."""
    over = search(40)
    over.query = analyse("内容 002")
    found = nearest_leaves(over, top_k=2)
    assert max(found, key=found.__getitem__) == "a:10:2"
    assert found["a:10:0"] == found["a:10:1"] > found["a:10:4"]
    own = search(40, 10)
    own.query = analyse("内容 002")
    assert leaf_similarities(own, ["a:10:2", "a:10:3"]) == pytest.approx(
        {"a:10:2": 0.8, "a:10:3": 0.8}, abs=1e-6
    )


def test_a_leaf_and_the_chunks_around_it_count_alike(search):
    """The mean of all that carry vectors; a leaf is never found beside the chunk around it."""
    found = nearest_leaves(search(40, 10), top_k=2)  # a:40:0 and a:10:5
    assert found == pytest.approx(
        {"a:10:0": 0.5, "a:10:1": 0.8, "a:10:2": 0.8, "a:10:3": 0.8, "a:10:5": 0.4}
    )
    assert leaf_similarities(search(40, 10), ["a:10:5", "a:10:6"]) == pytest.approx(
        {"a:10:5": 0.4, "a:10:6": 0.3}
    )


def test_leaves_of_other_documents_and_without_any_vector_are_left_out(search):
    """Document b has no vectors, and a's third parent has none."""
    over = search(40, 10)
    assert nearest_leaves(over, top_k=3, doc_ids=["b"]) == {}
    assert leaf_similarities(over, ["b:10:0", "a:10:11", "a:10:99"]) == {}
