"""Measures of retrieval: pure functions of results and gold.

The first group takes distinct documents, best first, and the set of gold documents; the second
takes results as passages and gold spans of characters. All lie in [0, 1].
"""

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

# (document, start, end) of a result.
Passage = tuple[str, int, int]
GoldSpans = Mapping[str, Sequence[tuple[int, int]]]


def precision_at(docs: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return |gold among the first k| / k, also with fewer than k results.

    With k = number of results it is TP / (TP + FP): GRIM, equation 8.

    >>> precision_at(["a", "x"], {"a", "b"}, 4)
    0.25
    """
    return _found(docs, gold, k) / k


def recall_at(docs: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return |gold among the first k| / |gold|; 0 without gold.

    With k = number of results it is TP / (TP + FN): GRIM, equation 9.

    >>> recall_at(["a", "x", "b"], {"a", "b"}, 2)
    0.5
    """
    return _found(docs, gold, k) / len(gold) if gold else 0.0


def f1_at(docs: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 2PR / (P + R) of precision and recall at k; 0 if both are 0. GRIM, equation 10.

    >>> f1_at(["a", "x"], {"a"}, 2)  # P = 1/2, R = 1
    0.6666666666666666
    """
    precision, recall = precision_at(docs, gold, k), recall_at(docs, gold, k)
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def hit_at(docs: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 if a gold document is among the first k, else 0.

    >>> hit_at(["x", "a"], {"a", "b"}, 2)
    1.0
    """
    return float(_found(docs, gold, k) > 0)


def all_at(docs: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 if every gold document is among the first k, else 0; 0 without gold.

    >>> all_at(["a", "x", "b"], {"a", "b"}, 3)
    1.0
    """
    return float(bool(gold) and _found(docs, gold, k) == len(gold))


def reciprocal_rank_at(docs: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return 1 / rank of the first gold document; 0 if none is among the first k.

    Its mean is MRR@k.

    >>> reciprocal_rank_at(["x", "a"], {"a"}, 10)
    0.5
    """
    return next((1 / rank for rank, doc in enumerate(docs[:k], 1) if doc in gold), 0.0)


def ndcg_at(docs: Sequence[str], gold: Collection[str], k: int) -> float:
    """Return DCG / ideal DCG at k with gain 1 for gold documents; 0 without gold.

    DCG@k = sum over ranks i <= k of gain_i / log2(i + 1); the ideal has its min(k, |gold|) gold
    documents first. Järvelin and Kekäläinen 2002, "Cumulated gain-based evaluation of IR
    techniques", with the discount in common use.

    >>> ndcg_at(["x", "a"], {"a"}, 2) == 1 / math.log2(3)
    True
    """
    gain = sum(1 / math.log2(i + 1) for i, doc in enumerate(docs[:k], 1) if doc in gold)
    ideal = sum(1 / math.log2(i + 1) for i in range(1, min(k, len(gold)) + 1))
    return gain / ideal if ideal else 0.0


def pair_at(docs: Sequence[str], source: str, target: str, k: int) -> tuple[float, float, float]:
    """Return (both, source only, target only) for the first k; at most one is 1.

    Args:
        docs: Distinct, best first.
        source: A document that refers to another.
        target: The other.
        k: Rank to cut at.

    >>> pair_at(["s", "x", "t"], "s", "t", 2)
    (0.0, 1.0, 0.0)
    """
    has_source, has_target = source in docs[:k], target in docs[:k]
    return (
        float(has_source and has_target),
        float(has_source and not has_target),
        float(has_target and not has_source),
    )


def _found(docs: Sequence[str], gold: Collection[str], k: int) -> int:
    return sum(doc in gold for doc in docs[:k])


@dataclass(frozen=True, slots=True)
class Coverage:
    """Overlap of the results with the gold.

    Attributes:
        hit: Gold characters in the results, overlaps counted once.
        gold: Gold characters in total.
        used: Characters of the results, overlaps counted twice.
    """

    hit: int
    gold: int
    used: int

    @property
    def span_recall(self) -> float:
        """Return hit / gold; 0 without gold."""
        return self.hit / self.gold if self.gold else 0.0

    @property
    def span_precision(self) -> float:
        """Return hit / used; 0 without results."""
        return self.hit / self.used if self.used else 0.0


def coverage(passages: Sequence[Passage], gold: GoldSpans, budget: int) -> Coverage:
    """Return the overlap of the gold with the first `budget` characters of results.

    Results are taken best first, the last one in part. `span@budget` is `span_recall`,
    `prec@budget` is `span_precision`.

    >>> coverage([("d", 0, 10), ("d", 20, 30)], {"d": [(5, 25)]}, 13)
    Coverage(hit=8, gold=20, used=13)
    """
    taken: dict[str, list[tuple[int, int]]] = defaultdict(list)
    used = 0
    for doc, start, end in passages:
        if used >= budget:
            break
        end = min(end, start + budget - used)
        used += end - start
        taken[doc].append((start, end))
    hit = sum(
        _overlap(span, _merged(taken[doc])) for doc in gold if doc in taken for span in gold[doc]
    )
    return Coverage(hit, sum(end - start for spans in gold.values() for start, end in spans), used)


def span_reciprocal_rank(passages: Sequence[Passage], gold: GoldSpans) -> float:
    """Return 1 / rank of the first result that overlaps a gold span, or 0.

    >>> span_reciprocal_rank([("d", 0, 5), ("d", 5, 9)], {"d": [(8, 20)]})
    0.5
    """
    for rank, (doc, start, end) in enumerate(passages, 1):
        if any(start < gold_end and gold_start < end for gold_start, gold_end in gold.get(doc, ())):
            return 1 / rank
    return 0.0


def _merged(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _overlap(span: tuple[int, int], apart: Sequence[tuple[int, int]]) -> int:
    return sum(max(0, min(span[1], end) - max(span[0], start)) for start, end in apart)
