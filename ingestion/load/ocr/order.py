"""The order in which pieces of text on a page are read: rows from the top, columns one by one."""

import statistics
from collections.abc import Sequence

from kgrag.ingestion.load.ocr.page_text import Box, Piece, RuledTable

Row = tuple[Piece, ...]
_OVERLAP = 0.5  # of the lower one's height, that puts two pieces on one row
_GUTTER = 0.8  # line heights between columns, at least
_LEAST_ROWS = 4  # in either column; fewer are a table's or a letterhead's
_FULL_SHARE = 0.6  # of a column's lines that reach over most of it: prose, not a table's cells
_LEAST_WIDE = 9.0  # line heights, about as many Chinese characters, of a column of prose


def in_reading_order(
    pieces: Sequence[Piece], tables: Sequence[RuledTable], *, width: float
) -> list[Row | RuledTable]:
    """Return rows of pieces, and tables, as a person reads them.

    From the top; where a gutter runs through several lines of prose, the whole left column comes
    before the right one. What reaches over the gutter, a heading or a table, ends the columns
    above it. This is the cut of a page at its white space (Nagy and Seth, Hierarchical
    representation of optically scanned documents, ICPR 1984), for two columns.

    Args:
        pieces: Outside tables, in any order.
        tables: With their boxes.
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
    """Return pieces that stand side by side together, from the top."""
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
    """Return the height that two boxes have in common, of the lower one's."""
    common = min(a.bottom, b.bottom) - max(a.top, b.top)
    return common / max(1.0, min(a.height, b.height))


def _beside(a: Box, b: Box) -> float:
    """Return the room between two boxes across the page; below 0 where one is over the other."""
    return max(a.left, b.left) - min(a.right, b.right)


def _columns(pieces: Sequence[Piece], width: float) -> list[Row]:
    """Return the rows of a band between tables, columns one by one."""
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
    """Return whether a box reaches into a gutter, of so much room to either side."""
    return box.left < gutter + room and box.right > gutter - room


def _gutter(pieces: Sequence[Piece], width: float) -> float | None:
    """Return where a gutter runs between two columns of prose; None where there is none."""
    if len(pieces) < 2 * _LEAST_ROWS:
        return None
    size = statistics.median(piece.box.height for piece in pieces)
    middle = [0.35 * width + step * width / 200 for step in range(61)]
    room = _GUTTER / 2 * size
    crossed = [sum(_crosses(piece.box, x, room) for piece in pieces) for x in middle]
    fewest = min(crossed)
    free = [x for x, n in zip(middle, crossed, strict=True) if n == fewest]
    gutter = statistics.median_low(free)
    sides = (
        [p for p in pieces if p.box.right <= gutter],
        [p for p in pieces if p.box.left >= gutter],
    )
    if fewest > 0.3 * len(pieces) or any(len(side) < _LEAST_ROWS for side in sides):
        return None
    return gutter if all(_is_prose(side, size) for side in sides) else None


def _is_prose(side: Sequence[Piece], size: float) -> bool:
    """Return whether most lines of a column reach over most of it."""
    left = statistics.median_low(piece.box.left for piece in side)
    right = statistics.median_high(piece.box.right for piece in side)
    whole = right - left
    n_full = sum(piece.box.width >= 0.8 * whole for piece in side)
    return whole >= _LEAST_WIDE * size and n_full >= _FULL_SHARE * len(side)
