"""A page of a PDF as lines of text with its tables among them, by PDFium's text layer."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgrag.ingestion.load.page_tables import Item, Line, find_tables
from kgrag.ingestion.load.page_tables.cells import POWERS, is_raised

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage, PdfTextPage

# PDFium's marks for a hyphen at a line's end.
_HYPHENS = {0x02, 0xFFFE}
# Between the columns of a table there is more room than between words, in characters.
_COLUMN_GAP = 1.5
_FEWEST_ROWS = 3
_FIGURES = re.compile(r"\d[%％年]? [-−]?\d")
LITTLE_TEXT = 100


@dataclass(frozen=True, slots=True)
class _Placed:
    line: Line
    bottom: float


def page_items(document: "PdfDocument", index: int) -> tuple[list[Item], float]:
    """Return the lines and tables of a page, and which share of it pictures cover (0 to 1).

    Pictures are looked for on pages of less than `LITTLE_TEXT` characters only.

    Lines come in the order of the text layer, a table where its first character stands in it.
    Lines are not blank.

    Args:
        document: Of PDFium.
        index: Of the page, from 0.
    """
    from kgrag.ingestion.load.page_tables.extract import picture_share

    page = document[index]
    text_page = page.get_textpage()
    try:
        codes = _codes(text_page)
        items = _items(page, text_page, codes)
        little = sum(map(len, (i.text for i in items if isinstance(i, Line)))) < LITTLE_TEXT
        return items, picture_share(page) if little else 0.0
    finally:
        text_page.close()
        page.close()


def _items(page: "PdfPage", text_page: "PdfTextPage", codes: list[int]) -> list[Item]:
    spans = [list(range(a, b)) for a, b in _line_spans(codes)]
    placed = [p for span in spans if (p := _line(text_page, codes, span))]
    tables = find_tables(page, text_page, codes, in_columns=_in_columns(placed)) if placed else []
    if not tables:
        return [p.line for p in placed]
    table_of = {i: table for table in tables for i in table.members}
    items: list[Item] = []
    shown: set[int] = set()
    for span in spans:
        pending: list[int] = []
        for i in span:
            table = table_of.get(i)
            if table is None:
                pending.append(i)
            elif id(table) not in shown:
                items += _flushed(text_page, codes, pending)
                pending = []
                shown.add(id(table))
                items.append(table)
        items += _flushed(text_page, codes, pending)
    return items


def _flushed(text_page: "PdfTextPage", codes: list[int], indices: list[int]) -> list[Item]:
    placed = _line(text_page, codes, indices)
    return [placed.line] if placed else []


def _in_columns(lines: Sequence[_Placed]) -> bool:
    """Say whether some lines have wide gaps, or figures side by side, or stand beside others."""
    gaps = sum("\t" in p.line.text or _FIGURES.search(p.line.text) is not None for p in lines)
    heights = Counter(round(p.bottom / 2) for p in lines)
    return gaps >= _FEWEST_ROWS or sum(n > 1 for n in heights.values()) >= _FEWEST_ROWS


def _line_spans(codes: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for i, code in enumerate([*codes, 0x0A]):
        if code in (0x0A, 0x0D):
            yield start, i
            start = i + 1


def _codes(text_page: "PdfTextPage") -> list[int]:
    from pypdfium2 import raw

    return [raw.FPDFText_GetUnicode(text_page, i) for i in range(text_page.count_chars())]


def _line(text_page: "PdfTextPage", codes: list[int], indices: Sequence[int]) -> _Placed | None:
    shown = [i for i in indices if codes[i] > 0x20 and not chr(codes[i]).isspace()]
    if not shown:
        return None
    text = _text(text_page, codes, shown)
    left, bottom, _, top = text_page.get_charbox(shown[0], loose=True)
    _, _, right, _ = text_page.get_charbox(shown[-1], loose=True)
    return _Placed(Line(text, left, right, max(top - bottom, 1.0)), bottom)


def _text(text_page: "PdfTextPage", codes: list[int], shown: list[int]) -> str:
    """Return the characters that are shown, with one blank, or a tab between columns, in gaps."""
    out = bytearray()
    power = False
    for i, (before, at) in enumerate(zip([shown[0], *shown], shown, strict=False)):
        # Beyond the basic plane a character may come whole or as two surrogates.
        code = ord("-") if codes[at] in _HYPHENS else codes[at]
        if i and code in POWERS and (power or _takes_power(codes, shown, i)):
            power = power or is_raised(
                text_page.get_charbox(before, loose=True), text_page.get_charbox(at, loose=True)
            )
            code = POWERS[code] if power else code
        else:
            power = False
        if i and at > before + 1 and not power:
            _, bottom, end, top = text_page.get_charbox(before, loose=True)
            start, _, _, _ = text_page.get_charbox(at, loose=True)
            out += ("\t" if start - end > _COLUMN_GAP * (top - bottom) > 0 else " ").encode(
                "utf-16-le"
            )
        out += chr(code).encode("utf-16-le", "surrogatepass")
    return out.decode("utf-16-le", "replace")


def _takes_power(codes: Sequence[int], shown: Sequence[int], i: int) -> bool:
    """Say whether a power may follow: after 10, and after a unit of length."""
    last = chr(codes[shown[i - 1]])
    return last == "m" or (last == "0" and i > 1 and codes[shown[i - 2]] == ord("1"))
