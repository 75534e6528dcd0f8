"""The periods of plans, and other years that a text names."""

import re
from collections.abc import Iterator

from kgrag.text.numerals import HAN_DIGITS, HAN_SMALL, han_digits
from kgrag.text.quantities import narrow

_YEAR = r"(?<!\d)((?:19|20)\d\d)(?!\d)"
_RANGE = re.compile(rf"{_YEAR}\s*+年?\s*+(?:[-−—–－―~～至到]++)\s*+{_YEAR}")
_SHORT_RANGE = re.compile(r"(?<!\d)(20\d\d)\s*[-−—–－―~～]+\s*(\d\d)(?!\d)")
# 十三五, 第十四个五年规划: the twelfth one ended in 2015.
_FIVE_YEARS = re.compile(
    rf"(?<![{HAN_SMALL}])十([{HAN_DIGITS[1:]}])个?五(?:年(?=规划|计划))?(?![{HAN_SMALL}条项])"
)
_END_OF_ELEVENTH = 2010
_OF_A_YEAR = re.compile(
    rf"{_YEAR}\s*年度?[^，。]{{0,160}}?(?:工作要点|重点工作|工作计划|行动计划|工作安排|任务分工|重点任务|任务清单)"
)
_ANY_YEAR = re.compile(rf"(?<![〔\[［【]){_YEAR}(?![〕\]］】])")  # of no 文号
_IS_PLAN = re.compile("规划|计划|方案|纲要|行动|要点|目标|任务|安排|清单|工作|意见|期间|时期")
# What is said of a plan, or asked for in its years, is none.
_IS_NONE = re.compile(
    "评估|总结|通报|考核|公报|公示|公告|解读|名单|报告|统计|申报|征集|废止|宣布|失效|答复|编制|修订"
    "|决定|办法|条例|规定|细则"
)


def plan_years(name: str) -> tuple[int, int]:
    """Return the first and the last year of a five-year plan; zeros for other names.

    >>> plan_years("十四五"), plan_years("2021-2025")
    ((2021, 2025), (0, 0))
    """
    match = _FIVE_YEARS.fullmatch(name)
    last = _END_OF_ELEVENTH + 5 * (int(han_digits(match[1])) - 1) if match else 0
    return (last - 4, last) if match else (0, 0)


def periods_in(text: str) -> list[tuple[int, int]]:
    """Return (first, last) of the periods of years that a text names, in order; a year is one, too.

    >>> periods_in("2021—2023年"), periods_in("国发〔2021〕1号：“十四五”规划和2035年远景目标")
    ([(2021, 2023)], [(2021, 2025), (2035, 2035)])
    """
    told = narrow(text)
    found = dict(_ranges(told))
    for match in _ANY_YEAR.finditer(told):
        if not any(start <= match.start() < end for start, end in found):
            found[match.span()] = (int(match[1]), int(match[1]))
    return [found[span] for span in sorted(found)]


def _ranges(text: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield the spans of periods, with their first and last years."""
    for pattern in (_RANGE, _SHORT_RANGE):
        for match in pattern.finditer(text):
            last = match[2] if len(match[2]) > 2 else match[1][:2] + match[2]
            if match[1] < last:  # 2021-09 is a month
                yield match.span(), (int(match[1]), int(last))
    yield from ((m.span(), plan_years(f"十{m[1]}五")) for m in _FIVE_YEARS.finditer(text))


def last_year(title: str) -> int | None:
    """Return the last year of a plan's period; None if its title has none.

    >>> last_year("云岭省“十三五”节能规划"), last_year("绿色出行三年行动计划（2018—2020年）")
    (2020, 2020)
    >>> last_year("第十四个五年规划和2035年远景目标纲要"), last_year("2022年节能工作要点")
    (2035, 2022)
    >>> last_year("“十三五”节能考核结果通报"), last_year("2030年前碳达峰行动方案")
    (None, None)
    """
    if _IS_NONE.search(title) or not _IS_PLAN.search(title):
        return None
    ends = [*(last for _, (_, last) in _ranges(title)), *map(int, _OF_A_YEAR.findall(title))]
    if not ends:
        return None
    return max(*ends, *map(int, _ANY_YEAR.findall(title)), 0)
