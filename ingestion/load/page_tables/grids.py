"""Rulings that cross make grids: rows and columns, and which of their squares are one cell."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kgrag.ingestion.load.page_tables.shapes import Ruling

# Rulings this near to each other, in points, meet or are the two sides of one.
_NEAR = 3.0
# A border that is drawn for this share of a square's side is one.
_DRAWN = 0.6
# What sticks out beyond the outermost ruling by less is no row or column of its own.
_OPEN_SIDE = 6.0


@dataclass(frozen=True, slots=True)
class Grid:
    """Squares between rulings, some of them merged.

    Attributes:
        xs: Edges of the columns, from the left, in points.
        ys: Edges of the rows, from the top: they fall.
        cells: `cells[row][column]` is the number of the cell that the square belongs to.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    cells: tuple[tuple[int, ...], ...]

    def at(self, x: float, y: float) -> tuple[int, int] | None:
        """Return row and column of a point, or None outside."""
        column = bisect_right(self.xs, x) - 1
        row = bisect_right([-value for value in self.ys], -y) - 1
        if 0 <= column < len(self.xs) - 1 and 0 <= row < len(self.ys) - 1:
            return row, column
        return None

    @property
    def area(self) -> float:
        """Return its size in square points."""
        return (self.xs[-1] - self.xs[0]) * (self.ys[0] - self.ys[-1])

    def holds(self, other: "Grid") -> bool:
        """Say whether another grid stands within this one."""
        return (
            self.xs[0] - _NEAR <= other.xs[0]
            and other.xs[-1] <= self.xs[-1] + _NEAR
            and self.ys[-1] - _NEAR <= other.ys[-1]
            and other.ys[0] <= self.ys[0] + _NEAR
        )


def grids(rulings: Sequence[Ruling]) -> list[Grid]:
    """Return the grids that rulings make, the largest first.

    Rulings belong together that cross or touch. An outer side need not be drawn: columns go on to
    where most of the rulings between rows end, and rows to where those between columns do. Squares
    without a border between them are one cell; a cell is a rectangle.
    """
    found = [_grid(group) for group in _crossing(straightened(rulings))]
    return sorted((g for g in found if g is not None), key=lambda g: -g.area)


def straightened(rulings: Sequence[Ruling]) -> list[Ruling]:
    """Put pieces of one line together."""
    whole: list[Ruling] = []
    for across in (True, False):
        lines: list[list[Ruling]] = []
        for ruling in sorted((r for r in rulings if r.across == across), key=lambda r: r.at):
            if lines and ruling.at - lines[-1][-1].at <= 1.0:
                lines[-1].append(ruling)
            else:
                lines.append([ruling])
        whole += [piece for line in lines for piece in _merged(line)]
    return whole


def _merged(line: Iterable[Ruling]) -> list[Ruling]:
    out: list[Ruling] = []
    for ruling in sorted(line, key=lambda r: r.start):
        last = out[-1] if out else None
        if last and ruling.start <= last.end + _NEAR:
            out[-1] = Ruling(last.across, last.at, last.start, max(last.end, ruling.end))
        else:
            out.append(ruling)
    return out


def _crossing(rulings: Sequence[Ruling]) -> list[list[Ruling]]:
    """Return groups of rulings that are joined by crossings."""
    flat = [r for r in rulings if r.across]
    upright = [r for r in rulings if not r.across]
    parent = list(range(len(flat) + len(upright)))
    for i, a in enumerate(flat):
        for j, b in enumerate(upright, len(flat)):
            if (
                a.start - _NEAR <= b.at <= a.end + _NEAR
                and b.start - _NEAR <= a.at <= b.end + _NEAR
            ):
                parent[_root(parent, i)] = _root(parent, j)
    groups: dict[int, list[Ruling]] = {}
    for i, ruling in enumerate([*flat, *upright]):
        groups.setdefault(_root(parent, i), []).append(ruling)
    return [group for group in groups.values() if len(group) > 2]


def _root(parent: list[int], i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def _grid(group: Sequence[Ruling]) -> Grid | None:
    flat = [r for r in group if r.across]
    upright = [r for r in group if not r.across]
    if not flat or not upright:
        return None
    xs = _edges(upright, flat)
    ys = _edges(flat, upright)[::-1]
    if len(xs) < 2 or len(ys) < 2:
        return None
    n_rows, n_columns = len(ys) - 1, len(xs) - 1
    parent = list(range(n_rows * n_columns))
    for row in range(n_rows):
        for column in range(n_columns):
            own = row * n_columns + column
            if column + 1 < n_columns and not _drawn(upright, xs[column + 1], ys[row + 1], ys[row]):
                parent[_root(parent, own + 1)] = _root(parent, own)
            if row + 1 < n_rows and not _drawn(flat, ys[row + 1], xs[column], xs[column + 1]):
                parent[_root(parent, own + n_columns)] = _root(parent, own)
    squares = [
        [_root(parent, row * n_columns + column) for column in range(n_columns)]
        for row in range(n_rows)
    ]
    return _without_idle_edges(xs, ys, _rectangles(squares))


def _edges(own: Sequence[Ruling], others: Sequence[Ruling]) -> list[float]:
    """Return places of rulings, rising, with an outer side that is not drawn."""
    places: list[list[float]] = []
    for at in sorted(r.at for r in own):
        if places and at - places[-1][-1] <= _NEAR:
            places[-1].append(at)
        else:
            places.append([at])
    edges = [sum(p) / len(p) for p in places]
    starts = sorted(r.start for r in others)
    ends = sorted(r.end for r in others)
    half = len(others) // 2
    if len(others) > 1 and starts[half] < edges[0] - _OPEN_SIDE:
        edges.insert(0, starts[half])
    if len(others) > 1 and ends[-half - 1] > edges[-1] + _OPEN_SIDE:
        edges.append(ends[-half - 1])
    return edges


def _drawn(rulings: Sequence[Ruling], at: float, start: float, end: float) -> bool:
    length = sum(
        max(0.0, min(r.end, end) - max(r.start, start)) for r in rulings if abs(r.at - at) <= _NEAR
    )
    return length >= _DRAWN * (end - start)


def _rectangles(squares: list[list[int]]) -> list[list[int]]:
    """Give each cell the whole rectangle that it reaches over; what it meets becomes part of it."""
    grown = True
    while grown:
        grown = False
        boxes: dict[int, list[int]] = {}
        for row, line in enumerate(squares):
            for column, cell in enumerate(line):
                box = boxes.setdefault(cell, [row, row, column, column])
                box[1] = row
                box[2], box[3] = min(box[2], column), max(box[3], column)
        for cell, (top, bottom, left, right) in boxes.items():
            inside = {
                squares[row][column]
                for row in range(top, bottom + 1)
                for column in range(left, right + 1)
            }
            if inside != {cell}:
                squares = [[cell if c in inside else c for c in line] for line in squares]
                grown = True
                break
    return squares


def _without_idle_edges(xs: Sequence[float], ys: Sequence[float], squares: list[list[int]]) -> Grid:
    """Drop the edges that divide no cell: underlines, and pieces of a picture."""
    rows = [i for i in range(len(squares)) if i == 0 or squares[i] != squares[i - 1]]
    turned = list(zip(*squares, strict=True))
    columns = [i for i in range(len(turned)) if i == 0 or turned[i] != turned[i - 1]]
    return Grid(
        (*(xs[i] for i in columns), xs[-1]),
        (*(ys[i] for i in rows), ys[-1]),
        tuple(tuple(squares[row][column] for column in columns) for row in rows),
    )
