"""The largest or smallest row of a table, where a question asks for it (哪个项目总投资最大)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from math import isclose
from typing import NamedTuple

from kgrag.answer.blocks import Row
from kgrag.answer.citation import Citation
from kgrag.answering.search_context import ResultsWithDocuments
from kgrag.question.question import Question
from kgrag.text.table_rows import bodies, cells_of
from kgrag.text.words import question_language
from kgrag.types import Chunk

_RESULTS = 5  # the first, whose tables are compared
_FEWEST = 2  # rows with a number
_LEAST_SAID = 2  # characters of a column's name that the question has
_NUMBER = re.compile(r"([-−]?\d[\d,，]*(?:\.\d+)?)\s*(\D*)")
_NOT_NAME = re.compile(r"[（(][^（）()]*[)）]|\d+\s*年?")  # a unit, a year
_TOTAL = 1e-3  # of the sum of all others: the first or last row that is their sum is none of them
_WORDS = {
    ("zh", "most"): "“{column}”最大的一行（比较了此表的{n}行）",
    ("zh", "least"): "“{column}”最小的一行（比较了此表的{n}行）",
    ("en", "most"): "the largest “{column}” ({n} rows of this table were compared)",
    ("en", "least"): "the smallest “{column}” ({n} rows of this table were compared)",
}


class _Line(NamedTuple):
    """A row of a table: its place in the text, and its cells."""

    start: int
    end: int
    cells: Sequence[str]


def extreme_row(question: Question, found: ResultsWithDocuments) -> Row | None:
    """Return the row with the largest or smallest figure of the column that a question names.

    Compared are the rows of one table, of the first results; of those, rows with a cell that the
    question names, if there are any. Figures in a column have one unit, else they are not compared;
    a first or last row that is the sum of the others is left out.

    Returns:
        None where the question asks for neither, or no table has such a column.
    """
    best: tuple[int, str, int, _Line, Chunk] | None = None
    for hit in found.results[:_RESULTS] if question.order else ():
        document = found.documents[hit.chunk.doc_id]
        for start, end, header in bodies(document.text):
            if start < hit.chunk.end and hit.chunk.start < end and header:
                lines = list(_lines(document.text, start, end))
                told = _extreme(question, cells_of(header), lines)
                if told and (best is None or told[0] > best[0]):
                    best = (*told, hit.chunk)
    if best is None:
        return None
    _, column, n, line, chunk = best
    document, headings = found.documents[chunk.doc_id], found.headings[chunk.doc_id]
    cited = Citation.of(document, headings, (line.start, line.end), chunk.chunk_id)
    language = question_language(question.query.text)
    cited = replace(cited, marked=(line.start, line.end))
    return Row(cited, lead=_WORDS[language, question.order or "most"].format(column=column, n=n))


def _lines(text: str, start: int, end: int) -> Iterator[_Line]:
    for line in text[start:end].splitlines(keepends=True):
        bare = line.rstrip()
        if bare:
            yield _Line(start, start + len(bare), cells_of(bare))
        start += len(line)


def _extreme(
    question: Question, names: Sequence[str], lines: Sequence[_Line]
) -> tuple[int, str, int, _Line] | None:
    """Return (characters of its name in the question, name, rows compared, row) of a column."""
    asked = question.query.text.lower()
    told = [line for line in lines if len(line.cells) == len(names)]
    meant = [line for line in told if any(_is_named(cell, asked) for cell in line.cells)]
    found: tuple[int, str, int, _Line] | None = None
    for place, name in enumerate(names):
        said = _said(_NOT_NAME.sub("", name).lower(), asked)
        figures = _figures(told, place) if said >= _LEAST_SAID else {}
        for end in {min(figures), max(figures)} if len(figures) > _FEWEST else ():
            if isclose(2 * figures[end], sum(figures.values()), rel_tol=_TOTAL):
                del figures[end]
                break
        some = {i: f for i, f in figures.items() if told[i] in meant} or figures
        if len(some) >= _FEWEST and (found is None or said > found[0]):
            choose = min if question.order == "least" else max
            found = said, name, len(some), told[choose(some, key=some.__getitem__)]
    return found


def _is_named(cell: str, asked: str) -> bool:
    bare = cell.strip().lower()
    return len(bare) >= _LEAST_SAID and not _NUMBER.fullmatch(bare) and bare in asked


def _said(name: str, asked: str) -> int:
    """Return the length of the longest part of a name that a question has."""
    return SequenceMatcher(None, name, asked, autojunk=False).find_longest_match().size


def _figures(lines: Sequence[_Line], place: int) -> dict[int, float]:
    """Return the figures of a column by row; none where they have several units."""
    read = {i: _NUMBER.fullmatch(line.cells[place].strip()) for i, line in enumerate(lines)}
    found = {i: match for i, match in read.items() if match}
    one_unit = len({match[2].strip() for match in found.values()}) == 1
    is_column = 2 * len(found) > sum(bool(line.cells[place].strip()) for line in lines)
    if not (one_unit and is_column):
        return {}
    return {i: float(re.sub("[,，]", "", m[1]).replace("−", "-")) for i, m in found.items()}
