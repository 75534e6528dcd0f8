"""A page picture made ready for recognition: straightened, without seals, its rulings found."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgrag.ingestion.load.grid import areas, grouped, merged_slots
from kgrag.ingestion.load.ocr.page_text import Box, Quad, RuledCell

if TYPE_CHECKING:
    from kgrag.ingestion.load.ocr.page_text import Picture

MOST_SKEW = 5.0  # degrees
_LEAST_SKEW = 0.15  # degrees; a line of 160 mm rises by 0.4 mm, a seventh of a character
_LONG = 3  # times as long as high is a line that tells how the page lies
# An organ's seal is a ring of 38 to 50 mm, a signature stamp a square of about 20 mm, on a page
# 210 mm wide. The characters of a red letterhead are smaller, and stand in a row.
_LEAST, _MOST = 0.085, 0.4  # of the page's shorter side
_LARGE = 0.15  # a seal of this size is none of a line's characters
_JOINED = 0.012  # strokes of a seal lie closer than this, of the page's shorter side
_ASPECT = 1.6
_REDDER = 45  # by which red exceeds green and blue, of 255: also where the ink is pale
_EDGE_SHARE = 0.55  # of a ring's or frame's way round there is ink at least
# In heights of a line of text. Shorter than the first is a stroke of a character; a rule between
# two cells of one row is as short as a line is high, but ends at other rules.
_LEAST_ACROSS, _LEAST_DOWN = 2.2, 0.9
_SAME = 0.28  # rules that are nearer to each other are one, thick, doubled or broken
_LEAST_WIDTH, _LEAST_HEIGHT = 5.0, 1.2  # of a table; a character of a title is smaller
_WHOLE = 0.7  # of the table's width that its upper and lower rule cover, together at least
_DRAWN = 0.6  # of the way between two crossings a rule covers at least, or there is none
_MOST_RULES = 400  # either way; a hatched area has more


def skew_of(lines: Sequence[Quad]) -> float:
    """Return by how many degrees lines of text rise to the right, from -5 to 5: the median.

    Those of a page on its side run down; short ones tell nothing.
    """
    angles = []
    for (left, top), (right, at), (end, bottom), _ in lines:
        along, down = math.dist((left, top), (right, at)), math.dist((right, at), (end, bottom))
        if max(along, down) > _LONG * min(along, down):
            rise = (top - at, right - left) if along > down else (end - right, bottom - at)
            angles.append(math.degrees(math.atan2(*rise)))
    found = statistics.median(angles) if angles else 0.0
    found = round(min(max(found, -MOST_SKEW), MOST_SKEW), 2)
    return found if abs(found) >= _LEAST_SKEW else 0.0


def straightened(picture: "Picture", skew: float) -> "Picture":
    """Return a picture turned clockwise by its skew, of the same size, edges filled with white."""
    return _turned(picture, skew, fill=255) if skew else picture


def lies_on_its_side(lines: list[Quad]) -> bool:
    """Return whether most of the longer lines run from top to bottom."""
    boxes = [line.box for line in lines]
    longer = [
        box for box in boxes if max(box.width, box.height) > _LONG * min(box.width, box.height)
    ]
    n_upright = sum(box.width > box.height for box in longer)
    return len(longer) >= 2 and n_upright * 2 < len(longer)


def _turned(picture: "Picture", angle: float, *, fill: int) -> "Picture":
    import cv2

    height, width = picture.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), -angle, 1.0)
    turned: Picture = cv2.warpAffine(
        picture, matrix, (width, height), flags=cv2.INTER_CUBIC, borderValue=(fill,) * 3
    )
    return turned


def without_seals(colour: "Picture") -> tuple["Picture", list[Box]]:
    """Return a page in grey, without the ink of red seals, and their boxes.

    Black under a seal stays. Other red text, such as a letterhead's, becomes dark grey.

    Args:
        colour: The page, shape (height, width, 3); a grey one is returned as it is.
    """
    import cv2
    import numpy as np

    if colour.ndim == 2:
        return colour, []
    channels = colour.astype(np.int16)
    red = channels[:, :, 0] - channels[:, :, 1:].max(axis=2) > _REDDER
    grey: Picture = cv2.cvtColor(colour, cv2.COLOR_RGB2GRAY)
    seals = _seals(red.astype(np.uint8))
    for seal in seals:
        part = np.s_[int(seal.top) : int(seal.bottom), int(seal.left) : int(seal.right)]
        # Red ink is as bright as paper in the red channel, black ink as dark as in any.
        faded = colour[:, :, 0][part].astype(np.int16)
        near = cv2.dilate(red[part].astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
        paper = int(np.percentile(grey[part], 90))
        faded = np.where(faded > 0.55 * paper, paper, faded)
        grey[part] = np.where(near, faded, grey[part]).astype(np.uint8)
    return grey, seals


def _seals(red: "Picture") -> list[Box]:
    import cv2
    import numpy as np

    side = min(red.shape)
    size = max(3, round(_JOINED * side) | 1)
    joined = cv2.morphologyEx(red, cv2.MORPH_CLOSE, np.ones((size, size), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(joined)
    found = []
    boxes = [Box(x, y, x + w, y + h) for x, y, w, h, _ in stats[1:count].tolist()]
    for box in boxes:
        left, top, width, height = int(box.left), int(box.top), int(box.width), int(box.height)
        short, long = sorted((width, height))
        if _LEAST * side <= long <= _MOST * side and long <= _ASPECT * short:
            part = red[top : top + height, left : left + width]
            if _has_rim(part) and not (long < _LARGE * side and _in_a_row(box, boxes)):
                found.append(box)
    return found


def _in_a_row(box: Box, boxes: list[Box]) -> bool:
    """Return whether at least two others of about its height are beside it, as in a line."""
    beside = [
        other
        for other in boxes
        if abs(other.middle[1] - box.middle[1]) < 0.3 * box.height
        and abs(other.height - box.height) < 0.4 * box.height
    ]
    return len(beside) > 2


def _has_rim(part: "Picture") -> bool:
    """Return whether there is ink all around the edge: a ring, oval or frame."""
    import numpy as np

    height, width = part.shape
    ys, xs = np.nonzero(part)
    x, y = (xs - width / 2) / (width / 2), (ys - height / 2) / (height / 2)
    oval, frame = np.hypot(x, y), np.maximum(abs(x), abs(y))
    directions = (np.degrees(np.arctan2(y, x)) // 10).astype(int)
    return any(
        len(np.unique(directions[reach > 0.86])) >= _EDGE_SHARE * 36
        and (reach > 0.86).sum() > 0.1 * len(reach)
        for reach in (np.where(oval < 1.15, oval, 0.0), frame)
    )


@dataclass(frozen=True, slots=True)
class RuledGrid:
    """The rulings of a table.

    Attributes:
        box: Around all of them.
        xs: Of the vertical ones, from the left; at least 3.
        ys: Of the horizontal ones, from the top; at least 2.
        cells: Between them, row by row, without text yet.
    """

    box: Box
    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[RuledCell, ...]

    def cell_box(self, cell: RuledCell) -> Box:
        """Return the box of a cell."""
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
    """Return masks of horizontal and vertical rules, the latter without parts of characters."""
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


def _places(mask: "Picture", axis: int) -> list[tuple[float, int, int]]:
    """Return (middle, start, end) of every rule in a mask."""
    import cv2

    count, _, stats, _ = cv2.connectedComponentsWithStats(mask)
    return [
        (stat[axis] + stat[axis + 2] / 2, stat[1 - axis], stat[1 - axis] + stat[3 - axis])
        for stat in stats[1:count].tolist()
    ]


def _grid(across: "Picture", down: "Picture", box: Box, size: float) -> RuledGrid | None:
    same = max(3.0, 1.6 * _SAME * size)
    rows, columns = _places(across, 1), _places(down, 0)
    if not rows or not columns or len(rows) + len(columns) > _MOST_RULES:
        return None
    # Tables are often open at the sides: there the rules across end.
    at, starts, ends = zip(*rows, strict=True)
    xs = grouped([*(c[0] for c in columns), min(starts), max(ends)], same)
    ys = grouped(at, same)
    if len(xs) < 3 or len(ys) < 2:
        return None
    whole = _WHOLE * (xs[-1] - xs[0])
    if sum(_drawn(rows, y, same) >= whole for y in ys) < 2:
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


def _drawn(rules: Sequence[tuple[float, int, int]], at: float, near: float) -> int:
    """Return the length of the rules at a place."""
    return sum(end - start for middle, start, end in rules if abs(middle - at) <= near)


def _cells(
    xs: Sequence[float], ys: Sequence[float], across: "Picture", down: "Picture", near: int
) -> tuple[RuledCell, ...]:
    import numpy as np

    def parted(mask: "Picture", at: float, start: float, end: float) -> bool:
        """Return whether a rule of a mask, lying so that it runs down, covers the way."""
        edge = near + 1  # crossings are drawn in any case
        first, last = int(start) + edge, max(int(end) - edge, int(start) + edge + 1)
        strip = mask[first:last, max(0, int(at) - near) : int(at) + near + 1]
        return bool(strip.any(axis=1).mean() >= _DRAWN) if strip.size else True

    sideways = np.ascontiguousarray(across.T)
    slots = merged_slots(
        len(ys) - 1,
        len(xs) - 1,
        lambda i, j: not parted(down, xs[j + 1], ys[i], ys[i + 1]),
        lambda i, j: not parted(sideways, ys[i + 1], xs[j], xs[j + 1]),
    )
    cells = (
        RuledCell(top, left, bottom - top + 1, right - left + 1)
        for top, bottom, left, right in areas(slots).values()
    )
    return tuple(sorted(cells, key=lambda cell: (cell.row, cell.column)))
