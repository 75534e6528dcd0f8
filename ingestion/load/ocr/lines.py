"""Pages that were recognised, as lines for `reflow`, and what has to be said of them."""

import re
import statistics
from collections.abc import Iterator, Sequence

from kgrag.ingestion.load.grid import Cell, table_lines
from kgrag.ingestion.load.ocr.page_text import DOUBT, PageText, Piece, RuledTable
from kgrag.ingestion.load.ocr.widths import Quotes
from kgrag.ingestion.load.page_tables import Line

_COLUMN_GAP, _WORD_GAP = 1.5, 0.6  # between pieces of a row, in line heights
_SAME_SIZE = 0.28  # of the usual height of a line: marks without ascenders make boxes lower
_MOST_NAMED = 8
_LATIN = re.compile(r"[A-Za-z]")


def page_lines(page: PageText, *, scale: float) -> list[Line]:
    """Return a page's rows and tables as lines, from the top.

    Args:
        page: As it was recognised.
        scale: Points a pixel: 72 by the resolution in dpi.
    """
    heights = [p.box.height for b in page.blocks if not isinstance(b, RuledTable) for p in b]
    usual = statistics.median(heights) if heights else 1.0
    quotes = Quotes()
    lines: list[Line] = []
    for block in page.blocks:
        if isinstance(block, RuledTable):
            rows = table_lines(_rows(block))
            lines += [
                Line(row, block.box.left * scale, block.box.right * scale, usual * scale)
                for row in rows
            ]
        else:
            lines.append(_line(block, usual, scale, quotes))
    return [line for line in lines if line.text]


def doubts(page: PageText, number: int) -> list[str]:
    """Return what has to be said of how surely a page was read; empty where nothing has.

    Args:
        page: As it was recognised.
        number: Of the page, from 1.
    """
    pieces = list(page.pieces())
    unsure = [piece for piece in pieces if piece.confidence < DOUBT]
    found = []
    if unsure:
        found.append(
            f"page {number}: {len(unsure)} of {len(pieces)} lines read with doubt (below {DOUBT})"
        )
    numbers = list(dict.fromkeys(name for piece in pieces for name in piece.doubtful))
    if numbers:
        named = ", ".join(numbers[:_MOST_NAMED])
        more = f" and {len(numbers) - _MOST_NAMED} more" if len(numbers) > _MOST_NAMED else ""
        found.append(f"page {number}: numbers read with doubt: {named}{more}")
    return found


def _rows(table: RuledTable) -> list[list[Cell | str]]:
    """Return cells row by row, as `table_lines` wants them."""
    n_rows = max(cell.row + cell.row_span for cell in table.cells)
    rows: list[list[Cell | str]] = [[] for _ in range(n_rows)]
    for cell in table.cells:
        text = "\n".join(Quotes().paired(piece.text) for piece in cell.pieces)
        rows[cell.row].append(Cell(text, cell.row_span, cell.col_span))
    return rows


def _line(row: Sequence[Piece], usual: float, scale: float, quotes: Quotes) -> Line:
    text = quotes.paired("".join(_joined(row)))
    height = row[0].box.height
    if abs(height - usual) <= _SAME_SIZE * usual:
        height = usual
    left, right = row[0].box.left, row[-1].box.right
    return Line(text, left * scale, right * scale, height * scale)


def _joined(row: Sequence[Piece]) -> Iterator[str]:
    """Yield the pieces of a row, with a tab, a blank or nothing in the gaps."""
    for i, piece in enumerate(row):
        if i:
            before = row[i - 1]
            gap = (piece.box.left - before.box.right) / max(1.0, before.box.height)
            latin = _LATIN.match(before.text[-1]) and _LATIN.match(piece.text[0])
            if gap > _COLUMN_GAP:
                yield "\t"
            elif gap > _WORD_GAP or latin:
                yield " "
        yield piece.text
