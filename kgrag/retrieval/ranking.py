"""Fusion, order and nesting of rankings."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest

from kgrag.results import Reason, ScoredChunk
from kgrag.types import Chunk

Ranking = Sequence[tuple[str, float]]


def reciprocal_rank_fusion(
    rankings: Sequence[Ranking], *, weights: Sequence[float] | None = None, k: int = 60
) -> list[tuple[str, float]]:
    """Return ids by the weighted sum of 1 / (k + rank), best first, ties by id.

    Cormack, Clarke and Büttcher: Reciprocal rank fusion outperforms Condorcet and individual
    rank learning methods. SIGIR 2009; k = 60 as there.

    Args:
        rankings: Each best first; only the order counts.
        weights: One per ranking; all 1 for None.
        k: Damps the top ranks; at least 1.

    Raises:
        ValueError: If k < 1 or the number of weights differs from that of the rankings.

    >>> reciprocal_rank_fusion([[("a", 9.0), ("b", 1.0)], [("b", 0.3)]], k=1)
    [('b', 0.8333333333333333), ('a', 0.5)]
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, got {k}")
    weights = [1.0] * len(rankings) if weights is None else weights
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, (node_id, _) in enumerate(ranking, 1):
            scores[node_id] = scores.get(node_id, 0.0) + weight / (k + rank)
    return ranked(scores)


def ranked(scores: Mapping[str, float], *, top_k: int | None = None) -> list[tuple[str, float]]:
    """Return (id, score), best first, ties by id; at most `top_k`.

    >>> ranked({"b": 1.0, "a": 1.0, "c": 2.0})
    [('c', 2.0), ('a', 1.0), ('b', 1.0)]
    """
    least = -math.inf
    if top_k and len(scores) > top_k:  # numbers alone are sorted much sooner
        least = sorted(scores.values(), reverse=True)[top_k - 1]
    hits = [hit for hit in scores.items() if hit[1] >= least]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:top_k]


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
