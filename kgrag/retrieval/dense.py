"""Dense retrieval: leaf chunks by cosine similarity to the question, whatever size is embedded."""

import math
from collections.abc import Sequence
from itertools import chain
from statistics import fmean

from kgrag.retrieval.ranking import ranked
from kgrag.retrieval.search import Ranking, Reasons, Search, by_vector
from kgrag.text.words import normalize
from kgrag.types import Chunk, DocIds

_AMONG_EQUALS = 1e-4  # what all words of the question add to a cosine


def nearest_leaves(search: Search, *, top_k: int, doc_ids: DocIds = None) -> dict[str, float]:
    """Return the similarity of the leaf chunks inside the nearest embedded chunks.

    All retrievers rank leaves, so that scores add up and no text is found twice.
    """
    if doc_ids is None:
        hits = search.nearest("chunk", top_k=top_k)
    else:
        hits = dict(
            search.store.search_vectors(search.vector, kind="chunk", top_k=top_k, doc_ids=doc_ids)
        )
    if search.settings.only_leaves_embedded:
        return hits
    nearest = search.store.chunks(list(hits))
    family = _families(search, nearest)
    within = (_within(near, family[near.parent_id or near.chunk_id]) for near in nearest)
    return leaf_similarities(
        search, [c.chunk_id for group in within for c in group if c.size == search.settings.leaf]
    )


def leaf_similarities(search: Search, leaf_ids: Sequence[str]) -> dict[str, float]:
    """Return the similarity of leaf chunks: the mean cosine of the embedded chunks around each.

    An embedded leaf counts itself. If only larger chunks are embedded, the leaves of one share its
    cosine, plus a tie-breaker for the words of the question that a leaf contains.
    """
    if search.settings.only_leaves_embedded:
        return search.store.similarities(search.vector, leaf_ids)
    leaves = search.store.chunks(leaf_ids)
    family = _families(search, leaves)
    around = {
        leaf.chunk_id: [
            c.chunk_id
            for c in family[leaf.parent_id or leaf.chunk_id]
            if c.size in search.settings.embedded and _within(c, [leaf])
        ]
        for leaf in leaves
    }
    wanted = sorted(set(chain.from_iterable(around.values())))
    cosines = search.store.similarities(search.vector, wanted)
    found = {leaf: [cosines[c] for c in group if c in cosines] for leaf, group in around.items()}
    means = {leaf: fmean(group) for leaf, group in found.items() if group}
    if search.settings.leaf in search.settings.embedded:
        return means
    return {
        c.chunk_id: means[c.chunk_id] + _AMONG_EQUALS * _share_of_words(search, c)
        for c in leaves
        if c.chunk_id in means
    }


def _share_of_words(search: Search, chunk: Chunk) -> float:
    """Return the share of the question's words in a chunk, in [0, 1].

    Long words also count by the short words inside them.
    """
    text = normalize(chunk.text)
    there = sum(weight for word, weight in search.terms.items() if word in text)
    return there / (sum(search.terms.values()) or 1.0)


def _families(search: Search, chunks: Sequence[Chunk]) -> dict[str, list[Chunk]]:
    parent_ids = dict.fromkeys(c.parent_id or c.chunk_id for c in chunks)
    families: dict[str, list[Chunk]] = {parent_id: [] for parent_id in parent_ids}
    for c in search.store.families(list(parent_ids)):
        families[c.parent_id or c.chunk_id].append(c)
    return families


def _within(outer: Chunk, family: Sequence[Chunk]) -> list[Chunk]:
    return [c for c in family if outer.start <= c.start and c.end <= outer.end]


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
