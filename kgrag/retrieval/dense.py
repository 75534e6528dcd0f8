"""Dense retrieval: leaf chunks by cosine similarity to the question."""

import math

from kgrag.retrieval.ranking import ranked
from kgrag.retrieval.search import Ranking, Reasons, Search, by_vector


def begin_similar_chunks(search: Search) -> None:
    """Start the vector search."""
    search.begin("chunk", top_k=search.settings.depth)


def similar_chunks(search: Search) -> Ranking:
    """Return leaf chunks by cosine; documents that the question names are also searched alone."""
    top_k = search.settings.depth
    hits = search.nearest("chunk", top_k=top_k)
    bound = min(hits.values(), default=math.inf)
    if search.titled:
        named = list(search.titled)
        hits |= dict(
            search.store.search_vectors(search.vector, kind="chunk", top_k=top_k, doc_ids=named)
        )
    return Ranking(tuple(ranked(hits)), Reasons(hits, by_vector), bound)
