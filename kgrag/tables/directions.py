"""Whether more or less of an indicator is better, as far as its words or its figures say."""

import re
from collections.abc import Iterable

from kgrag.qualifiers import Comparator

_MORE = re.compile(
    r"(?:利用率|利用系数|回收率|处理率|处置率|治理率|收集率|覆盖率|绿化率|绿地率|达标率|保护率|保有率|保持率"
    r"|普及率|替代率|安全率|优良率|完成率|合格率|清洁化率|电气化率|洁净率|转化率|植被盖度|覆盖度|绿色出行比例)$"
    r"|(?:优良|优于|达标)[^，]{0,12}(?:比例|比重|率)$"
    r"|^(?:非化石能源|可再生能源|新能源|清洁能源|绿色建筑|城镇绿色建筑|装配式建筑|星级绿色建筑|新能源汽车)"
    r"[^，]{0,16}(?:比例|比重|占比)$|^电能占|清洁取暖率$"
)
_LESS = re.compile(
    r"(?:浓度|能耗|电耗|水耗|煤耗|油耗|用水量|漏损率|线损率|弃风率|弃光率|死亡率|发生率|排放强度|能耗强度"
    r"|碳排放强度|碳强度|电能利用效率|PUE)$|劣[V五Ⅴ]|黑臭|污染天数|^煤炭消费|^单位.{1,14}(?:排放|消耗)",
    re.IGNORECASE,
)
_AT_LEAST: frozenset[Comparator] = frozenset([">=", ">"])
_AT_MOST: frozenset[Comparator] = frozenset(["<=", "<"])


def more_is_better(indicator: str, comparators: Iterable[Comparator]) -> bool | None:
    """Return whether a larger figure is the stricter aim; None where that is not certain.

    Of changes (提高, 下降 by so much) the larger is. Else the comparators tell (不低于, 不超过),
    and the words of the name; where they disagree nothing is certain.

    Args:
        indicator: Its name.
        comparators: Of the figures that are set side by side.

    >>> more_is_better("污水处理率", ["="]), more_is_better("PM2.5浓度", ["=", "<="])
    (True, False)
    >>> more_is_better("单位GDP能耗", ["-", "-"]), more_is_better("人均面积", ["=", "="])
    (True, None)
    >>> more_is_better("污水处理率", ["<="]) is None
    True
    """
    used = {*comparators}
    if used & {"+", "-"}:
        return True if len(used) == 1 else None
    more = bool(_MORE.search(indicator) or used & _AT_LEAST)
    less = bool(_LESS.search(indicator) or used & _AT_MOST)
    return more if more is not less else None
