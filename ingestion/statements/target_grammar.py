"""Numbers, times and words of a passage: what patterns on targets (`targets.toml`) match."""

import bisect
import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from kgrag.ingestion.metadata.dates import issue_year
from kgrag.ingestion.metadata.lines import read_lines
from kgrag.qualifiers import Comparator, Qualifiers, Standing
from kgrag.text.grammar import Grammar
from kgrag.text.indicators import is_of_fall
from kgrag.text.plan_periods import plan_years
from kgrag.text.quantities import COUNTS, Quantity, quantities
from kgrag.text.tagged import Span, Tagged
from kgrag.text.terms import Tags, statement_terms
from kgrag.text.vocabulary import FIVE_YEAR_PLAN

_NOT_VALUES = frozenset("年月日号时章款期级层届轮位份岁度批") | frozenset(
    ("个月", "小时", "分钟", "季度", "工作日", "期间", "次", "类", "张")
)
"""Units of times, articles, ranks: no value of an indicator."""
_COUNTERS = (
    "本(?![市省县区州地着级月年科质体次])|立方(?![米公])|标准台|眼|标台|家次|人次|辆次|户次|标准箱|标箱|车位|床位|场次|站点|株|所|支|套|口|只|头|羽|艘|栋|幢|部(?!门)|对|根|列|架|泊位|场|枚|例|起|册"
    "|宗|笔|组|MWh|GWh|GW|MW|kV|蒸吨|平米|平方|方|万|微克|毫克|μg|ug|mg|大卡|焦耳|GJ|PJ|dB|分贝|摄氏度|℃"
)
_OF_WHAT = "标准煤|标煤|二氧化碳当量|二氧化碳|CO2当量|CO2e|CO2|蒸汽|折纯"
_PER_WHAT = (
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
_AFTER = re.compile(r"(?:及以上|或以上|以上|及以下|以下|以内|之内|左右|上下|之间|不等)")
MONEY_FOR = re.compile(
    r"奖励|奖补|补助|补贴|资助|罚款|罚金|处以|贴息|扣分|得分|分值|加分|扣减|收费|注册资本|奖金|以奖代补|减征|免征|税率|退税|征收|缴纳|赔偿|滞纳|给予|一次性|扶持"
    r"|财政安排|比例拨付|赔付|保费|补偿标准|违法所得"
)
"""What is granted or taken is no value of an indicator."""
_TO = re.compile(r"(?:[-—–~～至到]|——)")
_MORE_UNIT = re.compile(rf"\s*(?:{_COUNTERS})", re.IGNORECASE)
_OF_AND_PER = re.compile(rf"(?P<of>{_OF_WHAT})?(?:(?:/|每)(?P<per>{_PER_WHAT}))?", re.IGNORECASE)
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
# What behind a number of a unit makes it no value: 220千伏变电站29座, 3.2项目建设.
_NO_VALUE_BEHIND = {
    "": re.compile("年|号|大(?:类|方面|领域|行动|工程|任务)"),
    "项": re.compile("目"),
    "千伏": re.compile("[一-鿿、和及与]"),
}
_TIMES_SAID = re.compile("次(?!能源|生|级|要)")
_FLOOD = "年一遇"
_PAPERS = re.compile(r"证书?(?![一-鿿]{0,2}[的期])|床|绿证")
_A_NUMBER = 10**4  # from which on a number in words is one: 两项, 三大工程 count parts of a text


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its unit in a passage.

    Attributes:
        start: First character of the number in the passage.
        end: Offset after what belongs to it: 以上, 左右.
        number: Scaled by 万 and 亿 and to the unit.
        number_to: The upper end of a range; None otherwise.
        unit: Normalised; empty where there is none.
        after: 以上, 左右, ...; empty.
    """

    start: int
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
    after = _AFTER.match(text, unit_end)
    number, number_to = min(first.values), None
    if last is not first:
        number_to = max(last.values)
        number = max(value for value in first.values if value <= number_to)
    return Value(
        first.start,
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
    behind = _NO_VALUE_BEHIND.get(last.unit)
    if behind and behind.match(text, last.end):
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
    tail = _OF_AND_PER.match(text, end)
    if not tail or not unit or unit in SHARES:
        return name, end, scale
    if tail["of"] and name not in _MASSES:
        return name, end, scale
    if tail["of"]:
        name += tail["of"].replace("标煤", "标准煤")
    if tail["per"]:
        name += "/" + _PER.get(tail["per"].casefold(), tail["per"])
    return name, tail.end(), scale


def stated(
    value: Value,
    time: "Time | None",
    base: Value | None = None,
    *,
    comparator: Comparator,
    bound: Comparator = "=",
) -> Qualifiers:
    """Return the qualifiers of a target that its numbers and times give.

    Args:
        value: Its value.
        time: When it holds; None where that is not told.
        base: The value at which it began; None where that is not told.
        comparator: What the words around the value say of it.
        bound: How exact it is; kept of what is added or taken away.
    """
    is_change = comparator in ("+", "-") and bound != "="
    return Qualifiers(
        "target",
        value=as_text(value.number),
        value_to=as_text(value.number_to),
        unit=value.unit,
        comparator=comparator,
        bound=bound if is_change else "",
        year=time.year if time else "",
        period=time.period if time else "",
        base_value=as_text(base.number) if base else "",
    )


def as_text(number: Decimal | None) -> str:
    """Return a decimal number without exponent or superfluous zeros; empty for none.

    >>> as_text(Decimal("2350000000.0")), as_text(Decimal("13.50"))
    ('2350000000', '13.5')
    """
    text = "" if number is None else f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


_HAN_YEAR = {c: str(i) for i, c in enumerate("零一二三四五六七八九")}
_Y = r"(?:(?:19|20)\d\d|[一二]零[零一二三四五六七八九]{2})"
_TAIL = (
    r"底前|年底|底|末期|末|前|初|以来|以前|之前|起|度|内|\d{1,2}月(?:\d{1,2}日)?(?:底|前|末|起)*"
)
_TIME = re.compile(
    rf"(?P<lead>截至目前|截至|截止到|截止|力争到|到|至|自|从|由|在|于|按)?"
    rf"(?:(?P<from>{_Y})年?(?:[-—–~至到]|——)(?P<to>{_Y})年?(?:间|期间)?"
    rf"|(?P<year>{_Y})年(?P<tail>(?:年?(?:{_TAIL}))*)"
    rf"|[“\"'‘]?(?P<plan>{FIVE_YEAR_PLAN})[”\"'’]?(?:规划)?(?P<part>期间|时期|以来|期末|末期|末|中后期|中期|初期|(?=,|新增|累计|年均)))"
)
_BASE_BEFORE = re.compile(r"(?:(?<!占)比|较|与|同|相比于?|相较于?|对比|相对于?|以|高于|低于|超过)$")
_BASE_AFTER = re.compile(r"(?:年?(?:的|现状|实际){0,3}(?:基础上|水平上|为基|基数|相比|同期)|相比)")
_FROM_VALUE = re.compile(r"的?[^,。;]{0,3}\d")
_FROM_PLAN = re.compile(rf"({FIVE_YEAR_PLAN})[”\"]?[^\n，。]{{0,24}}(?:规划|方案|计划)")
_HEAD = 100  # characters that hold a title


@dataclass(frozen=True, slots=True)
class Time:
    """When a value holds.

    Attributes:
        start: First character in the passage, 到 or 截至 included.
        end: Offset after the last.
        year: Four digits.
        period: 十四五, 2021-2025; empty for a year.
        is_base: Whether it is what a value is compared with.
        is_until: Whether it counts what has been (截至, 以来).
        is_since: Whether it is only when something began (2018年以来).
        is_due: Whether 到 or 至 stands before it.
    """

    start: int
    end: int
    year: str
    period: str = ""
    is_base: bool = False
    is_until: bool = False
    is_since: bool = False
    is_due: bool = False

    def each(self) -> list["Time"]:
        """Return the years of a period that tells its first; empty for another time.

        >>> [time.year for time in times("2023-2025年")[0].each()]
        ['2023', '2024', '2025']
        """
        first, dash, last = self.period.partition("-")
        years = range(int(first), int(last) + 1) if dash else ()
        return [replace(self, year=str(year), period="") for year in years]


def times(text: str) -> list[Time]:
    """Return the years and periods of a passage in order."""
    found = []
    for match in _TIME.finditer(text):
        year, period = _years(match)
        if not year:
            continue
        lead, tail = match["lead"] or "", match["tail"] or match["part"] or ""
        before = text[max(0, match.start() - 3) : match.start()]
        after = text[match.end() : match.end() + 8]
        is_base = (
            _BASE_BEFORE.search(before)
            or _BASE_AFTER.match(after)
            or (lead in ("在", "按") and _BASE_AFTER.search(after))
            or (lead in ("从", "由", "自") and _FROM_VALUE.match(after))
        )
        since = "以来" in tail
        found.append(
            Time(
                match.start(),
                match.end(),
                year,
                period,
                bool(is_base),
                since or lead.startswith("截"),
                (since or tail.endswith("起")) and not period,
                lead in ("到", "至", "力争到"),
            )
        )
    return found


def _years(match: re.Match[str]) -> tuple[str, str]:
    """Return (year, period) of a time: its last year; none where that comes before its first."""
    if plan := match["plan"]:
        return str(plan_years(plan)[1]), plan
    year = _digits(match["year"] or match["to"])
    if not match["from"]:
        return year, ""
    first = _digits(match["from"])
    return (year, f"{first}-{year}") if first < year else ("", "")


def _digits(year: str) -> str:
    return "".join(_HAN_YEAR.get(c, c) for c in year)


def written_in(text: str) -> int:
    """Return the year from which a document looks back and ahead; 0 where nothing tells.

    Its own where it states it; otherwise the first year of the five-year plan that its title names.
    """
    if stated := issue_year(read_lines(text)):
        return int(stated)
    if planned := _FROM_PLAN.search(text, 0, _HEAD):
        return plan_years(planned[1])[0]
    return 2021 if "十四五" in text else 0


def standing_of(time: Time, written: int) -> Standing:
    """Return whether what holds at a time is planned or achieved, for a document of a year."""
    year = int(time.year)
    if not written:
        return "achieved" if time.is_until else "planned"
    if time.is_until:
        return "achieved" if year <= written or time.period else "planned"
    if time.period and year == written and not time.is_due:
        return "planned" if "-" in time.period else "achieved"
    return "achieved" if year < written else "planned"


def last_before(found: Sequence[Time], at: int, since: int = 0) -> Time | None:
    """Return the last time in `[since, at)` that is no base; None where there is none."""
    i = bisect.bisect_left(found, at, key=lambda time: time.start) - 1
    while i >= 0 and found[i].start >= since:
        if not found[i].is_base:
            return found[i]
        i -= 1
    return None


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
    if is_of_fall(indicator):
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
    is_share_of_fall = value.unit in SHARES and is_of_fall(indicator)
    if not is_to and not verb and (is_share_of_fall or says("down").search(chain)):
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
