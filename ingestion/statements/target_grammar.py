"""The grammar of targets (`targets.toml`) over the numbers, times and words of a passage."""

import functools
import re

from kgrag.ingestion.rules.target_times import Time, times
from kgrag.ingestion.rules.target_values import SHARES, Value, values
from kgrag.language.quantities import COUNTS
from kgrag.text.grammar import Grammar
from kgrag.text.tagged import Span, Tagged
from kgrag.text.terms import Tags, statement_terms

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
