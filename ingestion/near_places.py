"""Choose for each quote, of the places where it stands, the one that fits those around it."""

import bisect
import math
from collections.abc import Sequence
from typing import Protocol, TypeVar

_BACK = 30.0  # of a place before the last one: as much as 900 characters ahead
_AGAIN = 1_000.0  # of the very place of the last: only where there is no other
_FIRST = 0.5  # of the way from the beginning: a model may begin anywhere
_FARTHEST = 400  # characters: a name that is farther away tells nothing


class Span(Protocol):
    """A stretch of a text."""

    @property
    def start(self) -> int:
        """Return its first character offset."""
        ...

    @property
    def end(self) -> int:
        """Return the offset after its last character."""
        ...


S = TypeVar("S", bound=Span)


def nearest(candidates: Sequence[Sequence[S]], named: Sequence[Sequence[int]]) -> list[S]:
    """Return one place for each quote, such that the ways between them are short.

    The cost of a way grows with the root of its length, so that a place close to one neighbour
    is better than one halfway between two; ways back cost more. The cheapest path through all is
    found by dynamic programming (Viterbi 1967).

    Args:
        candidates: The places of each quote, at least one, in the order of the quotes.
        named: For each quote, where the names stand that are stated by it, ascending.
    """
    costs: list[list[float]] = []
    came: list[list[int]] = []
    for i, places in enumerate(candidates):
        own = [math.sqrt(_to_name(p, named[i])) for p in places]
        best = [(_FIRST * math.sqrt(p.start), 0) for p in places]
        if i:
            last = list(enumerate(candidates[i - 1]))
            best = [min((costs[-1][k] + _way(q, p), k) for k, q in last) for p in places]
        costs.append([cost + o for (cost, _), o in zip(best, own, strict=True)])
        came.append([k for _, k in best])
    return _path(candidates, costs, came)


def _path(
    candidates: Sequence[Sequence[S]], costs: Sequence[Sequence[float]], came: Sequence[list[int]]
) -> list[S]:
    if not candidates:
        return []
    at = min(range(len(costs[-1])), key=lambda k: costs[-1][k])
    path = []
    for i in range(len(candidates) - 1, -1, -1):
        path.append(candidates[i][at])
        at = came[i][at]
    return path[::-1]


def _way(last: Span, place: Span) -> float:
    if (last.start, last.end) == (place.start, place.end):
        return _AGAIN
    if place.start >= last.start:
        return math.sqrt(max(0, place.start - last.end))
    return _BACK + math.sqrt(last.start - place.start)


def _to_name(place: Span, starts: Sequence[int]) -> int:
    """Return the characters from the nearest name outside a place to it, 400 at most."""
    after = bisect.bisect_left(starts, place.end)
    before = bisect.bisect_left(starts, place.start)
    ways = [starts[after] - place.end] if after < len(starts) else []
    ways += [place.start - starts[before - 1]] if before else []
    return min([_FARTHEST, *ways])
