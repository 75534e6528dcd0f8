"""Fact retrieval by similarity: facts like the question lead to the chunks that state them."""

import math

from kgrag.retrieval.figures import is_figure
from kgrag.retrieval.graph import by_facts
from kgrag.retrieval.search import Ranking, Search
from kgrag.store.graph import Triple
from kgrag.text.titles import CITING_PREDICATES

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
