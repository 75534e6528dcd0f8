"""What kinds of things a question asks for, and whether a sentence has one."""

import re
from dataclasses import dataclass

from kgrag.language.quantities import narrow
from kgrag.text.vocabulary import FIVE_YEAR_PLAN

_NUMBER = r"(?:\d[\d,.，．]*|[一二三四五六七八九十百千万两〇零]+)"
_SCALE = r"(?:多|余|万|亿|千|百)*"
_MONEY = (  # what is counted in money, whatever the question calls its unit
    r"(?:补贴?|补助|资助|奖励?|奖补|奖金|罚款?|花|投资?|贷款?|能贷|预算|经费|费用|(?<![消免浪])费|资金|保费|金额|总额)"
)
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


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of answer.

    Attributes:
        name: For explanations.
        asks: Found in questions for it.
        has: Found in sentences that can answer them.
        weight: What having it adds to a sentence's score, beside its cosine.
    """

    name: str
    asks: re.Pattern[str]
    has: re.Pattern[str]
    weight: float = 0.1


def _kind(name: str, asks: str, has: str, *, weight: float = 0.1) -> Kind:
    return Kind(name, re.compile(asks), re.compile(has), weight)


# Tried in order; the first that fits is what is asked for. Units decide, so that 多少钱 is not
# answered with a year.
KINDS: tuple[Kind, ...] = (
    *(
        _kind(name, rf"(?:多少|几){_SCALE}(?:{asked})", rf"{stated}")
        for name, asked, stated in (
            ("energy", r"千瓦时|度电?|吨标准?煤", r"千瓦时|kwh|[万亿\d]度|标准?煤|吨"),
            ("power", r"千瓦|兆瓦|吉瓦|瓦", r"(?i:千瓦|兆瓦|吉瓦|[kmg]w)(?!时|h)"),
            ("mass", r"吨|公斤|千克", r"吨|千克|公斤"),
            ("volume", r"立方米?|方", r"立方米|m3|m³|万方|亿方"),
            ("length", r"公里|千米|米", r"公里|千米|米"),
        )
    ),
    _kind(
        "money",
        rf"多少{_SCALE}(?:元|块钱|[钱费款金奖补])|{_MONEY}[^，。？]{{0,6}}(?:多少|几[万亿千百])(?!家|个|人|户|项|年|天|%)"
        rf"|多少[^，。？家个人户项年]{{0,3}}{_MONEY}|[底单均]价[^，。？]{{0,4}}多少|给多少(?=[，。？?]|$)"
        r"|how much money",
        rf"{_NUMBER}\s*{_SCALE}\s*元|[壹贰叁肆伍陆柒捌玖拾佰仟万]+元|无偿|免费|\$",
    ),
    _kind("age", r"多少岁|年龄|多大岁数", r"周?岁|年龄"),
    _kind(
        "share",
        r"百分之几|百分之多少|百分比|几成|比例|比率|占比|百分点|几个点|几折"
        r"|what (?:share|percentage)",
        rf"{_NUMBER}\s*[%％‰]|百分之|{_NUMBER}\s*个?百分点|{_NUMBER}\s*成(?!立|为|果|效|本|员)|全部",
    ),
    _kind(
        "duration",
        r"多久|多长时间|几(?:年|个月|天|个工作日)|多少(?:年|天|个月|个工作日|日)|隔多|how long",
        rf"{_NUMBER}\s*(?:个)?(?:年|月|日|天|周|小时|工作日|季度)|[按每逐半](?:年|季|月|日|周)|长期",
    ),
    _kind(
        "day", r"哪一?[天日]|几[号日]", r"\d\s*[日天号]|[一二三四五六七八九十]+[日天]|之日|月[底末]"
    ),
    _kind(
        "date",
        r"哪一?年|什么时候|何时|什么时间|截止|起始时间|几月|when\b|what year",
        rf"\d{{4}}|[〇零一二三四五六七八九]{{4}}年|\d+\s*[月日]|“?{FIVE_YEAR_PLAN}|同时|之前|之日",
    ),
    _kind(
        "area",
        r"多大面积|面积.{0,6}多[大少]|多少(?:万)?(?:亩|平方米|平方公里|公顷)",
        rf"{_NUMBER}\s*(?:万|亿)?\s*(?:亩|平方米|平方公里|公顷|㎡|平米)",
    ),
    _kind(
        "titles",
        r"(?:引用|援引|依据|根据|落实|修订|废止).{0,8}(?:哪些|什么)|哪些.{0,8}(?:引用|援引|依据|落实)",
        r"《",
        weight=0.3,  # a sentence that cites is not like the question in any other way
    ),
    _kind(
        "agency",
        r"哪(?:个|些|几个|几家|两个|两家|家)?(?:部门|机构|单位|厅|局|委|办)|谁|哪几?家单位|归哪"
        r"|由哪|牵头|责任单位|负责的?是|who\b|which (?:agency|department)",
        r"负责|牵头|[厅局委办部院会](?![分事门])|中心|公司|单位|部门|政府|主体|机构|[A-Z]",
    ),
    _kind(
        "number",
        r"多少|多大|多高|多[远长宽]|几[个家座项种类条倍处批次块]|how many|how much",
        r"\d|[二三四五六七八九十百千两]|一[个家座项种类条倍次]",
    ),
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


def asked_kind(question: str) -> Kind | None:
    """Return the kind of thing that a question asks for; None where it asks for any.

    >>> asked_kind("每亩补多少钱").name
    'money'
    >>> asked_kind("有哪些措施") is None
    True
    """
    return next(iter(asked_kinds(question)), None)


def asked_kinds(question: str) -> list[Kind]:
    """Return the kinds of things that a question asks for, the one that decides first.

    >>> [kind.name for kind in asked_kinds("哪个部门负责，一年补多少钱")]
    ['money', 'agency']
    """
    found = [kind for kind in KINDS if kind.asks.search(question)]
    if found and found[0].name == "number":
        return [_count(question) or found[0]]
    return [kind for kind in found if kind.name != "number"]


def states_kind(text: str, kind: Kind) -> bool:
    """Return whether a text holds the kind of thing that is asked for.

    Years, dates and numbers of documents are none of the numbers asked for.

    >>> kind = asked_kind("装机达到多大规模")
    >>> states_kind("2021年10月，国务院印发《2030年前碳达峰行动方案》", kind)
    False
    """
    text = narrow(text)
    return kind.has.search(_NAMES.sub("", text) if kind.name in _BARE else text) is not None


def _count(question: str) -> Kind | None:
    """Return the kind of what is counted; None where a question counts nothing by a classifier.

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
        re.compile(rf"{_NUMBER}\s*{_SCALE}\s*[{alike}]|全部|所有|[每各]个?[省市县区]"),
    )
