"""Reading a question, once: its words, titles, places, times and cues as fields, and its sides.

The sides of a comparison are places, or quoted titles: 福建、河南各多少 asks for 福建 and for 河南.
If rules find none, they are a model's sub-questions.
"""

import functools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest
from types import MappingProxyType
from typing import Literal

from kgrag.qualifiers import Standing
from kgrag.text.facets import NATIONAL
from kgrag.text.grammar import Grammar
from kgrag.text.places import asks_nationally, places_in, question_places
from kgrag.text.plan_periods import plan_years
from kgrag.text.quantities import narrow
from kgrag.text.regions import regions_named
from kgrag.text.tagged import Span, Tagged
from kgrag.text.vocabulary import FIVE_YEAR_PLAN
from kgrag.text.words import question_language, quoted_titles, words
from kgrag.types import Query

_Kind = Literal["", "cites", "cited_by", "basis", "duties"]

_SPANS = ("title", "time", "time year", "time plan", "place")  # that are no words
_KINDS: tuple[_Kind, ...] = ("cited_by", "cites", "basis", "duties")  # the first found is asked for
# 2021年4月, 2021年的计划 tell when a document was issued, 比2020年 what a figure is compared with.
_NO_YEAR = "(?![万亿千百多余家个项吨台辆元公亩米平立兆kKmM])"  # 2000万千瓦
_YEAR = re.compile(
    rf"(?<!\d)(?<!(?<!占)比)(?<!较)((?:19|20)\d\d){_NO_YEAR}(?=\s*年(?!\s*\d{{1,2}}\s*月|[底末]?(?:相比|的?基础|的?水平)"
    r"|度?的?(?:\S{0,8})(?:计划|方案|规划|意见|通知|文件|办法|要点))|[^\d年]|$)年?[底末]?"
)
_ANY_YEAR = re.compile(rf"(?<!\d)(?:19|20)\d\d(?!\d){_NO_YEAR}年?[底末]?")
_PERIOD = re.compile(rf"[“\"]?({FIVE_YEAR_PLAN})[”\"]?(?:时期|期间)?")
_Y = r"(?:19|20)\d\d"
_NAMES = re.compile(  # 2000家 is a number, 2000年 and 2021—2025 are not
    rf"《[^》]{{0,200}}》|(?:{_Y}\s*[-—–~～至到]+\s*)?{_Y}\s*年(?:\s*\d{{1,2}}\s*月)?(?:\s*\d{{1,2}}\s*[日号])?"
    rf"|{_Y}\s*[-—–~～]+\s*{_Y}(?!\d)|\d{{1,2}}\s*月\s*\d{{1,2}}\s*日|第\s*\d+\s*号"
)
# A question goes on from a quoted document to who issued what it is based on.
_ASKS_ON = frozenset(["on from it", "who issued"])
_MOST = 6  # sides; a question that names more places is no comparison of them
_AND = frozenset([*"、，,/和与及跟同或比", "以及"])  # between the names of sides


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        label: Its place, 全国 for the national level; or the title quoted; or a model's label.
        query: The question about it alone.
    """

    label: str
    query: Query


@dataclass(frozen=True, slots=True)
class Question:
    """What a question asks for.

    Attributes:
        query: Its words, titles and places.
        asks: Names of the cues in `[cues]` of `questions.toml` that it has.
        kind: What is asked of a title or an agency; empty for anything else.
        sides: Of a comparison; else empty.
        due: Years of the figures asked for, of a five-year plan its last; empty for any.
        years_named: All years in it, also those of issue (2021年的通知); not a bound: 2021年以来.
        standing: Planned or achieved; empty for both.
        level: 省 or 市 for all places of it; empty for the places named alone.
        order: Whether the largest or the smallest comes first; empty for neither.
        places: Short names of the places compared, else of the innermost ones, in the order asked.
        read: Its text with the spans of its fields.
    """

    query: Query
    asks: frozenset[str]
    kind: _Kind
    sides: tuple[Side, ...]
    due: frozenset[int]
    years_named: frozenset[int]
    standing: Standing
    level: Literal["", "省", "市"]
    order: Literal["", "most", "least"]
    places: tuple[str, ...]
    read: Tagged = field(compare=False, repr=False)

    @property
    def asks_on(self) -> bool:
        """Return whether it asks who issued what a quoted document is based on."""
        return self.asks >= _ASKS_ON

    def rest(self, tags: Collection[str]) -> str:
        """Return the text from the first to the last word that is neither of asking nor of a tag.

        Args:
            tags: Of spans that a selection has fields for: place, year, planned.

        Returns:
            Empty where every word is bound.
        """
        unbound = {at for at, c in enumerate(self.read.text) if c.isalnum() or c in "_%.-"}
        for span in self.read.spans.values():
            if not span.tags.isdisjoint({"filler", *tags}):
                unbound.difference_update(range(span.start, span.end))
        return self.query.text[min(unbound) : max(unbound) + 1] if unbound else ""


def analyse(
    question: str,
    *,
    known_places: Iterable[str] = (),
    named: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Query:
    """Parse a question into a query, offline, by rules.

    Args:
        question: Any text; blank gives a query without words.
        known_places: Places that the documents are about.
        named: Document ids by name without 《》, as in `kgrag.retrieval.named`; names that the
            question does not contain are ignored.
    """
    question = unicodedata.normalize("NFC", question)  # é is one character, as names have it
    told = {name: tuple(doc_ids) for name, doc_ids in named.items() if name in question}
    titles = titles_in(question, told)
    remainder, end = "", 0
    for start, stop, _ in titles:
        remainder += question[end:start] + " "
        end = stop
    remainder += question[end:]
    return Query(
        text=question,
        words=tuple(words(question)),
        titles=tuple(title for _, _, title in titles),
        remainder=remainder.strip(),
        places=question_places(remainder, known_places),
        national=asks_nationally(remainder),
        language=question_language(question),
        named=tuple(told.items()),
    )


def like(query: Query, read: Query) -> Query:
    """Return the query of a part of a question, with the model's data of the question."""
    return replace(
        read,
        keywords=query.keywords,
        critical=query.critical,
        language=query.language,
        asked=query.asked,
    )


def titles_in(question: str, named: Iterable[str]) -> list[tuple[int, int, str]]:
    """Return (start, end, title) of quoted titles and of names without 《》, in order.

    >>> titles_in("节能办法和《水法》各有几条", ["节能办法"])
    [(0, 4, '节能办法'), (5, 9, '水法')]
    """
    quoted = [(start - 1, end + 1, title) for start, end, title in quoted_titles(question)]
    places = ((question.find(name), name) for name in named)
    found = [(start, start + len(name), name) for start, name in places if start >= 0]
    apart = (one for one in found if not any(a < one[1] and one[0] < b for a, b, _ in quoted))
    return sorted([*quoted, *apart])


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of questions."""
    return Grammar.load("kgrag.question", "questions.toml", tags=_SPANS)


@functools.lru_cache(maxsize=256)
def question_of(query: Query) -> Question:
    """Return the reading of a parsed question.

    >>> asked = question_of(analyse("十五五期间各省的森林覆盖率目标是多少"))
    >>> asked.level, sorted(asked.due), asked.standing
    ('省', [2030], 'planned')
    >>> asked = question_of(analyse("福建、河南到2025年各建多少家"))
    >>> [side.query.text for side in asked.sides]
    ['福建到2025年各建多少家', '河南到2025年各建多少家']
    """
    read = tagged(query)
    asks = frozenset(
        name
        for name, pattern in grammar().told["cues"].items()
        if grammar().compile(pattern).search(read.code)
    )
    found = _by_rule(query, read, asks)
    beside = [side.label for side in found if side.label in query.places]
    return Question(
        query,
        asks,
        next((kind for kind in _KINDS if kind in asks), ""),
        found,
        frozenset(map(int, _told(read, "year")))
        or frozenset(plan_years(period)[1] for period in _told(read, "plan")),
        _years_named(read),
        _standing(read, asks),
        "省" if "provinces" in asks else "市" if "cities" in asks else "",
        "least" if "least" in asks else "most" if "most" in asks else "",
        tuple(beside or sorted(_innermost(query.places), key=query.text.find)),
        read,
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
            Span(start, end, frozenset(["place"]), place)
            for start, end, place in places_in(text, query.places)
            if place in query.places
        ),
    )


def times_in(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of the years and five-year plans in a text, in order."""
    return sorted(m.span() for pattern in (_PERIOD, _ANY_YEAR) for m in pattern.finditer(text))


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


def _by_rule(query: Query, read: Tagged, asks: Collection[str]) -> tuple[Side, ...]:
    """Return a side per quoted title that words of comparison oppose, else per place.

    A province before its city is none. The national level is one only with words of comparison, as
    国家级 and 国家政策 are frequent.
    """
    if query.titles:
        named = [*_named(read, "title")] if "contrast" in asks else []
    else:
        nation = ["nation"] * (query.national and "comparison" in asks)
        named = _beside_each_other(read.text, [*_named(read, "place", *nation)])
    labels = list(dict.fromkeys(span.value for span in named))
    if not 2 <= len(labels) <= _MOST:
        return ()
    return tuple(Side(str(label), _asked_of(query, str(label), named)) for label in labels)


def _named(read: Tagged, *tags: str) -> Iterator[Span]:
    """Yield the spans that name sides, in order; those of the country have its label."""
    for span in read.spans.values():
        if not span.tags.isdisjoint(tags):
            yield span if span.value else replace(span, value=NATIONAL)


def _asked_of(query: Query, label: str, named: Sequence[Span]) -> Query:
    """Return the question about one side alone."""
    text = _left_out(query.text, label, named)
    asked = analyse(text, known_places={label, *query.places}, named=dict(query.named))
    if query.titles:
        return like(query, asked)
    places = frozenset() if label == NATIONAL else frozenset({label})
    return replace(like(query, asked), places=places, national=label == NATIONAL)


def _beside_each_other(text: str, named: Sequence[Span]) -> list[Span]:
    """Drop places that only locate another one.

    北京通州 is one, as are 南昌 and 江西 in two places of a question; 安徽和阜阳 are two.
    """
    joined = {
        frozenset((one.value, following.value))
        for one, following in pairwise(named)
        if _is_and(text[one.end : following.start])
    }
    labels = {str(one.value) for one in named}
    outer = {
        label
        for label in labels
        for inner in labels - {label}
        if label in _around(inner) and frozenset((label, inner)) not in joined
    }
    kept: list[Span] = []
    start: int | None = None  # of the names right before, that say where this one lies
    for one, following in zip_longest(named, named[1:]):
        if one.value not in outer:
            kept.append(one if start is None else replace(one, start=start))
            start = None
        elif following is not None and following.start == one.end:
            start = one.start if start is None else start
        else:
            start = None
    return kept


def _is_and(text: str) -> bool:
    """Return whether a text joins two names: 、, 和, 里和, 本级以及."""
    return text.strip().removeprefix("里").removeprefix("本级").strip() in _AND


def _innermost(places: Collection[str]) -> list[str]:
    """Return the places that lie around no other one of them, by short names."""
    return [p for p in places if not any(p in _around(o) for o in places if o != p)]


@functools.cache
def _around(place: str) -> frozenset[str]:
    """Return the short names of all places around those of a name."""
    found: set[str] = set()
    for name in (place, *(place + level for level in "市区县旗")):
        for region in regions_named(name):
            parent = region.parent
            while parent is not None:
                found.add(parent.short)
                parent = parent.parent
    return frozenset(found)


def _left_out(text: str, label: str, named: Sequence[Span]) -> str:
    """Return a question with the names in each enumeration reduced to one side's."""
    pieces: list[str] = []
    at = 0
    for run in _runs(text, named):
        own = [n for n in run if n.value == label]
        pieces.append(text[at : run[0].start])
        pieces.append(text[own[0].start : own[0].end] if own else "")
        at = run[-1].end
    return "".join([*pieces, text[at:]])


def _runs(text: str, named: Sequence[Span]) -> Iterator[list[Span]]:
    """Yield names that stand together, or are enumerated, together."""
    run: list[Span] = []
    for one in named:
        between = text[run[-1].end : one.start] if run else ""
        if run and between.strip() and not _is_and(between):
            yield run
            run = []
        run.append(one)
    if run:
        yield run


@dataclass(frozen=True, slots=True)
class AnswerKind:
    """A kind of answer; whether a question `asks` for it, and a sentence `has` one."""

    name: str
    asks: Callable[[str], object]
    has: Callable[[str], object]


@functools.cache
def _kinds() -> tuple[AnswerKind, ...]:
    compiled = grammar().compile
    return tuple(
        AnswerKind(row["name"], compiled(row["asks"]).search, compiled(row["has"]).search)
        for row in grammar().told["kinds"]
    )


def asked_kind(question: str) -> AnswerKind | None:
    """Return the kind of answer that a question asks for; None for any.

    >>> asked_kind("每亩补多少钱").name, asked_kind("哪个部门负责，一年补多少钱").name
    ('money', 'money')
    >>> asked_kind("有哪些措施") is None
    True
    """
    return next((kind for kind in _kinds() if kind.asks(question)), None)


def states_kind(text: str, kind: AnswerKind) -> bool:
    """Return whether a text contains an answer of a kind.

    Years, dates and numbers of documents are not counted as numbers.

    >>> kind = asked_kind("装机达到多大规模")
    >>> states_kind("2021年10月，国务院印发《2030年前碳达峰行动方案》", kind)
    False
    """
    text = narrow(text)
    return bool(kind.has(_NAMES.sub("", text) if kind.name == "number" else text))
