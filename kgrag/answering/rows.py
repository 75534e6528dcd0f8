"""Rows of a complete answer: statements with their clauses, as an answer and as results."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Claim, Row, Run
from kgrag.answer.citation import Citation
from kgrag.answer.sentences import sentence_around
from kgrag.answering.copies import Text, letters_of
from kgrag.answering.listed import Place
from kgrag.answering.quotes import METHOD
from kgrag.results import ScoredChunk
from kgrag.statements.figures import Measured, decimal_of, figure_words, measured_of
from kgrag.statements.sources import item_start
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.text.headings import HeadingTree
from kgrag.text.quantities import legible, narrow, scaled
from kgrag.types import Chunk, Document, Heading, Language, Query

_YEAR = re.compile(r"((?:19|20)\d\d)年")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_LONGEST = 200  # characters of a sentence; of a longer one, the place alone
_LONGEST_ITEM = 1500  # characters of an item; of a longer one, who is responsible


@dataclass(frozen=True, slots=True)
class Stated:
    """A row: a place where a document makes a statement.

    Attributes:
        place: The place.
        label: The place or year that it is about; may be empty.
        lead: Text before the document's title: 四川省：2025年达到41%; may be empty.
        aside: Text in brackets after it: 依据; may be empty.
        known: Text in brackets after it that no quote says: its number, how many cite it; may be
            empty.
        about: The words that a remark in brackets refers to; may be empty.
        side: Place or year of a comparison; may be empty.
        statement: Of the figure that is compared.
    """

    place: Place
    label: str = ""
    lead: str = ""
    aside: str = ""
    known: str = ""
    about: str = ""
    side: str = ""
    statement: Statement | None = None


def place_of(statement: Statement) -> Place:
    """Return the place of a statement."""
    return Place(statement.doc_id, statement.start, statement.end, statement.chunk_id)


@dataclass(frozen=True, slots=True)
class Complete:
    """All statements that a question asks for.

    Attributes:
        rows: In order; empty if there are statements for other places or years only.
        counted: Note on the number of documents.
        kind: `targets`, `duties`, `references`, `sections`, `times`, `articles`.
        silent: Requested places without a row.
        about: What is asked for; may be empty.
        least: Whether the smaller of several figures is asked for.
        parts: What it is joined of, if several things are asked for; else empty.
    """

    rows: tuple[Stated, ...]
    counted: tuple[str, ...]
    kind: str
    silent: tuple[str, ...] = ()
    about: str = ""
    least: bool = False
    parts: tuple["Complete", ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the notes on documents."""
        return tuple(chain.from_iterable(part.counted for part in self.parts or (self,)))

    @property
    def all_silent(self) -> frozenset[str]:
        """Return the requested places without a row of one of the things asked for."""
        return frozenset(chain.from_iterable(part.silent for part in self.parts or (self,)))


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a row, with its document."""

    row: Stated
    document: Document
    headings: Sequence[Heading]
    span: tuple[int, int]
    also_in: tuple[str, ...] = ()


def as_answer(found: Complete, query: Query, store: Store) -> Answer:
    """Return rows as an answer, one line each: document, sentence, [n]."""
    rows: dict[Row, None] = {}
    for place in _places(found.rows, store):
        cited = Citation.of(
            document=place.document,
            headings=place.headings,
            span=place.span,
            chunk_id=place.row.place.chunk_id,
        )
        cited = replace(cited, also_in=place.also_in)
        row = place.row
        lead = row.lead if row.known else _seen(row.lead, query.text, cited)
        rows[Row(cited, row.label, lead, row.aside, row.known)] = None
    return Answer(query.text, tuple(rows), METHOD, notes=found.notes)


def _seen(lead: str, question: str, cited: Citation) -> str:
    """Return the lead without a year or value that is not in the quote.

    It may come from the head of a table or a heading far above; digits may be garbled.
    """
    there = legible("".join((question, cited.title, *cited.heading_path, cited.quote)))
    told = _YEAR.sub(lambda match: match[0] if match[1] in there else "", lead)
    if any(number not in there for number in _DIGITS.findall(narrow(told))):
        told = told.partition("：")[0] if "：" in told else ""
    return f"{told}，" if told else ""


def with_comparison(answer: Answer, found: Complete, store: Store) -> Answer:
    """Return an answer that begins with which side has more, if that is asked for.

    Args:
        answer: The rows.
        found: The rows.
        store: The knowledge base.
    """
    language = answer.language
    cards = {c.doc_id: c for c in store.document_cards([c.doc_id for c in answer.citations])}
    sides: dict[str, list[tuple[Statement, Document, Citation]]] = {}
    for row in found.rows:
        if row.side and row.statement is not None:
            cited = citation_of(row.statement, answer.citations)
            if cited is not None:
                own = (row.statement, cards[cited.doc_id], cited)
                sides.setdefault(row.side, []).append(own)
    if not sides:
        return answer
    lines = contrast(sides, least=found.least, language=language)
    return replace(answer, blocks=(*lines, *answer.blocks))


def with_documents(answer: Answer, query: Query, documents: Mapping[str, Document]) -> Answer:
    """Return an answer whose quotes name their place and document; of one document, the first.

    A sentence of a city's plan reads as if it held everywhere. Where the question names a document
    or a place, the reader knows.

    Args:
        answer: Quotes.
        query: The question.
        documents: Those of the quotes, by id.
    """
    if not answer.found or query.titles or query.places:
        return answer

    def row(c: Citation) -> Row:
        regions = documents[c.doc_id].metadata.regions
        place = regions[-1] if regions else ""
        return Row(c, place, f"{place}，" if place else "")

    several = len({c.doc_id for c in answer.citations}) > 1
    rows = tuple(map(row, answer.citations[: None if several else 1]))
    return replace(answer, blocks=(*rows, *answer.blocks[len(rows) :]))


def as_results(found: Complete, store: Store, *, size: int) -> list[ScoredChunk]:
    """Return rows as results, which a model reads before all others.

    Args:
        found: Rows.
        store: The knowledge base.
        size: Of the chunks with evidence.
    """
    return [
        ScoredChunk(
            Chunk(
                chunk_id=place.row.place.chunk_id,
                doc_id=place.document.doc_id,
                size=size,
                position=0,
                start=place.span[0],
                end=place.span[1],
                text=place.document.text[slice(*place.span)],
                heading_path=HeadingTree(place.document.text, place.headings).path(*place.span),
            ),
            1.0,
            via=(f"table of {found.kind}",),
            title=place.document.title,
            file=place.document.file,
            also_in=place.also_in,
        )
        for place in _places(found.rows, store)
    ]


def _places(rows: Sequence[Stated], store: Store) -> list[_Place]:
    """Return the places of rows, without those of deleted documents.

    The same text in several documents is one place, which names all files.
    """
    doc_ids = list(dict.fromkeys(row.place.doc_id for row in rows))
    documents: Mapping[str, Document] = {d.doc_id: d for d in store.documents(doc_ids)}
    headings = store.headings(doc_ids)
    texts = {doc_id: Text(document) for doc_id, document in documents.items()}
    found: defaultdict[tuple[str, ...], list[_Place]] = defaultdict(list)
    for row in rows:
        s = row.place
        if s.doc_id not in documents:
            continue
        document = documents[s.doc_id]
        span = _span(document.text, s, row.about)
        if not document.text[slice(*span)].strip():
            continue
        alike = found[row.lead, row.aside + row.known, letters_of(document.text[slice(*span)])]
        for i, one in enumerate(alike):
            if one.document is not document and texts[s.doc_id].is_near(
                texts[one.row.place.doc_id]
            ):
                alike[i] = replace(one, also_in=tuple(sorted({*one.also_in, document.file})))
                break
        else:
            alike.append(_Place(row, document, headings.get(s.doc_id, ()), span))
    order = {row: i for i, row in enumerate(rows)}
    return sorted((p for alike in found.values() for p in alike), key=lambda p: order[p.row])


def _span(text: str, place: Place, about: str) -> tuple[int, int]:
    """Return the sentences around a place; a remark includes the item that it closes.

    （责任单位：省林业局） comes after the end of its sentence, or far below its heading.
    """
    start, end = place.start, place.end
    begin = item_start(text, start, end, about)
    if begin == start:
        return sentence_around(text, start, end, longest=_LONGEST)
    return (begin, end) if end - begin <= _LONGEST_ITEM else (start, end)


def citation_of(statement: Statement, citations: Iterable[Citation]) -> Citation | None:
    """Return the citation whose quote has a statement; None for none."""
    own = (c for c in citations if c.doc_id == statement.doc_id)
    return next((c for c in own if c.start <= statement.start < c.end), None)


_SAID: Mapping[Language, tuple[str, str, str]] = {
    "zh": (
        "{first}{more}：{figures}，相差{gap}。",
        "两者相同：{figures}。",
        "、",
    ),
    "en": (
        "{first} has the {more} figure: {figures}; the difference is {gap}.",
        "They are the same: {figures}.",
        ", ",
    ),
}
_MORE: Mapping[Language, Mapping[tuple[bool, bool], str]] = {  # least, of more than two
    "zh": {
        (False, False): "更高", (True, False): "更低", (False, True): "最高", (True, True): "最低"
    },
    "en": {
        (False, False): "higher", (True, False): "lower",
        (False, True): "highest", (True, True): "lowest",
    },
}  # fmt: skip
_LEAD: Mapping[Language, tuple[str, str, str]] = {
    "zh": ("{}年", "，", "："),
    "en": ("{}", ", ", ": "),
}
_YEAR_SIDE = re.compile(r"20\d\d年")
_Side = tuple[str, Decimal, str, Citation]  # name, value, words


def _sentence(
    sides: Sequence[_Side], unit: str, *, least: bool, language: Language, lead: str = ""
) -> Claim:
    """Return which side has more, and by how much, computed exactly."""
    ordered = sorted(sides, key=lambda side: side[1], reverse=not least)
    told, same, joint = _SAID[language]
    gap = abs(ordered[0][1] - ordered[-1][1])
    gap_unit = {"zh": "个百分点", "en": " percentage points"}[language] if unit == "%" else unit
    before, after = (
        part.format(
            first=ordered[0][0],
            more=_MORE[language][least, len(sides) > 2],
            gap=f"{scaled(gap)}{gap_unit}",
        )
        for part in (told if gap else same).split("{figures}")
    )
    runs = [
        Run(f"{joint if n else lead + before}{words}", (cited,))
        for n, (_, _, words, cited) in enumerate(ordered)
    ]
    return Claim((*runs, Run(after)))


def contrast(
    sides: Mapping[str, Sequence[tuple[Statement, Document, Citation]]],
    *,
    least: bool,
    language: Language,
) -> list[Claim]:
    """Return which side has the larger figure and by how much, a line for each year.

    Figures are compared if each side has one value of the same indicator, unit, year and bound
    (at least, about); of several indicators the line names its own.

    Args:
        sides: Statements of each side, at least one, with document and citation. Sides that are
            years (2025年) are compared with each other.
        least: Whether the smaller one is asked for.
        language: Of the lines.
    """
    if len(sides) < 2:
        return []
    across = all(_YEAR_SIDE.fullmatch(name) for name in sides)
    values = {name: _by_measure(told, across=across) for name, told in sides.items()}
    shared = set.intersection(*(set(of) for of in values.values()))
    subjects = [s.fact.subject for told in sides.values() for s, _, _ in told]
    names = {subject.entity_id: subject.name for subject in subjects}
    in_year, comma, colon = _LEAD[language]
    lines = []
    for key in sorted(shared, key=lambda key: (key[0], key[1].unit, key[1].indicator_id)):
        alike = [values[name][key] for name in sides]
        meant = frozenset[str].intersection(
            *(frozenset(c for c, _, _ in of.values()) for of in alike)
        )
        if meant and all(len(of) == 1 for of in alike):
            told = [
                (name, value, f"{name} {words}", cited)
                for name, of in zip(sides, alike, strict=True)
                for value, (_, words, cited) in of.items()
            ]
            about = [
                names[key[1].indicator_id] if len({k[1].indicator_id for k in shared}) > 1 else "",
                in_year.format(key[0]) if key[0] and len(shared) > 1 else "",
            ]
            lead = comma.join(filter(None, about))
            lead += colon if lead else ""
            unit = key[1].unit
            lines.append(_sentence(told, unit, least=least, language=language, lead=lead))
    return [replace(line, before="\n" * (n > 0)) for n, line in enumerate(dict.fromkeys(lines))]


_Measures = dict[tuple[str, Measured], dict[Decimal, tuple[str, str, Citation]]]


def _by_measure(told: Sequence[tuple[Statement, Document, Citation]], *, across: bool) -> _Measures:
    """Return values with bound and wording, by year and measure."""
    found: _Measures = {}
    for statement, card, cited in told:
        q, value = statement.qualifiers, decimal_of(statement.qualifiers.value)
        if value is not None and not q.value_to:
            key = ("" if across else q.year or q.period, measured_of(statement, card))
            found.setdefault(key, {}).setdefault(
                value, (q.comparator or "=", figure_words(statement), cited)
            )
    return found
