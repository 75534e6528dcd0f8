"""Kinds of answers (`[[kinds]]`): which one a question asks for, which sentences have it."""

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass

from kgrag.question.question import grammar
from kgrag.text.quantities import narrow

_YEAR = r"(?:19|20)\d\d"
_NAMES = re.compile(  # 2000家 is a number, 2000年 and 2021—2025 are not
    rf"《[^》]{{0,200}}》|(?:{_YEAR}\s*[-—–~～至到]+\s*)?{_YEAR}\s*年(?:\s*\d{{1,2}}\s*月)?(?:\s*\d{{1,2}}\s*[日号])?"
    rf"|{_YEAR}\s*[-—–~～]+\s*{_YEAR}(?!\d)|\d{{1,2}}\s*月\s*\d{{1,2}}\s*日|第\s*\d+\s*号"
)


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of answer.

    Attributes:
        name: For explanations.
        asks: Whether a question asks for it.
        has: Whether a sentence may answer it.
    """

    name: str
    asks: Callable[[str], object]
    has: Callable[[str], object]


@functools.cache
def _kinds() -> tuple[Kind, ...]:
    compiled = grammar().compile
    return tuple(
        Kind(row["name"], compiled(row["asks"]).search, compiled(row["has"]).search)
        for row in grammar().told["kinds"]
    )


def asked_kind(question: str) -> Kind | None:
    """Return the kind of answer that a question asks for; None for any.

    >>> asked_kind("每亩补多少钱").name, asked_kind("哪个部门负责，一年补多少钱").name
    ('money', 'money')
    >>> asked_kind("有哪些措施") is None
    True
    """
    return next((kind for kind in _kinds() if kind.asks(question)), None)


def states_kind(text: str, kind: Kind) -> bool:
    """Return whether a text contains an answer of a kind.

    Years, dates and numbers of documents are not counted as numbers.

    >>> kind = asked_kind("装机达到多大规模")
    >>> states_kind("2021年10月，国务院印发《2030年前碳达峰行动方案》", kind)
    False
    """
    text = narrow(text)
    return bool(kind.has(_NAMES.sub("", text) if kind.name == "number" else text))
