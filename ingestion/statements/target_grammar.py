"""The grammar of targets (`targets.toml`) over the numbers, times and words of a passage."""

import functools
import re

from kgrag.ingestion.statements.target_times import Time, times
from kgrag.ingestion.statements.target_values import AFTER_HIGH, AFTER_LOW, SHARES, Value, values
from kgrag.qualifiers import Comparator
from kgrag.text.grammar import Grammar
from kgrag.text.quantities import COUNTS
from kgrag.text.tagged import Span, Tagged
from kgrag.text.terms import Tags, statement_terms

_DOWN = ("降低", "下降", "减少", "削减", "降低率", "下降率")
# 新增充电桩2万个 is no level; 新建建筑 is what is built, 新增装机占比 a share.
_ADDED = re.compile("(?:累计|年均|每年|再|力争|计划|已|共)*(?:新(?!能源|[兴型])|净增|增加|增设)")
_ADDED_NAME = re.compile("(?:年均)?(?:新增|净增)(?!.*(?:[率比]|比例|比重)$)")
_SIGNS: tuple[tuple[str, Comparator], ...] = (
    ("≥", ">="), ("以上", ">="), ("≤", "<="), ("以内", "<="), ("以下", "<="),
    ("左右", "~"), ("约", "~"), (">", ">"), ("<", "<"),
)  # fmt: skip
_SAID: tuple[tuple[str, Comparator], ...] = (("about", "~"), ("above", ">"), ("below", "<"))

_TAGS = ("share", "count", "amount", "other", "bare", "kinds", "base", "time", "time due")
_KINDS = re.compile(
    r"(?:\d{1,6}|[两二三四五六七八九十]{1,4})个?大?(?:类|方面|领域)|"
    r"\d{1,6}个(?:重点)?(?:行业|领域|省|市|县|区|乡镇|街道|城市)(?=\d)"
)
"""How many kinds or places those are of that are counted: 5类17个项目."""


@functools.cache
def grammar() -> Grammar:
    """Return the grammar of targets."""
    return Grammar.load("kgrag.ingestion.statements", "targets.toml", tags=_TAGS)


def pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of the grammar over tagged text."""
    return grammar().pattern(name)


def words(name: str) -> tuple[str, ...]:
    """Return a list of words of the grammar, or those of the lexicon that have a tag."""
    return grammar().words(name)


@functools.cache
def says(tag: str) -> re.Pattern[str]:
    """Return what finds the words of a tag in plain text, the longest first."""
    told = sorted(statement_terms().words(tag), key=lambda word: (-len(word), word))
    return re.compile("|".join(map(re.escape, told)))


@functools.cache
def moved() -> re.Pattern[str]:
    """Return what finds in plain text that a value moves to another: 提高到."""
    moves = "|".join(says(tag).pattern for tag in ("up", "down", "moves"))
    return re.compile(f"(?:{moves})(?:{says('to').pattern})|由降转升")


def reaches(chain: str) -> bool:
    """Return whether plain words say that an indicator comes to its value or keeps it: 达到.

    >>> reaches("比2020年提高到"), reaches("下降")
    (True, False)
    """
    return bool(moved().search(chain) or says("reached").search(chain))


def chain_before(text: str, end: int) -> str:
    """Return the words between an indicator and the number at an offset of plain text."""
    read = tagged(text[:end])
    chain = pattern("chain").search(read.code)
    return read.words(chain.start(), len(read.code)) if chain else ""


def ends(name: str, among: str) -> bool:
    """Return whether a name ends with one of a list of words, its Latin letters in any case."""
    return name.upper().endswith(words(among))


@functools.cache
def countable() -> frozenset[str]:
    """Return the units of what is made or done: 家, 亩."""
    return COUNTS | frozenset(words("amounts"))


def tagged(text: str) -> Tagged:
    """Return a passage with its times, numbers and words as spans."""
    return grammar().tagged(
        text,
        (Span(t.start, t.end, _of_time(t), t) for t in times(text)),
        (Span(*match.span(), frozenset(["kinds"])) for match in _KINDS.finditer(text)),
        (Span(v.start, v.end, frozenset([_kind(v)]), v) for v in values(text)),
    )


def _of_time(time: Time) -> Tags:
    if time.is_base:
        return frozenset(["base"])
    return frozenset(["time", "due"] if time.is_due else ["time"])


def _kind(value: Value) -> str:
    if value.unit in SHARES:
        return "share"
    if value.unit in COUNTS:
        return "count"
    if value.unit in words("amounts"):
        return "amount"
    return "other" if value.unit else "bare"


def comparator_of_cell(text: str, indicator: str) -> Comparator:
    """Return what the cell of a table says of its number.

    >>> comparator_of_cell("≥42%", "森林覆盖率"), comparator_of_cell("13.5%", "能耗强度下降")
    ('>=', '-')
    """
    if indicator.endswith(_DOWN):
        return "-"
    return "+" if _ADDED_NAME.match(indicator) else bound_of_cell(text)


def bound_of_cell(text: str) -> Comparator:
    """Return how exact the number of a cell is: at least, at most, about it.

    >>> bound_of_cell("≥42%"), bound_of_cell("42")
    ('>=', '=')
    """
    return next((sign for word, sign in _SIGNS if word in text), "=")


def comparator_of(value: Value, chain: str, verb: str = "", indicator: str = "") -> Comparator:
    """Return what the words around a number say of it.

    Args:
        value: The number, with what stands behind it.
        chain: The words between the indicator and the number.
        verb: A verb of building, with which 增 and 减 say nothing but for 新增; empty.
        indicator: Its name, which may say that it is what is added.
    """
    is_to = moved().search(chain) is not None
    if value.unit not in ("", *SHARES) and (_ADDED.match(verb) or _ADDED_NAME.match(indicator)):
        return "+"
    if not is_to and not verb and says("down").search(chain):
        return "-"
    if not is_to and not verb and says("up").search(chain):
        return "+"
    if value.number_to is not None:
        return "range"
    return _bound(value, moved().sub("", chain))


def bound_of(value: Value, chain: str) -> Comparator:
    """Return how exact what is added or taken away is: at least, at most, about it, or it.

    Args:
        value: The number, with what stands behind it.
        chain: The words between the indicator and the number.
    """
    return _bound(value, says("down").sub("", says("up").sub("", chain)))  # 提高 is not 高


def _bound(value: Value, sign: str) -> Comparator:
    if value.after in ("左右", "上下"):
        return "~"
    if value.after in AFTER_LOW or says("at_least").search(sign):
        return ">="
    if value.after in AFTER_HIGH or says("at_most").search(sign):
        return "<="
    return next((comparator for tag, comparator in _SAID if says(tag).search(sign)), "=")


def compared(comparator: Comparator, bound: Comparator) -> dict[str, Comparator]:
    """Return the fields of a value: of one that is added or taken away, how exact it is, too.

    >>> compared("+", "~"), compared(">=", ">="), compared("-", "=")
    ({'comparator': '+', 'bound': '~'}, {'comparator': '>='}, {'comparator': '-'})
    """
    is_change = comparator in ("+", "-") and bound != "="
    return {"comparator": comparator, "bound": bound} if is_change else {"comparator": comparator}
