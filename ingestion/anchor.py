"""Map spans of a document's text to its leaf chunks."""

import bisect
from collections.abc import Sequence

from kgrag.qualifiers import NONE, Qualifiers
from kgrag.types import Chunk, Evidence

_SHARE = 0.3  # of the span, or of the leaf, that must overlap for a leaf to be evidence


def evidence_for(
    leaves: Sequence[Chunk],
    start: int,
    end: int,
    *,
    extractor: str,
    confidence: float = 1.0,
    qualifiers: Qualifiers = NONE,
) -> tuple[Evidence, ...]:
    """Return the evidence records of a span, one for each leaf chunk that it overlaps enough.

    A leaf counts when it contains a fair share of the span, or the span a fair share of it; the
    leaf with the largest overlap always counts. `leaves` are one document's smallest chunks in
    reading order, covering its text; `confidence` is in (0, 1].

    Raises:
        ValueError: If the span is empty or outside the text.
    """
    if not leaves or not 0 <= start < end <= leaves[-1].end:
        last = leaves[-1].end if leaves else 0
        raise ValueError(f"span {start}..{end} is empty or outside the text of {last} characters")
    first = bisect.bisect_right([leaf.start for leaf in leaves], start) - 1
    overlaps: list[tuple[int, Chunk]] = []
    for leaf in leaves[first:]:
        if leaf.start >= end:
            break
        overlaps.append((min(end, leaf.end) - max(start, leaf.start), leaf))
    largest = max(overlaps, key=lambda item: (item[0], -item[1].start))
    return tuple(
        Evidence(leaf.doc_id, start, end, leaf.chunk_id, extractor, confidence, qualifiers)
        for overlap, leaf in overlaps
        if leaf is largest[1]
        or overlap >= _SHARE * (end - start)
        or overlap >= _SHARE * (leaf.end - leaf.start)
    )
