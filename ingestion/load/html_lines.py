"""The text of a web page's element, line by line, as a browser would break it."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lxml import etree

from kgrag.ingestion.load.grid import Cell, table_lines
from kgrag.ingestion.load.html_article import BLOCK_TAGS
from kgrag.ingestion.load.raised import lowered, raised
from kgrag.text.numbering import item_end

if TYPE_CHECKING:
    from lxml.html import HtmlElement

_GROUPS = ("thead", "tbody", "tfoot")
_PROSE_TAGS = ("p", "div", "li", "br", "section")
_PAGE_PARTS = ("h1", "h2", "h3", "h4", "h5", "h6", "article", "main")
_FEW_ROWS = 3  # a table of so many rows may only lay out the page
_PROSE = 400  # characters of a cell that is text rather than data
_PROSE_BLOCKS = 3

_ZERO_WIDTH = re.compile("[\u200b-\u200f\u2060\ufeff\u00ad]")
_WRAPPED = re.compile(r"(?<=[\u2e80-\uffef“”])[ \t\r]*\n\s*(?=[\u2e80-\uffef“”])")
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
# An item that begins so says its own number.
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_ROMAN = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line of a page.

    Attributes:
        text: Blanks made one; not empty.
        level: Of the heading that it is (h1 to h6); 0 for other lines.
    """

    text: str
    level: int = 0


def clean(text: str) -> str:
    """Return text with blanks made one, and without line breaks of the source in Chinese."""
    return " ".join(_ZERO_WIDTH.sub("", _WRAPPED.sub("", text)).split())


def page_lines(element: "HtmlElement") -> list[PageLine]:
    """Return the lines below an element; nested as deep as it likes.

    Numbers of lists are written out, raised and lowered characters are kept as such, boxes to
    tick are ☑ and ☐.

    Args:
        element: Whose furniture has been taken out.
    """
    lines: list[PageLine] = []
    pieces: list[str] = []
    level = 0

    def end() -> None:
        if text := clean("".join(pieces)):
            lines.append(PageLine(text, level))
        pieces.clear()

    for piece in _pieces(element):
        if isinstance(piece, int):
            end()
            level = piece
        elif isinstance(piece, _Row):
            end()
            lines.append(PageLine(str(piece)))
        else:
            pieces.append(piece)
    end()
    return lines


def texts_by_cell(element: "HtmlElement") -> list[str]:
    """Return the lines below an element, the cells of its tables on lines of their own."""
    parts: list[list[str]] = [[]]
    for piece in _pieces(element, by_cell=True):
        if isinstance(piece, int):
            parts.append([])
        else:
            parts[-1].append(piece)
    return [text for part in parts if (text := clean("".join(part)))]


def _pieces(root: "HtmlElement", *, by_cell: bool = False) -> Iterator[str | int]:
    """Yield the text below an element; a number, the level of what follows, where a line ends."""
    lists = _Lists()
    walk = etree.iterwalk(root, events=("start", "end"))
    for event, element in walk:
        tag = element.tag
        if event == "start":
            leaf = None if by_cell and tag == "table" else _leaf(element)
            if leaf is not None:
                walk.skip_subtree()
                yield from leaf
                continue
            if tag in BLOCK_TAGS:
                yield _HEADINGS.get(tag, 0)
            yield lists.mark(element)
            text = element.text or ""
            if tag == "pre":
                yield from _separate(text)
            else:
                yield text
        else:
            if tag in BLOCK_TAGS:
                yield 0
            if element is not root:
                yield element.tail or ""


def _leaf(element: "HtmlElement") -> list[str | int] | None:
    """Return what an element is that is read as a whole; None where its inside is walked."""
    tag = element.tag
    if tag == "br":
        return [0]
    if tag == "table":
        rows = _html_table_lines(element, texts_by_cell)
        return None if rows is None else [0, *(_Row(row) for row in rows if row), 0]
    if tag in ("sup", "sub"):
        text = clean(element.text_content())
        return [raised(text) if tag == "sup" else lowered(text)]
    if tag == "mfrac" and len(element) == 2:
        above, below = (clean(part.text_content()) for part in element)
        return [f"({above})/({below})"]
    if tag in ("msup", "msub") and len(element) == 2:
        base, mark = (clean(part.text_content()) for part in element)
        return [base + (raised(mark) if tag == "msup" else lowered(mark))]
    if tag == "input":
        ticked = element.get("type", "").lower() in ("checkbox", "radio")
        return [("☑" if element.get("checked") is not None else "☐") if ticked else ""]
    return None


def _separate(text: str) -> Iterator[str | int]:
    for i, line in enumerate(text.split("\n")):
        if i:
            yield 0
        yield line


class _Row(str):
    """A line of a table, whose blanks stay as they are."""

    __slots__ = ()


class _Lists:
    """Counts the items of numbered lists."""

    def __init__(self) -> None:
        self._next: dict[HtmlElement, int] = {}

    def mark(self, element: "HtmlElement") -> str:
        """Return the number that a browser sets before an element; empty where it sets none."""
        parent = element.getparent()
        if element.tag != "li" or parent is None or parent.tag != "ol":
            return ""
        step = -1 if parent.get("reversed") is not None else 1
        number = self._next.get(parent)
        if number is None:
            first = len(parent.findall("li")) if step < 0 else 1
            number = _whole(parent.get("start"), first)
        number = _whole(element.get("value"), number)
        self._next[parent] = number + step
        style = "".join(parent.get("style", "").split()).lower()
        kind = element.get("type") or parent.get("type") or ""
        if "list-style:none" in style or "list-style-type:none" in style:
            return ""
        text = element.text_content().lstrip()
        if item_end(text) or text.startswith("-"):
            return ""
        return f"{_counted(number, kind)}. "


def _whole(text: str | None, default: int) -> int:
    bare = (text or "").strip()
    return int(bare) if re.fullmatch(r"-?\d{1,6}", bare, re.ASCII) else default


def _counted(number: int, kind: str) -> str:
    if kind.lower() == "a" and 1 <= number <= len(_LETTERS):
        letter = _LETTERS[number - 1]
        return letter.upper() if kind == "A" else letter
    if kind.lower() == "i" and 1 <= number < 40:
        out, rest = "", number
        for value, sign in _ROMAN:
            out += sign * (rest // value)
            rest %= value
        return out.upper() if kind == "I" else out
    return str(number)


def _html_table_lines(
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
    if next(table.iterdescendants("table", *_PAGE_PARTS), None) is not None:
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
