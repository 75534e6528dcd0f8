"""The fact route by similarity: facts that read like the question, the chunks that state them."""

import math

from kgrag.retrieval.figures import is_figure
from kgrag.retrieval.graph import worded
from kgrag.retrieval.search import Ranking, Reasons, Search
from kgrag.store.graph import Triple
from kgrag.text.titles import CITING_PREDICATES

# Of a route's depth: further facts are hardly like the question (benchmarks/decisions.md).
_SHARE = 0.5


def begin_chunks_of_similar_facts(search: Search) -> None:
    """Begin to look for the facts."""
    search.begin("fact", top_k=_top_k(search))


def chunks_of_similar_facts(search: Search) -> Ranking:
    """Return chunks by the cosine of the most similar fact that they state.

    HippoRAG 2 (Gutiérrez et al., 2025, arXiv 2502.14802), "query to triple": the question is
    compared with whole triples, not with the names in them. There a model sifts the triples, and
    PageRank spreads from their ends; here they lead to the chunks of their evidence.

    Facts by which one document cites another are left to the other route over facts, which minds
    their direction: nearly all of them read alike, whatever the question is about.
    """
    best: dict[str, tuple[float, Triple]] = {}
    for (fact, stating), cosine in search.nearest_facts(top_k=_top_k(search)):
        if fact.predicate in CITING_PREDICATES or is_figure(fact):
            continue
        for chunk_id in stating:
            if cosine > (best[chunk_id][0] if chunk_id in best else 0.0):
                best[chunk_id] = cosine, fact
    scores = ((chunk_id, cosine) for chunk_id, (cosine, _) in best.items())
    ordered = sorted(scores, key=lambda hit: (-hit[1], hit[0]))
    return Ranking(tuple(ordered), Reasons(best, worded))


def _top_k(search: Search) -> int:
    return math.ceil(_SHARE * search.settings.depth)
