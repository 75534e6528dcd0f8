"""What kind of thing a question asks for, and whether a sentence has one."""

import re
from dataclasses import dataclass

_NUMBER = r"(?:\d[\d,.，．]*|[一二三四五六七八九十百千万两〇零]+)"


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
    _kind(
        "money",
        r"多少(?:万|亿)?元|多少钱|补(?:贴|助)?多少|奖(?:励|补)?多少|资助.{0,4}多少|多少(?:奖|补)"
        r"|how much money",
        rf"{_NUMBER}\s*(?:多|余)?\s*(?:万|亿|千)?\s*元|无偿|免费|\$",
    ),
    _kind("age", r"多少岁|年龄|多大岁数", r"周?岁|年龄"),
    _kind(
        "share",
        r"百分之几|百分之多少|百分比|几成|比例|比率|占比|百分点|几折|what (?:share|percentage)",
        rf"{_NUMBER}\s*[%％‰]|百分之|{_NUMBER}\s*个?百分点|{_NUMBER}\s*成(?!立|为|果|效|本|员)|全部",
    ),
    _kind(
        "duration",
        r"多久|多长时间|几(?:年|个月|天|个工作日)|多少(?:年|天|个月|个工作日|日)|隔多|how long",
        rf"{_NUMBER}\s*(?:个)?(?:年|月|日|天|周|小时|工作日|季度)|[按每逐半](?:年|季|月|日|周)|长期",
    ),
    _kind(
        "date",
        r"哪一?年|什么时候|何时|什么时间|截止|起始时间|几月|when\b|what year",
        r"\d{4}|[〇零一二三四五六七八九]{4}年|\d+\s*[月日]|“?十[三四五六]五|同时|之前|之日",
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


def asked_kind(question: str) -> Kind | None:
    """Return the kind of thing that a question asks for; None where it asks for any.

    >>> asked_kind("每亩补多少钱").name
    'money'
    >>> asked_kind("有哪些措施") is None
    True
    """
    return next((kind for kind in KINDS if kind.asks.search(question)), None)
