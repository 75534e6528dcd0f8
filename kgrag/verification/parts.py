"""Read a sentence into the parts that it claims: numbers, times, places, names, modality.

Sentences of answers and clauses of documents are read alike, so that parts can be compared by
value (3 million yuan is 300万元), by what they are said of, and by how they are meant (at least).
"""

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib import resources
from itertools import pairwise, zip_longest
from typing import Literal

from kgrag.answer.support import wording
from kgrag.text.in_chinese import plan_spans
from kgrag.text.numerals import in_digits
from kgrag.text.plan_periods import plan_years
from kgrag.text.quantities import (
    COUNTS,
    Quantity,
    broken_numbers,
    dates,
    legible,
    quantities,
    says_nothing,
)
from kgrag.text.table_rows import is_row, named_cells
from kgrag.text.terms import Lexicon, Term, statement_terms
from kgrag.text.vocabulary import FIVE_YEAR_PLAN
from kgrag.text.words import is_latin, quoted_titles, sentence_spans
from kgrag.verification.names import Name, agencies, codes, places, titles

Kind = Literal[
    "quantity",
    "time",
    "clock",
    "day",
    "place",
    "agency",
    "title",
    "code",
    "name",
    "modal",
    "level",
    "per",
]
Size = tuple[str, Fraction]  # unit, size in it
Date = tuple[int, int, int]  # year, month, day; 0 for what is not told

_SEGMENT = re.compile(r"(?:[^，,；;。：:|\n（）()]|(?<=\d)[,:](?=\d))+")
_LISTED = re.compile(r"、|\b(?:and|or|but|while)\b")
_MONTH_NAMES = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_MONTH = re.compile(rf"\b(?:{'|'.join(_MONTH_NAMES)})\b")
_LONGEST = 800  # characters read as one sentence: each part is compared with all of it
_FEWEST = 3  # words or pairs that say what a number is of; with less, what stands before says it
_FOCUS = 6  # characters behind a modal word that tell what is allowed; in English three times that
_BEHIND = 2  # characters between a number and the bound behind it
_COUNTED = 8  # the same with what is counted between them
_YEARS = range(1900, 2100)
_CLOCK = re.compile(
    r"(?<![\d.:])(?:(?P<early>上午|凌晨|早上|早)|(?P<late>下午|晚上|晚|傍晚))? ?"
    r"(?P<hour>2[0-4]|[01]?\d)(?!\d)"
    r"(?: ?: ?(?P<minute>[0-5]\d)(?![\d:])"
    r"| ?(?P<oclock>时|点(?=[\d半整钟前后至到起之以]|[^一-鿿]|$))"
    r"(?:(?P<half>半)|(?P<more>[0-5]?\d)分?)?|)"
    r"(?:\s?(?:(?P<am>a\.?m\b\.?)|(?P<pm>p\.?m\b\.?)))?",
    re.IGNORECASE,
)
_TAGGED: tuple[Kind, ...] = ("day", "level", "per")
_LISTED_KINDS = frozenset(("quantity", "code", "name"))
_BOUNDS = ("bound:", "behind:")
_ORDINAL = re.compile(r"第\s*$")
_ARTICLES = frozenset("条章款号期批轮届")  # 第十二条 is a claim, 第一 is not
_ITEM = re.compile(r"[（(]\s*$")  # before the number of an item: （一）
_LABEL = re.compile(r"(?:责任)?(?:单位|部门)|[：:]|\s+by\b")  # behind the role of those that follow
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_DENIAL = re.compile("[不未无没非禁勿]")
_LATIN_WORD = re.compile("[A-Za-z]+")
_WRAPPED = re.compile(
    r"(?<=[a-z,])\n(?=[$\d])|(?<=[a-z,\d])\n(?=[a-z])|(?<=\d)\n(?=[万亿千元吨克米亩])"
)
_YEAR_END = re.compile(r"\s*年\s*(?:底|末|年底)")
# Units by all their names, with what one of them is in the first of its line.
_SIZES = (
    "元 1 yuan rmb cny|万元 10000|亿元 100000000",
    "日 1 天 day days|小时 1/24 hour hours hr hrs h|分钟 1/1440 minute minutes min"
    "|周 7 week weeks 星期",
    "月 1 个月 month months|年 12 year years|季度 3 quarter quarters",
    "工作日 1 working_day working_days business_day business_days workday workdays",
    "吨 1 tonne tonnes ton tons t|千克 1/1000 kg kilogram kilograms|克 1/1000000 gram grams"
    "|毫克 1/1000000000 mg",
    "微克 1 ug μg µg",
    "千瓦时 1 kwh|兆瓦时 1000 mwh|gwh 1000000",
    "千瓦 1 kw|兆瓦 1000 mw|吉瓦 1000000 gw",
    "平方米 1 m2 square_metre square_metres square_meter square_meters|公顷 10000 ha hectare"
    " hectares|平方公里 1000000 km2 square_kilometre square_kilometres square_kilometer"
    " square_kilometers|亩 2000/3 mu",
    "立方米 1 m3 cubic_metre cubic_metres cubic_meter cubic_meters",
    "米 1 metre metres meter meters|公里 1000 km kilometre kilometres kilometer kilometers"
    "|厘米 1/100 cm|毫米 1/1000 mm|mile 1609 miles|海里 1852 nautical_mile nautical_miles",
    "美元 1 dollar dollars usd us_dollar us_dollars|美分 1/100 cent cents",
    "% 1 percent per_cent",
    "个百分点 1 percentage_point percentage_points",
    "星级 1 star stars",
    "度 1 ℃ 摄氏度 °c degree degrees",
)
_CURRENCIES = {"$": "美元", "¥": "元", "￥": "元"}
_JOINED = str.maketrans("；：", "、 ")
_AND = frozenset(("、", "和", "及", "或", "and", "or", ","))
_TO = frozenset(("-", "—", "–", "~", "～", "至", "到", "to", "and", "或"))


@functools.cache
def _units() -> dict[str, tuple[str, Fraction]]:
    """Return the first unit of its line, and the size in it, of each name of a unit."""
    found: dict[str, tuple[str, Fraction]] = dict.fromkeys(COUNTS, ("个", Fraction(1)))
    found |= dict.fromkeys(("人次",), ("个", Fraction(1)))
    for line in _SIZES:
        base = line.split()[0]
        for unit in line.split("|"):
            name, size, *others = unit.split()
            found |= {n.replace("_", " "): (base, Fraction(size)) for n in (name, *others)}
    return found


@functools.cache
def _further_unit() -> re.Pattern[str]:
    """Return the pattern of units that `quantities` does not read."""
    names = sorted(_units(), key=len, reverse=True)
    bounded = (re.escape(n) + ("(?![a-z])" if n[-1].isascii() else "") for n in names)
    return re.compile(rf"\s*[-+]?\s*(?:{'|'.join(bounded)})")


@functools.cache
def _each_unit() -> re.Pattern[str]:
    """Return the pattern of what a quantity is for one of: 元/吨, per tonne, 每千瓦时."""
    return re.compile(rf"(?:/|\bper|每)\s*({_further_unit().pattern})")


@functools.cache
def _lexica() -> tuple[Lexicon, Lexicon]:
    """Return the lexica of bounds and of other words."""
    text = resources.files("kgrag.text").joinpath("claims.toml").read_text(encoding="utf-8")
    return Lexicon.from_toml(text, table="bounds"), Lexicon.from_toml(text)


def _terms(text: str) -> list[Term]:
    """Return the words of the lexica in a plain text: a bound forbids nothing."""
    bounds, others = _lexica()
    found = list(bounds.terms(text))
    return sorted([*found, *others.terms(_blanked(text, found, " "))], key=lambda t: t.start)


def _blanked(text: str, terms: "Iterable[Term | Part]", by: str) -> str:
    for term in terms:
        text = text[: term.start] + by * (term.end - term.start) + text[term.end :]
    return text


_words = functools.lru_cache(maxsize=1 << 12)(wording)  # many parts share a segment


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a statement.

    Attributes:
        kind: What it is.
        written: As in the text, on one line.
        start: Offset in the text.
        sizes: Of a quantity; of these, of the dates and of the forms one suffices.
        dates: Of a time.
        forms: Normal forms of all others.
        segment: Where its segment begins.
        marks: How it is meant, by kind: `bound` least or most, `move` up or down, `role` of an
            agency, `per` what period.
        when: Times that a quantity is of.
        base: Times that it is compared with.
        near: Words of its segment, and values in it.
        far: Those of its sentence; of a modal word those right behind it.
        said: Its segment.
        raw: Of a number, its values without its unit.
        is_word: Of a number in words.
        is_about: Of a number that is no exact one.
    """

    kind: Kind
    written: str
    start: int
    sizes: frozenset[Size] = frozenset()
    dates: frozenset[Date] = frozenset()
    forms: frozenset[str] = frozenset()
    segment: int = 0
    marks: frozenset[tuple[str, str]] = frozenset()
    when: frozenset[Date] = frozenset()
    base: frozenset[Date] = frozenset()
    near: frozenset[str] = frozenset()
    far: frozenset[str] = frozenset()
    said: str = ""
    raw: frozenset[Fraction] = frozenset()
    is_word: bool = False
    is_about: bool = False

    @property
    def units(self) -> frozenset[str]:
        """The units of a quantity."""
        return frozenset(unit for unit, _ in self.sizes)

    @property
    def is_converted(self) -> bool:
        """Whether a quantity was converted into another unit."""
        return not self.raw.issuperset(size for _, size in self.sizes)

    @property
    def end(self) -> int:
        """Offset after its last character, where its words stand so."""
        return self.start + len(self.written)

    def marked(self, kind: str) -> frozenset[str]:
        """Return its marks of a kind."""
        return frozenset(value for name, value in self.marks if name == kind)


@functools.lru_cache(maxsize=1 << 12)
def parts_of(text: str, known: tuple[str, ...] = ()) -> tuple[Part, ...]:
    """Return the parts of all sentences of a text, in order.

    Args:
        text: Of an answer, without [n], or of a document; rows of tables as `named_cells` has them.
        known: Names of places that no list holds.
    """
    found: list[Part] = []
    text = _WRAPPED.sub(" ", text)
    for start, end in broken_numbers(text):  # 0. 75 ends no sentence
        text = text[:start] + "".join(text[start:end].split()).rjust(end - start) + text[end:]
    for start, end in _with_remarks(text):
        sentence = _Sentence(text[start:end], known)
        found += [
            replace(part, start=start + part.start, segment=start + part.segment)
            for part in sentence.parts()
        ]
    return tuple(found)


def _with_remarks(text: str) -> list[tuple[int, int]]:
    """Return the spans of sentences, each with the remark in brackets behind it; long ones cut."""
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        opened = spans and text.rfind("（", *spans[-1]) > text.rfind("）", *spans[-1])
        if spans and (opened or text[start:end].lstrip()[:1] == "（"):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [
        (begin, min(end, begin + _LONGEST))
        for start, end in spans
        for begin in range(start, end, _LONGEST)
    ]


def plain(text: str) -> str:
    """Return a text in narrow lower case with numbers in digits; the length stays."""
    return in_digits(legible(text))


def is_modal(word: str) -> bool:
    """Return whether a word says what is allowed, asked for or not so, in `claims.toml`."""
    return any(tag.startswith("modal:") for term in _terms(plain(word)) for tag in term.tags)


def denials(text: str) -> int:
    """Return how often a text says no, by whatever words: 不会再, 暂无, never."""
    tags = {"modal:not", "modal:forbid"}
    if is_latin(text):
        return sum(bool(term.tags & tags) for term in _terms(plain(text)))
    return len(_DENIAL.findall(text))


def claims_something(sentence: str) -> bool:
    """Return whether a sentence has a part that a text would have to state."""
    return any(part.kind not in ("modal", "per", "level") for part in parts_of(sentence))


def lines_of(text: str, columns: str) -> str:
    """Return a quote with its rows of a table as sentences, under a header's names."""
    if not columns:
        return text
    return "\n".join(
        named_cells(columns, line).translate(_JOINED) if is_row(line) else line
        for line in text.split("\n")
    )


class _Sentence:
    """A sentence in the course of reading."""

    def __init__(self, text: str, known: tuple[str, ...]) -> None:
        self._text, self._known = text, known
        self._plain = plain(text)
        self._latin = is_latin(text)
        self._titled = [(start, end) for start, end, _ in quoted_titles(text)]
        self._terms = [t for t in _terms(self._plain) if not self._in_title(t.start)]
        self._segments = _segments(self._plain)
        plans = _plans(text, latin=self._latin)
        self._plans = [plan for plan in plans if not self._in_title(plan[0])]
        self._read = list(quantities(self._plain))
        self._starts = [q.start for q in self._read]
        self._clocks = list(self._read_clock())
        self._times = sorted(self._read_times(), key=lambda t: t.start)
        self._quantities = self._ranged(list(self._read_quantities()))
        self._listed = frozenset(self._joined())
        numbers = [*self._quantities, *self._times]
        bounds = [t for t in self._terms if any(tag.startswith(_BOUNDS) for tag in t.tags)]
        aims = () if self._latin else statement_terms().terms(text)  # say nothing of what it is
        self._bare = _blanked(text, [*numbers, *bounds], "0")
        at_number = [t for t in aims if self._bare[t.end : t.end + 1] == "0"]
        self._topics = _blanked(self._bare, at_number, "0")
        self._agencies = list(self._read_agencies())
        names = (_words(name.written) for name in self._agencies)
        self._agency_words = frozenset[str]().union(*names)
        self._far = _words(self._bare)
        self._values: dict[frozenset[str], list[tuple[int, str]]] = {}  # of others, by units

    def _in_title(self, at: int) -> bool:
        return any(start <= at < end for start, end in self._titled)

    def parts(self) -> Iterator[Part]:
        """Yield the parts, with their marks and words."""
        for part in self._quantities:
            yield self._told(self._meant(part))
        for part in (*self._clocks, *self._times):
            yield self._told(part)
        yield from self._names()
        yield from self._tagged()
        yield from self._modals()

    def _told(self, part: Part) -> Part:
        """Return a part with the words of its segment, or item of a list, and of its sentence."""
        low, high = self._segment(part.start)
        start, end = self._item(part)
        near = self._near(start, end, low)
        if part.kind == "agency":
            near -= self._agency_words
        elif part.kind != "quantity":
            near -= _words(part.written)
        if part.units not in self._values:  # most figures of a sentence have few units
            others = [p for p in (*self._quantities, *self._times) if not part.units & p.units]
            told = [(p.start, f"#{value}") for p in others for value in p.sizes or p.dates]
            self._values[part.units] = told
        values = self._values[part.units]
        near |= {value for at, value in values if low <= at < high}
        far = self._far | {value for _, value in values}
        marks = part.marks | ({("each", "")} if self._is_each(part, low, high) else set())
        said = self._written(low, high)
        return replace(part, near=near, far=far, segment=start, said=said, marks=marks)

    def _is_each(self, part: Part, low: int, high: int) -> bool:
        """Return whether what a part is of stands in another list, item for item."""
        respective = any("each" in t.tags and low <= t.start < high for t in self._terms)
        return respective or (part.kind == "quantity" and part.start in self._listed)

    def _joined(self) -> Iterator[int]:
        """Yield where quantities of a list of one unit begin."""
        for one, last in pairwise(self._quantities):
            between = _each_unit().sub("", self._plain[one.end : last.start]).strip()
            if one.units == last.units and between in _AND:
                yield from (one.start, last.start)

    def _item(self, part: Part) -> tuple[int, int]:
        """Return the span of a part's item of a list, else of its segment; a time's is longer."""
        start, end = self._segment(part.start)
        if part.kind == "time" and not self._is_base(part):  # of all until the next one
            later = [t.start for t in self._times if t.start > part.start and not self._is_base(t)]
            return start, max(end, min(later, default=len(self._text)))
        if part.kind not in _LISTED_KINDS:
            return start, end
        cuts = [start, *(m.end() for m in _LISTED.finditer(self._text, start, end)), end]
        i = min(bisect_right(cuts, part.start), len(cuts) - 1)
        return cuts[i - 1], cuts[i]

    def _near(self, start: int, end: int, low: int) -> frozenset[str]:
        """Return the words of a span, and where these are few, those of its segment before it."""
        near, few = _words(self._bare[start:end]), 1 if self._latin else _FEWEST
        for begin in (low, self._segment(low - 1)[0]):
            is_part = self._text.startswith("其中", start)  # of what stands before it
            if is_part or len(_words(self._topics[start:end])) < few:
                start = min(start, begin)
                near |= _words(self._bare[start:end])
        return near

    def _segment(self, at: int) -> tuple[int, int]:
        i = bisect_right(self._segments, (at, len(self._text) + 1)) - 1
        return self._segments[max(i, 0)]

    def _written(self, start: int, end: int) -> str:
        return " ".join(self._text[start:end].split())

    # Numbers

    def _read_quantities(self) -> Iterator[Part]:
        dated = [(d.start, d.end) for d in dates(self._plain)]
        dated += [(start, end) for start, end, _ in self._plans]
        dated += [(clock.start, clock.end) for clock in self._clocks]
        for q in self._read:
            more = _further_unit().match(self._plain, q.end) if q.unit in ("", "个") else None
            within = self._in_title(q.start) or any(a <= q.start < b for a, b in dated)
            if within or not self._is_counted(q, is_measured=more is not None):
                continue
            end, values = self._measured(q, more)
            about = any("about" in t.tags for t in self._beside(q.start, end))
            yield Part(
                "quantity",
                self._written(q.start, end),
                q.start,
                frozenset(values),
                raw=frozenset(map(Fraction, q.values)),
                is_word=q.is_word or self._text[q.start].isalpha(),
                is_about=about,
            )

    def _is_counted(self, q: Quantity, *, is_measured: bool) -> bool:
        """Return whether a number is none of an item, a year, a month or a word."""
        if self._is_item(q) or q.values == {0} or q.unit == "月":
            return False
        return is_measured or not (says_nothing(self._plain, q) or _year_of(q))

    def _ranged(self, found: list[Part]) -> list[Part]:
        """Return quantities, the first of a range in the unit of its last."""
        for i, (one, last) in enumerate(pairwise(found)):
            between = self._plain[one.end : last.start].strip()
            in_digits = _DIGITS.search(plain(last.written))
            if one.units == {""} and between in _TO and len(last.sizes) == 1 and in_digits:
                ((unit, size),) = last.sizes
                written = Fraction(_DIGITS.findall(plain(last.written).replace(",", ""))[0])
                ratios = (size / max(last.raw), size / written)  # 2 to 5 million
                sizes = frozenset((unit, raw * ratio) for raw in one.raw for ratio in ratios)
                found[i] = replace(one, sizes=sizes)
        return found

    def _is_item(self, q: Quantity) -> bool:
        """Return whether a number names an item or a step: （一）, 第一."""
        if _ORDINAL.search(self._plain, max(0, q.start - 3), q.start):
            return q.unit not in _ARTICLES
        opened = _ITEM.search(self._plain, max(0, q.start - 3), q.start)
        return not q.unit and opened is not None and self._plain[q.end : q.end + 1] in "）)"

    def _measured(self, q: Quantity, more: re.Match[str] | None) -> tuple[int, list[Size]]:
        """Return the end of a quantity and its values in the first unit of their kind."""
        unit, end = q.unit, q.end
        if word := _LATIN_WORD.match(self._text, q.start):  # three, not t
            end = max(end, word.end())
        if more:
            unit, end = more.group().lstrip("-+ \n\t"), more.end()
        if not unit and self._plain[q.start - 1 : q.start] in _CURRENCIES:
            unit = _CURRENCIES[self._plain[q.start - 1 : q.start]]
        base, size = _units().get(unit, (unit, Fraction(1)))
        return end, [(base, Fraction(value) * size) for value in q.values]

    def _beside(self, start: int, end: int) -> Iterator[Term]:
        """Yield the words between the number before and this one, and behind it.

        In 5000吨标准煤以上 a bound stands behind what is counted, before any other number.
        """
        high = self._segment(start)[1]
        low, later = self._alone(start, end)
        for term in self._terms:
            is_bound = term.end <= later and _tagged("behind", [term])
            behind = end + (_COUNTED if is_bound and term.end - term.start > 1 else _BEHIND)
            if (low <= term.start and term.end <= start) or (
                end <= term.start <= behind and term.end <= high + _BEHIND
            ):
                yield term

    def _meant(self, part: Part) -> Part:
        """Return a quantity with how it is meant."""
        low, high = self._segment(part.start)
        here = [tag for t in self._terms if low <= t.start < high for tag in t.tags]
        marks = self._beside_marks(part)
        marks |= {("per", tag.partition(":")[2]) for tag in here if tag.startswith("per:")}
        marks |= {("computed", "") for tag in here if tag == "computed"}
        marks |= {("of", unit) for unit in self._for_each(part)}
        bases = [t for t in self._times if low <= t.start < part.start and self._is_base(t)]
        base = frozenset(date for t in bases for date in t.dates)
        return replace(part, marks=marks, base=base, when=self._when(part, high))

    def _alone(self, start: int, end: int) -> tuple[int, int]:
        """Return the span in the segment of a number that has no other one."""
        low, high = self._segment(start)
        before, behind = bisect_left(self._starts, start) - 1, bisect_left(self._starts, end)
        if before >= 0 and self._starts[before] >= low:
            low = self._read[before].end
        return low, min((high, *self._starts[behind : behind + 1]))

    def _for_each(self, part: Part) -> Iterator[str]:
        """Yield the units that a quantity is for one of, between the numbers around it."""
        low, high = self._alone(part.start, part.end)
        for begin, end in ((low, part.start), (part.end, high)):
            for match in _each_unit().finditer(self._plain, begin, end):
                base, size = _units()[match.group(1).strip().lstrip("-+").lstrip()]
                yield f"{size} {base}"

    def _beside_marks(self, part: Part) -> frozenset[tuple[str, str]]:
        """Return whether a quantity is the least or most, a rise or a fall."""
        beside = list(self._beside(part.start, part.end))
        before = [t for t in beside if t.start < part.start]
        behind = _tagged("behind", reversed([t for t in beside if t.start >= part.start]))
        bound, move = behind or _tagged("bound", before), _tagged("move", before)
        return frozenset({*(("bound", v) for v in bound), *(("move", v) for v in move)})

    def _when(self, part: Part, high: int) -> frozenset[Date]:
        """Return the time that a quantity is of: the last before it, else that of its segment."""
        own = [t for t in self._times if not self._is_base(t)]
        before = [t for t in own if t.start < part.start]
        behind = [t for t in own if part.start < t.start < high]
        if before:
            last = before[-1]
            # 2025年、2030年分别: which of them is not told here
            beside = [t for t in before if self._segment(t.start) == self._segment(last.start)]
            return frozenset(date for t in beside for date in t.dates)
        return behind[0].dates if behind else frozenset()

    def _is_base(self, time: Part) -> bool:
        return any(
            ("base" in t.tags and 0 <= time.start - t.end <= 1)
            or ("since" in t.tags and 0 <= t.start - time.end <= 1)
            for t in self._terms
        )

    # Times

    def _read_clock(self) -> Iterator[Part]:
        """Yield times of day in minutes; without a half of the day both are meant."""
        for match in _CLOCK.finditer(legible(self._text)):  # in digits 9am is 9
            told = match.groupdict("")
            early, late = told["early"] + told["am"], told["late"] + told["pm"]
            if not (early or late or told["minute"] or told["oclock"]):
                continue
            minutes = int(told["minute"] or told["more"] or 30 * bool(told["half"]))
            halves = (0,) if early else (720,) if late else (0, 720)
            yield from self._begun(match.start(), halves)
            yield self._clock(*match.span(), int(told["hour"]) * 60 + minutes, halves)
        for q in self._read:
            if q.unit == "时" and q.is_word:  # 二十时
                yield self._clock(q.start, q.end, int(max(q.values)) * 60, (0, 720))

    def _begun(self, end: int, halves: Iterable[int]) -> Iterator[Part]:
        """Yield the hour that a range begins with which ends in a time of day: 9 to 11 a.m."""
        before = [q for q in self._read if q.end <= end]
        if before and not before[-1].unit and self._plain[before[-1].end : end].strip() in _TO:
            hour = before[-1]
            yield self._clock(hour.start, hour.end, int(max(hour.values)) * 60, halves)

    def _clock(self, start: int, end: int, minutes: int, halves: Iterable[int]) -> Part:
        forms = {minutes % 720 + half for half in halves} if minutes <= 720 else {minutes % 1440}
        return Part("clock", self._written(start, end), start, forms=frozenset(map(str, forms)))

    def _read_times(self) -> Iterator[Part]:
        """Yield dates, years, months, and the last years of plans, outside of titles."""
        dated = [(d.start, d.end, {(d.year, d.month, d.day)}) for d in dates(self._plain)]
        further = [
            (*match.span(), {(0, _MONTH_NAMES.index(match.group()) + 1, 0)})
            for match in _MONTH.finditer(self._text)
        ]
        for q in self._read:
            year = 0 if _further_unit().match(self._plain, q.end) else _year_of(q)
            if year and self._plain[q.start - 1 : q.start] != "〔":
                ends = {(year, 12, 31)} if _YEAR_END.match(self._plain, q.start + 4) else set()
                further.append((q.start, q.end, {(year, 0, 0)} | ends))
            elif q.unit == "月":
                further.append((q.start, q.end, {(0, int(min(q.values)), 0)}))
        plans = [(start, end, {(plan_years(name)[1], 0, 0)}) for start, end, name in self._plans]
        apart = [t for t in further if not any(a <= t[0] < b for a, b, _ in dated)]
        for start, end, values in (*dated, *apart, *plans):
            if not self._in_title(start):
                yield Part("time", self._written(start, end), start, dates=frozenset(values))

    # Names

    def _names(self) -> Iterator[Part]:
        found: list[tuple[Kind, Name]] = [
            *(("title", name) for name in titles(self._text)),
            *(("agency", name) for name in self._agencies),
            *(("place", name) for name in places(self._text, self._known, latin=self._latin)),
            *(("code", name) for name in codes(self._text)),
            *(("name", name) for name in codes(self._text, capitalised=True)),
        ]
        numbers = [*self._quantities, *self._times, *self._clocks]
        apart = [(p.start, p.end) for p in numbers] + [(t.start, t.end) for t in self._terms]
        for kind, name in found:
            if kind in ("code", "name") and any(a <= name.start < b for a, b in apart):
                continue  # May, Friday, 9AM
            part = Part(kind, name.written, name.start, forms=frozenset(name.forms))
            if kind in ("place", "agency"):
                around = frozenset(("within", form) for form in name.forms[1:])
                marks = around | self._roles(part) if kind == "agency" else around
                part = replace(part, forms=frozenset(name.forms[:1]), marks=marks)
            yield self._told(part)

    def _read_agencies(self) -> Iterator[Name]:
        """Yield the agencies that are named: 不允许主管部门 has no name."""
        modal = [t.start for t in self._terms if _tagged("modal", [t])]
        for name in agencies(self._text, latin=self._latin):
            if not any(name.start <= at < name.start + len(name.written) for at in modal):
                yield name

    def _roles(self, part: Part) -> frozenset[tuple[str, str]]:
        """Return the role of an agency: behind it, else of the last label; 配合甲局: that leads."""
        roles = [t for t in self._terms if _tagged("role", [t])]
        _, high = self._segment(part.end - 1)
        behind = [t for t in roles if part.end <= t.start < high]
        before = [t for t in roles if t.end <= part.end and _LABEL.match(self._plain, t.end)]
        if any("role:support" in t.tags and t.end == part.start for t in roles):
            return frozenset({("role", "lead")})
        chosen = behind[:1] or before[-1:]
        return frozenset(("role", value) for value in _tagged("role", chosen))

    def _tagged(self) -> Iterator[Part]:
        for term in self._terms:
            for kind in _TAGGED:
                if forms := _tagged(kind, [term]):
                    written = self._written(term.start, term.end)
                    yield self._told(Part(kind, written, term.start, forms=forms))

    def _modals(self) -> Iterator[Part]:
        """Yield what each segment allows, forbids, or says plainly; nothing of a question."""
        if self._plain.rstrip().endswith("?"):
            return
        for low, high in self._segments:
            here = [t for t in self._terms if low <= t.start and t.end <= high]
            modal = [t for t in here if _tagged("modal", [t])]
            near = _words(_blanked(self._bare, modal, "0")[low:high])
            if len(near) < (1 if modal else _FEWEST):
                continue
            said, reach = self._written(low, high), _FOCUS * (3 if self._latin else 1)
            part = Part("modal", said, low, forms=frozenset({"plain"}), near=near, said=said)
            chains = _chains(modal)
            for chain, later in zip_longest(chains, chains[1:]):
                last = chain[-1].end
                end = min(high, last + reach, later[0].start if later else high)
                forms = frozenset[str]().union(*(_tagged("modal", [term]) for term in chain))
                focus = _words(self._bare[last:end]) & near
                yield replace(part, start=chain[0].start, forms=forms, far=focus)
            if not modal:
                yield part


def _segments(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _SEGMENT.finditer(text)] or [(0, len(text))]


def _chains(terms: Iterable[Term]) -> list[list[Term]]:
    """Return terms in order, those beside each other together: 不得免于 is said of one thing."""
    chains: list[list[Term]] = []
    for term in terms:
        if not chains or term.start > chains[-1][-1].end + 1:
            chains.append([])
        chains[-1].append(term)
    return chains


def _tagged(kind: str, terms: Iterable[Term]) -> frozenset[str]:
    """Return the values of a kind of the last word that has any."""
    for term in reversed([*terms]):
        values = {tag.partition(":")[2] for tag in term.tags if tag.startswith(f"{kind}:")}
        if values:
            return frozenset(values)
    return frozenset()


def _year_of(q: Quantity) -> int:
    """Return the year that a number is, else 0."""
    (value, *others) = q.values
    is_year = not others and value == int(value) and int(value) in _YEARS and not q.is_scaled
    return int(value) if is_year and q.unit in ("年", "") else 0


_PLAN = re.compile(FIVE_YEAR_PLAN)


def _plans(text: str, *, latin: bool) -> list[tuple[int, int, str]]:
    if latin:
        return plan_spans(text)
    return [(*match.span(), match.group()) for match in _PLAN.finditer(text)]
