"""Dense retrieval: leaf chunks by cosine similarity to the question."""

import math

from kgrag.retrieval.fusion import ranked
from kgrag.retrieval.leaves import nearest_leaves
from kgrag.retrieval.search import Ranking, Reasons, Search, by_vector


def begin_similar_chunks(search: Search) -> None:
    """Start the vector search."""
    search.begin("chunk", top_k=search.settings.depth)


def similar_chunks(search: Search) -> Ranking:
    """Return leaf chunks by cosine; documents that the question names are also searched alone."""
    top_k = search.settings.depth
    hits = nearest_leaves(search, top_k=top_k)
    # The mean of the chunks around a leaf may be above the cosine of any chunk found.
    bound = math.inf
    if search.settings.only_leaves_embedded:
        bound = min(hits.values(), default=bound)
    if search.titled:
        hits.update(nearest_leaves(search, top_k=top_k, doc_ids=list(search.titled)))
    return Ranking(tuple(ranked(hits)), Reasons(hits, by_vector), bound)
