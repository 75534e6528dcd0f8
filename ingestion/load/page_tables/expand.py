"""Tables between the lines of pages become lines, each on the page where its row begins."""

import re
from collections.abc import Sequence
from dataclasses import replace

from kgrag.ingestion.load.grid import fill, table_lines
from kgrag.ingestion.load.page_tables.joined import Whole
from kgrag.ingestion.load.page_tables.shapes import Line, Table
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.table_rows import is_delimiter

_GOES_ON = re.compile(rf"续(上)?表|[（(]续[\s\d{HAN_SMALL}]*[）)]|接上表")
_CAPTION = re.compile(
    rf"(?:续?表|附表)\s*[\d{HAN_SMALL}A-Z]|Table\s+\d|[（(]?(?:计量)?单位\s*[:：]"
    r"|.{2,30}(?:表|清单|目录)$"
)
_NOTE = re.compile(
    r"[（(]?(?:附?注|备注|说明|(?:资料|数据)?来源)\s*+\d{0,2}+\s*+[:：]|Notes?\s*:|Source\s*:|[*＊※]"
)
_MOST_CAPTIONS = 3

Item = Line | Table


def expand(pages: Sequence[Sequence[Item]]) -> list[list[Line]]:
    """Return pages of lines alone: each row of a table is a line on the page where it begins.

    A table that ends a page and one of the same columns that begins the next are one; a line
    between them that says so (续表) is dropped. Lines right before a table that name it or its
    unit, and notes right after it, stand alone.

    Args:
        pages: Lines and tables of each page, without page numbers and running heads.
    """
    if not any(isinstance(item, Table) for page in pages for item in page):
        return [[item for item in page if isinstance(item, Line)] for page in pages]
    out: list[list[Line | Whole]] = []
    for number, page in enumerate(pages):
        items: list[Line | Whole] = []
        for item in _apart(page):
            if isinstance(item, Line):
                items.append(item)
                continue
            open_one = _open(out, items)
            if open_one is not None and open_one.goes_on(item, number):
                items = [open_one]
            else:
                items.append(Whole.begun(item, number))
        out.append(items)
    written: dict[int, list[list[str]]] = {}
    return [
        [
            line
            for item in items
            for line in (
                [item]
                if isinstance(item, Line)
                else _rows(written.setdefault(id(item), _by_page(item, len(out)))[number])
            )
        ]
        for number, items in enumerate(out)
    ]


def _open(out: Sequence[Sequence[Line | Whole]], items: Sequence[Line | Whole]) -> Whole | None:
    """Return the table that ended the last page, if nothing but its caption came since."""
    last = out[-1][-1] if out and out[-1] else None
    if not isinstance(last, Whole):
        return None
    said = {"".join(i.text.split()) for i in out[-1] if isinstance(i, Line)}
    for item in items:
        if isinstance(item, Whole):
            return None
        if not (_GOES_ON.search(item.text) or "".join(item.text.split()) in said):
            return None
    return last


def _by_page(whole: Whole, n_pages: int) -> list[list[str]]:
    """Return a table's lines for each page."""
    spans = whole.spans()
    lines = table_lines(spans)
    pages = [whole.pages[i] for i in fill(spans).numbers]
    delimiter = next((i for i, line in enumerate(lines) if is_delimiter(line)), -1)
    # The header's rows became one line, and the delimiter's is none of them.
    n_header = len(pages) + 2 - len(lines) if delimiter >= 0 else 1
    out: list[list[str]] = [[] for _ in range(n_pages)]
    for i, line in enumerate(lines):
        row = i if i < delimiter or delimiter < 0 else max(delimiter - 1, i - 2 + n_header)
        out[pages[row] if i > delimiter else pages[0]].append(line)
    return out


def _rows(texts: Sequence[str]) -> list[Line]:
    return [Line(text, 0.0, 0.0, 0.0, "row") for text in texts]


def _apart(page: Sequence[Item]) -> list[Item]:
    """Let captions and units right before a table, and notes right after it, stand alone."""
    items = list(page)
    for i, item in enumerate(page):
        if not isinstance(item, Table):
            continue
        for j in range(i - 1, max(-1, i - 1 - _MOST_CAPTIONS), -1):
            before = items[j]
            if not isinstance(before, Line) or not _CAPTION.match(before.text):
                break
            items[j] = replace(before, stands="alone")
        for j in range(i + 1, len(items)):
            after = items[j]
            if not isinstance(after, Line):
                break
            if _NOTE.match(after.text):
                items[j] = replace(after, stands="opens")
            elif j > i + 8:
                break
    return items
