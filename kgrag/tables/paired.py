"""What became of something between two documents."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kgrag.tables.sources import Spot

ADDED, REMOVED, CHANGED, KEPT = "新增", "删除", "修改", "不变"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was added, removed, changed or kept.

    Attributes:
        kind: `ADDED`, `REMOVED`, `CHANGED` or `KEPT`.
        item: What.
        old: As the old document has it; empty where it does not.
        new: As the new document has it.
        spots: Where, the old document first.
        alike: Percent in which the two texts agree; None where they are no texts.
    """

    kind: str
    item: str
    old: str
    new: str
    spots: tuple[Spot, ...]
    alike: int | None = None


def pairs_alike(
    old: Sequence[T], new: Sequence[T], alike: Callable[[T, T], float], *, at_least: float
) -> list[tuple[T | None, T | None]]:
    """Return what is one of two lists side by side, each at most once, the most alike first.

    Args:
        old: Any.
        new: Any.
        alike: How much two are, 0 to 1.
        at_least: From which they may be one.

    Returns:
        In the order of the new list, then what is only in the old one.

    >>> pairs_alike([1, 5], [4, 9], lambda a, b: 1 - abs(a - b) / 10, at_least=0.8)
    [(5, 4), (None, 9), (1, None)]
    """
    shares = {
        (i, j): share
        for i, a in enumerate(old)
        for j, b in enumerate(new)
        if (share := alike(a, b)) >= at_least
    }
    by_old: dict[int, int] = {}
    by_new: dict[int, int] = {}
    for i, j in sorted(shares, key=lambda ij: (-shares[ij], abs(ij[0] - ij[1]), ij)):
        if i not in by_old and j not in by_new:
            by_old[i], by_new[j] = j, i
    met: list[tuple[T | None, T | None]] = [
        (old[by_new[j]] if j in by_new else None, b) for j, b in enumerate(new)
    ]
    return met + [(a, None) for i, a in enumerate(old) if i not in by_old]
