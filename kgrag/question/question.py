"""Intent of a question by rules, over the same tagged spans as documents."""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgrag.qualifiers import Standing
from kgrag.question.query import titles_in
from kgrag.question.sides import ASKS_ON, Side, innermost, sides
from kgrag.text.facets import NATIONAL, called
from kgrag.text.grammar import Grammar
from kgrag.text.places import places_in
from kgrag.text.plan_periods import plan_years
from kgrag.text.regions import level_of
from kgrag.text.tagged import Span, Tagged
from kgrag.text.vocabulary import ABROAD, FIVE_YEAR_PLAN
from kgrag.types import Query

# What a question wants of all places of a level, or of all places or documents.
PROVINCES, CITIES, ANYWHERE, DOCUMENTS = "省", "市", "地", "文件"
EVERYWHERE = "全"  # of a question that names neither a place nor a level: the country, too
_LEVELS = {"provinces": PROVINCES, "cities": CITIES, "anywhere": ANYWHERE, "documents": DOCUMENTS}
_SPANS = ("title", "time", "time year", "time plan", "place")  # that are no words
_ASKING = frozenset(
    [
        "filler",
        "planned",
        "achieved",
        "most",
        "least",
        "extreme",
        "gap",
        "lists",
        "counts",
        "each",
        "who",
        "define",
    ]
)
_MOST_SIDES = 6  # of a comparison; more places are named in a list
# 2021年4月, 2021年的计划 tell when a document was issued, 比2020年 what a figure is compared with.
_NO_YEAR = "(?![万亿千百多余家个项吨台辆元公亩米平立兆kKmM])"  # 2000万千瓦
_YEAR = re.compile(
    rf"(?<!\d)(?<!(?<!占)比)(?<!较)((?:19|20)\d\d){_NO_YEAR}(?=\s*年(?!\s*\d{{1,2}}\s*月|[底末]?(?:相比|的?基础|的?水平)"
    r"|度?的?(?:\S{0,8})(?:计划|方案|规划|意见|通知|文件|办法|要点))|[^\d年]|$)年?[底末]?"
)
_ANY_YEAR = re.compile(rf"(?<!\d)(?:19|20)\d\d(?!\d){_NO_YEAR}年?[底末]?")
_PERIOD = re.compile(rf"[“\"]?({FIVE_YEAR_PLAN})[”\"]?")
_FEW = re.compile("前?(?:\\d{1,2}|[一二两三四五六七八九十])[个名位]?")  # of a ranking
_MARKS = re.compile(r"(?<!\d)\.|\.(?!\d)|[\s,，、。？?！!：:；;“”\"'‘’（）()《》]+")


@dataclass(frozen=True, slots=True)
class Question:
    """The intent of a question.

    Attributes:
        query: Its words, titles and places.
        asks: Names of the matching patterns in `[asks]` of `questions.toml`.
        sides: Of a comparison; else empty.
        years: Years of the figures asked for.
        periods: Five-year plans that it names.
        standing: Planned or achieved; empty for both.
        level: 省, 市 for all places of it; 地 for all places, 文件 for all documents; empty for
            the places named alone.
        places: Short names in the order asked; with a level, those that limit it.
        topic: The question without places, levels and times.
        pieces: The topic without question words.
    """

    query: Query
    asks: frozenset[str]
    sides: tuple[Side, ...]
    years: frozenset[int]
    periods: tuple[str, ...]
    standing: Standing
    level: str
    places: tuple[str, ...]
    topic: str
    pieces: tuple[str, ...]

    @property
    def asks_on(self) -> bool:
        """Return whether it asks who issued what a quoted document is based on."""
        return self.asks >= ASKS_ON

    @property
    def abroad(self) -> tuple[str, ...]:
        """Return the countries abroad that it is about; none if it names a place here or a title.

        No figure, rule or place here answers it, only a sentence that names one of them.
        """
        query = self.query
        if query.titles or query.places or query.national:
            return ()
        return tuple(word for word in query.words if word in ABROAD)

    @property
    def due(self) -> frozenset[int]:
        """Return the years of figures: those named, else the last of each plan; empty for any."""
        return self.years or frozenset(plan_years(period)[1] for period in self.periods)

    def row_of(self, around: Sequence[str]) -> str:
        """Return the full name of the place under which an answer lists what is said of another.

        Args:
            around: Full names of the other place and those around it, outermost first.

        Returns:
            Empty if it is none that the question asks for.
        """
        region = around[-1]
        if not self.level:
            return region if called(region) in self.places else ""
        if region == NATIONAL and self.query.national:
            return region
        if self.places and not any(called(name) in self.places for name in around):
            return ""
        if self.level in (DOCUMENTS, EVERYWHERE) or (self.level == ANYWHERE and region != NATIONAL):
            return region
        if self.level == CITIES:
            return region if level_of(region) == CITIES or region.endswith(CITIES) else ""
        return region if region != NATIONAL and level_of(region) == self.level else ""


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of questions."""
    return Grammar.load("kgrag.question", "questions.toml", tags=_SPANS)


@functools.lru_cache(maxsize=256)
def question_of(query: Query) -> Question:
    """Return the intent of a parsed question.

    >>> from kgrag.question.query import analyse
    >>> asked = question_of(analyse("十五五期间各省的森林覆盖率目标是多少"))
    >>> asked.level, sorted(asked.due), asked.standing, asked.pieces
    ('省', [2030], 'planned', ('森林覆盖率',))
    """
    read = tagged(query)
    asks = frozenset(
        name for name, pattern in grammar().told["asks"].items() if _finds(pattern, read.code)
    )
    found = sides(query, asks)
    level, cut = _level(read)
    topic = _topic(query.text, read, cut)
    return Question(
        query,
        asks,
        found,
        frozenset(int(told) for told in _told(read, "year")),
        tuple(_told(read, "plan")),
        _standing(asks),
        level,
        _places(query, found, level),
        topic,
        tuple(pieces(topic)),
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


def _finds(pattern: str, code: str) -> bool:
    return grammar().compile(pattern).search(code) is not None


def _standing(asks: frozenset[str]) -> Standing:
    planned, achieved = "planned" in asks, "achieved" in asks
    if planned == achieved or "compared" in asks:
        return ""
    return "planned" if planned else "achieved"


def _level(read: Tagged) -> tuple[str, tuple[int, int]]:
    """Return the level of which all places are asked for, and the span that says so."""
    for name, level in _LEVELS.items():
        if found := grammar().pattern(name).search(read.code):
            return level, found.span()
    return "", (0, 0)


def _places(query: Query, found: Sequence[Side], level: str) -> tuple[str, ...]:
    places = () if query.titles else tuple(side.label for side in found)
    inner = innermost(query.places)
    if not (places or level or query.titles) and len(inner) == 1 < len(query.places):
        return inner  # 四川广元
    if not places and (level or len(query.places) == 1 or len(query.places) > _MOST_SIDES):
        places = tuple(sorted(query.places, key=query.text.find))
    return places or ((NATIONAL,) if query.national and not level else ())


def _topic(text: str, read: Tagged, cut: tuple[int, int]) -> str:
    said = []
    for at in range(len(read.code)):
        tags = read.spans[at].tags if at in read.spans else frozenset()
        is_out = cut[0] <= at < cut[1] or tags & {"title", "time", "place", "nation"}
        said.append(" " if is_out else text[read.at[at] : read.at[at + 1]])
    return "".join(said)


def pieces(text: str) -> list[str]:
    """Split a text at question words.

    >>> pieces("森林覆盖率的目标是多少")
    ['森林覆盖率']
    """
    read = grammar().tagged(text)
    bare = "".join(
        " " if at in read.spans and read.spans[at].tags & _ASKING else read.words(at, at + 1)
        for at in range(len(read.code))
    )
    return [piece for piece in _MARKS.split(bare) if piece and not _FEW.fullmatch(piece)]
