"""Kinds of answers (`[[kinds]]`): which one a question asks for, which sentences have it."""

import functools
import re
from dataclasses import dataclass

from kgrag.question.question import grammar
from kgrag.text.quantities import narrow

# Classifiers that count the same things: 多少家企业 may be answered with 30个企业, not with 30人.
_COUNTED = (
    "家户个所间",
    "座个处所站",
    "辆台套部",
    "人名位个",
    "头只尾条匹",
    "栋幢座",
    "张份本枚",
    "件项个",
)
_BARE = ("number", "count")
_YEAR = r"(?:19|20)\d\d"
_NAMES = re.compile(  # 2000家 is a number, 2000年 and 2021—2025 are not
    rf"《[^》]{{0,200}}》|(?:{_YEAR}\s*[-—–~～至到]+\s*)?{_YEAR}\s*年(?:\s*\d{{1,2}}\s*月)?(?:\s*\d{{1,2}}\s*[日号])?"
    rf"|{_YEAR}\s*[-—–~～]+\s*{_YEAR}(?!\d)|\d{{1,2}}\s*月\s*\d{{1,2}}\s*日|第\s*\d+\s*号"
)
_COUNTS = re.compile(
    r"多少(?:万|亿|千|百)*([家户所间座处站辆台套人名位头只尾栋幢张份件项])|(?<!哪)几([座辆台头只])"
)
_WEIGHT = 0.1


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of answer.

    Attributes:
        name: For explanations.
        asks: Pattern of questions for it.
        has: Pattern of sentences that may answer them.
        weight: Added to a sentence's cosine if it matches.
    """

    name: str
    asks: re.Pattern[str]
    has: re.Pattern[str]
    weight: float = _WEIGHT


@functools.cache
def _kinds() -> tuple[Kind, ...]:
    compiled = grammar().compile
    return tuple(
        Kind(row["name"], compiled(row["asks"]), compiled(row["has"]), row.get("weight", _WEIGHT))
        for row in grammar().told["kinds"]
    )


def asked_kind(question: str) -> Kind | None:
    """Return the kind of answer that a question asks for; None for any.

    >>> asked_kind("每亩补多少钱").name
    'money'
    >>> asked_kind("有哪些措施") is None
    True
    """
    return next(iter(asked_kinds(question)), None)


def asked_kinds(question: str) -> list[Kind]:
    """Return the kinds of answers that a question asks for, the decisive one first.

    >>> [kind.name for kind in asked_kinds("哪个部门负责，一年补多少钱")]
    ['money', 'agency']
    """
    found = [kind for kind in _kinds() if kind.asks.search(question)]
    if found and found[0].name == "number":
        return [_count(question) or found[0]]
    return [kind for kind in found if kind.name != "number"]


def states_kind(text: str, kind: Kind) -> bool:
    """Return whether a text contains an answer of a kind.

    Years, dates and numbers of documents are not counted as numbers.

    >>> kind = asked_kind("装机达到多大规模")
    >>> states_kind("2021年10月，国务院印发《2030年前碳达峰行动方案》", kind)
    False
    """
    text = narrow(text)
    return kind.has.search(_NAMES.sub("", text) if kind.name in _BARE else text) is not None


def _count(question: str) -> Kind | None:
    """Return the kind of what is counted; None without a classifier.

    几类 and 哪几座 may be answered by a list without a number.
    """
    match = _COUNTS.search(question)
    if match is None:
        return None
    alike = "".join(
        dict.fromkeys(c for group in _COUNTED if (match[1] or match[2]) in group for c in group)
    )
    return Kind(
        "count",
        _COUNTS,
        grammar().compile(rf"<number>\s*<scale>\s*[{alike}]|全部|所有|[每各]个?[省市县区]"),
    )
