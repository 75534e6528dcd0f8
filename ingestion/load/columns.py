"""Pages set in columns: which characters are read one behind another.

White gutters part a page, and lines across them part it again: a recursive X-Y cut (G. Nagy and
S. Seth, Hierarchical representation of optically scanned documents, ICPR 1984).
"""

import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple

from kgrag.ingestion.load.page_tables import Line

_FEWEST_LINES = 5  # on each side of a gutter
_MOST_FRAGMENTS = 600  # a page of text has 300; drawings and large tables have more
_STEP = 3.0  # points; gutters are wider
_FULL = 0.8  # of a column's width
_LEAST_WIDTH = 8  # characters of a line of running text; cells of tables are shorter
_SMALLER = 0.9  # than the column's text: notes

Rule = tuple[float, float, float]


class Fragment(NamedTuple):
    """Characters of a line without wide gaps between them."""

    left: float
    right: float
    bottom: float
    top: float
    members: list[int]

    @property
    def height(self) -> float:
        """The height of its line."""
        return self.top - self.bottom


@dataclass(frozen=True, slots=True)
class Region:
    """Fragments that are read together, from left to right between two edges.

    Attributes:
        fragments: In order; those of one line follow each other.
        edges: Left and right; of the whole page where it is in no column.
    """

    fragments: tuple[Fragment, ...]
    edges: tuple[float, float]

    def lines(self) -> list[list[int]]:
        """Return the characters of each line, from the top."""
        lines: list[list[Fragment]] = []
        for each in sorted(self.fragments, key=lambda f: -f.top):
            if lines and each.bottom + each.top > 2 * max(f.bottom for f in lines[-1]):
                lines[-1].append(each)
            else:
                lines.append([each])
        return [
            [i for f in sorted(line, key=lambda f: f.left) for i in f.members] for line in lines
        ]

    def placed(self, line: Line, edges: tuple[float, float]) -> Line:
        """Return a line of it as if its column had other edges."""
        left, right = line.left - self.edges[0], self.edges[1] - line.right
        return replace(line, left=edges[0] + left, right=edges[1] - right)


def find_columns(fragments: Sequence[Fragment], across: Sequence[Rule]) -> list[Region]:
    """Return the regions of a page in reading order; none if it has no columns of running text.

    Args:
        fragments: Of its lines, split in wide gaps.
        across: (left, right, height) of horizontal rulings, which no column crosses.
    """
    gutter = _gutter(fragments, across) if len(fragments) <= _MOST_FRAGMENTS else None
    if gutter is None:
        return []
    whole = _edges(fragments)
    sides = [[f for f in fragments if _side(f, gutter) == side] for side in (-1, 1)]
    edges = [_edges(side) for side in sides]
    regions: list[Region] = []
    for band in _bands(fragments, gutter, across):
        if band.crosses:
            regions.append(Region(tuple(band.fragments), whole))
            continue
        notes: list[Region] = []
        for side, its_edges in zip((-1, 1), edges, strict=True):
            body, small = _notes([f for f in band.fragments if _side(f, gutter) == side])
            inner = find_columns(body, across)
            regions += inner or [Region(tuple(body), its_edges)]
            notes.append(Region(tuple(small), its_edges))
        regions += notes
    return [region for region in regions if region.fragments]


def in_columns(
    fragments: Iterable[Fragment], across: Sequence[Rule]
) -> Iterator[tuple[Region, list[int], tuple[float, float]]]:
    """Yield each line of a page in reading order: its region, characters, and the page's edges."""
    given = list(fragments)
    regions = find_columns(given, across) or [Region(tuple(given), (0.0, 0.0))]
    for region in regions:
        yield from ((region, line, regions[0].edges) for line in region.lines())


class _Band(NamedTuple):
    crosses: bool
    fragments: list[Fragment]


def _gutter(fragments: Sequence[Fragment], across: Sequence[Rule]) -> float | None:
    """Return the middle of the gutter with most lines of running text beside it."""
    best, most = 0.0, (0, 0)
    for x in sorted({_STEP * (f.right // _STEP + 1) for f in fragments}):
        beside = [
            [sum(_side(f, x) == side for f in band.fragments) for side in (-1, 1)]
            for band in _bands(fragments, x, across)
            if not band.crosses
        ]
        n = [sum(each) for each in zip(*filter(all, beside), strict=True)] or [0]
        if (min(n), sum(n)) > most:
            best, most = x, (min(n), sum(n))
    if most[0] < _FEWEST_LINES:
        return None
    sides = [[f for f in fragments if _side(f, best) == side] for side in (-1, 1)]
    return best if all(map(_is_running, sides)) else None


def _is_running(fragments: Sequence[Fragment]) -> bool:
    """Return whether most lines fill a column, which is wide enough for sentences."""
    left, right = _edges(fragments)
    full = [f for f in fragments if f.right - f.left >= _FULL * (right - left)]
    size = statistics.median(f.height for f in fragments)
    return len(full) * 2 > len(fragments) and right - left >= _LEAST_WIDTH * size


def _edges(fragments: Iterable[Fragment]) -> tuple[float, float]:
    return min(f.left for f in fragments), max(f.right for f in fragments)


def _side(fragment: Fragment, x: float) -> int:
    """Return -1 for what is left of a place, 1 for what is right of it, 0 for what crosses it."""
    return -1 if fragment.right <= x else int(fragment.left >= x)


def _bands(fragments: Sequence[Fragment], x: float, across: Sequence[Rule]) -> list[_Band]:
    """Return fragments from the top, those between two that cross a place together.

    What is between two rulings that cross it is a row of a table, unless it is as long as a page.
    """
    cuts = [y for left, right, y in across if left < x < right]
    ordered = sorted(fragments, key=lambda f: -f.top)
    found: list[_Band] = []
    for n_cuts, part in groupby(ordered, key=lambda f: sum(y > f.bottom for y in cuts)):
        band = list(part)
        is_row = 0 < n_cuts < len(cuts) and len({round(f.bottom) for f in band}) < _FEWEST_LINES
        for crosses, same in groupby(band, key=lambda f: is_row or _side(f, x) == 0):
            if crosses and found and found[-1].crosses:
                found[-1].fragments.extend(same)
            else:
                found.append(_Band(crosses, list(same)))
    return found


def _notes(fragments: Sequence[Fragment]) -> tuple[list[Fragment], list[Fragment]]:
    """Return the text of a column, and the notes in smaller type at its end."""
    size = statistics.median(f.height for f in fragments) if fragments else 0.0
    ordered = sorted(fragments, key=lambda f: -f.top)
    n = len(ordered)
    while n and ordered[n - 1].height < _SMALLER * size:
        n -= 1
    return ordered[:n], ordered[n:]
