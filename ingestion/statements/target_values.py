"""The numbers of a passage that may be values of indicators: number, unit, what stands behind."""

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from kgrag.text.quantities import Quantity, quantities

_NOT_VALUES = frozenset("年月日号时章款期级层届轮位份岁度批") | frozenset(
    ("个月", "小时", "分钟", "季度", "工作日", "期间", "次", "类", "张")
)
"""Units of times, articles, ranks: no value of an indicator."""
_COUNTERS = (
    "本(?![市省县区州地着级月年科质体次])|立方(?![米公])|标准台|眼|标台|家次|人次|辆次|户次|标准箱|标箱|车位|床位|场次|站点|株|所|支|套|口|只|头|羽|艘|栋|幢|部(?!门)|对|根|列|架|泊位|场|枚|例|起|册"
    "|宗|笔|组|MWh|GWh|GW|MW|kV|蒸吨|平米|平方|方|万|微克|毫克|μg|ug|mg|大卡|焦耳|GJ|PJ|dB|分贝|摄氏度|℃"
)
_OF_WHAT = "标准煤|标煤|二氧化碳当量|二氧化碳|CO2当量|CO2e|CO2|蒸汽|折纯"
PER = (
    "万平方米|万立方米|平方公里|平方千米|平方米|立方米|立方|万千瓦时|千瓦时|标准煤|万元|亿元|小时|公里|公顷|万枚|万人|吨|人|户|天|日|年|亩"
    "|升|秒|时|次|台|辆|件|kWh|km2|km|m2|m3|hm2|kgce|tce|L|h|d|a|t"
)
UNIT_NAMES = {
    "kw": ("千瓦", 1), "mw": ("千瓦", 1000), "gw": ("千瓦", 10**6), "兆瓦": ("千瓦", 1000),
    "吉瓦": ("千瓦", 10**6), "kwh": ("千瓦时", 1), "mwh": ("千瓦时", 1000),
    "gwh": ("千瓦时", 10**6),
    "兆伏安": ("千伏安", 1000),
    "兆瓦时": ("千瓦时", 1000), "度": ("千瓦时", 1), "km": ("公里", 1), "km2": ("平方公里", 1),
    "m2": ("平方米", 1), "㎡": ("平方米", 1), "平米": ("平方米", 1), "平方": ("平方米", 1),
    "m3": ("立方米", 1), "方": ("立方米", 1), "立方": ("立方米", 1),
    "t": ("吨", 1), "kg": ("千克", 1),
    "tce": ("吨标准煤", 1),
    "ha": ("公顷", 1), "hm2": ("公顷", 1), "吨标煤": ("吨标准煤", 1), "标箱": ("标准箱", 1),
    "kgce": ("千克标准煤", 1), "kv": ("千伏", 1), "ug": ("微克", 1), "μg": ("微克", 1),
    "mg": ("毫克", 1),
}  # fmt: skip
AFTER = re.compile(r"(?:及以上|或以上|以上|及以下|以下|以内|之内|左右|上下|之间|不等)")
MONEY_FOR = re.compile(
    r"奖励|奖补|补助|补贴|资助|罚款|罚金|处以|贴息|扣分|得分|分值|加分|扣减|收费|注册资本|奖金|以奖代补|减征|免征|税率|退税|征收|缴纳|赔偿|滞纳|给予|一次性|扶持"
    r"|财政安排|比例拨付|赔付|保费|补偿标准|违法所得"
)
"""What is granted or taken is no value of an indicator."""
_TO = re.compile(r"(?:[-—–~～至到]|——)")
_MORE_UNIT = re.compile(rf"\s*(?:{_COUNTERS})", re.IGNORECASE)
_TAIL = re.compile(rf"(?P<of>{_OF_WHAT})?(?:(?:/|每)(?P<per>{PER}))?", re.IGNORECASE)
AFTER_LOW = ("及以上", "或以上", "以上")
AFTER_HIGH = ("及以下", "以下", "以内", "之内")
_PER = {
    "d": "日",
    "天": "日",
    "a": "年",
    "h": "小时",
    "m3": "立方米",
    "立方": "立方米",
    "m2": "平方米",
    "km2": "平方公里",
    "l": "升",
    "kwh": "千瓦时",
}
_FOOTNOTE = re.compile(r"(?<=[一-鿿]\d)(?:达|提高|提升|控制|保持|稳定|下降|降低|增长)")
SHARES = ("%", "个百分点")
_MEASURES = re.compile(r"[^,;。]{0,8}(?:措施|意见|建议|规定|举措|政策|内容|要求|标准|款)|$|[,;。]")
_MASSES = ("吨", "千克", "克", "立方米")  # of which it may be said what of: 吨标准煤
_LINES = re.compile(r"[河道路线渠沟溪涌街体管]$")  # 生态河道100条 are no articles
_TIMES = ("家", "辆", "户", "台", "艘", "亩", "公顷")  # 检查企业120家次, 防治3万亩次
_NAME_OF_LINE = re.compile(r"[一-鿿、和及与]")  # 220千伏变电站29座
_KINDS = ("大类", "大方面", "大领域", "大行动", "大工程", "大任务")
_TIMES_SAID = re.compile("次(?!能源|生|级|要)")
_FLOOD = "年一遇"
_PAPERS = re.compile(r"证书?(?![一-鿿]{0,2}[的期])|床|绿证")
_A_NUMBER = 10**4  # from which on a number in words is one: 两项, 三大工程 count parts of a text


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its unit in a passage.

    Attributes:
        start: First character of the number in the passage.
        unit_end: Offset after the unit.
        end: Offset after what belongs to it: 以上, 左右.
        number: Scaled by 万 and 亿 and to the unit.
        number_to: The upper end of a range; None otherwise.
        unit: Normalised; empty where there is none.
        after: 以上, 左右, ...; empty.
    """

    start: int
    unit_end: int
    end: int
    number: Decimal
    number_to: Decimal | None
    unit: str
    after: str


def values(text: str) -> list[Value]:
    """Return the values in a passage in order; times, articles and names left out."""
    found: list[Value] = []
    numbers = quantities(text)
    i = 0
    while i < len(numbers):
        first = numbers[i]
        following = numbers[i + 1] if i + 1 < len(numbers) else None
        last = first
        if (
            following
            and _TO.fullmatch(text, first.end, following.start)
            and _range(text, first, following)
        ):
            last = following
            i += 1
        i += 1
        value = _value(text, first, last)
        if value is not None and (not found or value.start >= found[-1].end):
            found.append(value)
    following_ones = [*found[1:], None][: len(found)]
    return [_completed(text, *pair) for pair in zip(found, following_ones, strict=True)]


def _completed(text: str, value: Value, following: Value | None) -> Value:
    """Return a value with the unit that only the next says whole: 20个、10个百分点."""
    is_half = following and value.unit == "个" and following.unit == "个百分点"
    if following and is_half and text[value.end : following.start] in ("、", "和", "及", "与"):
        return replace(value, unit=following.unit)
    return value


def _range(text: str, first: Quantity, last: Quantity) -> bool:
    return (
        max(first.values) < max(last.values)
        and (first.unit == last.unit or not first.unit)
        and (last.unit not in _NOT_VALUES or _is_unit_here(text, last))
    )


def _value(text: str, first: Quantity, last: Quantity) -> Value | None:
    if not _is_value(text, first, last):
        return None
    unit, unit_end, scale = _unit(text, last)
    if text.startswith("级", unit_end):  # 30万千瓦级机组
        return None
    after = AFTER.match(text, unit_end)
    number, number_to = min(first.values), None
    if last is not first:
        number_to = max(last.values)
        number = max(value for value in first.values if value <= number_to)
    return Value(
        first.start,
        unit_end,
        after.end() if after else unit_end,
        number * scale,
        number_to * scale if number_to is not None else None,
        unit,
        after[0] if after else "",
    )


def _is_value(text: str, first: Quantity, last: Quantity) -> bool:
    """Return whether a number is none of a time, an article, a name, a count of parts."""
    before = text[max(0, first.start - 2) : first.start]
    if before.endswith("第") or (last.unit in _NOT_VALUES and not _is_unit_here(text, last)):
        return False
    if not last.unit and text[last.end : last.end + 1] in ("年", "号"):
        return False
    if last.unit == "项" and text.startswith("目", last.end):  # 3.2项目建设
        return False
    if not last.unit and text.startswith(_KINDS, last.end):
        return False
    if last.unit == "千伏" and _NAME_OF_LINE.match(text, last.end):
        return False
    if not last.unit and last is first and _FOOTNOTE.match(text, last.end):
        return False
    if last.unit == "条" and _MEASURES.match(text, last.end) and not _LINES.search(before):
        return False
    return not last.is_word or last.unit in SHARES or max(last.values) >= _A_NUMBER


def _is_unit_here(text: str, last: Quantity) -> bool:
    """Return whether a unit that is none elsewhere is one here: 50年一遇, 证书2000张."""
    if last.unit == "年":
        return text.startswith("一遇", last.end)
    around = text[max(0, last.start - 12) : last.end + 8]
    return last.unit == "张" and _PAPERS.search(around) is not None


def _unit(text: str, quantity: Quantity) -> tuple[str, int, int]:
    """Return (unit, offset after it, how many of it one as written is)."""
    unit, end = quantity.unit, quantity.end
    if not unit and not quantity.is_word and (more := _MORE_UNIT.match(text, end)):
        unit, end = more[0].strip(), more.end()
    if unit in _TIMES and _TIMES_SAID.match(text, end):
        unit, end = unit + "次", end + 1
    elif unit == "年":
        unit, end = _FLOOD, end + (4 if text.startswith("标准", end + 2) else 2)
    name, scale = UNIT_NAMES.get(unit.casefold(), (unit, 1))
    tail = _TAIL.match(text, end)
    if not tail or not unit or unit in SHARES:
        return name, end, scale
    if tail["of"] and name not in _MASSES:
        return name, end, scale
    if tail["of"]:
        name += tail["of"].replace("标煤", "标准煤")
    if tail["per"]:
        name += "/" + _PER.get(tail["per"].casefold(), tail["per"])
    return name, tail.end(), scale


def as_text(number: Decimal) -> str:
    """Return a decimal number without exponent or superfluous zeros.

    >>> as_text(Decimal("2350000000.0")), as_text(Decimal("13.50"))
    ('2350000000', '13.5')
    """
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
