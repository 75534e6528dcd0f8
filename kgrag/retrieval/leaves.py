"""How similar leaf chunks are to the question, whichever chunks carry vectors."""

from collections.abc import Collection, Sequence
from statistics import fmean

from kgrag.retrieval.search import Search
from kgrag.types import Chunk


def nearest_leaves(
    search: Search, *, top_k: int, doc_ids: Collection[str] | None = None
) -> dict[str, float]:
    """Return the similarity of the leaf chunks in the nearest chunks that carry vectors.

    All routes rank leaves, so that what they find adds up, and none is found twice, inside a
    larger chunk and alone.

    Args:
        search: The question.
        top_k: Chunks with vectors that are looked at, of any size.
        doc_ids: Only of these documents; of all for None.
    """
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
    """Return the similarity of leaf chunks: the mean cosine of the chunks around each.

    Those that carry vectors count, the leaf itself among them.

    Args:
        search: The question.
        leaf_ids: Chunks of the smallest size.
    """
    if search.settings.only_leaves_embedded:
        return search.store.similarities(search.vector, leaf_ids)
    leaves = search.store.chunks(leaf_ids)
    family = _families(search, leaves)
    around = {
        leaf.chunk_id: [
            c.chunk_id
            for c in family[leaf.parent_id or leaf.chunk_id]
            if c.size in search.settings.embedded and c.start <= leaf.start and leaf.end <= c.end
        ]
        for leaf in leaves
    }
    wanted = sorted({c for group in around.values() for c in group})
    cosines = search.store.similarities(search.vector, wanted)
    found = {leaf: [cosines[c] for c in group if c in cosines] for leaf, group in around.items()}
    return {leaf: fmean(group) for leaf, group in found.items() if group}


def _families(search: Search, chunks: Sequence[Chunk]) -> dict[str, list[Chunk]]:
    """Return the parents of chunks with all chunks inside them, by the parent's id."""
    parent_ids = dict.fromkeys(c.parent_id or c.chunk_id for c in chunks)
    families: dict[str, list[Chunk]] = {parent_id: [] for parent_id in parent_ids}
    for c in search.store.families(list(parent_ids)):
        families[c.parent_id or c.chunk_id].append(c)
    return families


def _within(outer: Chunk, family: Sequence[Chunk]) -> list[Chunk]:
    return [c for c in family if outer.start <= c.start and c.end <= outer.end]
