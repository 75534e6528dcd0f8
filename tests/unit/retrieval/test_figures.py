"""The route over figures: indicators near the question, in the documents that it asks for."""

from types import SimpleNamespace

import numpy as np
import pytest

from kgrag.ids import embedding_key, entity_id, fact_id
from kgrag.question.query import analyse
from kgrag.retrieval.fact_vectors import chunks_of_similar_facts
from kgrag.retrieval.figures import chunks_of_figures
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings
from kgrag.store.contents import NodeVector
from kgrag.types import Document, Entity, Evidence, Fact

QUESTION = np.array([1.0, 0.0], dtype=np.float32)
PLACES = {"a": frozenset({"福建"})}
CARDS = tuple(Document(d, f"文件{d}", "", f"{d}.txt", "txt", "00") for d in "ab")


def figure(indicator, *leaves, doc_id="a", type_="target"):
    """Return a figure of an indicator that leaves of a document state."""
    subject, value = Entity(entity_id(indicator), indicator, type_), Entity(entity_id("9%"), "9%")
    spots = tuple(
        Evidence(doc_id, 10 * leaf, 10 * leaf + 5, f"{doc_id}:10:{leaf}") for leaf in leaves
    )
    made = fact_id(subject.entity_id, "目标为", value.entity_id)
    return Fact(made, subject, "目标为", value, spots)


@pytest.fixture
def find(store):
    """Store figures with their cosine to the question, and search them."""

    def ranking(question, *figures, route=chunks_of_figures):
        for fact, cosine in figures:
            vector = np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)
            key = embedding_key("t", f"{fact.fact_id} {cosine}")
            nodes = [NodeVector(fact.fact_id, "fact", key, vector)]
            store.add_knowledge(fact.evidence[0].doc_id, facts=[fact], vectors=nodes)
        embedder = SimpleNamespace(embed=lambda texts, task: np.stack([QUESTION] * len(texts)))
        settings = Settings(
            leaf=10, coarse=40, cosine_mean=0.62, cosine_std=0.1, places=PLACES, cards=CARDS
        )
        query = analyse(question, known_places={"福建", "河南"})
        search = Search(query, store=store, embed=lambda: embedder, settings=settings)
        return route(search)

    return ranking


def test_scores_are_deviations_above_the_least_that_counts(find):
    """0.5 is where counting begins: 1.2 deviations of 0.1 below the mean of 0.62."""
    found = find("内容", (figure("治理率", 1), 0.75), (figure("覆盖率", 2), 0.49))
    assert [chunk for chunk, _ in found.hits] == ["a:10:1"]
    assert found.hits[0][1] == pytest.approx(2.5, abs=1e-3)
    assert found.reasons["a:10:1"].endswith("治理率 —目标为→ 9%")


def test_a_chunk_counts_by_its_nearest_indicator(find):
    """Of two that it states."""
    found = find("内容", (figure("治理率", 1), 0.7), (figure("覆盖率", 1), 0.8))
    assert found.hits[0][1] == pytest.approx(3.0, abs=1e-3)


@pytest.mark.parametrize(
    ("question", "ids"),
    [
        ("福建的治理率", {"a:10:1"}),
        ("河南的治理率", set()),
        ("全国的治理率", {"b:10:2"}),
        ("治理率", {"a:10:1", "b:10:2"}),
        ("《文件b》的治理率", {"b:10:2"}),
        ("《没有的文件》的治理率", {"a:10:1", "b:10:2"}),
    ],
)
def test_figures_of_the_documents_that_are_asked_for(find, question, ids):
    """By title before place; of a place that no document is about there are none."""
    found = find(question, (figure("治理率", 1), 0.7), (figure("治理率", 2, doc_id="b"), 0.7))
    assert {chunk for chunk, _ in found.hits} == ids


def test_facts_of_other_kinds_are_left_to_their_own_route(find):
    """And figures to this one."""
    facts = (figure("治理率", 1), 0.7), (figure("市林业局", 2, type_="organization"), 0.7)
    assert [chunk for chunk, _ in find("内容", *facts).hits] == ["a:10:1"]
    assert [c for c, _ in find("内容", route=chunks_of_similar_facts).hits] == ["a:10:2"]


def test_without_figures_nothing_is_found(find):
    """As in knowledge bases made before indicators had vectors."""
    assert find("内容").hits == ()
