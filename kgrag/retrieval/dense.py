"""The dense route: leaf chunks by the cosine of their vector and the question's."""

import math

from kgrag.retrieval.leaves import nearest_leaves
from kgrag.retrieval.search import Ranking, Reasons, Search


def begin_similar_chunks(search: Search) -> None:
    """Begin to look for the chunks."""
    search.begin("chunk", top_k=search.settings.depth)


def similar_chunks(search: Search) -> Ranking:
    """Return leaf chunks by cosine; documents named by the question are searched apart, too."""
    top_k = search.settings.depth
    hits = nearest_leaves(search, top_k=top_k)
    # The mean of the chunks around a leaf may be above the cosine of any chunk found.
    bound = math.inf
    if search.settings.only_leaves_embedded:
        bound = min(hits.values(), default=bound)
    if search.titled:
        hits.update(nearest_leaves(search, top_k=top_k, doc_ids=list(search.titled)))
    ordered = sorted(hits.items(), key=lambda hit: (-hit[1], hit[0]))
    return Ranking(tuple(ordered), Reasons(hits, "vector {:.2f}".format), bound)
