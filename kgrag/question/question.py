"""One reading of a question: its titles, places, times and cues as fields."""

import functools
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from kgrag.qualifiers import Standing
from kgrag.question.query import titles_in
from kgrag.question.sides import ASKS_ON, Side, innermost, sides
from kgrag.text.grammar import Grammar
from kgrag.text.places import places_in
from kgrag.text.plan_periods import plan_years
from kgrag.text.tagged import Span, Tagged
from kgrag.text.vocabulary import FIVE_YEAR_PLAN
from kgrag.types import Query

Level = Literal["", "省", "市"]
Order = Literal["", "most", "least"]
Kind = Literal["", "cites", "cited_by", "basis", "duties"]

_SPANS = ("title", "time", "time year", "time plan", "place")  # that are no words
_KINDS: tuple[Kind, ...] = ("cited_by", "cites", "basis", "duties")  # the first found is asked for
# 2021年4月, 2021年的计划 tell when a document was issued, 比2020年 what a figure is compared with.
_NO_YEAR = "(?![万亿千百多余家个项吨台辆元公亩米平立兆kKmM])"  # 2000万千瓦
_YEAR = re.compile(
    rf"(?<!\d)(?<!(?<!占)比)(?<!较)((?:19|20)\d\d){_NO_YEAR}(?=\s*年(?!\s*\d{{1,2}}\s*月|[底末]?(?:相比|的?基础|的?水平)"
    r"|度?的?(?:\S{0,8})(?:计划|方案|规划|意见|通知|文件|办法|要点))|[^\d年]|$)年?[底末]?"
)
_ANY_YEAR = re.compile(rf"(?<!\d)(?:19|20)\d\d(?!\d){_NO_YEAR}年?[底末]?")
_PERIOD = re.compile(rf"[“\"]?({FIVE_YEAR_PLAN})[”\"]?")
_WORDS = re.compile(r"[\w%.-]+")


@dataclass(frozen=True, slots=True)
class Question:
    """What a question asks for.

    Attributes:
        query: Its words, titles and places.
        asks: Names of the cues in `[cues]` of `questions.toml` that it has.
        kind: What is asked of a title or an agency; empty for anything else.
        sides: Of a comparison; else empty.
        years: Years of the figures asked for.
        periods: Five-year plans that it names.
        years_named: All years in it, also those of issue (2021年的通知); not a bound: 2021年以来.
        standing: Planned or achieved; empty for both.
        level: 省 or 市 for all places of it; empty for the places named alone.
        order: Whether the largest or the smallest comes first; empty for neither.
        places: Short names of the places compared, else of the innermost ones, in the order asked.
    """

    query: Query
    asks: frozenset[str]
    kind: Kind
    sides: tuple[Side, ...]
    years: frozenset[int]
    periods: tuple[str, ...]
    years_named: frozenset[int]
    standing: Standing
    level: Level
    order: Order
    places: tuple[str, ...]

    @property
    def asks_on(self) -> bool:
        """Return whether it asks who issued what a quoted document is based on."""
        return self.asks >= ASKS_ON

    @property
    def due(self) -> frozenset[int]:
        """Return the years of figures: those named, else the last of each plan; empty for any."""
        return self.years or frozenset(plan_years(period)[1] for period in self.periods)

    def rest(self, tags: Collection[str]) -> str:
        """Return the text from the first to the last word that is neither of asking nor of a tag.

        Args:
            tags: Of spans that a selection has fields for: place, year, planned.

        Returns:
            Empty where every word is bound.
        """
        found = [*_WORDS.finditer(self._without({"filler", *tags}))]
        return self.query.text[found[0].start() : found[-1].end()] if found else ""

    def _without(self, tags: Collection[str]) -> str:
        """Return the text with blanks in place of spans with a tag."""
        read = tagged(self.query)
        text = list(read.text)
        for span in read.spans.values():
            if not span.tags.isdisjoint(tags):
                text[span.start : span.end] = " " * (span.end - span.start)
        return "".join(text)


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of questions."""
    return Grammar.load("kgrag.question", "questions.toml", tags=_SPANS)


@functools.lru_cache(maxsize=256)
def question_of(query: Query) -> Question:
    """Return the reading of a parsed question.

    >>> from kgrag.question.query import analyse
    >>> asked = question_of(analyse("十五五期间各省的森林覆盖率目标是多少"))
    >>> asked.level, sorted(asked.due), asked.standing
    ('省', [2030], 'planned')
    """
    read = tagged(query)
    asks = frozenset(
        name
        for name, pattern in grammar().told["cues"].items()
        if grammar().compile(pattern).search(read.code)
    )
    found = sides(query, asks)
    beside = [side.label for side in found if side.label in query.places]
    level: Level = "省" if "provinces" in asks else "市" if "cities" in asks else ""
    return Question(
        query,
        asks,
        next((kind for kind in _KINDS if kind in asks), ""),
        found,
        frozenset(int(told) for told in _told(read, "year")),
        tuple(_told(read, "plan")),
        _years_named(read),
        _standing(read, asks),
        level,
        "least" if "least" in asks else "most" if "most" in asks else "",
        tuple(beside or sorted(innermost(query.places), key=query.text.find)),
    )


def tagged(query: Query) -> Tagged:
    """Tag a question in lower case with its titles, times, places and words."""
    text = query.text.lower() if len(query.text.lower()) == len(query.text) else query.text
    named = titles_in(query.text, dict(query.named))
    return grammar().tagged(
        text,
        (Span(start, end, frozenset(["title"]), title) for start, end, title in named),
        sorted(_times(text), key=lambda span: span.start),
        (Span(*match.span(), frozenset(["time"])) for match in _ANY_YEAR.finditer(text)),
        (
            Span(start, end, frozenset(["place"]))
            for start, end, place in places_in(text, query.places)
            if place in query.places
        ),
    )


def _times(text: str) -> Iterator[Span]:
    for kind, pattern in (("year", _YEAR), ("plan", _PERIOD)):
        for match in pattern.finditer(text):
            yield Span(*match.span(), frozenset(["time", kind]), match[1])


def _told(read: Tagged, kind: str) -> Iterator[str]:
    return (str(span.value) for span in read.spans.values() if kind in span.tags)


def _years_named(read: Tagged) -> frozenset[int]:
    """Return all years, also those of issue (2021年的通知); not a bound: 2021年以来."""
    bounds = grammar().words("bound")
    told = (s for s in read.spans.values() if "time" in s.tags and "plan" not in s.tags)
    within = (s for s in told if not read.text.startswith(bounds, s.end))
    return frozenset(int(read.text[s.start : s.start + 4]) for s in within)


def _standing(read: Tagged, asks: Collection[str]) -> Standing:
    """Return whether plans or facts are asked for; neither where a year is one to compare with."""
    planned, achieved = "planned" in asks, "achieved" in asks
    bases = (s for s in read.spans.values() if s.tags == {"time"})
    if planned == achieved or any(read.text[: s.start].endswith(("比", "较")) for s in bases):
        return ""
    return "planned" if planned else "achieved"
