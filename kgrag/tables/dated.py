"""When something is due: days of deadlines as they are written, and clauses that name a day."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kgrag.text.numerals import HAN_DIGITS, HAN_SMALL, whole_number
from kgrag.text.quantities import narrow

_YEAR = r"(?P<year>20\d\d)\s*年"
_MONTH = r"(?P<month>1[0-2]|0?[1-9])\s*月(?:份)?"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])\s*[日号]"
_QUARTER = r"第?(?P<quarter>[一二三四1-4])季度"
_PART = rf"(?:{_MONTH}(?:\s*{_DAY})?|{_QUARTER}|(?P<half>[上下])半年)"
_END = r"(?:\s*年?(?:底|末|内|中旬|上旬|下旬|初))?(?:\s*之?(?:以?前))?"
_DATED = re.compile(rf"(?:{_YEAR}\s*)?{_PART}?{_END}")
# What is done each year, or goes on, is due on no day.
_AGAIN = re.compile("每[年月季周]|持续|长期|常年|适时|按")
# 2022年6月底前, 2025年底前, 到2030年: a clause that says until when.
_DUE = re.compile(
    rf"(?<![0-9年\-—–~至])(?:(?P<lead>力争到|到|至|截至|于|在)\s*)?{_YEAR}\s*{_PART}?"
    rf"(?P<tail>\s*年?(?:底|末)?(?:\s*之?(?:以?前))?)"
)
_CLAUSE_END = re.compile(r"[。；;！!\n]|(?<!\d)[.．](?!\d)")
_BASE = re.compile(
    r"(?:比|较|与|同|相比|自|从|由|对|以|锚定|围绕|聚焦|按照|根据|响应|落实)$|[〔\[(（]$"
)
_PAST = re.compile(r"基础上|水平|相比|以来|年度|基期|数据|价格?[）)]|的|[^，。；]{0,6}建成的")
# 2030年前碳达峰的重大决策: told as what others decided.
_DECIDED = re.compile(
    "[^，,]{0,18}的(?:重大|战略|庄严|宏伟|总体)*(?:决策|部署|目标|承诺|愿景|要求)|[^，,]{0,14}(?:奠定|打下)"
)
# 习近平主席宣布中国力争于2030年前…: what a local document tells of the country.
_TOLD_OF = re.compile("习近平|中国|我国|宣布|庄严|承诺")
_TOLD_AFTER = re.compile("习近平|庄严|承诺|重大战略决策|党中央")
_BACK = 80  # characters before the day in which this, or the beginning of the sentence, stands
_ENOUGH = 12  # characters behind the day; with less, what stands before it says what is meant
_SHORTEST = 4  # characters behind the day; what is shorter is a heading, or a cell of a table


class Due(NamedTuple):
    """A clause that names when it is due.

    Attributes:
        start: First character of the clause.
        end: Offset after it.
        date: `2025`, `2025-06` or `2025-06-30`.
    """

    start: int
    end: int
    date: str


def due_date(text: str, *, year: int | None = None) -> str:
    """Return the day, month or year that a deadline names; empty where it names none.

    Args:
        text: As written.
        year: In which a deadline without a year is.

    >>> due_date("2022年6月底前"), due_date("2025年"), due_date("2022年一季度")
    ('2022-06', '2025', '2022-03')
    >>> due_date("12月底", year=2021), due_date("12月底"), due_date("每年3月底前", year=2021)
    ('2021-12', '', '')
    """
    if _AGAIN.search(text):
        return ""
    dates = [_date(match, year) for match in _DATED.finditer(narrow(text)) if match[0]]
    return max(filter(None, dates), default="")


def due_clauses(text: str) -> Iterator[Due]:
    """Yield the clauses of a text that name until when something is to be, in text order.

    A clause goes up to the end of the sentence, or to the next day that is named in it; where
    little stands behind the day it begins with the sentence.

    >>> text = "到2025年，建成监测评估的完整体系。各市方案于2022年6月底前报送省厅。"
    >>> [(date, text[start:end]) for start, end, date in due_clauses(text)]
    [('2025', '到2025年，建成监测评估的完整体系'), ('2022-06', '各市方案于2022年6月底前报送省厅')]
    """
    flat = narrow(text)
    matches = [match for match in _DUE.finditer(flat) if _is_due(flat, match)]
    for at, match in enumerate(matches):
        following = matches[at + 1] if at + 1 < len(matches) else None
        stop = _CLAUSE_END.search(flat, match.end())
        end = stop.start() if stop else len(flat)
        if following and following.start() < end:
            end = following.start()
        date, said = _date(match, None), flat[match.end() : end].strip("，,、 \n")
        begin = _sentence_start(flat, match.start())
        sentence_end = stop.start() if stop else len(flat)
        if (
            _TOLD_OF.search(flat, begin, match.start())
            or _TOLD_AFTER.search(flat, match.end(), min(sentence_end, match.end() + _BACK))
            or _DECIDED.match(said)
        ):
            continue
        if date and len(said) >= _SHORTEST:
            yield Due(match.start() if len(said) >= _ENOUGH else begin, end, date)


def _sentence_start(text: str, at: int) -> int:
    """Return where the sentence of a place begins, or the place itself where that is far away."""
    low = max(0, at - _BACK)
    ends = [match.end() for match in _CLAUSE_END.finditer(text, low, at)]
    start = ends[-1] if ends else 0 if low == 0 else at
    return start + len(text[start:at]) - len(text[start:at].lstrip())


def day_places(text: str, day: str) -> list[tuple[int, int]]:
    """Return where a text has a day, month or year, in digits or Chinese characters.

    Args:
        text: Any.
        day: `2022-03-05`, `2022-03` or `2022`.

    >>> day_places("二〇二二年三月五日，2022-03-05", "2022-03-05")
    [(0, 9), (10, 20)]
    """
    year, *rest = day.split("-")
    inner = "".join(rf"\s*[年月/.\-]\s*{_digits(part)}" for part in rest)
    mark = "年月日"[len(rest)]
    pattern = rf"(?<!\d){_digits(year)}{inner}(?:\s*[{mark}号]|(?!\d))"
    return [match.span() for match in re.finditer(pattern, text)]


def _digits(part: str) -> str:
    """Return a pattern of a number of a date: 2022 or 二〇二二, 05 or 5 or 五."""
    wide = "".join(f"[{digit}{chr(0xFF10 + int(digit))}]" for digit in part)
    if len(part) == 4:  # a year, digit by digit
        han = "".join("[〇零○Ｏ0]" if d == "0" else HAN_DIGITS[int(d)] for d in part)
        return f"(?:{wide}|{han})"
    number = int(part)
    tens, ones = divmod(number, 10)
    ten = ("", "十", "二十", "三十")[tens]
    han = ten + (HAN_DIGITS[ones] if ones else "")
    bare = "".join(f"[{digit}{chr(0xFF10 + int(digit))}]" for digit in str(number))
    return f"(?:{wide}|{bare}|{han})(?![0-9{HAN_SMALL}])"


def _is_due(text: str, match: re.Match[str]) -> bool:
    """Return whether a day is one until which something is to be, not one of the past."""
    before = text[max(0, match.start() - 3) : match.start()]
    after = text[match.end() : match.end() + 8]
    if text.rfind("《", 0, match.start()) > text.rfind("》", 0, match.start()):
        return False  # in a title
    says = match["lead"] in ("到", "力争到", "至") or match["tail"].strip().endswith(
        ("前", "底", "末")
    )
    return says and not (_BASE.search(before) or _PAST.match(after) or match["lead"] == "截至")


def _date(match: re.Match[str], year: int | None) -> str:
    told = match.groupdict()
    named = told["year"] or (str(year) if year and (told["month"] or told["quarter"]) else "")
    if not named:
        return ""
    if told["month"]:
        day = f"-{int(told['day']):02}" if told["day"] else ""
        return f"{named}-{int(told['month']):02}{day}"
    if told["quarter"]:
        return f"{named}-{3 * (whole_number(told['quarter']) or 0):02}"
    if told["half"]:
        return f"{named}-{'06' if told['half'] == '上' else '12'}"
    return named
