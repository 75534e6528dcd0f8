"""The period of a plan, from its title."""

import re

from kgrag.text.numerals import HAN_DIGITS, HAN_SMALL, han_digits

_YEAR = r"(?<!\d)(20\d\d)(?!\d)"
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
_ANY_YEAR = re.compile(rf"{_YEAR}\s*年")
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


def plan_ending(year: int) -> str:
    """Return the five-year plan that ends in a year; empty for none.

    >>> plan_ending(2030), plan_ending(2026)
    ('十五五', '')
    """
    number, rest = divmod(year - _END_OF_ELEVENTH, 5)
    known = not rest and 0 <= number < len(HAN_DIGITS) - 1
    return f"十{HAN_DIGITS[number + 1]}五" if known else ""


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
    ends = [int(last) for _, last in _RANGE.findall(title)]
    ends += [int(first[:2] + last) for first, last in _SHORT_RANGE.findall(title)]
    ends += [plan_years(f"十{n}五")[1] for n in _FIVE_YEARS.findall(title)]
    ends += [int(year) for year in _OF_A_YEAR.findall(title)]
    if not ends:
        return None
    return max(*ends, *map(int, _ANY_YEAR.findall(title)), 0)
