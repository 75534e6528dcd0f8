"""Reading order, punctuation and gaps: what was recognised on a page as lines for `reflow`."""

import re
import statistics
from collections.abc import Iterator, Sequence

from kgrag.ingestion.load.ocr.page_text import DOUBT, Box, PageText, Piece, RuledTable
from kgrag.ingestion.load.page_tables import Item, Line, Table
from kgrag.text.messages import message
from kgrag.text.numerals import HAN_SMALL

Row = tuple[Piece, ...]
_OVERLAP = 0.5  # of the lower one's height, that puts two pieces on one row
_GUTTER = 0.8  # line heights between columns, at least
_LEAST_ROWS = 4  # in either column; fewer are a table's or a letterhead's
_FULL_SHARE = 0.6  # of a column's lines that reach over most of it: prose, not a table's cells
_LEAST_WIDE = 9.0  # line heights, about as many Chinese characters, of a column of prose
_HAN = "\u3400-\u9fff\uf900-\ufaff"
_WIDE = str.maketrans("(),:;?!", "（），：；？！")
# Beside a Chinese character, or around one, a mark is Chinese; in (2025) or 1:3 it is not told.
_MARK = re.compile(
    rf"(?<=[{_HAN}）》”])[(),:;?!]|\((?=[{_HAN}《“])"
    rf"|(?<=[{_HAN}）》”％%])\)(?=[{_HAN}，。；：、（《]|$)"
)
_NUMBERED = re.compile(rf"\(([{HAN_SMALL}〇]{{1,3}})\)")
_AROUND = re.compile(
    rf"\((?=[^()（）]*[{_HAN}])([^()（）]*+)[)）]|（([^()（）]*)\)|\(([^()（）]*)）"
)
_QUOTE = re.compile(r"[“”\"]")
_AFTER_CLOSING = "，。；：、）！？》"
_BEFORE_OPENING = "，。；：、（《"
_COLUMN_GAP, _WORD_GAP = 1.5, 0.6  # between pieces of a row, in line heights
_SAME_SIZE = 0.28  # of the usual height of a line: marks without ascenders make boxes lower
_MOST_NAMED = 8
_LATIN = re.compile(r"[A-Za-z]")


def in_reading_order(
    pieces: Sequence[Piece], tables: Sequence[RuledTable], *, width: float
) -> list[Row | RuledTable]:
    """Return rows of pieces, and tables, in reading order.

    From the top; where a gutter runs through several lines of prose, the left column comes before
    the right one. What crosses the gutter, a heading or a table, ends the columns above it: the cut
    of a page at its white space (Nagy and Seth, Hierarchical representation of optically scanned
    documents, ICPR 1984), for two columns.

    Args:
        pieces: Outside tables, in any order.
        tables: Of the page.
        width: Of the page.
    """
    blocks: list[Row | tuple[RuledTable]] = [*_rows(pieces), *((table,) for table in tables)]
    ordered: list[Row | RuledTable] = []
    band: list[Row] = []

    def close() -> None:
        ordered.extend(_columns([piece for row in band for piece in row], width))
        band.clear()

    for block in sorted(blocks, key=lambda block: _top(block)):
        if isinstance(block[0], RuledTable):
            close()
            ordered.append(block[0])
        else:
            band.append(tuple(piece for piece in block if isinstance(piece, Piece)))
    close()
    return ordered


def _top(block: Sequence[Piece | RuledTable]) -> float:
    return min(
        (part.box.top + part.box.bottom) / 2 if isinstance(part, Piece) else part.box.top
        for part in block
    )


def _rows(pieces: Sequence[Piece]) -> list[Row]:
    """Return rows of pieces, from the top."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: piece.box.middle[1]):
        last = rows[-1] if rows else []
        if (
            last
            and _share(last[-1].box, piece.box) >= _OVERLAP
            and not any(
                _beside(other.box, piece.box) < -_OVERLAP * piece.box.height for other in last
            )
        ):
            last.append(piece)
        else:
            rows.append([piece])
    return [tuple(sorted(row, key=lambda piece: piece.box.left)) for row in rows]


def _share(a: Box, b: Box) -> float:
    """Return the common height of two boxes, as a share of the lower one's."""
    common = min(a.bottom, b.bottom) - max(a.top, b.top)
    return common / max(1.0, min(a.height, b.height))


def _beside(a: Box, b: Box) -> float:
    """Return the horizontal gap between two boxes; negative if they overlap."""
    return max(a.left, b.left) - min(a.right, b.right)


def _columns(pieces: Sequence[Piece], width: float) -> list[Row]:
    """Return the rows of a band between tables, column by column."""
    gutter = _gutter(pieces, width)
    if gutter is None:
        return _rows(pieces)
    ordered: list[Row] = []
    left: list[Piece] = []
    right: list[Piece] = []

    def close() -> None:
        ordered.extend(_rows(left))
        ordered.extend(_rows(right))
        left.clear()
        right.clear()

    for row in _rows(pieces):
        if any(_crosses(piece.box, gutter) for piece in row):
            close()
            ordered.append(row)
            continue
        for piece in row:
            (left if piece.box.middle[0] <= gutter else right).append(piece)
    close()
    return ordered


def _crosses(box: Box, gutter: float, room: float = 0.0) -> bool:
    """Return whether a box reaches into a gutter with so much room to either side."""
    return box.left < gutter + room and box.right > gutter - room


def _gutter(pieces: Sequence[Piece], width: float) -> float | None:
    """Return the place of a gutter between two columns of prose, if any."""
    if len(pieces) < 2 * _LEAST_ROWS:
        return None
    size = statistics.median(piece.box.height for piece in pieces)
    middle = [0.35 * width + step * width / 200 for step in range(61)]
    room = _GUTTER / 2 * size
    crossed = [sum(_crosses(piece.box, x, room) for piece in pieces) for x in middle]
    fewest = min(crossed)
    free = [x for x, n in zip(middle, crossed, strict=True) if n == fewest]
    gutter = statistics.median_low(free)
    left = [p for p in pieces if p.box.right <= gutter]
    right = [p for p in pieces if p.box.left >= gutter]
    is_free = fewest <= 0.3 * len(pieces)
    return gutter if is_free and _is_prose(left, size) and _is_prose(right, size) else None


def _is_prose(side: Sequence[Piece], size: float) -> bool:
    """Return whether there are lines in a column, and most fill most of its width."""
    if len(side) < _LEAST_ROWS:
        return False
    left = statistics.median_low(piece.box.left for piece in side)
    right = statistics.median_high(piece.box.right for piece in side)
    whole = right - left
    n_full = sum(piece.box.width >= 0.8 * whole for piece in side)
    return whole >= _LEAST_WIDE * size and n_full >= _FULL_SHARE * len(side)


def as_printed(text: str) -> str:
    """Return a line with full-width brackets and stops in Chinese, where OCR gives ASCII.

    >>> as_printed("(一)绿色工厂(2025年)达到120家;占3.5%, GB/T 2589(2020)")
    '（一）绿色工厂（2025年）达到120家；占3.5%, GB/T 2589(2020)'
    """
    text = _NUMBERED.sub(r"（\1）", text)
    text = _AROUND.sub(lambda found: f"（{found[1] or found[2] or found[3] or ''}）", text)
    return _MARK.sub(lambda found: found[0].translate(_WIDE), text)


class Quotes:
    """Pairs quotation marks over the lines of a page, which recognition confuses.

    Opening and closing marks alternate, unless the characters beside one say otherwise.
    """

    def __init__(self) -> None:
        self._is_open = False

    def paired(self, text: str) -> str:
        """Return the next line, with its marks paired.

        >>> Quotes().paired("”十四五”规划和”双碳”目标")
        '“十四五”规划和“双碳”目标'
        """
        if text.isascii():
            return text
        return _QUOTE.sub(self._mark, text)

    def _mark(self, found: re.Match[str]) -> str:
        before = found.string[found.start() - 1] if found.start() else ""
        after = found.string[found.end() : found.end() + 1]
        opens = not self._is_open
        if after and after in _AFTER_CLOSING:
            opens = False
        elif before and before in _BEFORE_OPENING:
            opens = True
        self._is_open = opens
        return "“" if opens else "”"


def page_items(page: PageText, *, scale: float) -> list[Item]:
    """Return a page's rows as lines, and its tables, from the top.

    Args:
        page: As recognised.
        scale: Points per pixel: 72 / dpi.
    """
    heights = [p.box.height for b in page.blocks if not isinstance(b, RuledTable) for p in b]
    usual = statistics.median(heights) if heights else 1.0
    quotes = Quotes()
    return [
        _table(block) if isinstance(block, RuledTable) else _line(block, usual, scale, quotes)
        for block in page.blocks
    ]


def doubts(page: PageText, number: int) -> list[str]:
    """Return warnings about a page's lines and numbers of low confidence.

    Args:
        page: As recognised.
        number: Of the page, from 1.
    """
    pieces = [piece for row in page.rows() for piece in row]
    unsure = [piece for piece in pieces if piece.confidence < DOUBT]
    found: list[str] = []
    if unsure:
        found.append(
            message(
                "page {page}: {n} of {all} lines read with doubt (below {doubt})",
                page=number,
                n=len(unsure),
                all=len(pieces),
                doubt=DOUBT,
            )
        )
    numbers = list(dict.fromkeys(name for piece in pieces for name in piece.doubtful))
    if numbers:
        named = ", ".join(numbers[:_MOST_NAMED]) + "…" * (len(numbers) > _MOST_NAMED)
        said = "page {page}: numbers read with doubt ({n}): {named}"
        found.append(message(said, page=number, n=len(numbers), named=named))
    return found


def _table(table: RuledTable) -> Table:
    """Return a table with the text of merged cells in all their places."""
    places = {
        (row, column): (number, "\n".join(Quotes().paired(piece.text) for piece in cell.pieces))
        for number, cell in enumerate(table.cells)
        for row in range(cell.row, cell.row + cell.row_span)
        for column in range(cell.column, cell.column + cell.col_span)
    }
    n_rows, n_columns = (1 + max(along) for along in zip(*places, strict=True))
    rows = [[places.get((i, j), (-1, "")) for j in range(n_columns)] for i in range(n_rows)]
    texts = [tuple(text for _, text in row) for row in rows]
    return Table.unplaced(texts, [[number for number, _ in row] for row in rows])


def _line(row: Sequence[Piece], usual: float, scale: float, quotes: Quotes) -> Line:
    text = quotes.paired("".join(_joined(row)))
    height = row[0].box.height
    if abs(height - usual) <= _SAME_SIZE * usual:
        height = usual
    left, right = row[0].box.left, row[-1].box.right
    return Line(text, left * scale, right * scale, height * scale)


def _joined(row: Sequence[Piece]) -> Iterator[str]:
    """Yield the pieces of a row, with tabs or blanks in wide gaps."""
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
