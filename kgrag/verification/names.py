"""Find the names in a text: titles, agencies, places, codes and names in Latin letters."""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from kgrag.text.in_chinese import in_chinese, places_named
from kgrag.text.organs import is_central_organ
from kgrag.text.places import places_in
from kgrag.text.quantities import narrow, quantities
from kgrag.text.region_mentions import counties_in
from kgrag.text.regions import path, regions_named
from kgrag.text.words import normalize_name, quoted_titles, stop_words

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
    ("环境保护", "环境"),
    ("环保", "环境"),
    ("金融监督管理", "金融监管"),
    ("中国人民银行", "央行"),
    ("人民银行", "央行"),
    ("委员会", "委"),
)
_AGENCY = re.compile(
    r"(?:领导小组|办公室|管委会|委员会|研究院|规划院|部门|公司|集团|银行|协会|中心|工作组|机关"
    r"|部(?![门分署长队级委件位落下])|委(?![员托派任书会])|厅(?![长级])|局(?![面势部限长])|(?<![部签连])署(?!名))"
)
_LONGEST = 12  # characters before the suffix of an agency, besides the end of a line
_BEFORE = re.compile(rf"[\u4e00-\u9fff]{{2,{_LONGEST}}}$")
# What cannot stand in an agency's name begins before it.
_CUT = re.compile(
    r"[由与及向为的对在是将报归给至到等各]|成立|组建|设立|发挥|加强|推[进动]|会同|联合|配合|协助|牵头|部署|辅以|压实"
)
_CORE = 2  # characters before the suffix that make an agency's name
# Words that end like an agency, and agencies that nobody names.
_COMMON = re.compile(
    r"(?P<word>全|内|干|各|局|外|总|[东西南北中]|俱乐|[一两本]|布|格|结|开|大|全|当|时|邮|餐|客|展|党|常|原)$"
    r"|(?:有关|相关|主管|各个|职能|业务|责任|牵头|配合|所属|上级|下级|市级|省级|县级|多个|[一-十]个|政府)$"
)
_GENERAL = ("主管", "行政", "监督", "管理", "监管", "执法")  # before 部门: no part of the name
_LATIN_NAME = re.compile(r"(?<!\d)\d*+[A-Za-z][A-Za-z\d]*(?:[.\-&/+][A-Za-z\d]+)*")
_MEASURED = re.compile(r"([A-Za-z]{3,})\d+\.\d+")
_COUNTED = re.compile(r"\d+[a-z]{1,2}")  # 3rd, 5m
# What a text may say instead.
_CHINESE = {
    "gdp": "生产总值",
    "co2": "二氧化碳",
    "ccer": "核证自愿减排量",
    "vocs": "挥发性有机物",
    "rmb": "元",
    "cny": "元",
}


class Name(NamedTuple):
    """A name in a text.

    Attributes:
        start: Offset in the text.
        written: As written.
        forms: Normal forms; of a place those that it lies in behind its own, of an agency its name
            without 局 or 委, as 财政部门 has it.
    """

    start: int
    written: str
    forms: tuple[str, ...]


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


def titles(text: str) -> list[Name]:
    """Return the titles in 《》 of a text."""
    return [Name(start, f"《{title}》", (bare(title),)) for start, _, title in quoted_titles(text)]


def agencies(text: str, *, latin: bool) -> list[Name]:
    """Return the agencies that a text names, by what tells one from another: 财政厅 is 财政.

    Args:
        text: Without [n].
        latin: Whether it is English; then as far as the list of questions has their Chinese names.
    """
    if latin:
        return [*_agencies_in_english(text)]
    titled = [(start, end) for start, end, _ in quoted_titles(text)]
    found = []
    for match in _AGENCY.finditer(text):
        before = _BEFORE.search(text, max(0, match.start() - _LONGEST - 1), match.start())
        if before is None or any(s <= match.start() < e for s, e in titled):
            continue
        shown = _CUT.split(before.group())[-1] + match.group()
        whole_names = (shown[i:] for i in range(len(shown) - 2))
        shown = next(filter(is_central_organ, whole_names), shown)
        name = bare(shown)
        suffix = bare(match.group())
        long = name.removesuffix(suffix)
        stem = _without_general(long)
        common = _COMMON.search(stem)
        if len(stem) < _CORE or (common and (stem == long or not common["word"])):
            continue
        # 人民银行 has become 央行; 林业部门 is no name
        whole = stem == name or suffix in ("部门", "机关")
        core = stem[-_CORE:]
        forms = (core,) if whole else (core + suffix, core)
        found.append(Name(match.end() - len(shown), shown, forms))
    return found


def _without_general(name: str) -> str:
    while name.endswith(_GENERAL):
        name = name[:-2]
    return name


def _agencies_in_english(text: str) -> Iterator[Name]:
    read = in_chinese(text)
    for term in (*read.terms, *read.others) if read else ():
        for name in agencies(f"由{term}", latin=False):
            yield Name(0, name.written, (name.forms[0][:_CORE], name.written[:_CORE]))


def places(text: str, known: Collection[str], *, latin: bool) -> list[Name]:
    """Return the places that a text names, each with those that it lies in.

    Args:
        text: Without [n].
        known: Names that no list holds.
        latin: Whether it is English.
    """
    if latin:
        named = places_named(text)
        return [
            Name(start, text[start:end], _around(name))
            for start, end, name in named
            if "-" not in (text[start - 1 : start], text[end : end + 1])  # a name of something else
        ]
    found = [Name(at, text[at:end], _around(name)) for at, end, name in places_in(text, known)]
    return found + [Name(at, name, _around(name)) for at, name in counties_in(text)]


def _around(name: str) -> tuple[str, ...]:
    """Return the short name of a place, and those of the places around it."""
    regions = regions_named(name)
    if not regions:
        return (name,)
    around = path(regions[0])[:-1] if len(regions) == 1 else ()
    return (regions[0].short, *(r.short for own in around for r in regions_named(own)[:1]))


def codes(text: str, *, capitalised: bool = False) -> list[Name]:
    """Return the abbreviations and codes of a text, or its other capitalised names."""
    told = narrow(text)
    numbers = [(q.start, q.end) for q in quantities(told)]
    found = []
    for match in _LATIN_NAME.finditer(told):
        word = match.group()
        if any(start < match.end() and match.start() < end for start, end in numbers):
            continue
        is_name = word[0].isupper() and match.start() > 0 and word.casefold() not in stop_words()
        is_code = _is_code(word)
        if len(word) > 1 and (is_name and not is_code if capitalised else is_code):
            found.append(Name(match.start(), text[match.start() : match.end()], _forms(word)))
    return found


def _forms(word: str) -> tuple[str, ...]:
    name = normalize_name(word)
    if name in _CHINESE:
        return (name, _CHINESE[name])
    if measured := _MEASURED.fullmatch(word):  # PUE1.3 is PUE, and a number
        return (normalize_name(measured.group(1)),)
    return (name, name.removesuffix("s")) if name.endswith("s") else (name,)


def _is_code(word: str) -> bool:
    """Return whether a word is an abbreviation or a code, the same in every language."""
    is_mixed = any(c.isdigit() for c in word) and not _COUNTED.fullmatch(word.casefold())
    return len(word) > 1 and (word.isupper() or is_mixed)
