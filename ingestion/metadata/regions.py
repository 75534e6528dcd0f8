"""Extraction of the place that a document governs, and its level."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kgrag.ingestion.metadata.lines import DocumentLines
from kgrag.metadata import Level
from kgrag.text.leading_region import leading_region
from kgrag.text.organs import is_bare_organ, is_central_organ
from kgrag.text.region_mentions import regions_in
from kgrag.text.regions import (
    MUNICIPALITIES,
    Region,
    level_of,
    listed_regions,
    path,
    region_at,
    regions_named,
)
from kgrag.text.vocabulary import DOCUMENT_KINDS

_READ = 60_000  # characters in which mentions are counted
# 川办发〔2022〕3号 is Sichuan's: the first character, if an organ's follows. Characters that cities
# use as well (青 of 青岛, 宁 of 南京, 苏 of 苏州) only lead to one of these.
_PROVINCES = """
京北京市 津天津市 沪上海市 渝重庆市 冀河北省 豫河南省 云云南省 滇云南省 辽辽宁省 黑黑龙江省 湘湖南省
皖安徽省 鲁山东省 新新疆维吾尔自治区 苏江苏省 浙浙江省 赣江西省 鄂湖北省 桂广西壮族自治区 甘甘肃省
晋山西省 内内蒙古自治区 陕陕西省 吉吉林省 闽福建省 黔贵州省 贵贵州省 粤广东省 川四川省 青青海省
藏西藏自治区 琼海南省 宁宁夏回族自治区 兵新疆生产建设兵团
"""
_ABBREVIATIONS: Mapping[str, str] = MappingProxyType(
    {word[0]: word[1:] for word in _PROVINCES.split()}
)
# Cities that sign with another character than the first of their name.
_CITIES = """
穗广州市 甬宁波市 榕福州市 蓉成都市 筑贵阳市 邕南宁市 锡无锡市 莞东莞市 洪南昌市 并太原市 潭湘潭市
禅佛山市 虔赣州市 明三明市 通南通市
"""
_CITY_ABBREVIATIONS: Mapping[str, str] = MappingProxyType(
    {word[0]: word[1:] for word in _CITIES.split()}
)
_AN_ORGAN = re.compile(
    r"(?:政|府|办|委|党|发改|环|财|建|住建|林|农|科|教|能源|工信|经信|市监|自然资|规|交|商|水|国资|机管|气候|银)"
)
# Codes of the centre: 国发, 发改环资, 环办气候, 财资环.
_CENTRAL_CODE = re.compile(
    r"(?:国|中[发办]|发改|环|财|工信|建(?!政)|交|农|商|教|科|自然资|林[^政府]|银发|银保监|证监|水[^政府]|民[^政府]|人社部|市监|税总|应急|文旅|汇发|署|体)"
)
_ALL_PROVINCES = re.compile(
    r"(?:各|有关)省、?(?:自治区|（自治区)|各省（|各省级|各直辖市|各中央企业"
)
_OWN_PROVINCE = re.compile(
    r"省(?:发展改革委|[一-鿿]{2,10}?厅)|[全我本](?:省|自治区)|省[委级直](?:[、，各有部])?|省政府|自治区(?:党委|人民政府|政府)|省人民政府"
)
_OWN_CITY = re.compile(
    r"[全我本][市州盟](?!场)|[市州盟][委级直](?:[、，各有部])?|[市州](?:人民)?政府"
)
_OWN_COUNTY = re.compile(r"[全我本][县旗]|县[委级](?:[、，各有部])|县(?:人民)?政府")
# What a national document hardly says: three of them make a document a place's own.
_OWN = re.compile(
    r"我[省市州盟县区旗](?!场)|我自治区|本市(?!场)|[全我]区(?![域块])|全(?:省|市(?!场)|州|县(?!域)|自治区)"
)
_SURELY = 3
_MOST_PLACES = 0.7
_OWN_DISTRICT = re.compile(r"[全我本]区(?!域)|区[委级](?:[、，各有部])|区(?:人民)?政府(?!、)")
# What is done for a province as a whole, the centre does.
_SUPPORTED = re.compile(
    r"(?:关于)?(?:支持|同意|赋予|推进)(?:[一-鿿]{2,3}省|(?:内蒙古|广西|西藏|宁夏|新疆|海南))"
)
# A line of the head that is a title or an organ, whole or the first of two.
_NAMES_ITSELF = re.compile(
    rf"(?:{DOCUMENT_KINDS}|政府|[厅局委]|委员会|办公[厅室]|关于.*)"
    r"(?:[（(][^（）()]*[）)])?[》”]?$"
)
_MINISTRY = re.compile(r"(?!.*(?:省|市|自治区|县|区委))[一-鿿]{2,12}部(?:办公厅)?")
_BARE = re.compile(r"自治区|省|[市州盟县区旗](?!场|域)")
_NATIONAL = re.compile(r"全国|我国|国家|国务院")
_NATIONAL_TITLE = re.compile(r"^(?:中华人民共和国|国务院|中共中央|全国人|全国|国家|中国(?![（(]))")


@dataclass(frozen=True, slots=True)
class Governed:
    """Region and level of a document.

    Attributes:
        regions: Full names, outermost first; empty for a national document.
        level: Empty if unknown.
        inferred: Whether they are only inferred from the places in the text.
    """

    regions: tuple[str, ...] = ()
    level: Level = ""
    inferred: bool = False


def read_region(
    document: DocumentLines, title: str, issuers: Sequence[str], number: str
) -> Governed:
    r"""Return the place that a document governs: no place that it only speaks of.

    In order: whether its issuers, number, addressees or title are the centre's; the place that its
    issuers, its title or its head's lines begin with; the place among those named that its number
    and words such as 全省 and 我市 fit best.

    Args:
        document: Its lines.
        title: As given.
        issuers: As worded.
        number: Its own.

    >>> from kgrag.ingestion.metadata.lines import read_lines
    >>> lines = read_lines("省政府关于节能的通知\n各市：\n推进我省节能，四川成都、绵阳。")
    >>> read_region(lines, "省政府关于节能的通知", ["省政府"], "川府发〔2022〕3号").regions
    ('四川省',)
    """
    issuer = next(iter(issuers), "")
    if is_central_organ(issuer) or _MINISTRY.fullmatch(issuer):
        return Governed((), _central_level(issuer))
    if _of_the_centre(issuer):
        return Governed((), "部门")
    stated = _of_issuers(issuers)
    titled = leading_region(title)[0] or _of_head(document)
    if stated or titled:
        regions = _in_print(_deeper(stated, titled), document)
        return Governed(regions, _level(regions))
    if _is_central(document, title, number):
        return Governed((), "部门" if re.match(r"(?!国[发办]|中).", number) else "国家")
    if _SUPPORTED.match(title):
        return Governed((), "国家", inferred=True)
    local = is_bare_organ(issuer)
    regions = _suggested(document, title, number, local=local)
    if regions:
        return Governed(regions, _level(regions), inferred=not _tells(title, number))
    text = "".join(document.lines)[:_READ]
    own = _own_words(text)
    levels: tuple[Level, ...] = ("省", "市", "县")
    if local:
        return Governed((), _bare_level(issuer), inferred=True)
    if sum(own) > len(_NATIONAL.findall(text)):
        return Governed((), levels[own.index(max(own))], inferred=True)
    return Governed((), "国家" if _NATIONAL.search(text) else "", inferred=True)


def _of_the_centre(issuer: str) -> bool:
    """Return whether a name is of an organ within a central one, without a place."""
    within = any(is_central_organ(issuer[:end]) for end in range(3, len(issuer)))
    return within and not regions_in(issuer)


def _bare_level(issuer: str) -> Level:
    if issuer.startswith(("省", "自治区")):
        return "省"
    return "市" if issuer[:1] in "市州盟" else "县"


def _central_level(issuer: str) -> Level:
    return (
        "国家" if re.match(r"中共中央|党中央|国务院(?:办公厅)?$|全国人|国办$", issuer) else "部门"
    )


def _level(regions: Sequence[str]) -> Level:
    region = region_at(regions)
    return region.level if region else ""


def _of_issuers(issuers: Sequence[str]) -> tuple[str, ...]:
    # 省财政厅 and 人民银行成都分行 issue what the province governs.
    bare = _BARE.match(issuers[0]) if issuers else None
    deep = 3 if bare is None else (1 if bare[0] in ("省", "自治区") else 2)
    found = (leading_region(name)[0] for name in issuers)
    within = (path(m.region) for name in issuers for m in regions_in(name))
    return next((names[:deep] for names in (*found, *within) if names), ())


def _of_head(document: DocumentLines) -> tuple[str, ...]:
    """Return the place at the beginning of a line of the head, with a title or an organ."""
    last = document.addressees if document.addressees >= 0 else 6
    for line in document.lines[:last]:
        if len(line) < 120 and "。" not in line:
            names, end = leading_region(line.lstrip("《“"))
            if names and _NAMES_ITSELF.search(line, end):
                return names
    return ()


def _deeper(stated: tuple[str, ...], titled: tuple[str, ...]) -> tuple[str, ...]:
    """Return the issuers' place, or the title's if that is inside it."""
    if stated and titled[: len(stated)] == stated:
        return titled
    if stated and titled and stated[-1] == titled[-1]:
        return max(stated, titled, key=len)
    return stated or titled


def _in_print(regions: tuple[str, ...], document: DocumentLines) -> tuple[str, ...]:
    """Return a place, corrected to a listed one if a scan garbled it."""
    name = regions[-1]
    if regions_named(name) or level_of(name) == "县":
        return regions
    text = "\n".join(document.lines)[:_READ]
    mentions = Counter(
        place for m in regions_in(text) for place in _at_level(path(m.region), level_of(name))
    )
    place, n = max(mentions.items(), key=lambda found: found[1], default=((), 0))
    same = bool(place) and len(place[-1]) == len(name) and place[-1][1:] == name[1:]
    return place if same and n > text.count(name) else regions


def _is_central(document: DocumentLines, title: str, number: str) -> bool:
    if number and _CENTRAL_CODE.match(number):
        return True
    if _ALL_PROVINCES.search(document.recipients):
        return True
    return bool(_NATIONAL_TITLE.match(title))


def _tells(title: str, number: str) -> bool:
    return bool(number[:1] in _ABBREVIATIONS or regions_in(title))


def _suggested(document: DocumentLines, title: str, number: str, *, local: bool) -> tuple[str, ...]:
    """Return the place that fits the number, the title and 全省, 我市 in the text best."""
    text = "\n".join(document.lines)[:_READ]
    spoken_of = dict(zip(("省", "市", "县"), _own_words(text), strict=True))
    mentions = Counter(path(m.region) for m in regions_in(text))
    told = number or local
    own = len(_OWN.findall(text)) >= _SURELY or _speaks_of_one(mentions)
    if not (told or own) and sum(spoken_of.values()) <= len(_NATIONAL.findall(text)):
        return ()
    wanted = _allowed(number, mentions)
    named = [path(m.region) for m in regions_in(title)]
    depth = max(spoken_of, key=spoken_of.__getitem__)
    candidates: Counter[tuple[str, ...]] = Counter()
    for names, n in mentions.items():
        for place in _at_level(names, depth):
            if not wanted or wanted & set(place):
                candidates[place] += n * (5 if names in named else 1)
    if candidates:
        return candidates.most_common(1)[0][0]
    return _only(wanted, depth)


def _speaks_of_one(mentions: Counter[tuple[str, ...]]) -> bool:
    """Return whether most of the places in a text are in one province."""
    provinces: Counter[str] = Counter()
    for names, n in mentions.items():
        provinces[names[0]] += n
    most = max(provinces.values(), default=0)
    return most >= _SURELY and most > _MOST_PLACES * provinces.total()


def _only(wanted: frozenset[str], depth: str) -> tuple[str, ...]:
    """Return the one place of a level that a number allows."""
    fits = [n for n in wanted if level_of(n) == depth or (depth == "市" and n in MUNICIPALITIES)]
    return path(regions_named(fits[0])[0]) if len(fits) == 1 else ()


def _at_level(names: tuple[str, ...], depth: str) -> Iterator[tuple[str, ...]]:
    """Yield the parts of a path that are of a level; a municipality is a 省 and a 市."""
    for n, name in enumerate(names, 1):
        level = level_of(name)
        if level == depth or (depth == "市" and name in MUNICIPALITIES):
            yield names[:n]


def _own_words(text: str) -> tuple[int, int, int]:
    """Return how often a text refers to its own province, city and county."""
    district = len(_OWN_DISTRICT.findall(text))
    autonomous = len(re.findall(r"自治区", text))
    province = len(_OWN_PROVINCE.findall(text)) + (district if autonomous > district / 4 else 0)
    county = len(_OWN_COUNTY.findall(text)) + (0 if autonomous > district / 4 else district)
    return province, len(_OWN_CITY.findall(text)), county


def _allowed(number: str, mentions: Counter[tuple[str, ...]]) -> frozenset[str]:
    """Return the places whose abbreviation is in a number; empty for any."""
    first, rest = number[:1], number[1:]
    if not number or not _AN_ORGAN.match(rest):
        return frozenset()
    fits = {_ABBREVIATIONS.get(first), _CITY_ABBREVIATIONS.get(first)} - {None}
    named = {name for names in mentions for name in names}
    fits |= {r.name for r in _cities() if r.short.startswith(first) and r.name in named}
    return frozenset(name for name in fits if name)


def _cities() -> Iterator[Region]:
    return (region for region in listed_regions() if region.level == "市")
