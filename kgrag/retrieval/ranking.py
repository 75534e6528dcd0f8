"""Order and nesting of results."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from kgrag.results import ScoredChunk
from kgrag.types import Chunk


def best_first(results: Iterable[ScoredChunk]) -> list[ScoredChunk]:
    """Return results by falling score, ties by chunk id, so that the order is total."""
    return sorted(results, key=lambda r: (-r.score, r.chunk.chunk_id))


def drop_nested(results: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Return results, best first, without any that lies inside another one.

    The larger chunk stays, with the better score of the two: what it holds is found in it.
    """
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
    """Return the results of several questions in turn: all first ones, then all second ones.

    Args:
        found: Best first, by what each question is about, which is the first reason of each result.

    Returns:
        Each chunk once, where it comes first; scores are reciprocals of ranks.
    """
    ordered: dict[str, tuple[Chunk, list[str]]] = {}
    for results in zip_longest(*found.values()):
        for label, result in zip(found, results, strict=True):
            if result is None:
                continue
            _, reasons = ordered.setdefault(result.chunk.chunk_id, (result.chunk, []))
            reasons += [f"asked for {label}", *result.via]
    return [
        ScoredChunk(chunk, 1.0 / rank, tuple(dict.fromkeys(reasons)))
        for rank, (chunk, reasons) in enumerate(ordered.values(), start=1)
    ]
