"""The fact route by similarity: which chunks it finds, with what score and reason."""

from types import SimpleNamespace

import numpy as np
import pytest

from kgrag.ids import embedding_key, entity_id, fact_id
from kgrag.question.query import analyse
from kgrag.retrieval.fact_vectors import chunks_of_similar_facts
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings
from kgrag.store.contents import NodeVector
from kgrag.types import Entity, Evidence, Fact

QUESTION = np.array([1.0, 0.0], dtype=np.float32)


def at(cosine):
    """Return the unit vector with this cosine to the question."""
    return np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)


def stated(predicate, *leaves, doc_id="a"):
    """Return a fact that leaves of a document state."""
    s, o = (Entity(entity_id(name), name) for name in ("甲", "乙"))
    spots = tuple(
        Evidence(doc_id, 10 * leaf, 10 * leaf + 5, f"{doc_id}:10:{leaf}") for leaf in leaves
    )
    return Fact(fact_id(s.entity_id, predicate, o.entity_id), s, predicate, o, spots)


@pytest.fixture
def find(store):
    """Store facts of documents with their cosine to the question, and search them."""

    def ranking(*facts, depth=100):
        for fact, cosine in facts:
            doc_id = fact.evidence[0].doc_id
            vectors = []
            if cosine is not None:
                key = embedding_key("t", f"{fact.fact_id} {cosine}")
                vectors = [NodeVector(fact.fact_id, "fact", key, at(cosine))]
            store.add_knowledge(doc_id, facts=[fact], vectors=vectors)
        embedder = SimpleNamespace(embed=lambda texts, task: np.stack([QUESTION] * len(texts)))
        settings = Settings(leaf=10, coarse=40, depth=depth)
        search = Search(analyse("内容"), store=store, embed=lambda: embedder, settings=settings)
        return chunks_of_similar_facts(search)

    return ranking


def test_a_chunk_counts_by_the_most_similar_fact_that_it_states(find):
    """The reason shows that fact; ties go by chunk id."""
    ranking = find((stated("含", 2, 1), 0.75), (stated("管", 1, 3), 0.5))

    assert ranking.hits == (("a:10:1", 0.75), ("a:10:2", 0.75), ("a:10:3", 0.5))
    assert ranking.reasons["a:10:1"] == "fact 0.75: 甲 —含→ 乙"
    assert ranking.reasons["a:10:3"] == "fact 0.50: 甲 —管→ 乙"


def test_a_fact_leads_to_every_document_that_states_it(find):
    """With the cosine of the wording that is nearest."""
    ranking = find((stated("含", 0), 0.25), (stated("含", 5, doc_id="b"), 0.75))

    assert ranking.hits == (("a:10:0", 0.75), ("b:10:5", 0.75))


def test_facts_that_say_nothing_of_the_question_lead_nowhere(find):
    """Nor do facts without a vector."""
    assert find((stated("含", 0), 0.0), (stated("管", 1), -0.5), (stated("属", 2), None)).hits == ()


def test_no_more_than_the_nearest_facts_are_followed(find):
    """The others lead nowhere."""
    facts = [(stated(f"含{i}", i), 0.5 + i / 8) for i in range(3)]

    assert [c for c, _ in find(*facts, depth=4).hits] == ["a:10:2", "a:10:1"]
    assert [c for c, _ in find(depth=1).hits] == ["a:10:2"]


def test_citations_are_left_to_the_route_that_heeds_their_direction(find):
    """However similar they are."""
    assert [c for c, _ in find((stated("引用", 0), 0.75), (stated("含", 1), 0.5)).hits] == [
        "a:10:1"
    ]


def test_without_facts_nothing_is_found(find):
    """As in knowledge bases made before facts had vectors."""
    ranking = find()
    assert (ranking.hits, ranking.reasons) == ((), {})
