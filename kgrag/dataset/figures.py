"""Questions about figures: one, two years, two places, as of a year, and unanswerable ones."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

from kgrag.dataset.library import Library, Span, spoken
from kgrag.dataset.questions import Question, everyday, worded
from kgrag.evaluation.queries import GoldQuery
from kgrag.qualifiers import Qualifiers
from kgrag.statements.choose import stated_place
from kgrag.statements.figures import (
    Measured,
    figure_words,
    is_known_place,
    measured_of,
    signed_words,
    value_words,
)
from kgrag.store.graph import Statement
from kgrag.text.facets import NATIONAL
from kgrag.text.indicators import is_indicator
from kgrag.text.regions import level_of
from kgrag.types import Document

_SAID_BEFORE = ("年均", "人均", "日均")  # what a name may be told by besides
_SHORTEST_NAME = 4  # characters of an indicator that says of itself what is measured
_WIDELY = 3  # documents that state an indicator which people may look for anywhere
_PIECE = 5  # characters of a name by any of which a text may speak of it
_BY_SIGN = {">=": "least", ">": "least", "<=": "most", "<": "most", "+": "rise", "-": "fall"}
_REACHED = {"+": "rose", "-": "fell"}


_Gold = dict[str, tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class _Figure:
    """A figure that one or several documents state.

    Attributes:
        indicator: Its name.
        measured: Its subject.
        place: Full names, outermost first.
        year: When it is due, or was reached.
        planned: Whether it is a target.
        values: As stated, without duplicates.
        statements: Its evidence.
    """

    indicator: str
    measured: Measured
    place: tuple[str, ...]
    year: str
    planned: bool
    values: tuple[str, ...]
    statements: tuple[Statement, ...]

    @property
    def docs(self) -> tuple[str, ...]:
        """Return the documents that state it."""
        return tuple(dict.fromkeys(s.doc_id for s in self.statements))

    @property
    def answers(self) -> tuple[str, ...]:
        """Return the figure with its sign, a change with its base, and the value alone."""
        first = self.statements[0]
        signed = signed_words(first)
        whole = figure_words(first) if self.measured.change else signed
        return tuple(dict.fromkeys((whole, value_words(first))))


class Figures:
    """Generates questions about figures.

    Only for named indicators in two documents at least: what occurs once is as often an extraction
    error.
    """

    def __init__(self, library: Library, draw: Random, dropped: Counter[str]) -> None:
        """Load the figures; `dropped` counts questions that are not generated, by reason."""
        self._library = library
        self._draw = draw
        self._dropped = dropped
        self._figures = list(_figures(library))
        draw.shuffle(self._figures)

    def number(self) -> Iterator[Question]:
        """Yield questions of a figure that no other document of the place contradicts."""
        for figure in self._figures:
            if self._library.left_out.isdisjoint(figure.docs) and (gold := self._gold(figure)):
                yield self._asked("number", self._template(figure), figure, gold)

    def years(self) -> Iterator[Question]:
        """Yield questions of two years of one indicator."""
        by_years = defaultdict(list)
        for figure in self._figures:
            if figure.planned and not figure.measured.base_year:
                by_years[figure.measured, figure.place].append(figure)
        for several in by_years.values():
            one, *others = sorted(several, key=lambda f: f.year)
            if others and (gold := self._gold(one)) and (more := self._gold(others[0])):
                answer = "；".join(f"{f.year}年{f.answers[0]}" for f in (one, others[0]))
                spans = _together(gold, more)
                yield self._asked("time", "years", one, spans, answer, later=others[0].year)

    def compare(self) -> Iterator[Question]:
        """Yield questions of the same figure of two places of one level."""
        groups = defaultdict(list)
        for figure in self._figures:
            if figure.planned and figure.place[0] != NATIONAL:
                groups[figure.measured, figure.year, level_of(figure.place[-1])].append(figure)
        for several in groups.values():
            for one, other in zip(several[::2], several[1::2], strict=False):
                if one.place == other.place or one.values == other.values:
                    continue
                if (gold := self._gold(one)) and (more := self._gold(other)):
                    answer = "；".join(f"{spoken(f.place)}{f.answers[0]}" for f in (one, other))
                    spans, there = _together(gold, more), spoken(other.place)
                    yield self._asked("compare", "compare", one, spans, answer, there=there)

    def unanswerable(self) -> Iterator[Question]:
        """Yield questions of figures that no document states of the place.

        First those of the documents in `left_out`; then indicators stated for at least three
        places, of a place whose documents do not mention them, nor any other document in a sentence
        about that place. Not those of GDP, which have too many wordings.
        """
        for figure in self._figures:
            if not self._library.left_out.issuperset(figure.docs) or not self._gold(figure):
                continue
            if self._is_spoken_of(figure, figure.place):
                self._dropped["unanswerable: a document may state it"] += 1
            else:
                yield self._asked("unanswerable", self._template(figure), figure, {})
        known: defaultdict[Measured, dict[tuple[str, ...], _Figure]] = defaultdict(dict)
        for figure in self._figures:
            if figure.planned and not (figure.measured.base_year or "GDP" in figure.indicator):
                known[figure.measured].setdefault(figure.place, figure)
        widely = [f for of in known.values() if len(of) >= _WIDELY for f in of.values()]
        self._draw.shuffle(widely)
        places = sorted({figure.place for figure in self._figures})
        for figure in widely:
            place = self._draw.choice(places)
            of_place = known[figure.measured]
            if place not in of_place and not self._is_spoken_of(figure, place):
                elsewhere = _Figure(
                    figure.indicator, figure.measured, place, figure.year, True, (), ()
                )
                of_place[place] = elsewhere  # asked once
                yield self._asked("unanswerable", "reach", elsewhere, {})
            else:
                self._dropped["unanswerable: a document may state it"] += 1

    def as_of(self) -> Iterator[Question]:
        """Yield questions of a figure that a later document of the place changed."""
        by_values = defaultdict(list)
        for figure in self._figures:
            if figure.planned and len(figure.values) == 2 and len(figure.docs) == 2:
                by_values[figure.measured, figure.place, figure.year].append(figure)
        for (figure,) in by_values.values():
            one, other = sorted(figure.statements, key=self._year)[:2]
            until = self._year(one)
            if not until or not self._year(other) > until or one.doc_id == other.doc_id:
                continue
            earlier = _Figure(
                figure.indicator, figure.measured, figure.place, figure.year, True, (), (one,)
            )
            gold: _Gold = {one.doc_id: ((one.start, one.end),)}
            yield self._asked("time", "until", earlier, gold, until=str(until))

    def _year(self, statement: Statement) -> int:
        return self._library.cards[statement.doc_id].metadata.sure_year or 0

    def _template(self, figure: _Figure) -> str:
        sign = figure.statements[0].qualifiers.comparator
        if figure.planned:
            return _BY_SIGN.get(sign, "reach")
        return _REACHED.get(sign, "achieved")

    def _asked(
        self,
        kind: str,
        template: str,
        figure: _Figure,
        gold: _Gold,
        answer: str = "",
        **more: str,
    ) -> Question:
        what, where = everyday(figure.indicator, self._draw), spoken(figure.place)
        measured = figure.measured
        before = [w for w in measured.counted if w in _SAID_BEFORE and w not in what]
        if measured.scope and measured.scope not in figure.indicator + where:
            where = measured.scope if where == NATIONAL else f"{where}{measured.scope}"
        base = f"比{measured.base_year}年" if measured.base_year else ""
        question = worded(
            template,
            self._draw,
            what="".join(before) + what,
            where=where,
            year=figure.year,
            base=base,
            **more,
        )
        answers = (answer,) if answer else figure.answers if gold else ()
        first = next(((doc, spans[0]) for doc, spans in gold.items()), None)
        parent = self._library.parent(first[0], first[1][0]) if first else ""
        return Question(GoldQuery("", question, tuple(gold), gold, kind, answers), parent)

    def _gold(self, figure: _Figure) -> _Gold:
        """Return the evidence of a figure, empty if documents disagree on it."""
        if len(figure.values) > 1:
            self._dropped["figure: documents differ"] += 1
            return {}
        gold: dict[str, list[Span]] = {doc: [] for doc in figure.docs}
        for s in figure.statements:
            gold[s.doc_id].append((s.start, s.end))
        name = figure.statements[0].qualifiers.subject or figure.indicator
        for words in dict.fromkeys((figure.indicator, name)):
            for said in self._library.saying(words, self._library.beside(figure.docs)):
                if figure.year not in said.text:
                    continue
                if figure.answers[-1] not in said.text:
                    self._dropped["figure: another document may differ"] += 1
                    return {}
                gold.setdefault(said.doc_id, []).append(said.span)
        return {doc: tuple(dict.fromkeys(spans)) for doc, spans in gold.items()}

    def _is_spoken_of(self, figure: _Figure, place: Sequence[str]) -> bool:
        library, may_be = self._library, _may_say(figure.indicator)
        held = [d for d, card in library.cards.items() if d not in library.left_out]
        short = spoken(place)
        own = [
            d
            for d in held
            if {*place} & ({*library.cards[d].metadata.regions} or {NATIONAL})
            or short in library.cards[d].title
        ]
        if any(may_be.search(library.text(d)) for d in own):
            return True
        return any(may_be.search(said.text) for said in library.saying(short, held))


def _may_say(name: str) -> re.Pattern[str]:
    """Return a pattern of an indicator in any wording.

    Any five consecutive characters of its name; its first four (绿色出行占比 for 绿色出行比例); or
    in one clause its last two after the first two, or after the fifth and fourth from the end
    (化肥、农药利用率 for 化肥利用率, 秸秆综合利用率 for 主要农作物秸秆利用率).

    >>> bool(_may_say("化肥利用率").search("化肥、农药利用率达到43%"))
    True
    >>> bool(_may_say("化肥利用率").search("化肥减量增效。秸秆综合利用率"))
    False
    """
    pieces = {name[at : at + _PIECE] for at in range(max(1, len(name) - _PIECE + 1))}
    pieces.add(name[:_SHORTEST_NAME])
    known = "|".join(map(re.escape, sorted(pieces)))
    first = "|".join(map(re.escape, sorted({name[:2], name[-_PIECE:][:2]})))
    return re.compile(f"{known}|(?:{first})[^。；]{{0,30}}{re.escape(name[-2:])}")


def _together(*golds: _Gold) -> _Gold:
    found: _Gold = {}
    for gold in golds:
        for doc, spans in gold.items():
            found[doc] = tuple(dict.fromkeys((*found.get(doc, ()), *spans)))
    return found


def _figures(library: Library) -> Iterator[_Figure]:
    """Yield the figures for questions, ordered by subject."""
    groups: defaultdict[tuple[Measured, tuple[str, ...], str, str], list[Statement]]
    groups = defaultdict(list)
    stating = defaultdict(set)
    for s in library.store.statements("target"):
        told, name = s.qualifiers, s.fact.subject.name
        card = library.cards.get(s.doc_id)
        if card is None or not (told.year.isdigit() and told.value and told.standing):
            continue
        if not is_indicator(name) or len(name) < _SHORTEST_NAME or told.condition:
            continue
        measured, place = measured_of(s, card), stated_place(told, card)
        if _is_clear(measured, told, card) and is_known_place(place, card):
            stating[measured.indicator_id].add(s.doc_id)
            groups[measured, place, told.year, told.standing].append(s)
    for (measured, place, year, standing), several in sorted(groups.items()):
        if len(stating[measured.indicator_id]) > 1:
            yield _Figure(
                indicator=several[0].fact.subject.name,
                measured=measured,
                place=place,
                year=year,
                planned=standing == "planned",
                values=tuple(dict.fromkeys(_value(s) for s in several)),
                statements=tuple(several),
            )


def _is_clear(measured: Measured, told: Qualifiers, card: Document) -> bool:
    """Return whether the subject of a figure is known, and the base year of a change.

    A target for a year before its document is an extraction error of a table.
    """
    from_when = bool(measured.base_year) or told.comparator not in _REACHED
    is_late = told.standing == "planned" and int(told.year) < (card.metadata.year or 0)
    counts_else = measured.unit == "倍" or {"新增", "累计"} & {*measured.counted}
    return from_when and measured.scope == told.scope and not (is_late or counts_else)


def _value(statement: Statement) -> str:
    told = statement.qualifiers
    return f"{told.value} {told.value_to}"
