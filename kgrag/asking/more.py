"""Find more for an answer that lacks a part: first the gaps in what it was drawn from."""

from collections.abc import Sequence
from itertools import pairwise

from kgrag.results import Citation, Passage, ScoredChunk
from kgrag.store.store import Store
from kgrag.verification.attempt import Attempt

# Characters between two passages of a document that are a gap (benchmarks/decisions.md).
_WIDEST = 300


def with_more(
    attempt: Attempt, found: Sequence[ScoredChunk], store: Store, *, leaf: int
) -> list[ScoredChunk]:
    """Return what an answer that lacks a part is drawn from next, no chunk twice.

    First come the chunks that it cites, then those that stand in a gap between two passages of a
    document, then what was found now, then what it was drawn from: in turn they hold less of what
    is missing (benchmarks/decisions.md).

    Args:
        attempt: The answer, with its results.
        found: With a better question, best first.
        store: Where chunks are.
        leaf: Size of the chunks that fill gaps.
    """
    cited = [r for r in attempt.results if _is_cited(r, attempt.answer.citations)]
    gaps = _gaps(attempt.context.passages, attempt.results, store, leaf=leaf)
    held: dict[str, ScoredChunk] = {}
    for result in (*cited, *gaps, *found, *attempt.results):
        held.setdefault(result.chunk.chunk_id, result)
    return list(held.values())


def _is_cited(result: ScoredChunk, citations: Sequence[Citation]) -> bool:
    chunk = result.chunk
    return any(
        c.doc_id == chunk.doc_id and c.start < chunk.end and chunk.start < c.end for c in citations
    )


def _gaps(
    passages: Sequence[Passage], results: Sequence[ScoredChunk], store: Store, *, leaf: int
) -> list[ScoredChunk]:
    """Return the leaves between passages of a document that stand close to each other."""
    in_order = sorted(passages, key=lambda p: (p.doc_id, p.start))
    gaps = [
        (left.doc_id, left.end, right.start)
        for left, right in pairwise(in_order)
        if left.doc_id == right.doc_id and left.end < right.start <= left.end + _WIDEST
    ]
    documents = {doc_id for doc_id, _, _ in gaps}
    chunks = [r.chunk for r in results if r.chunk.doc_id in documents]
    parents = list(dict.fromkeys(chunk.parent_id or chunk.chunk_id for chunk in chunks))
    inside = [
        chunk
        for chunk in (store.families(parents) if parents else [])
        if chunk.size == leaf
        and any(
            chunk.doc_id == doc_id and chunk.start < end and start < chunk.end
            for doc_id, start, end in gaps
        )
    ]
    told = ("fills a gap between passages",)
    return [ScoredChunk(chunk, 0.0, told) for chunk in inside]
