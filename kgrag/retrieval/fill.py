"""Fill the gap of one chunk between two results."""

from collections.abc import Container, Sequence
from itertools import pairwise

from kgrag.ids import chunk_id
from kgrag.results import Reason, ScoredChunk
from kgrag.retrieval.ranking import best_first
from kgrag.store.store import SearchedStore


def fill(
    results: Sequence[ScoredChunk], store: SearchedStore, *, among: Container[str] | None = None
) -> list[ScoredChunk]:
    """Return results with every single missing chunk between two neighbours added.

    GRIM, section 3.2.1: where the next of one node is the previous of another, the node between
    them is added with the mean of their scores (eq. 3). Neighbours are taken in document order,
    not in rank order, so no gap is missed; the missing chunks are fetched in one batch.
    """
    in_order = sorted(results, key=lambda r: (r.chunk.doc_id, r.chunk.size, r.chunk.position))
    gaps: dict[str, tuple[float, Reason]] = {}
    for left, right in pairwise(in_order):
        a, b = left.chunk, right.chunk
        if (a.doc_id, a.size, a.position + 2) == (b.doc_id, b.size, b.position):
            between = Reason("filled", left=str(a.position), right=str(b.position))
            missing = chunk_id(a.doc_id, a.size, a.position + 1)
            if among is None or missing in among:
                gaps[missing] = ((left.score + right.score) / 2, between)
    if not gaps:
        return best_first(results)
    filled = [
        ScoredChunk(c, gaps[c.chunk_id][0], (gaps[c.chunk_id][1],))
        for c in store.chunks(list(gaps))
    ]
    return best_first([*results, *filled])
