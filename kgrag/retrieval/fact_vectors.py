"""The fact route by similarity: facts that read like the question, the chunks that state them."""

from kgrag.retrieval.graph import triple
from kgrag.retrieval.search import Ranking, Search
from kgrag.titles import CITING_PREDICATES


def chunks_of_similar_facts(search: Search) -> Ranking:
    """Return chunks by the cosine of the most similar fact that they state.

    HippoRAG 2 (Gutiérrez et al., 2025, arXiv 2502.14802), "query to triple": the question is
    compared with whole triples, not with the names in them. There a model sifts the triples, and
    PageRank spreads from their ends; here they lead to the chunks of their evidence.

    Facts by which one document cites another are left to the other route over facts, which heeds
    their direction: nearly all of them read alike, whatever the question is about.
    """
    nearest = search.store.search_vectors(search.vector, kind="fact", top_k=search.settings.depth)
    cosines = dict(nearest)
    scores: dict[str, float] = {}
    reasons: dict[str, str] = {}
    for fact, stating in search.store.stated_triples(list(cosines)):
        if fact.predicate in CITING_PREDICATES:
            continue
        cosine = cosines[fact.fact_id]
        for chunk_id in stating:
            if cosine > scores.get(chunk_id, 0.0):
                scores[chunk_id] = cosine
                reasons[chunk_id] = f"fact {cosine:.2f}: {triple(fact)}"
    ordered = sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))
    return Ranking(tuple(ordered), reasons)
