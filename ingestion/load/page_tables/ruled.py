"""Tables whose columns are separated by rulings: crossing rulings make grids of cells."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgrag.ingestion.load.grid import areas, grouped, merged_slots, root_of
from kgrag.ingestion.load.page_tables.shapes import (
    Cells,
    Char,
    Ruling,
    Table,
    TextLine,
    is_figure,
    text_lines,
)

# Rulings this near to each other, in points, meet or are the two sides of one.
_NEAR = 3.0
# A border that is drawn for this share of a square's side is one.
_DRAWN = 0.6
# What sticks out beyond the outermost ruling by less is no row or column of its own.
_OPEN_SIDE = 6.0
# More crossings than a table has: a map or a drawing.
_MOST_CROSSINGS = 1_000_000
# In a chart or drawing more of the lines than this share run through rulings.
_MOST_STRADDLING = 0.15
_FEWEST_CELLS = 3


@dataclass(frozen=True, slots=True)
class Grid:
    """Squares between rulings, some of them merged.

    Attributes:
        xs: Edges of the columns, from the left, in points.
        ys: Edges of the rows, from the top, descending.
        cells: The number of each square's cell, by row and column.
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
        """Return whether another grid is within this one."""
        return (
            self.xs[0] - _NEAR <= other.xs[0]
            and other.xs[-1] <= self.xs[-1] + _NEAR
            and self.ys[-1] - _NEAR <= other.ys[-1]
            and other.ys[0] <= self.ys[0] + _NEAR
        )


def grids(rulings: Sequence[Ruling]) -> list[Grid]:
    """Return the grids of rulings that cross or touch, the largest first.

    An outer side need not be drawn: columns extend to where most of the rulings between rows end,
    and rows to where those between columns do. Cells are rectangles.
    """
    found = [_grid(group) for group in _crossing(straightened(rulings))]
    return sorted((g for g in found if g is not None), key=lambda g: -g.area)


def straightened(rulings: Sequence[Ruling]) -> list[Ruling]:
    """Return rulings, the pieces of one line joined."""
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
            end = max(last.end, ruling.end)
            out[-1] = Ruling(last.across, last.at, last.start, end, last.drawn or ruling.drawn)
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
                parent[root_of(parent, i)] = root_of(parent, j)
    groups: dict[int, list[Ruling]] = {}
    for i, ruling in enumerate([*flat, *upright]):
        groups.setdefault(root_of(parent, i), []).append(ruling)
    return [
        group
        for group in groups.values()
        if len(group) > 2 and any(r.drawn and not r.across for r in group)
    ]


def _grid(group: Sequence[Ruling]) -> Grid | None:
    flat = [r for r in group if r.across]
    upright = [r for r in group if not r.across]
    if not flat or not upright:
        return None
    xs = _edges(upright, flat)
    ys = _edges(flat, upright)[::-1]
    if len(xs) < 2 or len(ys) < 2:
        return None
    squares = merged_slots(
        len(ys) - 1,
        len(xs) - 1,
        lambda row, column: not _drawn(upright, xs[column + 1], ys[row + 1], ys[row]),
        lambda row, column: not _drawn(flat, ys[row + 1], xs[column], xs[column + 1]),
    )
    return _without_idle_edges(xs, ys, _rectangles(squares))


def _edges(own: Sequence[Ruling], others: Sequence[Ruling]) -> list[float]:
    """Return places of rulings, rising, with an outer side that is not drawn."""
    edges = grouped((r.at for r in own), _NEAR)
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
    """Extend each cell to its bounding rectangle; cells that it meets become part of it."""
    grown = True
    while grown:
        grown = False
        for cell, (top, bottom, left, right) in areas(squares).items():
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
    """Return the grid without edges that divide no cell: underlines, parts of pictures."""
    rows = [i for i in range(len(squares)) if i == 0 or squares[i] != squares[i - 1]]
    turned = list(zip(*squares, strict=True))
    columns = [i for i in range(len(turned)) if i == 0 or turned[i] != turned[i - 1]]
    return Grid(
        (*(xs[i] for i in columns), xs[-1]),
        (*(ys[i] for i in rows), ys[-1]),
        tuple(tuple(squares[row][column] for column in columns) for row in rows),
    )


def ruled_tables(chars: Sequence[Char], rulings: Sequence[Ruling]) -> list[Table]:
    """Return the tables that rulings make, in no order, without empty rows.

    A table has two rows and two columns, three cells with text, and some in every second cell of
    its first two rows or columns; no line of text runs through the rulings. So frames around text,
    charts, underlines and letterheads are none. A table in a cell of another is text of that cell.
    """
    n_flat = sum(r.across for r in rulings)
    if n_flat * (len(rulings) - n_flat) > _MOST_CROSSINGS:
        return []
    found: list[Table] = []
    taken: list[Grid] = []
    for grid in grids(rulings):
        if len(grid.xs) < 3 or len(grid.ys) < 3 or any(g.holds(grid) for g in taken):
            continue
        table = _table(grid, chars)
        if table is not None:
            found.append(table)
            taken.append(grid)
    return found


def _table(grid: Grid, chars: Sequence[Char]) -> Table | None:
    by_cell: dict[int, list[Char]] = defaultdict(list)
    for char in chars:
        place = grid.at(char.x, char.y)
        if place is not None:
            by_cell[grid.cells[place[0]][place[1]]].append(char)
    lines = {cell: text_lines(found) for cell, found in by_cell.items()}
    if len(lines) < _FEWEST_CELLS or not _labelled(grid, lines) or _straddled(grid, by_cell):
        return None
    rows: list[Cells] = []
    cells: list[tuple[int, ...]] = []
    last = 0
    for number, row in enumerate(grid.cells):
        if any(cell in lines for cell in row):
            texts, owners = _rows(grid, number, lines)
            rows += texts
            cells += owners
            last = number
    if len(rows) < 2:
        return None
    return Table(
        rows=tuple(rows),
        cells=tuple(cells),
        edges=grid.xs,
        members=frozenset(c.position for found in by_cell.values() for c in found),
        last_full=tuple(_full(grid, lines, last, i) for i in range(len(grid.xs) - 1)),
    )


def _labelled(grid: Grid, lines: dict[int, list[TextLine]]) -> bool:
    # The first are empty where a page begins with the rest of a row.
    sides = [*grid.cells[:2], *list(zip(*grid.cells, strict=True))[:2]]
    return any(2 * sum(cell in lines for cell in side) >= len(side) for side in sides)


def _straddled(grid: Grid, by_cell: dict[int, list[Char]]) -> bool:
    """Return whether text crosses rulings, as in a chart or a crossed-out passage."""
    chars = sorted((c for found in by_cell.values() for c in found), key=lambda c: c.position)
    cell_of = {c.position: cell for cell, found in by_cell.items() for c in found}
    n_crossed = sum(
        cell_of[a.position] != cell_of[b.position]
        and abs(a.y - b.y) < 0.2 * a.size
        and -0.3 * a.size < b.left - a.right < 0.15 * a.size
        for a, b in pairwise(chars)
    )
    n_lines = sum(len(text_lines(found)) for found in by_cell.values())
    return n_crossed > _MOST_STRADDLING * n_lines


def _rows(
    grid: Grid, number: int, lines: dict[int, list[TextLine]]
) -> tuple[list[Cells], list[tuple[int, ...]]]:
    """Return a row of the grid, as several if its rows are lines of text without rulings."""
    cells = grid.cells[number]
    whole = tuple(_text(lines.get(cell, [])) for cell in cells)
    beside = (*grid.cells[max(number - 1, 0) : number], *grid.cells[number + 1 : number + 2])
    own = set(cells).difference(*beside)
    heights = _common_heights(
        [lines[cell] for cell in dict.fromkeys(cells) if cell in own & set(lines)]
    )
    if not heights:
        return [whole], [cells]
    rows = [
        tuple(
            _text([line for line in lines.get(cell, []) if _nearest(heights, line.y) == i])
            if cell in own
            else whole[column]
            for column, cell in enumerate(cells)
        )
        for i in range(len(heights))
    ]
    # Numbers that no cell of the grid has: its cells are at most as many as its squares.
    fresh = len(grid.cells) * len(cells) * (number + 1)
    owners = [
        tuple(fresh + cell * len(heights) + i if cell in own else cell for cell in cells)
        for i in range(len(heights))
    ]
    return rows, owners


def _common_heights(cells: list[list[TextLine]]) -> list[float]:
    """Return the heights of rows without rulings between them, or nothing.

    These are three or more, with figures in at least one column, each on a line of its own, and
    every line of every cell beside one of those figures.
    """
    figures = [
        lines for lines in cells if len(lines) >= 3 and all(is_figure(line.text) for line in lines)
    ]
    if len(cells) < 2 or not figures:
        return []
    heights = [line.y for line in max(figures, key=len)]
    beside = [
        abs(line.y - heights[_nearest(heights, line.y)]) < 0.4 * line.size
        for lines in cells
        for line in lines
    ]
    others = [lines for lines in cells if len(lines) * 2 > len(heights)]
    return heights if all(beside) and len(others) > 1 else []


def _nearest(heights: Sequence[float], y: float) -> int:
    return min(range(len(heights)), key=lambda i: abs(heights[i] - y))


def _text(lines: Sequence[TextLine]) -> str:
    return "\n".join(line.text for line in lines)


def _full(grid: Grid, lines: dict[int, list[TextLine]], row: int, column: int) -> bool:
    """Return whether the last line of a cell has no room for another character."""
    cell = grid.cells[row][column]
    if cell not in lines:
        return False
    last = lines[cell][-1]
    right = max(grid.xs[i + 1] for i, c in enumerate(grid.cells[row]) if c == cell)
    left = min(grid.xs[i] for i, c in enumerate(grid.cells[row]) if c == cell)
    # Text that is centred or indented has as much room on the left.
    room = right - last.right - max(0.0, min(last.left - left, 1.2 * last.size))
    return room < 1.2 * last.size
