"""Order and nesting of results."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from kgrag.results import Reason, ScoredChunk
from kgrag.types import Chunk


def best_first(results: Iterable[ScoredChunk]) -> list[ScoredChunk]:
    """Sort by falling score, ties by chunk id."""
    return sorted(results, key=lambda r: (-r.score, r.chunk.chunk_id))


def drop_nested(results: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Drop results that lie inside another one; the outer keeps the better score of the two."""
    by_doc: dict[str, list[ScoredChunk]] = defaultdict(list)
    for result in results:
        by_doc[result.chunk.doc_id].append(result)
    kept: list[ScoredChunk] = []
    for group in by_doc.values():
        group.sort(key=lambda r: (r.chunk.start, -r.chunk.end, r.chunk.size))
        outer: list[ScoredChunk] = []
        for result in group:
            # Sorted by start: an outer chunk is one that began before and ends no earlier.
            holder = next(
                (
                    i
                    for i in range(len(outer) - 1, -1, -1)
                    if outer[i].chunk.end >= result.chunk.end
                ),
                None,
            )
            if holder is None:
                outer.append(result)
            elif outer[holder].score < result.score:
                big = outer[holder]
                outer[holder] = ScoredChunk(big.chunk, result.score, (*result.via, *big.via))
        kept.extend(outer)
    return best_first(kept)


def in_turn(found: Mapping[str, Sequence[ScoredChunk]]) -> list[ScoredChunk]:
    """Interleave the results of several questions: all first ones, then all second ones.

    Returns:
        Each chunk once, at its first position; scores are reciprocals of ranks.
    """
    ordered: dict[str, tuple[Chunk, list[str]]] = {}
    for results in zip_longest(*found.values()):
        for label, result in zip(found, results, strict=True):
            if result is None:
                continue
            _, reasons = ordered.setdefault(result.chunk.chunk_id, (result.chunk, []))
            reasons += [Reason("side", what=label), *result.via]
    return [
        ScoredChunk(chunk, 1.0 / rank, tuple(dict.fromkeys(reasons)))
        for rank, (chunk, reasons) in enumerate(ordered.values(), start=1)
    ]
