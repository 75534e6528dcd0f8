"""Compare the numbers, dates and names of a sentence with a text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

from kgrag.text.quantities import (
    COUNTS,
    Date,
    Quantity,
    agree,
    dates,
    legible,
    narrow,
    parted_cells,
    quantities,
    says_nothing,
)
from kgrag.text.words import is_latin
from kgrag.verification.names import bare, names

_YEARS = range(1900, 2100)
_MOST_ITEMS = 30  # of a list whose items an answer counts
_ORDINAL = re.compile(r"[（(]\s*$|第\s*$")  # before a number: （一）, 第一
_ARTICLES = frozenset("条章款号期批轮")  # 第十二条 is a claim, 第一 is not
_COMPARING = re.compile(
    r"[高低多少增减差共总计比快慢大小]|合计|\b(?:more|less|higher|lower|total|difference|sum|than)\b",
    re.IGNORECASE,
)
# 四项原则, 七个专题, 两级: how a text is built, which its readers count for themselves.
_STRUCTURE = re.compile(
    r"(?<=[类级])|(?:大)?(?:领域|方面|任务|原则|专题|环节|流程|阶段|步骤|方向|措施|举措|内容|部分|要点|工作|行动)"
)
_TITLED = re.compile(r"《[^《》]{0,120}》")
_TITLED_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DEADLINE = re.compile(r"\d{4}\s*年\s*底?前")
# Wide digits by themselves at the end of a row of a table that lost its cells.
_RUN = re.compile(
    r"(?m)(?:^|(?<=[)）]))[ \t]*([０-９][０-９.．\ue000-\uf8ff\U000f0000-\U0010fffd]*[０-９])"
    r"(?=[ \t]*(?:$|约束|预期))"
)
_YEARS_ONLY = re.compile(r"(?:(?:19|20)\d\d)+$")
_LONGEST_NO = 2  # digits of the number of a row
_ENGLISH_ITEM = re.compile(r",\s+and\b|,\s|\band\b")


@dataclass(frozen=True, slots=True)
class Source:
    """A preprocessed cited text.

    Attributes:
        text: Narrow, lower case, without blanks and without years in titles.
        bare: Its letters and digits, agencies by short names.
        values: Units of each value.
        dates: Dates with a month.
        runs: Digits of table cells that no blank parts, the number of their row ahead: 204242.5.
        is_latin: Whether it is English.
    """

    text: str
    bare: str
    values: dict[Decimal, set[str]]
    dates: tuple[Date, ...]
    runs: tuple[str, ...]
    is_latin: bool

    @classmethod
    def of(cls, text: str) -> "Source":
        """Preprocess a text; years in 《》 belong to a name and support no other year."""
        told = _TITLED.sub(lambda m: _TITLED_YEAR.sub("    ", m.group()), text)
        values: dict[Decimal, set[str]] = {}
        for quantity in quantities(told):
            if says_nothing(told, quantity):
                continue
            for value in quantity.values:
                values.setdefault(value, set()).add(quantity.unit)
        found = tuple(dates(told))
        for date in found:
            if date.year:
                values.setdefault(Decimal(date.year), set()).add("年")
        plain = "".join(legible(told).casefold().split())
        runs = tuple(run for run in map(legible, _RUN.findall(told)) if not _YEARS_ONLY.match(run))
        return cls(plain, bare(text), values, found, runs, is_latin(text))

    def has_number(self, quantity: Quantity, written: str) -> bool:
        """Return whether a number occurs, in any notation."""
        for value in quantity.values:
            if any(agree(quantity.unit, unit) for unit in self.values.get(value, ())):
                return True
        literal = re.escape("".join(narrow(written).casefold().split()))
        if re.search(rf"(?<![\d.]){literal}(?!\d)", self.text):
            return True
        # A table may give the number in one place and 万元 in another.
        mantissa = re.match(r"[\d.]+", narrow(written).replace(",", ""))
        if mantissa and self._has_cell(mantissa.group(), quantity.unit):
            return True
        if not (quantity.is_scaled and mantissa):
            return False
        rest = narrow(written).replace(",", "")[mantissa.end() :].strip()
        return "" in self.values.get(Decimal(mantissa.group()), ()) and rest in self.text

    def _has_cell(self, number: str, unit: str) -> bool:
        """Return whether a number is one of two cells that a run of digits parts into."""
        pairs = (parted_cells(run[n:], unit) for run in self.runs for n in range(_LONGEST_NO + 1))
        return any(len(pair) > 1 and number in pair for pair in pairs)

    def has_date(self, date: Date) -> bool:
        """Return whether a date occurs; its year may occur elsewhere."""
        for held in self.dates:
            if (held.month, held.day) == (date.month, date.day) or (
                held.month == date.month and not date.day
            ):
                if not date.year or held.year == date.year:
                    return True
                if not held.year and self.has_year(date.year):
                    return True
        return False

    def has_year(self, year: int) -> bool:
        """Return whether a year occurs."""
        return bool({"年", ""} & self.values.get(Decimal(year), set()))

    def has_name(self, forms: Iterable[str]) -> bool:
        """Return whether one of a name's forms occurs."""
        return any(form in self.bare for form in forms)


def title_line(title: str) -> str:
    """Return a document's title for its source text, in 《》 if its year is a deadline.

    In 2022年工作要点 the year is that of the content, in 2030年前碳达峰行动方案 it is not.

    >>> title_line("2030年前碳达峰行动方案"), title_line("2022年工作要点")
    ('《2030年前碳达峰行动方案》', '2022年工作要点')
    """
    return f"《{title}》" if _DEADLINE.search(title) else title


def missing_claims(
    sentence: str,
    source: Source,
    *,
    asked: Source,
    around: Sequence[str] = (),
    whole: Source | None = None,
    names_asked: bool = False,
) -> tuple[str, ...]:
    """Return the numbers, dates and names of a sentence that a text lacks, as written.

    Notations of numbers are equal (1,000 = 一千, 百分之十 = 10 %, 3万 = 30000), and so are short
    names of agencies. Not counted as claims: names (except places), years and dates of the
    question; numbers of list items; differences and sums of supported numbers; counts of the
    answer's own items or of months between two dates; the end of a period of years whose start and
    length the text has.

    Args:
        sentence: Without [n] and bullets.
        source: The cited text.
        asked: The question.
        around: All sentences of the block, including this one.
        whole: Where the terms of a sum may occur; the cited text for None.
        names_asked: Whether places of the question are exempt, too: for sentences that say that
            documents contain nothing about them.
    """
    found = [
        (start, written)
        for start, written, quantity in _numbers(sentence, source, asked, around)
        if not _is_computed(sentence, quantity, whole or source, around)
    ]
    found += [
        (date.start, sentence[date.start : date.end])
        for date in dates(sentence)
        if not (source.has_date(date) or asked.has_date(date))
        and not _ends_a_period(sentence, date, source)
    ]
    found += [
        (name.start, name.written)
        for name in names(sentence, source_is_latin=source.is_latin)
        if not source.has_name(name.forms)
        and not (asked.has_name(name.forms) and (names_asked or not name.is_place))
    ]
    return tuple(dict.fromkeys(written for _, written in sorted(found)))


def numbers_missing(
    sentence: str, source: Source, *, asked: Source, around: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the numbers with a unit, except years, that a text lacks, as written.

    Args:
        sentence: Without [n] and bullets.
        source: The quotes of a sentence.
        asked: The question.
        around: All sentences of the block, including this one.
    """
    return tuple(
        dict.fromkeys(
            written
            for _, written, quantity in _numbers(sentence, source, asked, around)
            if quantity.unit and not (quantity.unit == "年" and min(quantity.values) in _YEARS)
        )
    )


def _numbers(
    sentence: str, source: Source, asked: Source, around: Sequence[str]
) -> list[tuple[int, str, Quantity]]:
    """Return (start, as written, quantity) of the numbers outside dates that a text lacks."""
    inside = [(date.start, date.end) for date in dates(sentence)]
    found = []
    for quantity in quantities(sentence):
        if any(start <= quantity.start < end for start, end in inside):
            continue
        written = sentence[quantity.start : quantity.end].strip()
        if _is_claim(sentence, quantity) and not (
            source.has_number(quantity, written)
            or _is_asked_time(quantity, asked)
            or _is_computed(sentence, quantity, source, around)
            or _counts_items(sentence, quantity, around)
            or _counts_months(sentence, quantity)
        ):
            found.append((quantity.start, written, quantity))
    return found


def _is_claim(sentence: str, quantity: Quantity) -> bool:
    """Return whether a number is a claim: no ordinal, no word such as 统一."""
    before = _ORDINAL.search(sentence, 0, quantity.start)
    if before is not None:
        return before.group().strip() == "第" and quantity.unit in _ARTICLES
    if _in_title(sentence, quantity):
        return False
    if not quantity.is_word:
        return True
    structure = quantity.unit in COUNTS | {"级"} and _STRUCTURE.match(sentence, quantity.end)
    return quantity.unit != "" and min(quantity.values) > 1 and not structure


def _in_title(sentence: str, quantity: Quantity) -> bool:
    """Return whether a number is inside 《》; titles are compared as a whole."""
    before = sentence[: quantity.start]
    return before.count("《") > before.count("》")


def _is_asked_time(quantity: Quantity, asked: Source) -> bool:
    """Return whether a year or month is that of the question."""
    if quantity.unit == "月":
        return any("月" in asked.values.get(value, ()) for value in quantity.values)
    return quantity.unit in ("年", "") and any(
        value in _YEARS and asked.has_year(int(value)) for value in quantity.values
    )


def _is_computed(sentence: str, quantity: Quantity, source: Source, around: Sequence[str]) -> bool:
    """Return whether a number is the difference or sum of two supported ones."""
    if not _COMPARING.search(sentence):
        return False
    terms = [
        (other.start, other.values)
        for other in quantities("\n".join(around))
        if _related(quantity.unit, other.unit)
        and any(source.has_number(other, str(value)) for value in other.values)
    ]
    results = {
        result
        for (_, some), (_, others) in combinations(terms, 2)
        for a in some
        for b in others
        for result in (abs(a - b), a + b)
        if result
    }
    if len(terms) > 1:
        results.add(sum((max(values) for _, values in terms), Decimal(0)))
    return bool(results & quantity.values)


def _counts_months(sentence: str, quantity: Quantity) -> bool:
    """Return whether a number counts the months of a range: 1月至11月（共11个月）."""
    if quantity.unit != "个月":
        return False
    months = {date.year * 12 + date.month for date in dates(sentence)}
    months |= {int(v) for q in quantities(sentence) if q.unit == "月" for v in q.values}
    spans = {abs(a - b) for a in months for b in months}
    return any(value in spans or value - 1 in spans for value in quantity.values)


def _ends_a_period(sentence: str, end: Date, source: Source) -> bool:
    """Return whether a date ends a period of years: 2021年10月8日起，有效期5年，至2026年10月."""
    years = {
        int(value)
        for quantity in quantities(sentence)
        if quantity.unit == "年"
        and source.has_number(quantity, sentence[quantity.start : quantity.end])
        for value in quantity.values
        if 0 < value < 100
    }
    for begin in dates(sentence):
        if not (begin.day and end.year - begin.year in years and source.has_date(begin)):
            continue
        if end.month == begin.month and end.day in (0, begin.day, begin.day - 1):
            return True
        # From the first of a month on, to the last of the month before.
        if (
            begin.day == 1
            and (end.month % 12) + 1 == begin.month
            and end.day in (0, 28, 29, 30, 31)
        ):
            return True
    return False


def _related(unit: str, other: str) -> bool:
    return agree(unit, other) or {unit, other} == {"%", "个百分点"}


def _counts_items(sentence: str, quantity: Quantity, around: Sequence[str]) -> bool:
    """Return whether a number counts the items of the answer, in this sentence or its block."""
    if quantity.unit not in COUNTS and quantity.unit:
        return False
    joints = sentence.count("、")
    last = bool(re.search("、[^、]*[和及与]", sentence))  # 甲、乙和丙
    english = len(_ENGLISH_ITEM.findall(sentence))
    counts = {len(around), len(around) - 1, joints + 1, joints + 1 + last, english + 1}
    return any(value <= _MOST_ITEMS and int(value) in counts - {0, 1} for value in quantity.values)
