"""Tables of any format as lines of text: cells with spans become full rows, rows Markdown.

Cells are placed as in the table model of the HTML standard, section 4.9.12.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from kgrag.text.numbering import item_end
from kgrag.text.table_rows import delimiter_line, is_delimiter, is_row, row_line
from kgrag.text.vocabulary import FIVE_YEAR_PLAN, ISSUER_ENDS

_MOST_ROWS = 5
_LONGEST_LABEL = 30  # characters
_NO_VALUE = re.compile(  # digits that a label may hold
    r"(?:19|20)\d\d[年]?(?:[-—–~至]+(?:(?:19|20)\d\d|\d\d)年?)?|\d{1,2}[月日]|第?[1-4]季度?"
    rf"|[（(][^（）()]*[)）]|[“\"]?{FIVE_YEAR_PLAN}[”\"]?|[①-⑳]|(?:km|m|hm|dm|cm)[23]|CO2"
)
_YEAR = re.compile(r"(?:19|20)\d\d\s*年?(?:[（(].{1,8}[)）]|.{0,6})")
_UNIT = re.compile(r"[（(][^（）()]{1,12}[)）]")

_CJK = "\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef“”‘’—…"
_BREAK = re.compile(r"[\r\n\x0b\x0c\x85\u2028\u2029]+")
_ENDS_CJK, _BEGINS_CJK = re.compile(f"[{_CJK}]$"), re.compile(f"^[{_CJK}]")
_ORGAN = re.compile(rf".{{2,}}(?:{ISSUER_ENDS})[、，,；;]?")

LONGEST_LABEL = 200  # characters; what is longer is text, and stands once
# Beyond these no one has drawn a table by hand; spans count no more.
_MOST_SLOTS = 1_000_000
_MOST_CHARACTERS = 20_000_000
_MOST_COLUMNS = 1000  # as the HTML standard bounds a span


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell and its spans.

    Attributes:
        text: Its text, which may have line breaks.
        row_span: Rows that it covers, from 1; cut at the table's end.
        col_span: Columns that it covers, from 1.
        column: Its first column, from 0; None for the next free one of its row.
        inner: The lines of tables within it, header rows and delimiters included.
    """

    text: str
    row_span: int = 1
    col_span: int = 1
    column: int | None = None
    inner: tuple[str, ...] = ()

    @classmethod
    def of_lines(cls, lines: Iterable[str]) -> "Cell":
        """Return a cell of lines, those of tables among them apart.

        >>> Cell.of_lines(["甲", "| 年 | 值 |", "| --- | --- |", "| 2020 | 1 |"]).text
        '甲'
        """
        told = list(lines)
        inner = tuple(filter(is_row, told)) if any(map(is_delimiter, told)) else ()
        return cls("\n".join(line for line in told if line not in inner), inner=inner)


@dataclass(frozen=True, slots=True)
class Grid:
    """A table with the text of the covering cell in every slot.

    Attributes:
        rows: Equally long; each text on one line, merged cells repeat theirs.
        cells: The number of the cell that covers each slot, -1 for none.
        numbers: For every row, which of the given rows it is, from 0.
    """

    rows: list[list[str]]
    cells: list[list[int]]
    numbers: list[int]


@dataclass(frozen=True, slots=True)
class _Placed:
    text: str
    top: int
    bottom: int
    left: int
    right: int


def table_lines(rows: Sequence[Sequence[Cell | str]], n_header: int | None = None) -> list[str]:
    r"""Return a table as lines: header row, delimiter row, then a line for each row of the body.

    Labels over all columns above the header (表1 …, 单位：亿元) and below the last row (注：…) are
    lines of their own. Empty rows and columns are left out. Several header rows become one: in
    each column the distinct labels from top to bottom. One column or one row gives plain lines.
    Tables within cells follow, each below a line of the row that it is in.

    Args:
        rows: Cells from the top, each row from the left; a string is a cell without spans. A row
            that is too short gets empty cells.
        n_header: The least number of header rows, with labels over all columns; None to guess.

    >>> table_lines([["指标", Cell("目标", col_span=2)], ["", "2020年", "2025年"], ["产值", "1"]])
    ['| 指标 | 目标 2020年 | 目标 2025年 |', '| --- | --- | --- |', '| 产值 | 1 |  |']
    """
    return [line for _, line in numbered_table_lines(rows, n_header)]


def numbered_table_lines(
    rows: Sequence[Sequence[Cell | str]], n_header: int | None = None
) -> list[tuple[int, str]]:
    """Return the lines of `table_lines`, each with the number of the row that it begins with."""
    grid = fill(rows)
    within = list(_within(rows))
    if not grid.rows:
        return [(0, line) for line in within]
    lines = list(zip(grid.numbers, (row[0] for row in grid.rows), strict=True))
    inside = [(grid.numbers[-1], line) for line in within]
    if len(grid.rows[0]) == 1:
        return [*(line for line in lines if line[1]), *inside]
    first, last = _frame(grid)
    inner = _inner_lines(
        Grid(grid.rows[first:last], grid.cells[first:last], grid.numbers[first:last]), n_header or 0
    )
    return [*lines[:first], *inner, *lines[last:], *inside]


def _within(rows: Sequence[Sequence[Cell | str]]) -> Iterator[str]:
    """Yield the tables in cells, each below a line of the labels of the row that it is in."""
    for row in rows:
        labels = (_one_line(c if isinstance(c, str) else c.text) for c in row)
        line = " ".join(text for text in labels if text and len(text) <= LONGEST_LABEL)
        for cell in row:
            inner = () if isinstance(cell, str) else cell.inner
            for i, text in enumerate(inner):
                if line and any(map(is_delimiter, inner[i + 1 : i + 2])):
                    yield line
                yield text


def _inner_lines(grid: Grid, n_header: int) -> list[tuple[int, str]]:
    """Return the numbered lines of a table without the labels above and below it."""
    kept = [j for j, column in enumerate(zip(*grid.rows, strict=True)) if any(column)]
    body = [[row[j] for j in kept] for row in grid.rows]
    if len(body) == 1:
        return [(grid.numbers[0], " ".join(filter(None, body[0])))]
    cells = [[row[j] for j in kept] for row in grid.cells]
    told = sum(number < n_header for number in grid.numbers)
    n = _guess_header(body, cells, at_least=told if told < len(body) else 1)
    columns = zip(*body[:n], strict=True)
    header = [" ".join(dict.fromkeys(filter(None, labels))) for labels in columns]
    lines = [row_line(header), delimiter_line(len(header)), *map(row_line, body[n:])]
    numbers = [grid.numbers[0], grid.numbers[n - 1], *grid.numbers[n:]]
    return list(zip(numbers, lines, strict=True))


def fill(rows: Sequence[Sequence[Cell | str]]) -> Grid:
    """Return the grid of a table; rows and columns in which no text begins are left out.

    Spans end where the table does. A text of more than `LONGEST_LABEL` characters is no label and
    is in the first slot of its cell only. For the rows see `table_lines`.
    """
    placed = [cell for cell in _place(rows) if cell.text]
    tops = sorted({cell.top for cell in placed})
    lefts = sorted({cell.left for cell in placed})
    down, along = partial(bisect_left, tops), partial(bisect_left, lefts)
    areas = [(down(c.top), down(c.bottom), along(c.left), along(c.right)) for c in placed]
    if _is_too_large(placed, areas, len(tops) * len(lefts)):
        return _without_spans(rows)
    texts = [[""] * len(lefts) for _ in tops]
    cells = [[-1] * len(lefts) for _ in tops]
    for number, (cell, (top, bottom, left, right)) in enumerate(zip(placed, areas, strict=True)):
        for i in range(top, bottom):
            for j in range(left, right):
                # Where spans overlap, the lower cell stands: no cell's beginning is covered.
                cells[i][j] = number
                repeats = len(cell.text) <= LONGEST_LABEL or (i, j) == (top, left)
                texts[i][j] = cell.text if repeats else ""
    return Grid(texts, cells, tops)


def _place(rows: Sequence[Sequence[Cell | str]]) -> list[_Placed]:
    placed: list[_Placed] = []
    hanging: list[_Placed] = []  # cells that reach down into the next row, from left to right
    for top, row in enumerate(rows):
        here: list[_Placed] = []
        column = i = 0
        for cell in row:
            cell = Cell(cell) if isinstance(cell, str) else cell
            while i < len(hanging) and hanging[i].left <= column:
                column = max(column, hanging[i].right)
                i += 1
            column = column if cell.column is None else cell.column
            right = column + min(max(cell.col_span, 1), _MOST_COLUMNS)
            bottom = min(top + max(cell.row_span, 1), len(rows))
            here.append(_Placed(_one_line(cell.text), top, bottom, column, right))
            column = right
        placed += here
        hanging = sorted(
            (cell for cell in (*hanging, *here) if cell.bottom > top + 1),
            key=lambda cell: cell.left,
        )
    return placed


def _is_too_large(
    placed: list[_Placed], areas: list[tuple[int, int, int, int]], n_slots: int
) -> bool:
    n_characters = 0
    for cell, (top, bottom, left, right) in zip(placed, areas, strict=True):
        if len(cell.text) <= LONGEST_LABEL:
            n_characters += len(cell.text) * (bottom - top) * (right - left)
    return n_slots > _MOST_SLOTS or n_characters > _MOST_CHARACTERS


def _without_spans(rows: Sequence[Sequence[Cell | str]]) -> Grid:
    """Return the cells in their rows, as they come, on as many columns as most rows have."""
    texts = [[_one_line(c if isinstance(c, str) else c.text) for c in row] for row in rows]
    numbers = [i for i, row in enumerate(texts) if any(row)]
    widths = sorted(len(texts[i]) for i in numbers)
    width = min(widths[len(widths) // 2], _MOST_SLOTS // len(numbers)) or 1
    kept = [
        [*texts[i][: width - 1], " ".join(t for t in texts[i][width - 1 :] if t)] for i in numbers
    ]
    filled = [[*row, *[""] * (width - len(row))] for row in kept]
    return Grid(filled, [[-1] * width for _ in filled], numbers)


def merged_slots(
    n_rows: int,
    n_columns: int,
    is_open_right: Callable[[int, int], bool],
    is_open_below: Callable[[int, int], bool],
) -> list[list[int]]:
    """Return the cell number of each slot of a grid: slots without a border between are one.

    Args:
        n_rows: Of the grid.
        n_columns: Of the grid.
        is_open_right: Whether a (row, column) has no border to the next column.
        is_open_below: Whether it has none to the next row.
    """
    parents = list(range(n_rows * n_columns))
    for row in range(n_rows):
        for column in range(n_columns):
            own = row * n_columns + column
            if column + 1 < n_columns and is_open_right(row, column):
                parents[root_of(parents, own + 1)] = root_of(parents, own)
            if row + 1 < n_rows and is_open_below(row, column):
                parents[root_of(parents, own + n_columns)] = root_of(parents, own)
    roots = [root_of(parents, i) for i in range(len(parents))]
    return [roots[row * n_columns : (row + 1) * n_columns] for row in range(n_rows)]


def root_of(parents: list[int], i: int) -> int:
    """Return the root of a node in a forest of parents (union-find), paths halved."""
    while parents[i] != i:
        parents[i] = parents[parents[i]]
        i = parents[i]
    return i


def areas(cells: Sequence[Sequence[int]]) -> dict[int, tuple[int, int, int, int]]:
    """Return the first and last row and first and last column of each cell number."""
    found: dict[int, tuple[int, int, int, int]] = {}
    for row, line in enumerate(cells):
        for column, cell in enumerate(line):
            top, _, left, right = found.get(cell, (row, row, column, column))
            found[cell] = top, row, min(left, column), max(right, column)
    return found


def grouped(places: Iterable[float], near: float) -> list[float]:
    """Return the means of groups of places; neighbours in a group are at most so far apart."""
    groups: list[list[float]] = []
    for place in sorted(places):
        if groups and place - groups[-1][-1] <= near:
            groups[-1].append(place)
        else:
            groups.append([place])
    return [sum(group) / len(group) for group in groups]


def _frame(grid: Grid) -> tuple[int, int]:
    """Return (first, end) of the rows between labels over all columns, at least one."""
    across = [len(set(cells)) == 1 and cells[0] >= 0 for cells in grid.cells]
    if all(across):
        return 0, len(across)
    return across.index(False), len(across) - across[::-1].index(False)


def _one_line(text: str) -> str:
    r"""Return a cell's text on one line, blanks as one.

    A break within Chinese goes, since cells are narrow and words wrap in them; elsewhere, before
    an item and between two organs it becomes a blank.

    >>> _one_line("森林覆\n盖率"), _one_line("GDP\n增速"), _one_line("省财政厅\n省税务局")
    ('森林覆盖率', 'GDP 增速', '省财政厅 省税务局')
    """
    lines = [" ".join(line.split()) for line in _BREAK.split(text)]
    lines = [line for line in lines if line]
    parts = lines[:1]
    for before, line in pairwise(lines):
        is_within = _ENDS_CJK.search(before) and _BEGINS_CJK.search(line)
        is_next = item_end(line) or (_ORGAN.fullmatch(before) and _ORGAN.fullmatch(line))
        parts += ("" if is_within and not is_next else " ", line)
    return "".join(parts)


def _guess_header(
    rows: Sequence[Sequence[str]], cells: Sequence[Sequence[int]], *, at_least: int = 1
) -> int:
    """Return how many rows from the top are header: the first, and more only on evidence.

    A row is header if it has no values and cells of the row above reach into it or are divided by
    it, or if it has only years or units below labels. At least one row is left for the body.

    >>> _guess_header([["指标", "目标"], ["", "2025年"], ["产值", "5"]], [[0, 1], [2, 3], [4, 5]])
    2
    """
    n = max(at_least, 1)
    while n < min(len(rows) - 1, _MOST_ROWS) and _goes_on(rows, cells, n):
        n += 1
    return n


def _goes_on(rows: Sequence[Sequence[str]], cells: Sequence[Sequence[int]], n: int) -> bool:
    """Return whether row `n` continues the header."""
    row, own, above = rows[n], cells[n], cells[n - 1]
    new = [j for j, cell in enumerate(own) if row[j] and cell != above[j]]
    opens_row = 0 in new and not (len(row) > 1 and above[0] == above[1] >= 0)
    texts = [row[j] for j in new]
    if not new or opens_row or any(map(_is_value, texts)):
        return False
    parts_a_label = any(
        above[j] == above[j - 1] >= 0 and own[j] != own[j - 1] and {j - 1, j} <= set(new)
        for j in range(1, len(row))
    )
    return parts_a_label or any(all(map(kind.fullmatch, texts)) for kind in (_YEAR, _UNIT))


def _is_value(text: str) -> bool:
    return len(text) > _LONGEST_LABEL or any(c.isdigit() for c in _NO_VALUE.sub("", text))
