"""Parse numbers with their units, and dates, in Chinese and English text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from kgrag.text.numerals import HAN_DIGITS, HAN_SMALL, HAN_WHOLE, han_numeral, whole_number

_GAP = r"(?:\.[ \t]{1,3}|[ \t]{1,2}\.[ \t]{0,2})"
_GAP_UNIT = (
    r"%|‰|个?百分点|[百千]?[万亿]|[十百千万亿]*"
    r"(?:元|吨|亩|公顷|平方|立方|公里|千米|千瓦|标准煤|微克|毫克|倍|米)"
)
# Behind a word or a sign, with a unit behind it: 1. 5个项目 at the start of a line is an item.
_BROKEN = re.compile(
    rf"(?:(?<![\d.])0{_GAP}|(?<=[一-鿿≥≤><=~])\d{{1,4}}{_GAP})\d{{1,4}}(?=\s*(?:{_GAP_UNIT}))"
)

# Full-width letters, digits and signs, one character for one: offsets stay.
_NARROW = {0xFF01 + i: 0x21 + i for i in range(94)} | {0x3000: 0x20, ord("〇"): ord("零")}
# Full-width ASCII that a page's font left as the code points of its GB 2312 bytes: ꎬ for ，.
_LOST = {0xA3A1 + i: 0x21 + i for i in range(94)}
_LOST_MARK = re.compile("[\ua3a1-\ua3fe]")
_LOST_POINT = re.compile("(?<=\\d)[\ue000-\uf8ff\U000f0000-\U0010fffd](?=\\d)")
_MYRIAD = {"万": 10**4, "亿": 10**8}
_SCALE = {"千": 10**3, "百万": 10**6, "千万": 10**7, "百亿": 10**10, "千亿": 10**11, "万亿": 10**12}
_SCALE |= {"百": 100, "十万": 10**5, "十亿": 10**9, **_MYRIAD}
_SCALE |= {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_SHOWN = ((10**8, "亿"), (10**4, "万"))

# The 千 of 5千瓦 belongs to the unit.
_SCALES = (
    "万亿|千亿|百亿|十亿|千万|百万|十万|千(?![瓦米克伏])|百(?!分点)|[万亿]"
    "|thousand|million|billion|trillion"
)
_UNIT = (
    r"个百分点|百分点|percentage points?|percent|个?工作日|个月|个|%|‰|"
    r"元|吨|亩|公顷|平方米|平方公里|平方千米|立方米|公里|千米|毫米|厘米|米|千瓦时|千瓦|兆瓦时|兆瓦|吉瓦"
    r"|千克|公斤|毫克|微克|克|千伏安|兆伏安|千伏|蒸吨|人次|户|度|家|项|座|辆|台|人|名|件|条|章|款|次|倍"
    r"|种|类|批|处|片|张|份|位|岁|年|月|日|天|号|时|小时|分钟|季度|级|层|期|轮|期间|成(?!立|为|果|效|本|员|功|熟|交|都)"
    r"|kwh|kw|mw|gw|km2|km|kg|tce|m2|m3|mm|cm|ha|t(?![a-z])|mg(?=/)|[uμµ]g(?=/)"
)
# 0. 75 is 0.75 where a scan left a blank; 1. 75 may begin with the number of a line.
_FULL = re.compile(
    r"(?:(?P<of>百分之|千分之|万分之)\s*+)?"
    r"(?:(?P<arabic>(?<![a-z\d.])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)"
    r"|(?<![a-z\d.])0\.[ \t]{1,2}\d+|(?<![a-z\d.])\d+(?:\.\d+)?)"
    rf"|(?P<han>(?:(?!千[瓦米克伏])[{HAN_WHOLE}万亿])+(?:点[{HAN_DIGITS}]+)?))"
    rf"(?:\s*[多余](?=[千万亿]))?(?:\s*(?P<scale>{_SCALES}))?(?:\s*[多余])?(?:\s*(?P<unit>{_UNIT}))?",
    re.IGNORECASE,
)
_TO = re.compile(r"\s*(?:[-—–~～至到]|——|to)\s*")
_LONGEST = 60  # characters of a numeral; what has more counts nothing
_LETTER = re.compile(r"[a-z]", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"(?:0|[1-9]\d*)(?:\.\d{1,2})?")
_GLUED = re.compile(r"\d+(?:\.\d+){0,2}")
_POINTS_OF_TWO = 2
_ALL = 100  # percent
_MOST_TIMES = 3  # as much as the other, that two values which no blank parts may be
_LINE_NUMBER = re.compile(r"[.．、)）]")

_SAME_UNIT = {"percent": "%", "天": "日", "个工作日": "工作日", "千米": "公里", "公斤": "千克"}
_SAME_UNIT |= {"百分点": "个百分点", "平方千米": "平方公里"}

COUNTS = frozenset("个户家项座辆台人名件条种类批处片张份位款")  # 500个 may be called 500家

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?P<{}>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_YEAR = r"(?:1[89]|20)\d\d"
_DATE = re.compile(
    rf"(?:(?P<y1>\d{{4}}|[{HAN_DIGITS}]{{4}})\s*年\s*)?(?P<m1>\d{{1,2}}|[{HAN_SMALL}]{{1,3}})\s*月"
    rf"\s*(?P<d1>\d{{1,2}}|[{HAN_SMALL}]{{1,3}})\s*[日号]"
    rf"|(?P<y2>\d{{4}}|[{HAN_DIGITS}]{{4}})\s*年\s*(?P<m2>\d{{1,2}}|[{HAN_SMALL}]{{1,3}})\s*月"
    rf"|(?<!\d)(?P<y3>{_YEAR})[-/.](?P<m3>0?[1-9]|1[0-2])[-/.](?P<d3>0?[1-9]|[12]\d|3[01])(?!\d)"
    rf"|\b{_MONTH.format('m4')}\s+(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s+(?P<y4>{_YEAR}))?\b"
    rf"|\b(?P<d5>\d{{1,2}})(?:st|nd|rd|th)?\s+{_MONTH.format('m5')}(?:,?\s+(?P<y5>{_YEAR}))?\b"
    rf"|\b{_MONTH.format('m6')},?\s+(?P<y6>{_YEAR})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in a text.

    Attributes:
        start: Offset of its first character.
        end: Offset after the last, the unit included.
        values: Possible values: in 5-10万元 the first is 5 or 50000.
        unit: Normalised; empty if unknown.
        is_word: Whether it is written in Chinese characters.
        is_scaled: Whether a scale (万, million) follows it.
    """

    start: int
    end: int
    values: frozenset[Decimal]
    unit: str = ""
    is_word: bool = False
    is_scaled: bool = False


@dataclass(frozen=True, slots=True)
class Date:
    """A date in a text; missing parts are 0."""

    start: int
    end: int
    year: int
    month: int
    day: int


def narrow(text: str) -> str:
    """Convert full-width letters, digits and signs to half width; the length stays."""
    return text.translate(_NARROW)


def legible(text: str) -> str:
    """Return a text narrow, with the marks that its font lost; the length stays."""
    narrowed = _LOST_POINT.sub(".", narrow(text))
    return narrowed.translate(_LOST) if _LOST_MARK.search(narrowed) else narrowed


def dates(text: str) -> list[Date]:
    """Return the dates with a month in a text; a year alone is a quantity.

    >>> [(d.year, d.month, d.day) for d in dates("2022年6月28日，二〇二五年三月，June 3, 2021")]
    [(2022, 6, 28), (2025, 3, 0), (2021, 6, 3)]
    """
    found = []
    for match in _DATE.finditer(narrow(text)):
        parts = {name[0]: value for name, value in match.groupdict().items() if value}
        year, month, day = (_part(parts.get(key, "")) for key in "ymd")
        found.append(Date(match.start(), match.end(), year, month, day))
    return found


def _part(text: str) -> int:
    month = text.casefold()
    return _MONTHS.index(month) + 1 if month in _MONTHS else whole_number(text) or 0


def quantities(text: str) -> list[Quantity]:
    """Return the numbers of a text in order, in digits or words.

    >>> [sorted(map(int, q.values)) for q in quantities("一千家，1,000家，３万元，百分之十")]
    [[1000], [1000], [30000], [10]]
    >>> [sorted(map(int, q.values)) for q in quantities("230多万吨，1万余吨")]
    [[2300000], [10000]]
    >>> [(q.unit, sorted(map(int, q.values))) for q in quantities("5-10万元")]
    [('元', [5, 50000]), ('元', [100000])]
    """
    narrowed = legible(text)
    found: list[tuple[Quantity, int]] = []  # with what its scale multiplies
    for match in _FULL.finditer(narrowed):
        quantity = _quantity(narrowed, match)
        if quantity is not None:
            found.append((quantity, _scale(match)))
    out = []
    for i, (quantity, _) in enumerate(found):
        following = found[i + 1] if i + 1 < len(found) else None
        if following and _TO.fullmatch(narrowed, quantity.end, following[0].start):
            quantity = _as_first_of_range(quantity, *following)
        out.append(quantity)
    return out


def scaled(number: Decimal) -> str:
    """Format a number in 万 or 亿 if it is as large.

    >>> scaled(Decimal(10000)), scaled(Decimal("24.10")), scaled(Decimal(60000000000))
    ('1万', '24.1', '600亿')
    """
    scale, name = next((s for s in _SHOWN if abs(number) >= s[0]), (1, ""))
    return f"{(number / scale).normalize():f}{name}"


def agree(unit: str, other: str) -> bool:
    """Return whether two units may be the same: equal, both of counts, or one unknown."""
    return unit == other or not unit or not other or {unit, other} <= COUNTS


def says_nothing(text: str, quantity: Quantity) -> bool:
    """Return whether a number without unit is part of a word (统一) or numbers a line (13.)."""
    if quantity.unit:
        return False
    if quantity.is_word:
        return True
    opens = not text[text.rfind("\n", 0, quantity.start) + 1 : quantity.start].strip(" （(")
    return opens and _LINE_NUMBER.match(text, quantity.end) is not None


def _scale(match: re.Match[str]) -> int:
    return _SCALE.get((match["scale"] or "").casefold(), 1)


def _quantity(text: str, match: re.Match[str]) -> Quantity | None:
    unit = _unit(match)
    if len(match["arabic"] or "") > _LONGEST:
        return None
    if match["arabic"]:
        if not match["unit"] and not match["scale"] and _LETTER.match(text, match.end("arabic")):
            return None
        value: Decimal | None = Decimal(re.sub(r"[,\s]", "", match["arabic"]))
    else:
        value = han_numeral(match["han"])
    if value is None:
        return None
    value *= _scale(match)
    if unit == "成":
        unit, value = "%", value * 10
    if unit in ("‰", "万分"):
        unit, value = "%", value / (10 if unit == "‰" else 100)
    group = "of" if match["of"] else "arabic" if match["arabic"] else "han"
    return Quantity(
        match.start(group),
        match.end(),
        frozenset([value]),
        unit,
        not match["arabic"],
        _scale(match) > 1,
    )


def _unit(match: re.Match[str]) -> str:
    if match["of"]:
        return {"百": "%", "千": "‰", "万": "万分"}[match["of"][0]]
    unit = (match["unit"] or "").casefold()
    if unit.startswith("percentage"):
        return "个百分点"
    return _SAME_UNIT.get(unit, unit)


def _as_first_of_range(quantity: Quantity, last: Quantity, scale: int) -> Quantity:
    values = quantity.values
    if not quantity.unit and not quantity.is_scaled:
        values |= {value * scale for value in values}
    return replace(quantity, values=values, unit=quantity.unit or last.unit)


def broken_numbers(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of decimal numbers with a blank after the point, without units.

    >>> [text[a:b] for text in ["总量为0. 75亿吨", "1. 5个"] for a, b in broken_numbers(text)]
    ['0. 75']
    """
    for match in _BROKEN.finditer(narrow(text)):
        yield match.span()


def parted_cells(run: str, unit: str) -> list[str]:
    """Return the two values of a cell that no single one could be; itself where that is unsure.

    >>> parted_cells("4242.5", "%"), parted_cells("83.688.3", "%"), parted_cells("18.5", "%")
    (['42', '42.5'], ['83.6', '88.3'], ['18.5'])
    """
    if not _GLUED.fullmatch(run) or (run.count(".") < _POINTS_OF_TWO and unit != "%"):
        return [run]
    if run.count(".") < _POINTS_OF_TWO and float(run) <= _ALL and _PLAIN_NUMBER.fullmatch(run):
        return [run]
    found = [[run[:i], run[i:]] for i in range(1, len(run)) if _are_alike(run[:i], run[i:], unit)]
    return found[0] if len(found) == 1 else [run]


def _are_alike(one: str, other: str, unit: str) -> bool:
    """Return whether two texts are numbers of like size and form, as of one row of a table."""
    if not (_PLAIN_NUMBER.fullmatch(one) and _PLAIN_NUMBER.fullmatch(other)):
        return False
    low, high = sorted((float(one), float(other)))
    if high > low * _MOST_TIMES or (unit == "%" and high > _ALL):
        return False
    places = [len(each.partition(".")[2]) for each in (one, other)]
    if any(places):
        return not all(places) or places[0] == places[1]
    return len(one) == len(other) or other == "100"
