"""Reading order, punctuation and gaps: what was recognised on a page as lines for `reflow`."""

import re
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from kgrag.ingestion.load.columns import Fragment, in_columns
from kgrag.ingestion.load.ocr.page_text import DOUBT, PageText, Piece
from kgrag.ingestion.load.page_tables import Item, Line, Table
from kgrag.text.messages import message

Row = tuple[Piece, ...]
_HAN = "\u3400-\u9fff\uf900-\ufaff"
_WIDE = str.maketrans("(),:;?!", "（），：；？！")
# Beside a Chinese character, or around one, a mark is Chinese; in (2025) or 1:3 it is not told.
_MARK = re.compile(rf"(?<=[{_HAN}）》”])[(),:;?!]|\((?=[{_HAN}《“])")
_PAIR = re.compile(r"[(（]([^()（）]*)[)）]")
_QUOTE = re.compile(r"[“”\"]")
_AFTER_CLOSING = "，。；：、）！？》"
_BEFORE_OPENING = "，。；：、（《"
_COLUMN_GAP, _WORD_GAP = 1.5, 0.6  # between pieces of a row, in line heights
_SAME_SIZE = 0.28  # of the usual height of a line: marks without ascenders make boxes lower
_MOST_NAMED = 8
_LATIN = re.compile(r"[A-Za-z]")


def as_printed(text: str) -> str:
    """Return a line with full-width brackets and stops in Chinese, where OCR gives ASCII.

    >>> as_printed("(一)绿色工厂(2025年)达到120家;占3.5%, GB/T 2589(2020)")
    '（一）绿色工厂（2025年）达到120家；占3.5%, GB/T 2589(2020)'
    """
    text = _PAIR.sub(lambda found: found[0] if found[0].isascii() else f"（{found[1]}）", text)
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


def placed(page: PageText, *, scale: float) -> list[tuple[Item, Row]]:
    """Return a page's lines and tables in reading order, column by column, with their pieces.

    Args:
        page: As recognised.
        scale: Points per pixel: 72 / dpi.
    """
    table_of = {i: table for table in page.tables for i in table.members}
    own = [i for i in range(len(page.pieces)) if i not in table_of]
    fragments = [_fragment(page.pieces, [i], scale) for i in own]
    fragments += [_fragment(page.pieces, sorted(t.members), scale) for t in page.tables]
    usual = statistics.median([page.pieces[i].box.height for i in own] or [1.0])
    quotes = Quotes()
    found: list[tuple[Item, Row]] = []
    for region, line, edges in in_columns(fragments, ()):
        for table, members in groupby(line, table_of.get):
            row = tuple(page.pieces[i] for i in members)
            if table:
                found.append((_table(table, scale), row))
            else:
                found.append((region.placed(_line(row, usual, scale, quotes), edges), row))
    return found


def _fragment(pieces: Sequence[Piece], members: list[int], scale: float) -> Fragment:
    lefts, tops, rights, bottoms = zip(*(pieces[i].box for i in members), strict=True)
    return Fragment(
        min(lefts) * scale, max(rights) * scale, -max(bottoms) * scale, -min(tops) * scale, members
    )


def doubts(page: PageText, number: int) -> list[str]:
    """Return warnings about a page's lines and numbers of low confidence.

    Args:
        page: As recognised.
        number: Of the page, from 1.
    """
    unsure = [piece for piece in page.pieces if piece.confidence < DOUBT]
    found: list[str] = []
    if unsure:
        found.append(
            message(
                "page {page}: {n} of {all} lines read with doubt (below {doubt})",
                page=number,
                n=len(unsure),
                all=len(page.pieces),
                doubt=DOUBT,
            )
        )
    numbers = list(dict.fromkeys(name for piece in page.pieces for name in piece.doubtful))
    if numbers:
        named = ", ".join(numbers[:_MOST_NAMED]) + "…" * (len(numbers) > _MOST_NAMED)
        said = "page {page}: numbers read with doubt ({n}): {named}"
        found.append(message(said, page=number, n=len(numbers), named=named))
    return found


def _table(table: Table, scale: float) -> Table:
    rows = tuple(tuple(Quotes().paired(text) for text in row) for row in table.rows)
    return replace(table, rows=rows, edges=tuple(edge * scale for edge in table.edges))


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
