"""Typed values of a phrase that another gave: 2025年比2020年下降13.5% as the object of a fact."""

import re
from collections.abc import Sequence
from dataclasses import replace

from kgrag.ingestion.statements.target_grammar import (
    MONEY_FOR,
    Time,
    Value,
    as_text,
    chain_before,
    comparator_of,
    ends,
    moved,
    says,
    standing_of,
    stated,
    times,
    values,
)
from kgrag.ingestion.statements.target_names import is_threshold
from kgrag.qualifiers import NONE, Comparator, Qualifiers, Standing
from kgrag.text.quantities import COUNTS, narrow
from kgrag.text.vocabulary import FIVE_YEAR_PLAN

_LONGEST = 200  # characters of a predicate or an object; what is longer is no phrase
_BLANK = re.compile(r"\s+(?!\d)|(?<!\d)\s+")
_TITLE = re.compile(r"《[^》]*》?")
_NO_TARGET = re.compile(
    r"缺省|默认|取值|系数|因子|补贴|补助|奖励|资助|奖补|退还|罚|扣|配套|经费|时限|期限|时间|保存|频率"
    r"|标准号|文号|编号|日期|门槛|条件|申报|申请"
)
_PLANNED = re.compile(
    r"目标|力争|争取|确保|计划|规划|拟|预期|预计|将|要求|任务|考核|不得|应[当达为不]|到20\d\d"
)
_ACHIEVED = re.compile(
    r"已|现状|现有|截至|截止|实际|实绩|完成了|达到了|十[一二三]五|以来|(?:19|20)\d\d年(?:底|末)[为有达]|基期|同比"
)
_AT_MOST = re.compile(r"上限|最高|最多|最大|限制|≤")
_AT_LEAST = re.compile(r"下限|最低|最少|至少|最小|≥")
_FROM = re.compile(r"(?:由|从)(?P<year>\d{4})?[^,;]{0,8}$")
_PLAN = re.compile(rf"{FIVE_YEAR_PLAN}[”\"’]?(?!规划|期|时|以来|末|中|初|[”\"’,])")
_ASIDE = re.compile(r"\(([^()]*)\)")
_OF_ANOTHER = re.compile(r"的(?!目标|水平|比例|速度|增速)|(?:的?基础|水平)上")


def value_qualifiers(predicate: str, phrase: str, *, written: int = 0) -> Qualifiers:
    """Return the typed value that a predicate and its object state, as of a target.

    For facts that a model made or a file gave. The first value counts; `NONE` where there is no
    number with a unit or share, where several are told apart by 分别, and where it is an amount
    of money granted, a coefficient or a time.

    Args:
        predicate: As 目标为, 2025年目标为, 达到, 2020年底为, 不超过.
        phrase: As 2025年比2020年下降13.5%, 500家以上.
        written: The year of the document, by which a year is past or ahead; 0 for unknown: then
            `standing` is empty unless the words tell it.

    >>> q = value_qualifiers("目标为", "2025年比2020年下降13.5%")
    >>> q.value, q.unit, q.comparator, q.year, q.base_year, q.standing
    ('13.5', '%', '-', '2025', '2020', 'planned')
    >>> value_qualifiers("目标为", "2060年前实现碳中和") == NONE
    True
    """
    lead, said = _PLAN.sub(r"\g<0>期间", _plain(predicate)), _plain(phrase)
    if max(len(lead), len(said)) > _LONGEST or _NO_TARGET.search(lead) or "分别" in said:
        return NONE
    text = lead + said
    found = [value for value in values(text) if value.start >= len(lead) and value.unit]
    base, value = _first(text, found)
    if value is None or _is_no_target(text, value):
        return NONE
    dated = times(text)
    time = _time(dated, value.start)
    return replace(
        stated(value, time, base, comparator=_comparator(text, lead, value)),
        base_year=_base_year(text, dated, base, value),
        standing=_standing(lead, said, time, written),
    )


def _is_no_target(text: str, value: Value) -> bool:
    """Return whether a number is granted, or only says which is meant: 3兆瓦的机组, 8%基础上."""
    behind = re.split(r"[,;]", text[value.end :], maxsplit=1)[0]
    if value.unit in ("元", "%", "美元") and MONEY_FOR.search(text):
        return True
    if is_threshold(value, behind) or (value.unit not in COUNTS and _OF_ANOTHER.match(behind)):
        return True
    return ends(behind, "parts") and value.unit not in ("%", "个百分点")


def _base_year(text: str, dated: Sequence[Time], base: Value | None, value: Value) -> str:
    """Return the year that a value is compared with; empty where none is told."""
    if since := next((t for t in dated if t.is_base and t.start < value.start), None):
        return since.year
    first = _FROM.search(text[: base.start]) if base else None
    return first["year"] or "" if first else ""


def _plain(text: str) -> str:
    """Return a phrase narrow, without blanks, titles and what stands in brackets but a time."""
    bare = _TITLE.sub("", _BLANK.sub("", narrow(text[: 2 * _LONGEST])))
    return _ASIDE.sub(lambda aside: f",{aside[1]}" if times(aside[1]) else "", bare)


def _first(text: str, found: Sequence[Value]) -> tuple[Value | None, Value | None]:
    """Return (the value it began with, the value): 由2020年的30%提高到50%."""
    if len(found) > 1 and _FROM.search(text[: found[0].start]):
        between = text[found[0].end : found[1].start]
        if moved().search(between):
            return found[0], found[1]
    return None, found[0] if found else None


def _time(dated: Sequence[Time], at: int) -> Time | None:
    """Return the last time before the value, else the first behind it."""
    own = [time for time in dated if not time.is_base]
    before = [time for time in own if time.start < at]
    return before[-1] if before else own[0] if own else None


def _comparator(text: str, lead: str, value: Value) -> Comparator:
    comparator = comparator_of(value, chain_before(text, value.start))
    if comparator in ("=", ">", "<") and (_AT_MOST.search(lead) or says("at_most").search(lead)):
        return "<="
    if comparator in ("=", ">", "<") and (_AT_LEAST.search(lead) or says("at_least").search(lead)):
        return ">="
    return comparator


def bound_of(text: str, number: str) -> Comparator:
    """Return how a text bounds a number that stands in it; empty where it does not.

    Args:
        text: As 占比不低于30%.
        number: As `Qualifiers.value` has it.

    >>> bound_of("新建数据中心PUE不高于1.3，占比达到30%", "1.3"), bound_of("占比达到30%", "30")
    ('<=', '')
    """
    said = _plain(text)
    found = (_comparator(said, "", v) for v in values(said) if as_text(v.number) == number)
    return next((comparator for comparator in found if comparator != "="), "")


def _standing(lead: str, said: str, time: Time | None, written: int) -> Standing:
    for words_of in (lead, said):
        if _ACHIEVED.search(words_of) and "目标" not in words_of:
            return "achieved"
        if _PLANNED.search(words_of):
            return "planned"
    return standing_of(time, written) if time and written else ""
