"""Words of figures, and the key by which they are comparable."""

from decimal import Decimal, InvalidOperation
from itertools import takewhile
from typing import NamedTuple

from kgrag.qualifiers import Comparator, Qualifiers
from kgrag.statements.sources import object_of
from kgrag.store.graph import Statement
from kgrag.text.facets import NATIONAL
from kgrag.text.places import question_places
from kgrag.text.plan_periods import plan_years
from kgrag.text.quantities import narrow, quantities, says_nothing, scaled
from kgrag.text.regions import regions_named
from kgrag.types import Document

_SIGNS = {
    "=": "", ">=": "≥", "<=": "≤", ">": ">", "<": "<", "~": "约", "+": "增", "-": "降", "range": "",
}  # fmt: skip
STANDINGS = {"planned": "目标", "achieved": "完成", "": ""}
_CHANGES: tuple[Comparator, ...] = ("+", "-")
# Words by which a figure counts something else: what is added, what is so each year.
_COUNTED = ("人均", "年均", "年度", "新增", "日均", "每年", "累计")
_NUMERALS = "0123456789.,万亿"  # of a number; what follows is its unit
_EACH_YEAR = ("年均", "每年")  # of a change: by as much in each year
_EACH_TIME = ("日", "年", "天")  # of amounts: 吨/日
# In a title of a part of a place, of a basin, or of some bodies: its figures are theirs.
_PARTS = (
    *("新区", "开发区", "高新区", "园区", "自由贸易", "自贸", "经济带", "流域", "城市群", "地区"),
    *("三角洲", "大湾区", "双城", "海域", "中央企业", "公共机构", "国家机关", "银行业", "教育系统"),
)
_PART_NAME = 4  # characters before such a word that say which one it is


class Measured(NamedTuple):
    """What a figure measures; figures with the same key are comparable.

    Attributes:
        indicator_id: Entity of the indicator.
        unit: Unit of the value.
        change: `+` or `-` for a change by the value; empty for a level.
        base_year: Base of a change.
        scope: Population or area that is measured.
        counted: Qualifiers that change the meaning: 新增, 年均.
    """

    indicator_id: str
    unit: str
    change: str
    base_year: str
    scope: str
    counted: tuple[str, ...]


def of_any_size(unit: str) -> bool:
    """Return whether values in a unit are independent of the size of a place: %, 吨/万元.

    Shares, intensities and concentrations are comparable between a place and what lies around it;
    amounts are not: those of a province are part of the country's.

    >>> of_any_size("%"), of_any_size("微克/立方米"), of_any_size("万吨"), of_any_size("吨/日")
    (True, True, False, False)
    """
    _, _, per = unit.partition("/")
    return unit in ("", "%", "个百分点") or (per != "" and not per.startswith(_EACH_TIME))


def sign_of(told: Qualifiers) -> str:
    """Return the prefix of a value: 增约, ≥; empty for the plain value.

    >>> sign_of(Qualifiers("target", comparator="+", bound="~"))
    '增约'
    """
    return "".join(_SIGNS.get(sign, sign) for sign in (told.comparator, told.bound))


def figure_words(statement: Statement) -> str:
    """Return a figure as short text: ≥24%, 较2020年降13.5%, 年均增≥10%."""
    return f"{base_words(statement)}{signed_words(statement)}"


def base_words(statement: Statement) -> str:
    """Return the base of a change: 较2020年; empty for a level, as 由2015年的19%上升为26%."""
    told = statement.qualifiers
    name = statement.fact.subject.name.replace("增加值", "")  # 减排量, 降低率 are changes
    is_change = told.comparator in _CHANGES or not {*"减降增"}.isdisjoint(name)
    return f"较{told.base_year}年" if told.base_year and is_change else ""


def signed_words(statement: Statement) -> str:
    """Return a value with its sign, of a change with the years that it is of: 年均增≥10%."""
    told = statement.qualifiers
    words = object_of(statement) if told.comparator in _CHANGES else ""
    each = next((word for word in _EACH_YEAR if word in words), "")
    return f"{each}{sign_of(told)}{value_words(statement)}"


def value_words(statement: Statement) -> str:
    """Return the value of a figure with its unit, as written in the text: 8900万千瓦, 50GW, 2‰."""
    told = statement.qualifiers
    text = narrow(object_of(statement))
    last = _as_written(told.value_to or told.value, told.unit, text)
    if not told.value_to:
        return last
    return f"{_as_written(told.value, told.unit, text, bare=True)}–{last}"


def _as_written(value: str, unit: str, text: str, *, bare: bool = False) -> str:
    """Return a value as the text writes it; scaled to 万 and 亿 if the text lacks it.

    A number in the unit comes before others; one that is part of a word (十四五) is none.

    Args:
        value: As stated.
        unit: As stated.
        text: Of the figure.
        bare: Whether the unit is left out.

    >>> _as_written("89000000", "千瓦", "2025年达到8900万千瓦以上"), _as_written("0.2", "%", "2‰")
    ('8900万千瓦', '2‰')
    >>> _as_written("60000000000", "元", "")
    '600亿元'
    >>> _as_written("15", "%", "“十四五”时期下降15%")
    '15%'
    """
    number = decimal_of(value)
    if number is None:
        return f"{value}{unit}"
    shown = "" if bare else unit
    found = [q for q in quantities(text) if number in q.values and not says_nothing(text, q)]
    for q in sorted(found, key=lambda q: not (q.unit and unit.startswith(q.unit))):
        piece = "".join(text[q.start : q.end].split())
        plain = "".join(takewhile(_NUMERALS.__contains__, piece))
        is_plain = plain != "" and quantities(plain)[0].values == {number}
        return f"{plain}{shown}" if is_plain else piece
    return f"{scaled(number)}{shown}"


def measured_of(statement: Statement, card: Document) -> Measured:
    """Return what a statement measures, without place and year."""
    told, fact = statement.qualifiers, statement.fact
    change = told.comparator if told.comparator in _CHANGES else ""
    worded = f"{told.subject}{object_of(statement)}"
    return Measured(
        indicator_id=fact.subject.entity_id,
        unit=told.unit,
        change=change,
        base_year=told.base_year or (_year_before(told.period) if change else ""),
        scope=told.scope or _part_of(card),
        counted=tuple(word for word in _COUNTED if word in worded),
    )


def _year_before(period: str) -> str:
    """Return the year before a five-year plan, the base of its changes; empty for none."""
    first, _ = plan_years(period)
    return str(first - 1) if first else ""


def _part_of(card: Document) -> str:
    """Return the area or bodies that a document's title limits it to."""
    found = ((card.title.find(word), word) for word in _PARTS if word in card.title)
    at, word = min(found, default=(0, ""))
    return card.title[max(at - _PART_NAME, 0) : at + len(word)] if word else ""


def is_known_place(place: tuple[str, ...], card: Document) -> bool:
    """Return whether a place is known, not a misread word."""
    if place == (NATIONAL,):
        return not card.metadata.regions and not question_places(card.title, ())
    return place[-1] in card.metadata.regions or bool(regions_named(place[-1]))


def decimal_of(text: str) -> Decimal | None:
    """Parse a number; None for other text."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
