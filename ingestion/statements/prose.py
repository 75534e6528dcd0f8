"""Paragraphs as rules read them: on one line, narrow, without blanks and asides."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgrag.text.headings import HeadingTree
from kgrag.text.numbering import item_end
from kgrag.text.quantities import legible
from kgrag.text.table_rows import cell_spans, cells_of, holds_row
from kgrag.text.vocabulary import FIVE_YEAR_PLAN
from kgrag.types import Heading

_LINE = re.compile(r"[^\r\n]+")
_ENDS = frozenset("。！？；：!?;:ꎮꎻꎺ")
_ALSO_OPENS = re.compile(r"[-—*]|专栏|附[件表]|[图表]\s*\d")  # a paragraph, besides marks of items
_WRAPPED = 18  # characters from which on a line may be one that a page broke
_LONGEST_PARAGRAPH = 6000  # characters; what is longer is read in pieces
_NUMBERED_ROW = re.compile(r"^\d{1,2}[ \t]*[%％][ \t]+[≥≤<>＞＜]?\d")  # 14 % 18.11
_TWO_VALUES = re.compile(r"[一-鿿)）%％][ \t]*\d+(?:\.\d+)?[%％]?[ \t]+[≥≤]?\d+(?:\.\d+)?[%％]?$")
_BINDING = re.compile(r"约束性|预期性|导向性")
_SENTENCE = re.compile(r"[。,，;；]")
_SHORTEST_IN_CELL = 12  # characters; shorter are labels and values
_IN_CELL = re.compile(r"[，,。；;]|到20\d\d年")
_BLANK = re.compile(r"\s")
_PIECE = re.compile(r"[^\s(〔\[【《]+|\s+|[(〔\[【《]")
_NUMBER = re.compile(rf"\d|百分之|{FIVE_YEAR_PLAN}|[一二三四五六七八九十百千][万亿成]")
_DIGITS = re.compile(r"\d+")
_DIGITS_BEFORE = re.compile(r"(?<![\d.])\d{1,4}$")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ASIDES = {"(": ")", "〔": "〕", "[": "]", "【": "】", "《": "》"}
_LONGEST_ASIDE = 120


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document on one line.

    Attributes:
        text: Narrowed, blanks and asides (in brackets, titles in 《》) left out.
        at: For every character its offset in the document.
        end: Offset after the last character.
        section: Titles of the sections around, outermost first.
        is_aside: Whether it stood in brackets within the passage before.
    """

    text: str
    at: Sequence[int]
    end: int
    section: tuple[str, ...] = ()
    is_aside: bool = False

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where `text[start:end]` stands in the document."""
        return self.at[start], self.at[end - 1] + 1


def passages(text: str, headings: Sequence[Heading] = ()) -> Iterator[Passage]:
    """Yield the paragraphs that hold numbers, in order, each followed by what it says in brackets.

    Lines that a page broke are joined; of tables only cells with sentences are given.

    Args:
        text: The document.
        headings: Its headings, for the sections.
    """
    tree = HeadingTree(text, headings)
    edges = {at for heading in headings for at in (heading.start, heading.end)}
    narrowed = legible(text)
    for start, end in _paragraphs(text, edges):
        if not _NUMBER.search(narrowed, start, end):
            continue
        section = tree.path(start, start + 1)
        main, asides = _without_asides(narrowed, start, end)
        yield _passage(narrowed, main, section)
        for inner in asides:
            yield _passage(narrowed, inner, section, is_aside=True)


def _paragraphs(text: str, edges: set[int]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of the paragraphs, and empty ones; none goes over a heading's edge."""
    at = end = 0  # of the paragraph so far; empty before the first and behind a row
    above: list[str] = []  # the cells of the row before
    for match in _LINE.finditer(text):
        line = match[0].strip()
        if not line or holds_row(line) or _is_row(line):
            yield at, end
            at = end
            row, above = above, cells_of(match[0]) if holds_row(line) else []
            yield from _sentences_of_cells(match, row) if above else ()
            continue
        start = match.start() + match[0].index(line[0])
        goes_on = (
            at < end
            and not _is_closed(text, end, match.start())
            and start not in edges
            and end not in edges
            and not (item_end(line) or _ALSO_OPENS.match(line))
            and end - at < _LONGEST_PARAGRAPH
        )
        if not goes_on:
            yield at, end
            at = start
        end = start + len(line)
        while end - at > 2 * _LONGEST_PARAGRAPH:
            yield at, at + _LONGEST_PARAGRAPH
            at += _LONGEST_PARAGRAPH
    yield at, end


def _sentences_of_cells(row: re.Match[str], above: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of a row's cells that hold sentences, as a column of tasks does.

    What repeats the cell above it was read there.
    """
    repeated = set(above)
    for start, end in cell_spans(row[0]):
        cell = row[0][start:end]
        if len(cell) >= _SHORTEST_IN_CELL and _IN_CELL.search(cell) and cell not in repeated:
            repeated.add(cell)
            yield row.start() + start, row.start() + end


def _is_row(line: str) -> bool:
    """Return whether a line is the row of an indicator table that lost its cells."""
    rows = (_BINDING, _NUMBERED_ROW, _TWO_VALUES)
    return _SENTENCE.search(line) is None and any(row.search(line) for row in rows)


def _is_closed(text: str, end: int, following: int) -> bool:
    """Return whether the line that ends at `end` ends a paragraph."""
    opening = max(text.rfind("\n", max(0, end - _WRAPPED), end), end - _WRAPPED)
    is_short = opening > end - _WRAPPED or end < _WRAPPED
    return text[end - 1] in _ENDS or is_short or text.count("\n", end, following) > 1


def _without_asides(text: str, start: int, end: int) -> tuple[list[int], list[list[int]]]:
    """Return the offsets of what is read, and of what stands in brackets."""
    kept: list[int] = []
    asides: list[list[int]] = []
    i = start
    while i < end and (match := _PIECE.match(text, i, end)):
        closing = _ASIDES.get(match[0])
        close = text.find(closing, i + 1, min(end, i + _LONGEST_ASIDE)) if closing else -1
        i = match.end()
        if close > 0:
            at = match.start()
            if match[0] == "(" and close - at > 6 and text[at + 1] not in "或如含见":
                asides.append(_unblanked(text, at + 1, close))
            elif match[0] == "《":
                kept += (at, close)
            i = close + 1
        elif not match[0].isspace():
            kept.extend(range(match.start(), i))
        elif kept and _parts_numbers(text, kept[-1], match.start(), i):
            kept.append(match.start())
    return kept, [aside for aside in asides if aside]


def _parts_numbers(text: str, last: int, start: int, end: int) -> bool:
    """Return whether blanks part two numbers, and stand within none: 10 00个, 20 25年."""
    right = _DIGITS.match(text, end)
    if right is None or not text[last].isdigit():
        return False
    left = _DIGITS_BEFORE.search(text, max(0, start - 8), start)
    if left is None or end - start > 2 or "\n" in text[start:end]:
        return True
    is_year = _YEAR.fullmatch(left[0] + right[0]) and text.startswith("年", right.end())
    return not is_year and (len(right[0]) < 2 or bool(right[0].strip("0")))


def _unblanked(text: str, start: int, end: int) -> list[int]:
    return [i for i in range(start, end) if not text[i].isspace()]


def _passage(
    text: str, at: list[int], section: tuple[str, ...], *, is_aside: bool = False
) -> Passage:
    line = _BLANK.sub(" ", "".join([text[i] for i in at]))
    return Passage(line, at, at[-1] + 1 if at else 0, section, is_aside)
