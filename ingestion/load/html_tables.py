"""Tables of web pages: those that hold data as rows, those that lay out the page not at all."""

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from kgrag.ingestion.load.grid import Cell, table_lines

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_GROUPS = ("thead", "tbody", "tfoot")
_PROSE_TAGS = ("p", "div", "li", "br", "section")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "article", "main")
_FEW_ROWS = 3  # a table of so many rows may only lay out the page
_PROSE = 400  # characters of a cell that is text rather than data
_PROSE_BLOCKS = 3


def html_table_lines(
    table: "HtmlElement", read: "Callable[[HtmlElement], list[str]]"
) -> list[str] | None:
    """Return a table as lines, see `grid.table_lines`; None where it only lays out the page.

    A layout has one column, or few rows with headings, tables or long text of several paragraphs
    in their cells, or text outside its cells.

    Args:
        table: A `table`.
        read: Gives the lines below an element that is no table; called for caption and cells.
    """
    rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in _rows(table)]
    cells = [cell for row in rows for cell in row]
    if (table.get("role") or "").lower() in ("presentation", "none") or _is_layout(rows, table):
        return None
    captions = [child for child in table if child.tag == "caption"]
    if _length(table) != sum(map(_length, (*captions, *cells))):
        return None
    texts = [[_cell(cell, read) for cell in row] for row in rows]
    if len(rows) == 1 and any("\n" in cell.text for cell in texts[0]):
        return None
    above = [line for caption in captions for line in read(caption)]
    return [*above, *table_lines(texts, _n_header(table, rows) or None)]


def _rows(table: "HtmlElement") -> "Iterator[HtmlElement]":
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in _GROUPS:
            yield from (row for row in child if row.tag == "tr")


def _is_layout(rows: "list[list[HtmlElement]]", table: "HtmlElement") -> bool:
    if all(len(row) < 2 for row in rows):
        return True
    filled = [row for row in rows if any(_length(cell) for cell in row)]
    if len(filled) > _FEW_ROWS:
        return False
    if next(table.iterdescendants("table", *_HEADINGS), None) is not None:
        return True
    return any(
        _length(cell) > _PROSE and len(list(cell.iter(*_PROSE_TAGS))) >= _PROSE_BLOCKS
        for row in filled
        for cell in row
    )


def _length(element: "HtmlElement") -> int:
    return len("".join("".join(element.itertext()).split()))


def _cell(cell: "HtmlElement", read: "Callable[[HtmlElement], list[str]]") -> Cell:
    row_span = _span(cell.get("rowspan"))
    # 0 is "as far as the rows go".
    return Cell("\n".join(read(cell)), row_span or 65535, _span(cell.get("colspan")) or 1)


def _span(told: str | None) -> int:
    digits = re.match(r"\s*\+?(\d{1,6})", told or "1", re.ASCII)
    return int(digits[1]) if digits else 1


def _n_header(table: "HtmlElement", rows: "list[list[HtmlElement]]") -> int:
    """Return how many rows stand in `thead`, or hold nothing but `th`; at most a few."""
    heads = [head for head in table if head.tag == "thead"]
    told = sum(len(head.findall("tr")) for head in heads)
    marked = 0
    while marked < len(rows) and rows[marked] and all(cell.tag == "th" for cell in rows[marked]):
        marked += 1
    return max(told, marked)
