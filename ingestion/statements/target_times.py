"""Years and periods that a passage states, and whether they are past for the document."""

import bisect
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgrag.ingestion.metadata.dates import issue_year
from kgrag.ingestion.metadata.lines import read_lines
from kgrag.qualifiers import Standing
from kgrag.text.plan_periods import plan_years
from kgrag.text.vocabulary import FIVE_YEAR_PLAN

_HAN_YEAR = {c: str(i) for i, c in enumerate("零一二三四五六七八九")}
_Y = r"(?:(?:19|20)\d\d|[一二]零[零一二三四五六七八九]{2})"
_TAIL = (
    r"底前|年底|底|末期|末|前|初|以来|以前|之前|起|度|内|\d{1,2}月(?:\d{1,2}日)?(?:底|前|末|起)*"
)
_TIME = re.compile(
    rf"(?P<lead>截至目前|截至|截止到|截止|力争到|到|至|自|从|由|在|于|按)?"
    rf"(?:(?P<from>{_Y})年?(?:[-—–~至到]|——)(?P<to>{_Y})年?(?:间|期间)?"
    rf"|(?P<year>{_Y})年(?P<tail>(?:年?(?:{_TAIL}))*)"
    rf"|[“\"'‘]?(?P<plan>{FIVE_YEAR_PLAN})[”\"'’]?(?:规划)?(?P<part>期间|时期|以来|期末|末期|末|中后期|中期|初期|(?=,|新增|累计|年均)))"
)
_BASE_BEFORE = re.compile(r"(?:(?<!占)比|较|与|同|相比于?|相较于?|对比|相对于?|以|高于|低于|超过)$")
_BASE_AFTER = re.compile(r"(?:年?(?:的|现状|实际){0,3}(?:基础上|水平上|为基|基数|相比|同期)|相比)")
_FROM_VALUE = re.compile(r"的?[^,。;]{0,3}\d")
_FROM_PLAN = re.compile(rf"({FIVE_YEAR_PLAN})[”\"]?[^\n，。]{{0,24}}(?:规划|方案|计划)")
_HEAD = 100  # characters that hold a title


@dataclass(frozen=True, slots=True)
class Time:
    """When a value holds.

    Attributes:
        start: First character in the passage, 到 or 截至 included.
        end: Offset after the last.
        year: Four digits.
        period: 十四五, 2021-2025; empty for a year.
        is_base: Whether it is what a value is compared with.
        is_until: Whether it counts what has been (截至, 以来).
        is_since: Whether it is only when something began (2018年以来).
        is_due: Whether 到 or 至 stands before it.
    """

    start: int
    end: int
    year: str
    period: str = ""
    is_base: bool = False
    is_until: bool = False
    is_since: bool = False
    is_due: bool = False

    def each(self) -> list["Time"]:
        """Return the years of a period that tells its first; empty for another time.

        >>> [time.year for time in times("2023-2025年")[0].each()]
        ['2023', '2024', '2025']
        """
        first, dash, last = self.period.partition("-")
        years = range(int(first), int(last) + 1) if dash else ()
        return [replace(self, year=str(year), period="") for year in years]


def times(text: str) -> list[Time]:
    """Return the years and periods of a passage in order."""
    found = []
    for match in _TIME.finditer(text):
        lead, tail = match["lead"] or "", match["tail"] or match["part"] or ""
        before = text[max(0, match.start() - 3) : match.start()]
        after = text[match.end() : match.end() + 8]
        is_base = bool(_BASE_BEFORE.search(before) or _BASE_AFTER.match(after)) or bool(
            lead in ("在", "按") and _BASE_AFTER.search(after)
        )
        if lead in ("从", "由", "自") and _FROM_VALUE.match(after):
            is_base = True
        period = match["plan"] or ""
        year = str(plan_years(period)[1]) if period else _digits(match["year"] or match["to"])
        if match["from"]:
            first = _digits(match["from"])
            if first >= year:
                continue
            period = f"{first}-{year}"
        since = "以来" in tail
        found.append(
            Time(
                match.start(),
                match.end(),
                year,
                period,
                is_base,
                since or lead.startswith("截"),
                (since or tail.endswith("起")) and not period,
                lead in ("到", "至", "力争到"),
            )
        )
    return found


def _digits(year: str) -> str:
    return "".join(_HAN_YEAR.get(c, c) for c in year)


def written_in(text: str) -> int:
    """Return the year from which a document looks back and ahead; 0 where nothing tells.

    Its own where it states it; otherwise the first year of the five-year plan that its title names.
    """
    if stated := issue_year(read_lines(text)):
        return int(stated)
    if planned := _FROM_PLAN.search(text, 0, _HEAD):
        return plan_years(planned[1])[0]
    return 2021 if "十四五" in text else 0


def standing_of(time: Time, written: int) -> Standing:
    """Return whether what holds at a time is planned or achieved, for a document of a year."""
    year = int(time.year)
    if not written:
        return "achieved" if time.is_until else "planned"
    if time.is_until:
        return "achieved" if year <= written or time.period else "planned"
    if time.period and year == written and not time.is_due:
        return "planned" if "-" in time.period else "achieved"
    return "achieved" if year < written else "planned"


def last_before(found: Sequence[Time], at: int, since: int = 0) -> Time | None:
    """Return the last time in `[since, at)` that is no base; None where there is none."""
    i = bisect.bisect_left(found, at, key=lambda time: time.start) - 1
    while i >= 0 and found[i].start >= since:
        if not found[i].is_base:
            return found[i]
        i -= 1
    return None
