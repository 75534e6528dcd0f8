"""Lines of pages joined into paragraphs, by their left and right ends."""

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kgrag.ingestion.load.page_tables import Item, Line, Table, expand
from kgrag.ingestion.load.parsed import visible
from kgrag.text.numbering import item_end
from kgrag.text.table_rows import is_row
from kgrag.types import Segment

_CJK = "\u2e80-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
# PDFium reads the gap that a typesetter leaves between Chinese and digits or letters as a blank.
_GAP = re.compile(
    rf"(?<=[{_CJK}、。，；：）】》”]) +(?=[0-9A-Za-z%])|(?<=[0-9A-Za-z%]) +(?=[{_CJK}])"
)
PAGE_NUMBER = re.compile(
    r"[-—–―－_·•\s]*+(?:第\s*+)?(?:[0-9０-９]{1,4}|[ivxIVX]{1,6})(?:\s*+页)?"
    r"(?:\s*+[/／共,，]\s*+共?\s*+[0-9０-９]{1,4}\s*+页?)?[-—–―－_·•\s]*+"
)
_NUMBER_IN_HEAD = re.compile(r"[-—–―－_·•\s\d]+")
_CLOSING = "，。；：、！？）》”’】％"
_MIN_LINES = 12
_SENTENCE_END = re.compile(r"[。！？!?；;：:][”’」』）)》\"]*$")
_CONTENTS = re.compile(r"目\s*录$")
_LEADERS = re.compile(r"[.．·…]{5}\s*+[（(]?\d*+[）)]?$")
_LATIN_WORD = re.compile(r"[!-~]+")
_WIDEST_MARK = 6  # characters from an item's number to its text
_FULL = 26  # characters of an indented line of a document of state: GB/T 9704-2012, 5.2.3


@dataclass(frozen=True, slots=True)
class _Column:
    """The edges of running text, and whether paragraphs are indented."""

    left: float
    right: float
    indented: bool


def reflow(pages: Sequence[Sequence[Item]]) -> tuple[str, tuple[Segment, ...]]:
    """Return the text of pages, a paragraph a line, and a segment for each page with text.

    A line continues the one before if that one reaches the right edge and this one begins at the
    left edge, or where an item's text begins, and, where paragraphs are not indented, the one
    before has no sentence end and this one does not open like a heading; or if it opens with a
    closing mark or follows a comma. Paragraphs may cross pages. Page numbers at the top or bottom,
    and lines that most pages repeat there, are dropped. A table becomes a line for each row, on the
    page where the row begins.

    Args:
        pages: The lines and tables of each page, from the top; pages may be empty.
    """
    kept = expand(_without_furniture(pages))
    columns = _columns(kept)
    parts: list[str] = []
    segments: list[Segment] = []
    length = 0
    previous: Line | None = None
    opening: Line | None = None  # of the paragraph that is open
    for number, (page, column) in enumerate(zip(kept, columns, strict=True), 1):
        start = length
        for i, line in enumerate(page):
            mark = "" if previous is None else _between(previous, line, column, opening or previous)
            opening = line if mark == "\n" or opening is None else opening
            text = visible(line.text if line.stands == "row" else _GAP.sub("", line.text))
            if i == 0:
                start += len(mark)
            parts += (mark, text)
            length += len(mark) + len(text)
            previous = line
        if length > start:
            segments.append(Segment(start, length, "page", number))
    return "".join(parts), tuple(segments)


def _without_furniture(pages: Sequence[Sequence[Item]]) -> list[list[Item]]:
    """Return pages without page numbers and running heads at their ends."""
    kept = [list(page) for page in pages]
    for end in (0, -1):
        for page in kept:
            if page and PAGE_NUMBER.fullmatch(_text_at(page, end)):
                del page[end]
        heads = Counter(_head_at(page, end) for page in kept if page)
        n_pages = sum(heads.values())
        for page in kept:
            n = heads[_head_at(page, end)] if page and isinstance(page[end], Line) else 0
            if n >= 3 and n * 10 >= n_pages * 6:
                del page[end]
    return kept


def _text_at(page: Sequence[Item], end: int) -> str:
    item = page[end]
    return "" if isinstance(item, Table) else item.text


def _head_at(page: Sequence[Item], end: int) -> str:
    """Return a running head without the page number in it."""
    return _NUMBER_IN_HEAD.sub("", _text_at(page, end)) if page else ""


def _columns(pages: Sequence[Sequence[Line]]) -> list[_Column]:
    """Return the column of each page; for a page of few lines the file's."""
    pages = [[line for line in page if line.height] for page in pages]
    whole = _edges([line for page in pages for line in page])
    edges = [_edges(page) if len(page) >= _MIN_LINES else whole for page in pages]
    n_starts = n_indented = 0
    for page, (left, right) in zip(pages, edges, strict=True):
        for previous, line in pairwise(page):
            size = line.height
            # After a line that ends early a paragraph begins; far to the right, a signature.
            if previous.right < right - 2.2 * size and line.left - left < 4 * size:
                n_starts += 1
                n_indented += line.left - left > 1.2 * size
    indented = n_indented * 2 > n_starts
    return [_Column(left, right, indented) for left, right in edges]


def _edges(lines: Sequence[Line]) -> tuple[float, float]:
    """Return the left edge of the lines that end where most do, and that right edge."""
    lines = [line for line in lines if not is_row(line.text)] or lines
    if not lines:
        return 0.0, 0.0
    size = statistics.median(line.height for line in lines)
    ends = Counter(round(line.right / size) for line in lines)
    # Beside the fullest place its neighbours count, too: justified lines end within one character.
    place = max(ends, key=lambda p: (ends[p - 1] + ends[p] + ends[p + 1], p))
    full = [line for line in lines if abs(line.right / size - place) <= 1.5]
    return min(line.left for line in full), statistics.median_high(line.right for line in full)


def _between(previous: Line, line: Line, column: _Column, opening: Line) -> str:
    """Return the text between two lines: a line break, a blank, or nothing."""
    if not _continues(previous, line, column, opening):
        return "\n"
    before, after = previous.text[-1], line.text[0]
    latin = before.isascii() and after.isascii() and (before.isalpha() or after.isalpha())
    return " " if latin and before != "-" else ""


def _continues(previous: Line, line: Line, column: _Column, opening: Line) -> bool:
    if previous.stands in ("alone", "row") or line.stands != "running":
        return False
    size = max(previous.height, line.height)
    if abs(previous.height - line.height) > 0.25 * size and min(previous.height, line.height):
        return False  # another type size: a heading or a note
    if any(map(is_row, (previous.text, line.text))) or all(
        "\t" in x.text for x in (previous, line)
    ):
        return False  # rows of a table
    return _runs_on(previous, line, column, opening, size)


def _runs_on(previous: Line, line: Line, column: _Column, opening: Line, size: float) -> bool:
    """Return whether a line of running text goes on with the paragraph above it."""
    if line.text[0] in _CLOSING or previous.text[-1] in "，、":
        return True
    if not min(previous.height, line.height):  # without places, at the top of a page
        ends = _SENTENCE_END.search(previous.text) or len(previous.text) < _FULL
        return not (ends or item_end(line.text))
    room = max(2.2 * size, _first_word(line))
    if previous.right < column.right - room or _LEADERS.search(previous.text):
        return False
    if _hangs(opening, line, size):
        return not (_SENTENCE_END.search(previous.text) or item_end(line.text))
    # A date or signature at the right reaches the edge as well, but begins far from the left.
    if previous.left - column.left > 4 * size or line.left - column.left > 0.9 * size:
        return False
    return column.indented or not (
        _SENTENCE_END.search(previous.text) or item_end(line.text) or _CONTENTS.match(line.text)
    )


def _first_word(line: Line) -> float:
    """Return how much room the word needs that a line begins with, and the blank before it."""
    word = _LATIN_WORD.match(line.text)
    return (len(word[0]) + 1) * (line.right - line.left) / len(line.text) if word else 0.0


def _hangs(opening: Line, line: Line, size: float) -> bool:
    """Return whether a line begins where the text of the item that is open does."""
    indent = line.left - opening.left
    return bool(item_end(opening.text)) and 0.9 * size < indent < _WIDEST_MARK * size
