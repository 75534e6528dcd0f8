"""Recursive retrieval: from the nearest nodes through summaries to chunks."""

from collections.abc import Mapping

from kgrag.results import Reason
from kgrag.retrieval.ranking import ranked
from kgrag.retrieval.search import Ranking, Search, by_vector
from kgrag.types import Chunk, Summary

_SUMMARIES = 10  # that are followed
_CHILDREN = 8  # chunks taken from each, most similar first


def chunks_and_summaries(search: Search) -> Ranking:
    """Return chunks reached from the nearest chunks and summaries, by similarity.

    GRIM, section 3.2.1: from the vector retriever, chunks are terminal nodes, a summary is an index
    node that leads to a retriever over the chunks of its span. There a node gets the similarity of
    the index node. Here, as a summary may have many chunks, a chunk gets the mean of the summary's
    cosine and its own, which keeps an order among them. Nodes are followed best first, and a chunk
    counts where it is reached first.
    """
    return _reached(search, search.nearest("chunk", top_k=search.settings.depth))


def summarised_chunks(search: Search) -> Ranking:
    """Return only the chunks that the nearest summaries lead to, by similarity."""
    return _reached(search, {})


def _reached(search: Search, chunks: Mapping[str, float]) -> Ranking:
    hits = search.nearest("summary", top_k=_SUMMARIES)
    summaries = {s.summary_id: s for s in search.store.summaries(list(hits))}
    parent_ids = list(dict.fromkeys(p for s in summaries.values() for p in s.target_ids))
    leaves = search.store.children(parent_ids, size=search.settings.leaf) if parent_ids else []
    cosines = search.store.similarities(search.vector, [c.chunk_id for c in leaves])
    found: dict[str, tuple[float, str]] = {}
    nodes = {**chunks, **{summary_id: hits[summary_id] for summary_id in summaries}}
    for node_id, score in ranked(nodes):
        if node_id not in summaries:
            found.setdefault(node_id, (score, by_vector(score)))
            continue
        summary = summaries[node_id]
        inside = {c.chunk_id for c in leaves if _within(c, summary)}
        own = ranked({c: cosines[c] for c in inside & cosines.keys()})
        reason = Reason("summary", score=f"{score:.2f}", what=summary.text[:40])
        for chunk_id, cosine in own[:_CHILDREN]:
            found.setdefault(chunk_id, ((score + cosine) / 2, reason))
    ordered = sorted(found.items(), key=lambda item: (-item[1][0], item[0]))
    return Ranking(
        tuple((chunk_id, score) for chunk_id, (score, _) in ordered),
        {chunk_id: reason for chunk_id, (_, reason) in ordered},
    )


def _within(chunk: Chunk, summary: Summary) -> bool:
    same = chunk.doc_id == summary.doc_id
    return same and chunk.start < summary.end and summary.start < chunk.end
