"""Tables whose columns are parted by rulings."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from kgrag.ingestion.load.page_tables.cells import TextLine, is_figure, text_lines
from kgrag.ingestion.load.page_tables.grids import Grid, grids
from kgrag.ingestion.load.page_tables.shapes import Cells, Char, Ruling, Table

# More crossings than a table has: a map or a drawing.
_MOST_CROSSINGS = 1_000_000
# In a chart or drawing more of the lines than this share run through rulings.
_MOST_STRADDLING = 0.15
_FEWEST_CELLS = 3


def ruled_tables(chars: Sequence[Char], rulings: Sequence[Ruling]) -> list[Table]:
    """Return the tables that rulings make, in no order.

    Frames around text, charts, underlines and letterheads are none: a table has two rows and two
    columns, three cells with text, and in its first row or column every second cell has some; no
    line of text runs through the rulings. Rows without any text are left out. A table in a cell of
    another one is text of that cell.

    Args:
        chars: Of the page.
        rulings: Of the page.
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
        members=frozenset(c.index for found in by_cell.values() for c in found),
        last_full=tuple(_full(grid, lines, last, i) for i in range(len(grid.xs) - 1)),
    )


def _labelled(grid: Grid, lines: dict[int, list[TextLine]]) -> bool:
    """Say whether half of the first row or of the first column has text."""
    sides = (grid.cells[0], [row[0] for row in grid.cells])
    return any(2 * sum(cell in lines for cell in side) >= len(side) for side in sides)


def _straddled(grid: Grid, by_cell: dict[int, list[Char]]) -> bool:
    """Say whether text runs on through rulings, as in a chart or a crossed-out passage."""
    chars = sorted((c for found in by_cell.values() for c in found), key=lambda c: c.index)
    cell_of = {c.index: cell for cell, found in by_cell.items() for c in found}
    n_crossed = sum(
        cell_of[a.index] != cell_of[b.index]
        and abs(a.y - b.y) < 0.2 * a.size
        and -0.3 * a.size < b.left - a.right < 0.15 * a.size
        for a, b in pairwise(chars)
    )
    n_lines = sum(len(text_lines(found)) for found in by_cell.values())
    return n_crossed > _MOST_STRADDLING * n_lines


def _rows(
    grid: Grid, number: int, lines: dict[int, list[TextLine]]
) -> tuple[list[Cells], list[tuple[int, ...]]]:
    """Return a row of the grid, as several where rows are not ruled but stand line by line."""
    cells = grid.cells[number]
    whole = tuple(_text(lines.get(cell, [])) for cell in cells)
    own = {
        cell
        for cell in cells
        if (number == 0 or cell not in grid.cells[number - 1])
        and (number + 1 == len(grid.cells) or cell not in grid.cells[number + 1])
    }
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
    """Return the heights of rows that only their text lines part, or nothing.

    Such rows are three or more, have figures in one column at least, each on a line of its own,
    and every line of every cell stands beside one of those figures.
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
    """Say whether the last line of a cell leaves no room for another character."""
    cell = grid.cells[row][column]
    if cell not in lines:
        return False
    last = lines[cell][-1]
    right = max(grid.xs[i + 1] for i, c in enumerate(grid.cells[row]) if c == cell)
    left = min(grid.xs[i] for i, c in enumerate(grid.cells[row]) if c == cell)
    # Text that is centred or indented has as much room on the left.
    room = right - last.right - max(0.0, min(last.left - left, 1.2 * last.size))
    return room < 1.2 * last.size
