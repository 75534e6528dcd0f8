"""Pages as vision models read them: numbers to compare, and Markdown as items of a page."""

import re
import unicodedata

from kgrag.ingestion.load.page_tables import Item, Line, Table
from kgrag.text.numerals import HAN_WHOLE
from kgrag.text.table_rows import cells_of, is_delimiter, is_row

_THOUSANDS = re.compile(r"(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)")
_HAN = rf"{HAN_WHOLE}万亿"
_NUMBER = re.compile(rf"\d+(?:\.\d+)*%?|(?<=[^\n{_HAN}])[{_HAN}]{{2,}}(?=[^\n{_HAN}])")
_ZERO = str.maketrans("○零", "〇〇")
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


def page_items(markdown: str) -> list[Item]:
    """Return a page in Markdown as items for `reflow`, without places: paragraphs, and tables.

    Headings stand alone; the first other line may go on with the last one of the page before.
    """
    items: list[Item] = []
    rows: list[list[str]] = []
    for line in (*map(str.strip, markdown.splitlines()), ""):
        text = _MARK.sub(" ", line).strip()
        if is_row(line):
            rows += [] if is_delimiter(line) else [cells_of(text)]
        elif rows:
            n = max(map(len, rows))
            full = tuple((*row, *[""] * (n - len(row))) for row in rows)
            cells = tuple(tuple(range(i * n, i * n + n)) for i in range(len(rows)))
            edges = tuple(100.0 * column for column in range(n + 1))
            items.append(Table(full, cells, edges, last_full=(False,) * n))
            rows = []
        if text and not is_row(line):
            items.append(Line(text, 0, 0, 0, "opens" if items else "running"))
            if line[0] == "#":
                items[-1] = Line(text, 0, 0, 0, "alone")
    return items
