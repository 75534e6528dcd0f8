"""What an indicator is called: words before or behind a number, and what those before lend it."""

import re
from collections.abc import Sequence
from dataclasses import replace

from kgrag.ingestion.rules import target_patterns as p
from kgrag.ingestion.rules import target_words as words
from kgrag.ingestion.rules.target_statement import State, Statement
from kgrag.ingestion.rules.target_times import times
from kgrag.ingestion.rules.target_values import SHARES, Value
from kgrag.language.quantities import COUNTS

LEVEL_ONLY = re.compile(r"(?:国家|省|地市?|市|县区?|区县?|镇|乡镇?|村)级")
_LEVEL_BEFORE = re.compile(rf"{LEVEL_ONLY.pattern}(?=[一-鿿]{{2}})")
_LENGTHS = frozenset(("米", "公里", "平方米", "公顷", "亩", "千伏", "千瓦", "吨", "元"))
_OF_OTHERS = re.compile(r"^[^,]{0,30}(?:城市|地区|县城|单列市|农村|城镇)(?=[^,]{4})")
_LONGEST = 60  # characters of an indicator
_WHERE = re.compile(r"在[^,在]{2,8}地区$")  # 占比在东部地区达到70%,中部地区不低于50%
_BASE_END = re.compile(rf"{p.BASE}$")
_NAME_GOES_ON = re.compile(r"(?![、和及与的并以其次])[一-鿿]{2}")
_SIZES = ("及以上", "以上", "及以下", "以下")
_SIZED = re.compile(r"(?![、和及与并的以其次])[^,;、]{2,16}")
_NAME_BEFORE = re.compile(r"[一-鿿]{2}$")
_SHARED_WORK = re.compile(
    r"^(?P<noun>[^的,;]{2,12})的(?P<done>[^的,;]{2,12}(?:治理|整治|改造|修复|建设|整改|升级|提标))$"
)


def without_times(rest: str) -> str:
    """Return the words before a number without what says when.

    >>> without_times("到2025年,森林覆盖率")
    ',森林覆盖率'
    """
    start = 0
    for time in times(rest):
        if time.is_base:
            continue
        if not words.names_something(words.lead_stripped(rest[time.end :])):
            return rest[start : time.start]
        start = time.end
    return rest[start:]


def indicator_in(rest: str) -> str:
    """Return the indicator that words before a number name; empty for none.

    >>> indicator_in("到2025年,全省森林覆盖率比2020年")
    '森林覆盖率'
    """
    bare = words.lead_stripped(without_times(rest))
    while True:
        shorter = p.TRAILS.sub("", bare)
        base = _BASE_END.search(shorter)
        if base and base.start() > 1:
            shorter = shorter[: base.start()]
        if shorter == bare:
            break
        bare = shorter
    return bare if words.names_something(bare) else ""


def counted_noun(behind: str, *, is_followed: bool) -> str:
    """Return what is counted, behind a number; empty for none.

    Args:
        behind: The words up to the next number or the end of the clause.
        is_followed: Whether a number stands behind them: then the noun ends at the last 、 or 和.

    >>> counted_noun("试点机关、", is_followed=True)
    '试点机关'
    """
    noun = behind
    if is_followed:
        cut = max(noun.rfind(mark) for mark in "、和及与")
        noun = noun[: max(cut, 0)].removesuffix("以")
    if noun[:1] in ("、", "和", "及", "与"):
        return ""
    noun = noun.lstrip("的")
    return noun if words.names_something(noun) else ""


def lent(name: str, before: str, value: Value, chain: str, *, is_part: bool = False) -> str:
    """Return a name with what the indicator before it lends.

    占比 is that of what stands before; 县级城市达到15% is of the same indicator.
    """
    if not name or not before:
        return name or before
    if p.OF_WHAT_BEFORE.match(name):
        return before + name.removeprefix("约")
    where = _WHERE.search(before)
    before = before[: where.start()] if where else before
    is_of_part = (
        value.unit in SHARES
        and (is_part or p.IS_REACHED.search(chain) or where)
        and p.PART_OF_ALL.search(name)
        and p.INDICATOR_END.search(before)
    )
    return name + _OF_OTHERS.sub("", before) if is_of_part else name


def complete_levels(found: list[Statement], noun: str) -> None:
    """Give what the last statement counts to the levels before: 2个市级、4个县级水源地保护区."""
    level = _LEVEL_BEFORE.match(noun)
    if not level:
        return
    for i in range(len(found) - 2, -1, -1):
        if found[i].clause != found[-1].clause or not LEVEL_ONLY.fullmatch(found[i].indicator):
            break
        found[i] = replace(found[i], indicator=found[i].indicator + noun[level.end() :])


def complete_work(found: list[Statement], noun: str) -> None:
    """Give what is done to a list's last item to those before: 3个油库、5辆车的油气回收治理."""
    shared = _SHARED_WORK.match(noun)
    if not shared:
        return
    for i in range(len(found) - 2, -1, -1):
        is_counted = found[i].value.unit in COUNTS and found[i].verb
        if found[i].clause != found[-1].clause or not is_counted:
            break
        found[i] = replace(found[i], indicator=f"{found[i].indicator}的{shared['done']}")


def said_before(text: str, at: tuple[int, int], state: State, chain: str, n: int) -> Sequence[str]:
    """Return the n indicators that what stands before has for a list of values; empty for none.

    Args:
        text: The passage.
        at: Where the clause begins, and its sentence.
        state: What the sentence says so far.
        chain: The words before the first value.
        n: How many there are to be.
    """
    named = state.names if len(state.names) == n else ()
    return named or listed_before(text, *at, n) or told_before(state.found, chain, n)


def listed_before(text: str, start: int, since: int, n: int) -> Sequence[str]:
    """Return the n indicators that the clause before `start` lists: A、B、C, 分别下降….

    Args:
        text: The passage.
        start: Where a clause begins.
        since: Where its sentence begins.
        n: How many there are to be; empty where the clause lists another number.
    """
    end = max(start - 1, since)
    at = max(text.rfind(mark, since, end) for mark in ",;:")
    before = text[max(at + 1, since) : end]
    return words.items(words.lead_stripped(without_times(before)), n)


def told_before(found: Sequence[Statement], chain: str, n: int) -> Sequence[str]:
    """Return the n indicators that a sentence has told: A达5万,B达7万,分别增长1%、2%; else none."""
    last = [each.indicator for each in found]
    return last if len(last) == n == len(set(last)) and "分别" in chain else ()


def is_size(before: str, value: Value, behind: str) -> bool:
    """Return whether a number only says of which size those are that are counted behind it.

    Args:
        before: The words of the clause before the number.
        value: The number.
        behind: The words up to the next number: 淘汰10蒸吨以下燃煤锅炉30台.
    """
    return bool(
        value.after in _SIZES
        and value.unit not in (*SHARES, *COUNTS)
        and _SIZED.fullmatch(behind)
        and words.lead_stripped(before)
    )


def is_within_name(before: str, value: Value, behind: str) -> bool:
    """Return whether a number is part of an indicator's name: 站点500米覆盖率."""
    if is_size(before, value, behind):
        return True
    if value.unit not in _LENGTHS or value.after or len(behind) > _LONGEST:
        return False
    chain = p.CHAIN.search(behind)
    name = behind[: chain.start()] if chain else behind
    return bool(
        _NAME_BEFORE.search(before)
        and _NAME_GOES_ON.match(behind)
        and not p.CHAIN.search(before[-_LONGEST:])
        and not p.BUILD_RUN.search(before[-_LONGEST:])
        and p.INDICATOR_END.search(name)
    )
