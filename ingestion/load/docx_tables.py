"""Tables of Word files: rows, cells and how they are merged."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kgrag.ingestion.load.grid import Cell, table_lines
from kgrag.language.table_rows import cells_of, is_delimiter, is_row

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# Content controls and marks of changes that may stand around rows and cells.
_WRAPPERS = {_W + tag for tag in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo")}
_OFF = ("0", "false", "off")
_FEW_ROWS = 3  # a table of so many rows that holds tables lays out the page
_MOST_COLUMNS = 1000


@dataclass(frozen=True, slots=True)
class _Slot:
    """A cell of a row: its element and the columns of the grid that it covers."""

    element: "Element"
    column: int
    width: int
    merge: str | None  # downwards: "restart", "continue" the cell above


def frame_cells(table: "Element") -> "list[Element] | None":
    """Return the cells, in order, of a table that only frames text; None for any other.

    Such a table has one column, or few rows whose cells hold tables of their own.

    Args:
        table: A `w:tbl`.
    """
    rows = [list(_inside(row, "tc")) for row in _rows(table)]
    cells = [cell for row in rows for cell in row]
    holds_tables = len(rows) <= _FEW_ROWS and any(
        sum(len(list(_inside(row, "tc"))) > 1 for row in _rows(inner)) > 1
        for cell in cells
        for inner in cell.iter(_W + "tbl")
    )
    return cells if holds_tables or all(len(row) < 2 for row in rows) else None


def word_table_lines(table: "Element", read: "Callable[[Element], Iterable[str]]") -> list[str]:
    """Return a table as lines, see `grid.table_lines`; deleted rows are left out.

    A table within a cell becomes text of the cell: its cells with blanks between, its rows with
    semicolons.

    Args:
        table: A `w:tbl` that frames no text.
        read: Gives the lines of a cell; called once for each that is shown, in order.
    """
    rows: list[list[Cell]] = []
    above: dict[int, tuple[int, int]] = {}  # column: (row, place in it) of the cell that goes on
    n_header = 0
    for number, row in enumerate(_rows(table)):
        if n_header == number and _is_on(row, "trPr/tblHeader"):
            n_header += 1
        cells: list[Cell] = []
        below: dict[int, tuple[int, int]] = {}
        for slot in _slots(row):
            held = above.get(slot.column) if slot.merge == "continue" else None
            if held:
                i, j = held
                rows[i][j] = replace(rows[i][j], row_span=number - i + 1)
            else:
                held = number, len(cells)
                text = "\n".join(_cell_lines(slot.element, read))
                cells.append(Cell(text, 1, slot.width, slot.column))
            if slot.merge:
                below[slot.column] = held
        rows.append(cells)
        above = below
    return table_lines(rows, n_header or None)


def _rows(table: "Element") -> "list[Element]":
    rows = _inside(table, "tr")
    return [row for row in rows if row.find(f"{_W}trPr/{_W}del") is None]


def _inside(parent: "Element", tag: str) -> "Iterator[Element]":
    """Yield rows or cells, also those that a content control wraps."""
    for child in parent:
        if child.tag == _W + tag:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _inside(child, tag)


def _slots(row: "Element") -> Iterator[_Slot]:
    """Yield the cells of a row; one that goes on to the left (the old `hMerge`) widens that."""
    column = _number(row, "trPr/gridBefore", default=0)
    held: _Slot | None = None
    for cell in _inside(row, "tc"):
        width = _number(cell, "tcPr/gridSpan", default=1) or 1
        if held and _value(cell, "tcPr/hMerge", default="continue") == "continue":
            held = replace(held, width=held.width + width)
        else:
            if held:
                yield held
            held = _Slot(cell, column, width, _value(cell, "tcPr/vMerge", default="continue"))
        column += width
    if held:
        yield held


def _cell_lines(cell: "Element", read: "Callable[[Element], Iterable[str]]") -> Iterator[str]:
    """Yield the lines of a cell; rows of a table in it lose their bars."""
    for i, line in enumerate(read(cell)):
        if is_delimiter(line):
            continue
        if is_row(line):
            text = " ".join(text for text in cells_of(line) if text)
            yield f"；{text}" if i else text
        else:
            yield line


def _is_on(element: "Element", path: str) -> bool:
    return _value(element, path, default="1") not in (None, *_OFF)


def _number(element: "Element", path: str, *, default: int) -> int:
    told = _value(element, path, default="") or ""
    return min(int(told), _MOST_COLUMNS) if told.isascii() and told.isdigit() else default


def _value(element: "Element", path: str, *, default: str) -> str | None:
    """Return what a property says, the default where it says nothing, None without it."""
    found = element.find("/".join(_W + tag for tag in path.split("/")))
    return None if found is None else found.get(_W + "val", default)
