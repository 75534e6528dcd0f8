"""How a value bounds an indicator: reached, at least, at most, up or down by it."""

import re

from kgrag.ingestion.rules.target_values import AFTER_HIGH, AFTER_LOW, SHARES, Value
from kgrag.ingestion.statements.target_grammar import moved, says
from kgrag.qualifiers import Comparator

_DOWN = ("降低", "下降", "减少", "削减", "降低率", "下降率")
# 新增充电桩2万个 is no level; 新建建筑 is what is built, 新增装机占比 a share.
_ADDED = re.compile("(?:累计|年均|每年|再|力争|计划|已|共)*(?:新(?!能源|[兴型])|净增|增加|增设)")
_ADDED_NAME = re.compile("(?:年均)?(?:新增|净增)(?!.*(?:[率比]|比例|比重)$)")
_SIGNS: tuple[tuple[str, Comparator], ...] = (
    ("≥", ">="), ("以上", ">="), ("≤", "<="), ("以内", "<="), ("以下", "<="),
    ("左右", "~"), ("约", "~"), (">", ">"), ("<", "<"),
)  # fmt: skip
_SAID: tuple[tuple[str, Comparator], ...] = (("about", "~"), ("above", ">"), ("below", "<"))


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
