"""Reciprocal rank fusion, and sorting by score."""

import math
from collections.abc import Mapping, Sequence

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
