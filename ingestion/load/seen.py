"""Pages as vision models read them: numbers to compare, and Markdown as items of a page."""

import re
import unicodedata
from collections.abc import Sequence

from kgrag.ingestion.load.context import Number
from kgrag.ingestion.load.page_tables import Item, Line, Table
from kgrag.text.numerals import HAN_WHOLE
from kgrag.text.table_rows import cells_of, is_delimiter, is_row, row_line

_THOUSANDS = re.compile(r"(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)")
_HAN = rf"{HAN_WHOLE}万亿"
_NUMBER = re.compile(rf"\d+(?:\.\d+)*%?|(?<=[^\n{_HAN}])[{_HAN}]{{2,}}(?=[^\n{_HAN}])")
_ZERO = str.maketrans("○零", "〇〇")
_SHARE = 0.5  # of the smaller box's height or width: both are in one row or column
_MARK = re.compile(r"^(?:#{1,6}|[-*+])\s+|^```\w*$|\*\*|<br\s*/?>")


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, however they are typeset, with repetitions.

    Of Chinese numerals those inside a line of two characters or more: its ends may cut one.

    >>> numbers_in("２０２５年 1,200 家，占 3.5 ％，三百万元；CO₂")
    ['2025', '1200', '3.5%', '三百万', '2']
    """
    plain = unicodedata.normalize("NFKC", text).replace(" %", "%")
    plain = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), plain)
    return [number.translate(_ZERO) for number in _NUMBER.findall(plain)]


def out_of_order(sure: Sequence[Number], told: Sequence[str]) -> list[str]:
    """Return the sure numbers that are not found in the order of their places.

    A number comes after those before it in its line, left of it in its row, and above it in its
    column; so columns may be read one after the other, or row by row.
    """
    before = [{i for i in range(len(sure)) if _precedes(sure, i, j)} for j in range(len(sure))]
    left = dict.fromkeys(range(len(sure)))
    for number in told:
        for at in left:
            if sure[at].text == number and before[at].isdisjoint(left):
                del left[at]
                break
    return [sure[at].text for at in left]


def _precedes(sure: Sequence[Number], i: int, j: int) -> bool:
    a, b = sure[i].box, sure[j].box
    if a == b:
        return i < j
    common = min(a.bottom, b.bottom) - max(a.top, b.top)
    if common >= _SHARE * min(a.height, b.height):
        return a.left < b.left
    common = min(a.right, b.right) - max(a.left, b.left)
    return common >= _SHARE * min(a.width, b.width) and a.top < b.top


def page_items(markdown: str) -> list[Item]:
    """Return a page in Markdown as items for `reflow`, without places: paragraphs, and tables.

    Headings stand alone; the first other line may go on with the last one of the page before.
    """
    items: list[Item] = []
    rows: list[list[str]] = []
    for line in (*map(str.strip, markdown.splitlines()), ""):
        text = _MARK.sub(" ", line).strip()
        if is_row(line):
            cells = [] if is_delimiter(line) else cells_of(text)
            rows += [cells] if any(cells) else []
        elif rows:
            n = max(map(len, rows))
            full = [(*row, *[""] * (n - len(row))) for row in rows]
            items.append(Table.unplaced(full, [range(i * n, i * n + n) for i in range(len(rows))]))
            rows = []
        if text and not is_row(line):
            items.append(Line(text, 0, 0, 0, "opens" if items else "running"))
            if line[0] == "#":
                items[-1] = Line(text, 0, 0, 0, "alone")
    return items


def page_text(items: Sequence[Item]) -> str:
    """Return the text of a page, lines and rows of tables on lines of their own."""
    lines: list[str] = []
    for item in items:
        rows = item.rows if isinstance(item, Table) else ()
        lines += [row_line(" ".join(cell.split()) for cell in row) for row in rows]
        lines += [item.text] if isinstance(item, Line) else []
    return "\n".join(lines)
