"""When what a rule found and what is labelled are the same: words, values, years, organs."""

import re
from collections.abc import Collection
from decimal import Decimal, InvalidOperation

from kgrag.text.quantities import narrow
from kgrag.text.words import normalize

_SHORTER, _LONGER = 0.7, 0.4  # shares of the characters that two wordings must have in common
_NOT_WORD = re.compile(r"[\W_的]+")
# What a clause puts around an indicator; 建成区 is a place.
_FRAME = re.compile(
    r"全[市省区国县州]|[我本][市省区县]|累计|力争|努力|确保|建成(?!区)|建设|打造|创建|完成|实现|达到|"
    r"提高|提升|增加|增长|下降|降低|减少|控制在?|已"
)
_PLACE = re.compile(r"^[一-鿿]{1,6}?(?:自治区|自治州|[省市州盟县旗])(?:主?城区)?(?=..)")
_SCALE = {"万亿": 12, "亿": 8, "千万": 7, "百万": 6, "万": 4}
_SCALED = re.compile(rf"^({'|'.join(_SCALE)})(?=.)")
_SAME_UNIT = {
    "平米": "平方米",
    "m2": "平方米",
    "m3": "立方米",
    "立方": "立方米",
    "方": "立方米",
    "d": "日",
    "km": "公里",
    "千米": "公里",
    "t": "吨",
    "kwh": "千瓦时",
    "度": "千瓦时",
    "百分点": "个百分点",
    "吨标煤": "吨标准煤",
    "tce": "吨标准煤",
    "μg/m3": "微克/立方米",
    "ug/m3": "微克/立方米",
}
_PLAN = {"十一五": "2010", "十二五": "2015", "十三五": "2020", "十四五": "2025", "十五五": "2030"}
_YEAR = re.compile(r"(?:19|20)\d\d")
_OF_A_PLACE = re.compile(r"(?:.{1,7}[省市区县州盟旗]|国家|全国)?(?:各[级地]?|[本我省市区县州旗])?")
_GENERAL = re.compile(r"等?(?:行政)?(?:主管)?(?:部门|单位)?$")


def bare(words: str) -> str:
    """Return a wording without blanks, marks, 的 and width.

    >>> bare("城镇 新建建筑的占比（％）")
    '城镇新建建筑占比'
    """
    return _NOT_WORD.sub("", normalize(words))


def indicator_core(words: str) -> str:
    """Return the bare wording without verbs and the place ahead; whole where nothing is left.

    >>> indicator_core("全市森林覆盖率达到"), indicator_core("青川市主城区已建成污水处理厂")
    ('森林覆盖率', '污水处理厂')
    """
    whole = bare(words)
    return _PLACE.sub("", _FRAME.sub("", whole)) or whole


def in_common(a: str, b: str) -> int:
    """Return the length of the longest common subsequence.

    >>> in_common("二氧化硫排放量", "氮氧化物排放量")
    5
    """
    row = [0] * (len(b) + 1)
    for x in a:
        previous = 0
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], previous + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


def likeness(a: str, b: str) -> float:
    """Return Dice's coefficient of two cores, in [0, 1]."""
    return 2 * in_common(a, b) / (len(a) + len(b)) if a and b else 0.0


def same_indicator(found: str, label: str, others: Collection[str] = ()) -> bool:
    """Return whether a found wording is the labelled indicator.

    Of both cores the longest common subsequence holds at least 0.7 of the shorter and 0.4 of the
    longer, and none of `others`, the further indicators labelled in the sentence, is more like it.

    >>> same_indicator("全市农村自来水普及率", "农村自来水普及率")
    True
    >>> same_indicator("增加值", "绿色产业增加值占地区生产总值比重")
    False
    >>> same_indicator("氮氧化物排放量", "二氧化硫排放量", ["氮氧化物排放量"])
    False
    """
    a, b = indicator_core(found), indicator_core(label)
    shared = in_common(a, b)
    if not shared or shared < max(_SHORTER * min(len(a), len(b)), _LONGER * max(len(a), len(b))):
        return False
    return all(likeness(a, b) >= likeness(a, indicator_core(other)) for other in others)


def unit_and_scale(unit: str) -> tuple[str, int]:
    """Return a unit without its scale, in one spelling, and the power of ten of the scale.

    >>> unit_and_scale("万千瓦"), unit_and_scale("平米"), unit_and_scale("％")
    (('千瓦', 4), ('平方米', 0), ('%', 0))
    >>> unit_and_scale("万吨标煤/年"), unit_and_scale("平方千米")
    (('吨标准煤/年', 4), ('平方公里', 0))
    >>> unit_and_scale("万m3/d")
    ('立方米/日', 4)
    """
    plain = re.sub(r"\s", "", normalize(unit)).replace("标煤", "标准煤").replace("千米", "公里")
    if match := _SCALED.match(plain):
        return unit_and_scale(plain[match.end() :])[0], _SCALE[match[1]]
    parts = plain.split("/") if plain not in _SAME_UNIT else [plain]
    return "/".join(_SAME_UNIT.get(part, part) for part in parts), 0


def amount(value: str, unit: str) -> Decimal | None:
    """Return a value with the scale of its unit multiplied in; None where it is no number.

    >>> amount("33.2", "万千瓦") == amount("332000", "千瓦")
    True
    """
    try:
        return Decimal(narrow(value)).scaleb(unit_and_scale(unit)[1])
    except InvalidOperation:
        return None


def last_year(period: str) -> str:
    """Return the last year of a period; empty where it names none.

    >>> last_year("“十四五”"), last_year("2021-2025年"), last_year("每年")
    ('2025', '2025', '')
    """
    years = _YEAR.findall(narrow(period))
    return years[-1] if years else next((y for p, y in _PLAN.items() if p in period), "")


def digits(number: str) -> str:
    """Return the significant digits of a number, so that 50万 and 500000 are alike.

    >>> digits("50"), digits("500000"), digits("0.05"), digits("0")
    ('5', '5', '5', '')
    """
    return re.sub(r"\D", "", narrow(number)).strip("0")


def organ_core(words: str) -> str:
    """Return the bare name of an organ without 等, 主管 and 部门 behind it.

    >>> organ_core("林业等主管部门"), organ_core("有关部门"), organ_core("部门")
    ('林业', '有关', '部门')
    """
    whole = bare(words)
    return _GENERAL.sub("", whole) or whole


def same_organ(found: str, label: str) -> bool:
    """Return whether two wordings name one organ: equal, or the longer one has a place ahead.

    >>> same_organ("省发展改革委", "发展改革委"), same_organ("林业", "林业等部门")
    (True, True)
    >>> same_organ("市生态环境局", "省生态环境厅"), same_organ("会同市财政局", "市财政局")
    (False, False)
    """
    shorter, longer = sorted(map(organ_core, (found, label)), key=len)
    if len(shorter) < 2 or not longer.endswith(shorter):
        return False
    return _OF_A_PLACE.fullmatch(longer.removesuffix(shorter)) is not None


def same_task(found: str, label: str, item: str) -> bool:
    """Return whether a found task is the labelled one, or is worded within its item.

    >>> same_task("推广绿色建材", "推进绿色建筑", "推进绿色建筑。推广绿色建材。")
    True
    """
    a, b = bare(found), bare(label)
    if not a or (len(a) < 4 and a != b):
        return False
    return a in bare(item) or in_common(a, b) >= _SHORTER * min(len(a), len(b))
