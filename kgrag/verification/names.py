"""Find the names in a sentence: titles, agencies, places, five-year plans, Latin names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kgrag.text.places import places_in
from kgrag.text.quantities import narrow, quantities
from kgrag.text.region_mentions import counties_in
from kgrag.text.vocabulary import FIVE_YEAR_PLAN
from kgrag.text.words import is_latin, normalize_name, quoted_titles

# Long forms and the short ones that stand for them, both in use for the same agency.
_SHORT = (
    ("发展和改革", "发改"),
    ("发展改革", "发改"),
    ("工业和信息化", "工信"),
    ("经济和信息化", "经信"),
    ("经济信息化", "经信"),
    ("经济和信息", "经信"),
    ("经济信息", "经信"),
    ("住房和城乡建设", "住建"),
    ("住房城乡建设", "住建"),
    ("人力资源和社会保障", "人社"),
    ("人力资源社会保障", "人社"),
    ("交通运输", "交通"),
    ("科学技术委员会", "科委"),
    ("科学技术", "科技"),
    ("市场监督管理", "市场监管"),
    ("国有资产监督管理", "国资"),
    ("林业和草原", "林草"),
    ("文化和旅游", "文旅"),
    ("卫生健康", "卫健"),
    ("环境保护", "环保"),
    ("金融监督管理", "金融监管"),
    ("中国人民银行", "央行"),
    ("人民银行", "央行"),
    ("委员会", "委"),
)
_AGENCY = re.compile(
    r"(?:领导小组|办公室|管委会|委员会|研究院|规划院|部门|公司|集团|银行|协会|中心|工作组"
    r"|部(?![门分署长队级委件位落下])|委(?![员托派任书会])|厅(?![长级])|局(?![面势部限长])|(?<![部签连])署(?!名))"
)
_LONGEST = 12  # characters before the suffix of an agency, besides the end of a line
_BEFORE = re.compile(rf"[\u4e00-\u9fff]{{2,{_LONGEST}}}$")
# What cannot stand in an agency's name begins before it.
_CUT = re.compile(
    r"[由与及向为的对在是将报归给至到等各]|成立|组建|设立|发挥|加强|推[进动]|会同|联合|部署|辅以|压实"
)
_CORE = 2  # characters before the suffix that make an agency's name
# Words that end like an agency, and agencies that nobody names.
_COMMON = re.compile(
    r"(?:全|内|干|各|局|外|总|[东西南北中]|俱乐|[一两本]|布|格|结|开|大|全|当|时|邮|餐|客|展|党|常|原)$"
    r"|(?:有关|相关|主管|各个|职能|业务|责任|牵头|配合|所属|上级|下级|市级|省级|县级|多个|[一-十]个|政府)$"
)
_PLAN = re.compile(rf"{FIVE_YEAR_PLAN}")
_LATIN_NAME = re.compile(r"(?<!\d)\d*+[A-Za-z][A-Za-z\d]*(?:[.\-&/+][A-Za-z\d]+)*")
_MEASURED = re.compile(r"([A-Za-z]{3,})\d+\.\d+")
# What a text may say instead.
_CHINESE = {
    "gdp": "生产总值",
    "co2": "二氧化碳",
    "ccer": "核证自愿减排量",
    "vocs": "挥发性有机物",
    "rmb": "元",
    "cny": "元",
}
_NOT_NAME = re.compile(
    r"i|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a sentence.

    Attributes:
        start: Offset in the sentence.
        written: As written.
        forms: Alternatives, as `bare` returns them; a text must contain one.
        is_place: Whether it is a place.
    """

    start: int
    written: str
    forms: tuple[str, ...]
    is_place: bool = False


def short_agencies(text: str) -> str:
    """Return a text with agencies abbreviated: 发展和改革委员会 becomes 发改委.

    >>> short_agencies("省发展和改革委员会")
    '省发改委'
    """
    for long, short in _SHORT:
        text = text.replace(long, short)
    return text


def bare(text: str) -> str:
    """Return the letters and digits of a text, agencies abbreviated."""
    return short_agencies(normalize_name(text))


def names(sentence: str, *, source_is_latin: bool) -> list[Name]:
    """Return the names in a sentence, in order.

    Args:
        sentence: Without [n].
        source_is_latin: Whether the cited text is English: in an English sentence about a Chinese
            text, only abbreviations and codes can be compared.
    """
    found = [*_titles(sentence), *_plans(sentence), *_latin(sentence, source_is_latin)]
    if not is_latin(sentence):
        found += [*_agencies(sentence), *_places(sentence)]
    return sorted(found, key=lambda name: name.start)


def _titles(sentence: str) -> Iterator[Name]:
    for start, _, title in quoted_titles(sentence):
        yield Name(start, f"《{title}》", (bare(title),))


def _plans(sentence: str) -> Iterator[Name]:
    for match in _PLAN.finditer(sentence):
        yield Name(match.start(), match.group(), (match.group(),))


def _agencies(sentence: str) -> Iterator[Name]:
    titles = [(start, end) for start, end, _ in quoted_titles(sentence)]
    for match in _AGENCY.finditer(sentence):
        before = _BEFORE.search(sentence, max(0, match.start() - _LONGEST - 1), match.start())
        if before is None or any(s <= match.start() < e for s, e in titles):
            continue
        shown = _CUT.split(before.group())[-1] + match.group()
        name = bare(shown)
        suffix = bare(match.group())
        stem = name.removesuffix(suffix)
        if len(stem) < _CORE or _COMMON.search(stem):
            continue
        whole = stem == name or suffix == "部门"  # 人民银行 has become 央行; 林业部门 is no name
        core = stem[-_CORE:] + ("" if whole else suffix)
        yield Name(match.start(), shown, (core,))


def _places(sentence: str) -> Iterator[Name]:
    first = {place: start for start, _, place in reversed(places_in(sentence))}
    for place, start in first.items():
        yield Name(start, place, (place,), is_place=True)
    for start, county in counties_in(sentence):
        yield Name(start, county, (county, county[:-1]), is_place=True)  # 泰兴市, 泰兴


def _latin(sentence: str, source_is_latin: bool) -> Iterator[Name]:
    text = narrow(sentence)
    numbers = [(q.start, q.end) for q in quantities(text)]
    english = is_latin(sentence)
    for match in _LATIN_NAME.finditer(text):
        word = match.group()
        if any(start < match.end() and match.start() < end for start, end in numbers):
            continue
        if english and (
            not (_is_code(word) or (source_is_latin and word[0].isupper()))
            or match.start() == 0
            or _NOT_NAME.fullmatch(word.casefold())
        ):
            continue
        if len(word) > 1:
            yield Name(match.start(), sentence[match.start() : match.end()], _latin_forms(word))


def _latin_forms(word: str) -> tuple[str, ...]:
    name = normalize_name(word)
    if name in _CHINESE:
        return (name, _CHINESE[name])
    if measured := _MEASURED.fullmatch(word):  # PUE1.3 is PUE, and a number
        return (normalize_name(measured.group(1)),)
    return (name, name.removesuffix("s")) if name.endswith("s") else (name,)


def _is_code(word: str) -> bool:
    """Return whether a word is an abbreviation or a code, the same in every language."""
    return len(word) > 1 and (word.isupper() or any(c.isdigit() for c in word))
