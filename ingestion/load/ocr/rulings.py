"""Ruled tables on a page picture: ruling lines by morphology, cells between them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgrag.ingestion.load.ocr.page_text import Box, RuledCell

if TYPE_CHECKING:
    from kgrag.ingestion.load.ocr.page_text import Picture

# In heights of a line of text. Shorter than the first is a stroke of a character; a rule between
# two cells of one row is as short as a line is high, but ends at other rules.
_LEAST_ACROSS, _LEAST_DOWN = 2.2, 0.9
_SAME = 0.28  # rules that are nearer to each other are one, thick, doubled or broken
_LEAST_WIDTH, _LEAST_HEIGHT = 5.0, 1.2  # of a table; a character of a title is smaller
_WHOLE = 0.7  # of the table's width that its upper and lower rule cover, together at least
_DRAWN = 0.6  # of the way between two crossings a rule covers at least, or there is none
_MOST_RULES = 400  # either way; a hatched area has more


@dataclass(frozen=True, slots=True)
class RuledGrid:
    """Where a table's ruling lines run.

    Attributes:
        box: Around all of them.
        xs: Of lines that run down, from left to right; at least 3.
        ys: Of lines that run across, from the top; at least 2.
        cells: Between them, row by row, without text yet.
    """

    box: Box
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[RuledCell, ...]

    def cell_box(self, cell: RuledCell) -> Box:
        """Return where a cell stands."""
        return Box(
            self.xs[cell.column],
            self.ys[cell.row],
            self.xs[cell.column + cell.col_span],
            self.ys[cell.row + cell.row_span],
        )


def find_grids(grey: "Picture", size: float) -> tuple[list[RuledGrid], "Picture"]:
    """Return the ruled tables of a page, and the page without their lines.

    A frame around text, with one column, is no table.

    Args:
        grey: The page, upright and straight.
        size: Height of a usual line of text, in pixels.
    """
    import cv2
    import numpy as np

    ink = cv2.adaptiveThreshold(
        grey, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 31, 12
    )
    across, down = _lines(ink, size)
    reach = max(3, round(_SAME * size) | 1)
    lines = cv2.dilate(across | down, np.ones((reach, reach), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(lines)
    grids = []
    cleaned = grey.copy()
    for label in range(1, count):
        left, top, width, height, _ = stats[label].tolist()
        if width < _LEAST_WIDTH * size or height < _LEAST_HEIGHT * size:
            continue
        part = np.s_[top : top + height, left : left + width]
        own = (labels[part] == label).astype(np.uint8)
        grid = _grid(
            across[part] * own, down[part] * own, Box(left, top, left + width, top + height), size
        )
        if grid:
            grids.append(grid)
            drawn = cv2.dilate((across[part] | down[part]) * own, np.ones((5, 5), np.uint8))
            cleaned[part][drawn > 0] = int(np.percentile(grey[part], 90))
    return grids, cleaned


def _lines(ink: "Picture", size: float) -> tuple["Picture", "Picture"]:
    """Return masks of rules across and down; bits of characters are left out of the latter."""
    import cv2
    import numpy as np

    long, short = max(20, round(_LEAST_ACROSS * size)), max(10, round(_LEAST_DOWN * size))
    near = max(3, round(_SAME * size))
    whole_across = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((1, 5), np.uint8))
    across = cv2.morphologyEx(whole_across, cv2.MORPH_OPEN, np.ones((1, long), np.uint8))
    whole_down = cv2.morphologyEx(ink, cv2.MORPH_CLOSE, np.ones((5, 1), np.uint8))
    down = cv2.morphologyEx(whole_down, cv2.MORPH_OPEN, np.ones((short, 1), np.uint8))
    at_rule = cv2.dilate(across, np.ones((2 * near + 1, 2 * near + 1), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(down)
    kept = np.zeros(count, np.uint8)
    for label in range(1, count):
        left, top, width, height, _ = stats[label].tolist()
        ends = (at_rule[top, left : left + width], at_rule[top + height - 1, left : left + width])
        kept[label] = (height >= long * 2 or all(end.any() for end in ends)) and width <= 3 * near
    return (across > 0).astype(np.uint8), kept[labels]


def _grid(across: "Picture", down: "Picture", box: Box, size: float) -> RuledGrid | None:
    import cv2

    def places(mask: "Picture", axis: int) -> list[tuple[float, int, int]]:
        """Return (middle, start, end) of every rule in a mask."""
        count, _, stats, _ = cv2.connectedComponentsWithStats(mask)
        return [
            (stat[axis] + stat[axis + 2] / 2, stat[1 - axis], stat[1 - axis] + stat[3 - axis])
            for stat in stats[1:count].tolist()
        ]

    same = max(3.0, 1.6 * _SAME * size)
    rows, columns = places(across, 1), places(down, 0)
    if not rows or not columns or len(rows) + len(columns) > _MOST_RULES:
        return None
    # Tables are often open at the sides: there the rules across end.
    ends = [min(r[1] for r in rows), max(r[2] for r in rows)]
    xs = _merged([*(c[0] for c in columns), *ends], same)
    ys = _merged([r[0] for r in rows], same)
    if len(xs) < 3 or len(ys) < 2:
        return None
    drawn = [sum(end - start for y, start, end in rows if abs(y - at) <= same) for at in ys]
    if sum(length >= _WHOLE * (xs[-1] - xs[0]) for length in drawn) < 2:
        return None
    cells = _cells(xs, ys, across, down, round(same))
    if len({cell.column for cell in cells}) < 2:
        return None
    return RuledGrid(
        Box(box.left + xs[0], box.top + ys[0], box.left + xs[-1], box.top + ys[-1]),
        tuple(box.left + x for x in xs),
        tuple(box.top + y for y in ys),
        cells,
    )


def _merged(places: Iterable[float], same: float) -> list[float]:
    groups: list[list[float]] = []
    for place in sorted(places):
        if groups and place - groups[-1][-1] <= same:
            groups[-1].append(place)
        else:
            groups.append([place])
    return [sum(group) / len(group) for group in groups]


def _cells(
    xs: Sequence[float], ys: Sequence[float], across: "Picture", down: "Picture", near: int
) -> tuple[RuledCell, ...]:
    """Return the cells: neighbouring slots that no rule parts are one."""
    import numpy as np

    n_rows, n_columns = len(ys) - 1, len(xs) - 1
    owner = {(i, j): (i, j) for i in range(n_rows) for j in range(n_columns)}

    def root(slot: tuple[int, int]) -> tuple[int, int]:
        while owner[slot] != slot:
            slot = owner[slot]
        return slot

    def parted(mask: "Picture", at: float, start: float, end: float) -> bool:
        """Return whether a rule of a mask, lying so that it runs down, covers the way."""
        edge = near + 1  # crossings are drawn in any case
        first, last = int(start) + edge, max(int(end) - edge, int(start) + edge + 1)
        strip = mask[first:last, max(0, int(at) - near) : int(at) + near + 1]
        return bool(strip.any(axis=1).mean() >= _DRAWN) if strip.size else True

    sideways = np.ascontiguousarray(across.T)
    for i, j in owner:
        if j + 1 < n_columns and not parted(down, xs[j + 1], ys[i], ys[i + 1]):
            owner[root((i, j + 1))] = root((i, j))
        if i + 1 < n_rows and not parted(sideways, ys[i + 1], xs[j], xs[j + 1]):
            owner[root((i + 1, j))] = root((i, j))
    slots: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for slot in owner:
        slots[root(slot)].append(slot)
    found = []
    for group in slots.values():
        rows, columns = zip(*group, strict=True)
        top, left = min(rows), min(columns)
        found.append(RuledCell(top, left, max(rows) - top + 1, max(columns) - left + 1))
    return tuple(sorted(found, key=lambda cell: (cell.row, cell.column)))
