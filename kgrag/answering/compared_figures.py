"""Comparing figures: which of several places has more, and by how much."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Claim, Quote, Run
from kgrag.answer.citation import Citation
from kgrag.answer.notes import note
from kgrag.answering.quotes import METHOD
from kgrag.answering.search_context import facts_in
from kgrag.qualifiers import Qualifiers
from kgrag.results import ScoredChunk
from kgrag.retrieval.bilingual import read
from kgrag.store.graph import Statement
from kgrag.store.store import Store
from kgrag.tables.figures import (
    Measured,
    decimal_of,
    figure_words,
    measured_of,
)
from kgrag.text.facets import document_facets
from kgrag.text.places import places_in
from kgrag.text.quantities import agree, quantities, scaled
from kgrag.text.words import character_pairs
from kgrag.types import Document, Language


def citation_of(statement: Statement, citations: Iterable[Citation]) -> Citation | None:
    """Return the citation whose quote has a statement; None for none."""
    own = (c for c in citations if c.doc_id == statement.doc_id)
    return next((c for c in own if c.start <= statement.start < c.end), None)


_MOST_SIDES = 6
_NO_FIGURE = frozenset(("年", "月", "日", "号", "期", "条", "章", "款", "岁", "时", "层", "级"))
_SAME = 0.5  # of the pairs of an indicator's name that a question must have
_ALIKE = 0.5  # of the pairs of two questions that ask the same of two places
_YEAR = re.compile(r"(?:19|20)\d\d")
_CHANGE = 1.0  # what a change (提高5个百分点) counts less than a value
_SAID: Mapping[Language, tuple[str, str, str, str]] = {
    "zh": (
        "{first}{more}：{figures}，相差{gap}。",
        "两者相同：{figures}。",
        "上面的回答里没有两个可以比较的数字；请把要比较的地方和指标写在一个问题里。",
        "、",
    ),
    "en": (
        "{first} has the {more} figure: {figures}; the difference is {gap}.",
        "They are the same: {figures}.",
        "The answers above hold no two figures to compare; name places and indicator in one"
        " question.",
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


@dataclass(frozen=True, slots=True)
class _Figure:
    """A place's figure in an answer, and other figures of the same place."""

    place: str
    value: Decimal
    unit: str
    citation: Citation
    others: tuple[Decimal, ...] = ()


def compared(
    answers: Sequence[Answer], store: Store, *, leaf: int, least: bool, language: Language
) -> Answer | None:
    """Return which of the places of the last answers has the larger figure; None if none has one.

    Places are those of the last question, if it names several, else also those of the questions
    before it that ask the same of other places. The figure is the statement extracted from the
    cited sentences for the question's indicator, else the only number of a sentence. Units must be
    the same.

    Args:
        answers: Of the conversation, oldest first.
        store: The knowledge base.
        leaf: Size of the chunks with evidence.
        least: Whether the smaller one is asked for.
        language: Of the reply.
    """
    figures: dict[str, _Figure] = {}
    for answer in reversed(answers):
        if not _asks_the_same(answer.question, answers[-1].question):
            break
        for figure in _figures(answer, store, leaf):
            figures.setdefault(figure.place, figure)
        if len(figures) != 1:  # the last answer has none, or there are enough
            break
    sides = list(figures.values())[:_MOST_SIDES]
    if len(sides) < 2 or not all(agree(sides[0].unit, side.unit) for side in sides):
        return None
    return _answer(sides, least=least, language=language)


def _asks_the_same(question: str, other: str) -> bool:
    """Return whether two questions differ in places only: 江苏的目标, 福建的目标."""
    (years, said), (other_years, other_said) = map(_without_places, (question, other))
    return years == other_years and len(said & other_said) >= _ALIKE * len(said | other_said)


def _without_places(question: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the years of a question, and the character pairs of the rest without places."""
    text = read(question, chinese=1.0).text
    for start, end, _ in reversed(places_in(text)):
        text = f"{text[:start]} {text[end:]}"
    years = frozenset(_YEAR.findall(text))
    pieces = _YEAR.sub(" ", text).split()
    return years, frozenset(pair for piece in pieces for pair in character_pairs(piece))


def nothing_to_compare(language: Language) -> str:
    """Return the reply if the answers do not have two figures."""
    return _SAID[language][2]


def _answer(sides: Sequence[_Figure], *, least: bool, language: Language) -> Answer:
    ordered = sorted(sides, key=lambda side: side.value, reverse=not least)
    told = [(s.place, s.value, f"{s.place} {scaled(s.value)}{s.unit}", s.citation) for s in ordered]
    blocks = (
        _sentence(told, ordered[0].unit, least=least, language=language),
        *(Quote(side.citation) for side in ordered),
    )
    joint = _SAID[language][3]
    notes = tuple(
        note(
            "other-figures",
            language,
            place=s.place,
            values=joint.join(f"{scaled(value)}{s.unit}" for value in s.others),
        )
        for s in ordered
        if s.others
    )
    return Answer("", blocks, METHOD, notes=notes)


def _sentence(
    sides: Sequence[_Side], unit: str, *, least: bool, language: Language, lead: str = ""
) -> Claim:
    """Return which side has more, and by how much, computed exactly."""
    ordered = sorted(sides, key=lambda side: side[1], reverse=not least)
    told, same, _, joint = _SAID[language]
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


def _figures(answer: Answer, store: Store, leaf: int) -> Iterator[_Figure]:
    """Yield the figure of each place of an answer's question."""
    asked = read(answer.question, chinese=1.0)
    cards = {c.doc_id: c for c in store.document_cards([c.doc_id for c in answer.citations])}
    places = list(dict.fromkeys(place for _, _, place in places_in(asked.text)))
    stated = _stated(answer.citations, store, leaf)
    for place in places:
        found: list[tuple[float, _Figure]] = []
        for cited, told in zip(answer.citations, stated, strict=True):
            card = cards.get(cited.doc_id)
            about = set(document_facets(card.title, card.metadata).places) if card else set()
            if place in about or place in cited.quote or (len(places) == 1 and not about):
                read_of_it = _of_quote(asked.text, place, cited, told)
                found += [read_of_it] if read_of_it else []
        if found:
            best, figure = max(found, key=lambda one: one[0])
            alike = [f.value for score, f in found if score == best and f.unit == figure.unit]
            yield replace(figure, others=tuple(v for v in alike if v != figure.value))


def _stated(
    citations: Sequence[Citation], store: Store, leaf: int
) -> list[list[tuple[str, Qualifiers]]]:
    """Return the targets (indicator, qualifiers) extracted from each citation."""
    chunks = store.chunks(list(dict.fromkeys(c.chunk_id for c in citations)))
    facts = facts_in([ScoredChunk(chunk, 1.0) for chunk in chunks], store, leaf=leaf)
    return [
        [
            (e.qualifiers.subject or fact.subject.name, e.qualifiers)
            for fact in facts
            for e in fact.evidence
            if e.qualifiers.kind == "target"
            and e.doc_id == c.doc_id
            and e.start < c.end
            and c.start < e.end
        ]
        for c in citations
    ]


def _of_quote(
    question: str, place: str, cited: Citation, told: Sequence[tuple[str, Qualifiers]]
) -> tuple[float, _Figure] | None:
    """Return the figure of a quote that a question asks for, and how certain that is."""
    asked = set(character_pairs(question))
    best: tuple[float, _Figure] | None = None
    for name, q in told:
        pairs = set(character_pairs(name))
        score = len(pairs & asked) / max(1, len(pairs))
        value = decimal_of(q.value)
        if score < _SAME or value is None or (q.year and "年" in question and _other(q, question)):
            continue
        score -= _CHANGE * (q.comparator in ("+", "-"))
        if best is None or score > best[0]:
            best = score, _Figure(place, value, q.unit, cited)
    if best or told:
        return best
    numbers = [q for q in quantities(cited.quote) if q.unit and q.unit not in _NO_FIGURE]
    if len(numbers) != 1 or len(numbers[0].values) != 1:
        return None
    return 0.0, _Figure(place, next(iter(numbers[0].values)), numbers[0].unit, cited)


def _other(told: Qualifiers, question: str) -> bool:
    """Return whether a figure is of another year than those in a question."""
    years = {question[i : i + 4] for i in range(len(question) - 4) if question[i + 4] == "年"}
    years = {year for year in years if year.isdigit()}
    return bool(years) and told.year not in years
