"""Retrieval by facts and figures like the question, which lead to the chunks that state them."""

from collections.abc import Callable, Iterable

from kgrag.retrieval.graph import by_facts
from kgrag.retrieval.search import Ranking, Search
from kgrag.store.graph import StatedTriple, Triple
from kgrag.text.titles import CITING_PREDICATES

_NEAREST = 50  # facts looked at; further ones are hardly like the question
# An indicator's name is short and has no title before it: what it has in common with a question
# that means it begins below the mean cosine of passages (benchmarks/decisions.md).
_LEAST = -1.2


def is_figure(triple: Triple) -> bool:
    """Return whether a triple states a figure of an indicator."""
    return triple.subject.type == "target"


def begin_chunks_of_similar_facts(search: Search) -> None:
    """Start the vector search over facts."""
    search.begin("fact", top_k=_NEAREST)


def chunks_of_figures(search: Search) -> Ranking:
    """Return chunks by the cosine of the question and the nearest indicator that they state.

    This maps lay words to terms: 村里脏水处理 is near 农村生活污水治理率, and the graph knows where
    documents about the place state it. Scores are standard deviations (`Settings.cosine_std`) above
    the least cosine that counts.
    """
    mean, std = search.settings.cosine_mean, search.settings.cosine_std
    nearest = search.nearest_facts(top_k=_NEAREST, doc_ids=_asked_documents(search))
    return _best(nearest, is_figure, lambda cosine: (cosine - mean) / std - _LEAST)


def chunks_of_similar_facts(search: Search) -> Ranking:
    """Return chunks by the cosine of the most similar fact that they state.

    "Query to triple" of HippoRAG 2 (Gutiérrez et al., 2025, arXiv 2502.14802): the question is
    compared with whole triples, not with names. There a model filters the triples and PageRank
    spreads from them; here they lead to the chunks of their evidence.

    Citations between documents are left to `kgrag.retrieval.graph`, which respects their
    direction: their texts are nearly alike, whatever the question.
    """

    def counts(fact: Triple) -> bool:
        return fact.predicate not in CITING_PREDICATES and not is_figure(fact)

    return _best(search.nearest_facts(top_k=_NEAREST), counts, lambda cosine: cosine)


def _best(
    nearest: Iterable[tuple[StatedTriple, float]],
    counts: Callable[[Triple], bool],
    score: Callable[[float], float],
) -> Ranking:
    """Return chunks by the best of the nearest facts, of some, that they state."""
    best: dict[str, tuple[float, Triple]] = {}
    for (fact, stating), cosine in nearest:
        own = score(cosine)
        if own > 0 and counts(fact):
            for chunk_id in stating:
                if chunk_id not in best or own > best[chunk_id][0]:
                    best[chunk_id] = own, fact
    return by_facts(best)


def _asked_documents(search: Search) -> frozenset[str] | None:
    """Return the documents whose figures are compared with the question; None for all.

    Those whose title it quotes, else those about its places, else, if it asks for the national
    level, those about no place.
    """
    if search.query.titles:
        return frozenset(search.titled) or None
    places = search.settings.places
    if search.query.places:
        return frozenset(d for d, own in places.items() if own & search.query.places)
    if search.query.national:
        return frozenset(card.doc_id for card in search.settings.cards if card.doc_id not in places)
    return None
