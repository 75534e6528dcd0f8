"""Answering without a model: the best clauses, whole, with the nearest sentence marked."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import accumulate
from math import isclose
from typing import NamedTuple

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Block, Missing, Quote, Row, Side
from kgrag.answer.citation import Citation
from kgrag.answer.sentences import is_letterhead, joined_spans
from kgrag.answering.copies import letters_of
from kgrag.answering.search_context import ResultsWithDocuments
from kgrag.embedding.embedder import Embedder
from kgrag.question.question import Question, asked_kind, question_of, states_kind
from kgrag.results import Reason, ScoredChunk
from kgrag.retrieval.coverage import covered
from kgrag.retrieval.search import Search
from kgrag.text.headings import HeadingTree
from kgrag.text.numbering import numbering_at
from kgrag.text.table_rows import (
    bodies,
    cells_of,
    header_before,
    is_delimiter,
    is_row,
    named_cells,
)
from kgrag.text.words import normalize, normalize_name, question_language
from kgrag.types import Chunk, Document, Heading

METHOD = "extractive"
_LONGEST = 350  # characters of a clause
_SHORTEST = 40  # characters; less of a clause is not begun
_MOST = 5  # clauses of an answer, and of each side of a comparison
_AROUND = 400  # characters around a chunk in which its sentences begin and end
_LONGEST_LEAD = 150
_FARTHEST_LEAD = 2000  # characters before an item
_COMPARED = 2  # best clauses of the longest kind, whose sentences are compared; of a side the first
_ENCODED = 3  # sentences of these, and of each so many characters: what the mark costs
_READ = 150
_LATER = 0.02  # cosine that a sentence of each further clause is behind
_TABLES = 5  # the first, whose tables are compared
_FEWEST = 2  # rows with a number
_LEAST_SAID = 2  # characters of a column's name that the question has
_NUMBER = re.compile(r"([-−]?\d[\d,，]*(?:\.\d+)?)\s*(\D*)")
_NOT_NAME = re.compile(r"[（(][^（）()]*[)）]|\d+\s*年?")  # a unit, a year
_TOTAL = 1e-3  # how far a sum may be off
_WORDS = {
    ("zh", "most"): "“{column}”最大的一行（比较了此表的{n}行）",
    ("zh", "least"): "“{column}”最小的一行（比较了此表的{n}行）",
    ("en", "most"): "the largest “{column}” ({n} rows of this table were compared)",
    ("en", "least"): "the smallest “{column}” ({n} rows of this table were compared)",
}
_LACKING = 0.7  # of the cosine of one without the kind of thing that is asked for


def answer_by_clauses(
    search: Search, found: ResultsWithDocuments, *, embedder: Embedder, max_chars: int
) -> Answer:
    """Return an answer of the best clauses, each cited, in the order of the results.

    Results of the sides of a comparison stand under their names; of a place that no clause bears it
    is said that these are only the nearest. Where the largest or smallest row of a table is asked
    for, it stands first. Of 219 questions over 508 policies
    the first 1,000 characters of the results, uncut, held more of the gold than sentences chosen
    from them (benchmarks/decisions.md): nothing is chosen within a clause, one sentence is marked.

    Args:
        search: For the question.
        found: Its results, best first.
        embedder: Compares sentences with the question.
        max_chars: Of all clauses together, at least 1.
    """
    query = search.query
    if rows := _extreme_rows(question_of(query), found):
        clauses = _clauses(found.results, found, max_chars=max_chars)
        return Answer(query.text, (*rows, *map(Quote, clauses)), METHOD)
    places = {side.label: side.query.places for side in question_of(query).sides}
    sides = _by_side(found.results, places)
    most = max(1, max_chars // len(sides))
    blocks: list[Block] = []
    best = 0.0
    for label, hits in sides.items():
        if not hits and label:
            blocks.append(Side(label, (Missing(),)))
            continue
        cited = _clauses(hits, found, max_chars=most)
        n_compared = _COMPARED if len(sides) == 1 else 1
        marked, likeness = _marked(cited, found, search, n_compared=n_compared)
        best = max(best, likeness)
        quotes: tuple[Block, ...] = tuple(map(Quote, marked))
        if not _is_about(places.get(label, frozenset()), marked, found.documents):
            quotes = (Missing(nearest=True), *quotes)
        blocks += [Side(label, quotes)] if label else quotes
    if not blocks or best < (embedder.answered or 0.0):
        blocks.insert(0, Missing(nearest=bool(blocks)))
    return Answer(query.text, tuple(blocks), METHOD)


def _is_about(
    places: Collection[str], cited: Sequence[Citation], documents: Mapping[str, Document]
) -> bool:
    """Return whether a clause, or the document of one, names one of a side's places; or of none."""
    told = (
        "\n".join((c.title, *c.heading_path, c.quote, *documents[c.doc_id].metadata.regions))
        for c in cited
    )
    return not places or any(place in text for text in told for place in places)


def _by_side(
    results: Sequence[ScoredChunk], labels: Iterable[str]
) -> Mapping[str, Sequence[ScoredChunk]]:
    """Return results by the side of a comparison that they were first found for; "" for none.

    Args:
        results: Best first.
        labels: Of all sides: those that nothing was found for are there, too, if any was.
    """
    sides: dict[str, list[ScoredChunk]] = {}
    for hit in results:
        asked = (r.values["what"] for r in hit.via if isinstance(r, Reason) and r.kind == "side")
        sides.setdefault(next(asked, ""), []).append(hit)
    if any(sides):
        sides |= {label: [] for label in labels if label not in sides}
    return sides or {"": []}


def _clauses(
    hits: Sequence[ScoredChunk], found: ResultsWithDocuments, *, max_chars: int
) -> list[Citation]:
    """Return the first clauses of results, whole, at most `_MOST` and so many characters.

    Of clauses with the same text one is cited, which names the files of the others.
    """
    shown: dict[str, list[tuple[int, int]]] = {}
    said: dict[str, int] = {}
    cited: list[Citation] = []
    left = max_chars
    for hit, (start, end) in _pieces(hits, found.documents):
        document = found.documents[hit.chunk.doc_id]
        before = shown.setdefault(document.doc_id, [])
        start, end = _beside(start, end, before)
        letters = letters_of(document.text[start:end])
        if (same := said.get(letters)) is not None:
            files = {*cited[same].also_in, document.file} - {cited[same].file}
            cited[same] = replace(cited[same], also_in=tuple(sorted(files)))
            continue
        if end - start > left:
            start, end = _cut(document.text, start, end, left)
        short = min(_SHORTEST, left) if not is_row(document.text[start:end]) else 1
        if document.text[start:end].strip() and (end - start >= short or not cited):
            before.append((start, end))
            said[letters] = len(cited)
            left -= end - start
            cited.append(_cited(document, found.headings[document.doc_id], start, end, hit))
        if left < _SHORTEST or len(cited) == _MOST:
            break
    return cited


def _pieces(
    hits: Iterable[ScoredChunk], documents: Mapping[str, Document]
) -> Iterator[tuple[ScoredChunk, tuple[int, int]]]:
    """Yield the clauses of each result: whole sentences, at most `_LONGEST` characters each."""
    for hit in hits:
        chunk, text = hit.chunk, documents[hit.chunk.doc_id].text
        low = max(0, text.rfind("\n", 0, max(0, chunk.start - _AROUND)) + 1)
        window = text[low : chunk.end + _AROUND]
        spans = [(low + a, low + b) for a, b in joined_spans(window)]
        inside = [(a, b) for a, b in spans if a < chunk.end and chunk.start < b]
        start = end = inside[0][0] if inside else chunk.start
        for a, b in inside:
            if b - a > _LONGEST:  # a sentence that no clause holds: the part that was found
                a, b = max(a, chunk.start), min(b, chunk.end)
            if end > start and (b - start > _LONGEST or _follows_table(text, a, b)):
                yield hit, (start, end)
                start = a
            end = b
        if end > start:
            yield hit, (start, end)


def _follows_table(text: str, start: int, end: int) -> bool:
    """Return whether a sentence is the first one below a table."""
    before = text[max(0, start - _FARTHEST_LEAD) : start].rstrip().rpartition("\n")[2]
    return is_row(before) and not is_row(text[start:end])


def _beside(start: int, end: int, shown: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return what of a span is not shown yet: before or behind it."""
    for first, last in shown:
        if first < end and start < last:
            start, end = (max(start, last), end) if first <= start else (start, first)
    return start, max(start, end)


def _cut(text: str, start: int, end: int, most: int) -> tuple[int, int]:
    """Return the first sentences of a span, at most so many characters; none if one is longer."""
    ends = [start + b for _, b in joined_spans(text[start:end]) if b <= most]
    return start, max(ends, default=start)


def _cited(
    document: Document, headings: Sequence[Heading], start: int, end: int, hit: ScoredChunk
) -> Citation:
    text = document.text
    bare = text[start:end]
    start, end = start + len(bare) - len(bare.lstrip()), start + len(bare.rstrip())
    cited = Citation.of(document, headings, (start, end), hit.chunk.chunk_id)
    lead = "" if cited.columns else header_before(text, start) or lead_in(text, start)
    return replace(cited, lead=lead, also_in=hit.also_in, status=hit.status)


def lead_in(text: str, start: int) -> str:
    r"""Return the sentence with a colon that leads in the list an item belongs to; "" for none.

    Args:
        text: Of the document.
        start: Where the item begins.

    >>> lead_in("有下列情形之一的，处罚款：\n（一）甲；\n（二）乙。", 20)
    '有下列情形之一的，处罚款：'
    """
    mark = numbering_at(text, start)
    if mark is None or len(mark.number) != 1:
        return ""
    number, line_end = mark.number[0], start
    while (line_end := text.rfind("\n", 0, line_end)) > max(0, start - _FARTHEST_LEAD):
        begin = text.rfind("\n", 0, line_end) + 1
        line = text[begin:line_end].strip()
        if number == 1 and line.endswith(("：", ":")):
            last = line[joined_spans(line)[-1][0] :]
            return last if len(last) <= _LONGEST_LEAD else ""
        above = numbering_at(line)
        if above and above.family == mark.family and above.number == (number - 1,):
            number -= 1
        elif number == 1 and line:
            return ""
    return ""


def _marked(
    cited: Sequence[Citation],
    found: ResultsWithDocuments,
    search: Search,
    *,
    n_compared: int,
) -> tuple[list[Citation], float]:
    """Return clauses, the sentence of the best ones that is nearest to a question marked.

    Compared is the cosine of a sentence behind its document's title, less where it has not what is
    asked for (money, a date); headings are left out. Only those are encoded that share the rarest
    characters with the question.

    Returns:
        The clauses, that with the mark under the headings of its sentence, and the greatest
        likeness; 0 without a sentence.
    """
    spans = list(_sentences(cited, found, n_compared))
    if not spans:
        return [*cited], 0.0
    texts = [_in_words(found.documents[cited[rank].doc_id].text, a, b) for rank, a, b in spans]
    kind = asked_kind(search.query.text)
    fitting = [1 if kind is None or states_kind(text, kind) else _LACKING for text in texts]
    characters = dict.fromkeys(normalize(search.query.text), 1.0)
    shared = covered(characters, [*map(normalize, texts)])
    order = sorted(range(len(spans)), key=lambda i: -shared[i] * fitting[i])[:_ENCODED]
    spans = [spans[i] for i in order]
    named = [f"{cited[spans[n][0]].title}\n{texts[i][:_READ]}" for n, i in enumerate(order)]
    likeness = [c * fitting[i] for c, i in zip(search.cosines(named), order, strict=True)]
    scores = [one - _LATER * span[0] for one, span in zip(likeness, spans, strict=True)]
    rank, start, end = spans[scores.index(max(scores))]
    best = cited[rank]
    document = found.documents[best.doc_id]
    path = HeadingTree(document.text, found.headings[best.doc_id]).path(start, end)
    page, cells = document.page_at(start), document.cells_at(start, end)
    best = replace(best, marked=(start, end), heading_path=path, page=page, cells=cells)
    return [*cited[:rank], best, *cited[rank + 1 :]], max(likeness)


def _sentences(
    cited: Sequence[Citation], found: ResultsWithDocuments, n_compared: int
) -> Iterator[tuple[int, int, int]]:
    """Yield (rank, start, end) of the sentences that are compared.

    They are of the first clauses; of short tables of as many as long clauses would hold.
    """
    ends = [*accumulate(len(c.quote) for c in cited)]
    for rank, c in enumerate(cited):
        fits = ends[rank] <= n_compared * _LONGEST and any(map(is_row, c.quote.split("\n")))
        text = found.documents[c.doc_id].text
        for a, b in joined_spans(c.quote) if rank < n_compared or fits else ():
            is_head = _is_head(text, c.start + a, c.start + b)
            if _says_something(c.quote[a:b], c) and not is_head:
                yield rank, c.start + a, c.start + b


def _is_head(text: str, start: int, end: int) -> bool:
    """Return whether a sentence is the header of a table, or the line below it."""
    below = (
        text[end : end + _FARTHEST_LEAD].lstrip().partition("\n")[0]
        if is_row(text[start:end])
        else ""
    )
    return is_delimiter(text[start:end]) or is_delimiter(below)


def _in_words(text: str, start: int, end: int) -> str:
    """Return a sentence; of a row of a table its cells behind the names of their columns."""
    said = text[start:end].strip()
    header = header_before(text, start) if is_row(said) else ""
    return named_cells(header, said) if header else said


def _says_something(sentence: str, cited: Citation) -> bool:
    """Return whether a sentence is no heading, title or letterhead."""
    own = normalize_name(sentence)
    around = map(normalize_name, (cited.title, *cited.heading_path))
    return bool(own) and not any(own in name for name in around) and not is_letterhead(sentence)


class _Line(NamedTuple):
    """A row of a table: its place in the text, and its cells."""

    start: int
    end: int
    cells: tuple[str, ...]


class _Column(NamedTuple):
    """A column of figures, and how many characters of its name the question has."""

    said: int
    name: str
    figures: Mapping[_Line, float]


def _extreme_rows(question: Question, found: ResultsWithDocuments) -> list[Row]:
    """Return the rows with the largest or smallest figure of the column that a question names.

    Compared are the rows of one table, of the first results; of those, rows with a cell that the
    question names, if there are any. Figures in a column have one unit, else they are not compared;
    a first or last row that is the sum of the others is left out.

    Returns:
        Several where they are equal; none where the question asks for neither, no table has such
        a column, or that which has it is not about a place that the question names.
    """
    asked = question.query.text.lower()
    columns = [
        (column, hit.chunk)
        for hit in (found.results[:_TABLES] if question.order else ())
        for column in _columns(found.documents[hit.chunk.doc_id].text, hit.chunk, asked)
    ]
    if not columns:
        return []
    (_, name, figures), chunk = max(columns, key=lambda one: one[0].said)
    extreme = (min if question.order == "least" else max)(figures.values())
    document, headings = found.documents[chunk.doc_id], found.headings[chunk.doc_id]
    cited = [
        replace(Citation.of(document, headings, span, chunk.chunk_id), marked=span)
        for span in ((line.start, line.end) for line, f in figures.items() if f == extreme)
    ]
    if not _is_about(question.places, cited, found.documents):
        return []
    words = _WORDS[question_language(asked), question.order or "most"]
    return [Row(each, lead=words.format(column=name, n=len(figures))) for each in cited]


def _columns(text: str, chunk: Chunk, asked: str) -> Iterator[_Column]:
    """Yield the columns that a question names, of the tables that a chunk is of."""
    for start, end, header in bodies(text):
        if header and start < chunk.end and chunk.start < end:
            yield from _named_columns(cells_of(header), [*_lines(text, start, end)], asked)


def _named_columns(names: Sequence[str], lines: list[_Line], asked: str) -> Iterator[_Column]:
    lines = [line for line in lines if len(line.cells) == len(names)]
    meant = {line for line in lines if any(_is_named(cell, asked) for cell in line.cells)}
    for place, name in enumerate(names):
        said = _said(_NOT_NAME.sub("", name).lower(), asked)
        figures = _without_sum(_figures(lines, place)) if said >= _LEAST_SAID else {}
        some = {line: f for line, f in figures.items() if line in meant} or figures
        if len(some) >= _FEWEST:
            yield _Column(said, name, some)


def _lines(text: str, start: int, end: int) -> Iterator[_Line]:
    for line in text[start:end].splitlines(keepends=True):
        bare = line.rstrip()
        if bare:
            yield _Line(start, start + len(bare), tuple(cells_of(bare)))
        start += len(line)


def _without_sum(figures: dict[_Line, float]) -> dict[_Line, float]:
    """Return figures without the first or last, if it is the sum of the others."""
    ends = [*figures][:: max(1, len(figures) - 1)] if len(figures) > _FEWEST else []
    total = sum(figures.values())
    sums = [line for line in ends if isclose(2 * figures[line], total, rel_tol=_TOTAL)]
    return {line: figure for line, figure in figures.items() if line not in sums[:1]}


def _is_named(cell: str, asked: str) -> bool:
    bare = cell.strip().lower()
    return len(bare) >= _LEAST_SAID and not _NUMBER.fullmatch(bare) and bare in asked


def _said(name: str, asked: str) -> int:
    """Return the length of the longest part of a name that a question has."""
    return SequenceMatcher(None, name, asked, autojunk=False).find_longest_match().size


def _figures(lines: Sequence[_Line], place: int) -> dict[_Line, float]:
    """Return the figures of a column by row; none where they have several units."""
    read = {line: _NUMBER.fullmatch(line.cells[place].strip()) for line in lines}
    found = {line: match for line, match in read.items() if match}
    one_unit = len({match[2].strip() for match in found.values()}) == 1
    is_column = 2 * len(found) > sum(bool(line.cells[place].strip()) for line in lines)
    if not (one_unit and is_column):
        return {}
    return {line: float(re.sub("[,，]", "", m[1]).replace("−", "-")) for line, m in found.items()}
