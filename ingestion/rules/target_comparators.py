"""How a value bounds an indicator: reached, at least, at most, up or down by it."""

import re

from kgrag.ingestion.rules import target_patterns as p
from kgrag.ingestion.rules.target_values import Value
from kgrag.qualifiers import Comparator

_DOWN = ("降低", "下降", "减少", "削减", "降低率", "下降率")
_SIGNS: tuple[tuple[str, Comparator], ...] = (
    ("≥", ">="), ("以上", ">="), ("≤", "<="), ("以内", "<="), ("以下", "<="),
    ("左右", "~"), ("约", "~"), (">", ">"), ("<", "<"),
)  # fmt: skip
_SAID: tuple[tuple[re.Pattern[str], Comparator], ...] = (
    (p.IS_ABOUT, "~"),
    (p.IS_ABOVE, ">"),
    (p.IS_BELOW, "<"),
)


def comparator_of_cell(text: str, indicator: str) -> Comparator:
    """Return what the cell of a table says of its number.

    >>> comparator_of_cell("≥42%", "森林覆盖率"), comparator_of_cell("13.5%", "能耗强度下降")
    ('>=', '-')
    """
    if indicator.endswith(_DOWN):
        return "-"
    return next((sign for word, sign in _SIGNS if word in text), "=")


def comparator_of(value: Value, chain: str, verb: str = "") -> Comparator:
    """Return what the words around a number say of it.

    Args:
        value: The number, with what stands behind it.
        chain: The words between the indicator and the number.
        verb: A verb of building, with which 增 and 减 say nothing; empty.
    """
    is_to = p.IS_TO.search(chain) is not None
    if not is_to and not verb and p.IS_DOWN.search(chain):
        return "-"
    if not is_to and not verb and p.IS_UP.search(chain):
        return "+"
    if value.number_to is not None:
        return "range"
    return _bound(value, p.IS_TO.sub("", chain))


def _bound(value: Value, sign: str) -> Comparator:
    if value.after in ("左右", "上下"):
        return "~"
    if value.after in p.AFTER_LOW or p.IS_LOW.search(sign):
        return ">="
    if value.after in p.AFTER_HIGH or p.IS_HIGH.search(sign):
        return "<="
    return next((comparator for pattern, comparator in _SAID if pattern.search(sign)), "=")
