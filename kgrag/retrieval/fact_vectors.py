"""Retrieval by facts and figures like the question, which lead to the chunks that state them."""

import math
from collections.abc import Collection

from kgrag.ids import document_of
from kgrag.retrieval.graph import by_facts
from kgrag.retrieval.search import Ranking, Search
from kgrag.store.graph import Triple
from kgrag.text.titles import CITING_PREDICATES

_NEAREST = 50  # figures looked at
# An indicator's name is short and has no title before it: what it has in common with a question
# that means it begins below the mean cosine of passages (benchmarks/decisions.md).
_LEAST = -1.2


def is_figure(triple: Triple) -> bool:
    """Return whether a triple states a figure of an indicator."""
    return triple.subject.type == "target"


def begin_chunks_of_figures(search: Search) -> None:
    """Start the vector search over facts, if no document is selected."""
    if _asked_documents(search) is None:
        search.begin("fact", top_k=_NEAREST)


def chunks_of_figures(search: Search) -> Ranking:
    """Return chunks by the cosine of the question and the nearest indicator that they state.

    This maps lay words to terms: 村里脏水处理 is near 农村生活污水治理率, and the graph knows where
    documents about the place state it. Searched are the documents whose title the question quotes,
    else those about its places, else, if it asks for the national level, those about no place;
    all if it names none of these.

    Scores are standard deviations (`Settings.cosine_std`) above the least cosine that counts.
    """
    settings = search.settings
    doc_ids = _asked_documents(search)
    if doc_ids is not None and not doc_ids:
        return Ranking((), {})
    best: dict[str, tuple[float, Triple]] = {}
    for (triple, stating), cosine in search.nearest_facts(top_k=_NEAREST, doc_ids=doc_ids):
        score = (cosine - settings.cosine_mean) / settings.cosine_std - _LEAST
        if score <= 0 or not is_figure(triple):
            continue
        for chunk_id in stating:
            within = doc_ids is None or document_of(chunk_id) in doc_ids
            if within and score > (best[chunk_id][0] if chunk_id in best else 0.0):
                best[chunk_id] = score, triple
    return by_facts(best)


def _asked_documents(search: Search) -> Collection[str] | None:
    """Return the documents to search; None for all."""
    if search.query.titles:
        return frozenset(search.titled) or None
    places = search.settings.places
    if search.query.places:
        return frozenset(d for d, own in places.items() if own & search.query.places)
    if search.query.national:
        return frozenset(card.doc_id for card in search.settings.cards if card.doc_id not in places)
    return None


# Of a route's depth: further facts are hardly like the question (benchmarks/decisions.md).
_SHARE = 0.5


def begin_chunks_of_similar_facts(search: Search) -> None:
    """Start the vector search over facts."""
    search.begin("fact", top_k=_top_k(search))


def chunks_of_similar_facts(search: Search) -> Ranking:
    """Return chunks by the cosine of the most similar fact that they state.

    "Query to triple" of HippoRAG 2 (Gutiérrez et al., 2025, arXiv 2502.14802): the question is
    compared with whole triples, not with names. There a model filters the triples and PageRank
    spreads from them; here they lead to the chunks of their evidence.

    Citations between documents are left to `kgrag.retrieval.graph`, which respects their
    direction: their texts are nearly alike, whatever the question.
    """
    best: dict[str, tuple[float, Triple]] = {}
    for (fact, stating), cosine in search.nearest_facts(top_k=_top_k(search)):
        if fact.predicate in CITING_PREDICATES or is_figure(fact):
            continue
        for chunk_id in stating:
            if cosine > (best[chunk_id][0] if chunk_id in best else 0.0):
                best[chunk_id] = cosine, fact
    return by_facts(best)


def _top_k(search: Search) -> int:
    return math.ceil(_SHARE * search.settings.depth)
