"""Deadlines in texts: the day, month or year until when a thing is to be done."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kgrag.text.numerals import whole_number
from kgrag.text.quantities import narrow

_YEAR = r"(?P<year>20\d\d)\s{0,4}年"
_MONTH = r"(?P<month>1[0-2]|0?[1-9])\s{0,4}月(?:份)?"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])\s{0,4}[日号]"
_QUARTER = r"第?(?P<quarter>[一二三四1-4])季度"
_PART = rf"(?:{_MONTH}(?:\s{{0,4}}{_DAY})?|{_QUARTER}|(?P<half>[上下])半年)"
_END = r"(?:\s{0,4}年?(?:底|末|内|中旬|上旬|下旬|初))?(?:\s{0,4}之?(?:以?前))?"
_DATED = re.compile(rf"(?:{_YEAR}\s{{0,4}})?{_PART}?{_END}")
# What is done each year, or goes on, is due on no day.
_AGAIN = re.compile("每[年月季周]|持续|长期|常年|适时|按")
# 2022年6月底前, 到2030年, 每年3月底前, “十四五”末: a clause that says until when.
_DUE = re.compile(
    r"(?<![0-9\-—–~至])(?:(?<!年)|(?=每))(?:(?P<lead>力争到|到|至|截至|于|在)\s{0,4})?"
    r"(?=20\d\d|[每今当次本明]年|1?\d\s{0,4}月|[一二三四]季度|[上下]半年|年[底末]|[“\"]?十.五)"
    rf"(?:{_YEAR}|[每今当次本明]年度?|(?P<plan>[“\"]?十[三四五六]五[”\"]?(?:规划)?(?:时期|期间|期)?))?"
    rf"\s{{0,4}}{_PART}?(?P<tail>\s{{0,4}}年?(?:底|末|[上中下]旬)?(?:\s{{0,4}}之?(?:以?前))?)"
)
_CLAUSE_END = re.compile(r"[。；;！!\n]|(?<!\d)[.．](?!\d)")
_BASE = re.compile(
    r"(?:比|较|与|同|相比|自|从|由|对|以|锚定|围绕|聚焦|按照|根据|响应|落实|截止)$|[〔\[(（]$"
)
# “十四五”期间，联运量年均增长15%: what is to be reached within a period.
_REACHES = re.compile(
    r"(?![^。；;\n]{0,40}(?:已|共[计有]|[^为]了))(?:(?!20\d\d)[^。；;！!\n]){0,60}?"
    r"(?:达到?|增长|增加|下降|降低|提[高升]|减少|削减|控制在|[不超]过|不[低高少]于|新增|新建|建[成设]|完成|改造)"
    r"[^。；;，,\n]{0,16}?\d[\d.,]{0,12}\s{0,2}(?![\d.,年月日])"
)
_YEARS = re.compile(r"20\d\d年")  # 到2025年下降12%，“十四五”期间年均下降2.6% is one clause
_ONE_OF = re.compile("[年日][、和及]")  # before the last of several days
_PAST = re.compile(
    r"基础上|水平|相比|以来|年度|基期|数据|价格?[）)]|的|[^，。；]{0,6}建成的|碳?达峰行动"
)
# 2030年前碳达峰的重大决策: told as what others decided.
_DECIDED = re.compile(
    "[^，,]{0,18}的(?:重大|战略|庄严|宏伟|总体)*(?:决策|部署|目标|承诺|愿景|要求)|[^，,]{0,14}(?:奠定|打下)"
)
# 习近平主席宣布中国力争于2030年前…: what a local document tells of the country.
_TOLD_OF = re.compile("习近平|中国|我国|宣布|庄严|承诺")
_TOLD_AFTER = re.compile("习近平|庄严|承诺|重大战略决策|党中央")
_BACK = 80  # characters before the day in which this, or the beginning of the sentence, stands
_ENOUGH = 12  # characters behind the day; with less, what stands before it says what is meant
_SHORTEST = 4  # characters besides the day; what is shorter is a heading, or a cell of a table


class Due(NamedTuple):
    """A clause with a deadline.

    Attributes:
        start: Offset of the clause.
        end: Offset after it.
        date: `2025`, `2025-06` or `2025-06-30`; empty for a deadline without a year (每年3月底前).
    """

    start: int
    end: int
    date: str


def due_date(text: str, *, year: int | None = None) -> str:
    """Return the day, month or year of a deadline; empty if it names none.

    Args:
        text: As written.
        year: Default for a deadline without a year.

    >>> due_date("2022年6月底前"), due_date("2025年"), due_date("2022年一季度")
    ('2022-06', '2025', '2022-03')
    >>> due_date("12月底", year=2021), due_date("12月底"), due_date("每年3月底前", year=2021)
    ('2021-12', '', '')
    """
    if _AGAIN.search(text):
        return ""
    dates = [_date_of(match, year) for match in _DATED.finditer(narrow(text)) if match[0]]
    return max(filter(None, dates), default="")


def due_clauses(text: str) -> Iterator[Due]:
    """Yield the clauses of a text that name a deadline, in text order.

    A clause ends with the sentence or before the next deadline; where little follows the date, it
    begins with the sentence.

    >>> text = "到2025年，建成监测评估的完整体系。各市方案于2022年6月底前报送省厅。"
    >>> [(date, text[start:end]) for start, end, date in due_clauses(text)]
    [('2025', '到2025年，建成监测评估的完整体系'), ('2022-06', '各市方案于2022年6月底前报送省厅')]
    >>> len(list(due_clauses("“十四五”期间，联运量年均增长15%。")))
    1
    """
    flat = narrow(text)
    matches = _dues(flat)
    taken = sentence_end = 0  # where the clause and the sentence before ended
    for at, match in enumerate(matches):
        if sentence_end < match.end():
            stop = _CLAUSE_END.search(flat, match.end())
            sentence_end = stop.start() if stop else len(flat)
        end = sentence_end
        following = matches[at + 1].start() if at + 1 < len(matches) else end
        if following < end:  # what stands between the last comma and a day is said of that day
            comma = max(flat.rfind(mark, match.end(), following) for mark in "，,")
            end = comma if comma > match.end() + 1 else following
        said = flat[match.end() : end].strip("，,、 \n")
        begin = _sentence_start(flat, match.start())
        if (
            _TOLD_OF.search(flat, begin, match.start())
            or _TOLD_AFTER.search(flat, match.end(), min(sentence_end, match.end() + _BACK))
            or _DECIDED.match(said)
        ):
            continue
        # 绿色建筑占比到2025年达到30%，…: what is to reach it stands before.
        is_apart = flat[match.end() : match.end() + 1] in "，,"
        at_once = said if is_apart else said.replace(",", "，").partition("，")[0]
        start = match.start() if len(at_once) >= _ENOUGH else max(begin, taken)
        start += len(flat[start:end]) - len(flat[start:end].lstrip("，,、 \n"))
        if len(said) > 1 and match.start() - start + len(said) >= _SHORTEST:
            yield Due(start, end, _date_of(match, None))
        taken = end


def due_words(text: str) -> list[str]:
    """Return the deadlines that a text names, each as written.

    >>> due_words("2025年底前完成改造，每年3月底前报告")
    ['2025年底前', '每年3月底前']
    """
    flat = narrow(text)
    return [
        text[match.start() : match.end()].strip().lstrip("于在")
        for match in _dues(flat)
        if not _ONE_OF.match(flat, match.start() - 2)
    ]


def _dues(flat: str) -> list[re.Match[str]]:
    return [match for match in _DUE.finditer(flat) if _is_due(flat, match)]


def _sentence_start(text: str, at: int) -> int:
    """Return the start of the sentence around an offset, or the offset if that is far away."""
    low = max(0, at - _BACK)
    ends = [match.end() for match in _CLAUSE_END.finditer(text, low, at)]
    start = ends[-1] if ends else 0 if low == 0 else at
    return start + len(text[start:at]) - len(text[start:at].lstrip())


def _is_due(text: str, match: re.Match[str]) -> bool:
    """Return whether a date is a deadline, not a point in the past."""
    before = text[max(0, match.start() - 3) : match.start()]
    after = text[match.end() : match.end() + 8]
    low = max(0, match.start() - _BACK)
    if text.rfind("《", low, match.start()) > text.rfind("》", low, match.start()):
        return False  # in a title
    is_end = match["tail"].strip().endswith(("前", "底", "末"))
    says = is_end or (match["year"] and match["lead"] in ("到", "力争到", "至"))
    if not says and match["plan"] and match["plan"].endswith(("期间", "时期")):
        inner = text[_sentence_start(text, match.start()) : match.start()]
        says = not _YEARS.search(inner) and _REACHES.match(text, match.end()) is not None
    return bool(says) and not (
        _BASE.search(before) or _PAST.match(after) or match["lead"] == "截至"
    )


def _date_of(match: re.Match[str], year: int | None) -> str:
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
