"""Recognise places in questions, and names of places."""

import functools
import re
from collections.abc import Collection, Iterable, Mapping

from kgrag.text.facets import called
from kgrag.text.leading_region import leading_region
from kgrag.text.region_mentions import names_in
from kgrag.text.regions import listed_regions, regions_named

_CORPS = "新疆生产建设兵团"  # which is in no province's documents
# A name with its administrative suffix where a title begins, for places that no list holds.
_PREFIX = re.compile(r"(?:中共)?([一-鿿]{2,4}?)(?:自治[区州]|[省市县区旗盟])(?!场|政)")
_DISTRICT = re.compile(r"([一-鿿]{2,4}?)(?:新区|区|县|旗)")
_AREA = re.compile(
    r"(?:[一-鿿]{1,6}族)?(?:自治[区州]|[省市县区旗盟州]|地区)(?:[一-鿿]{2,4}[区县市])?"
)
_KIND_OF_AREA = re.compile(r"(?:保护|新片|采空|[禁限].|灌|[城港园牧库矿林])区$")
_COUNTRIES = frozenset(["国家", "全国", "我国", "中国"])
_NO_PLACE = re.compile(
    r"[城园各全本]|自治|高新|国家|中央|开发|经济|绿色|低碳|试点|示范|试验|创建|关于|十四五"
)
# Provinces by one character, where several stand together and are counted: 冀湘两省.
_BY_ONE_CHARACTER = {
    "京": "北京", "津": "天津", "冀": "河北", "晋": "山西", "蒙": "内蒙古", "辽": "辽宁",
    "吉": "吉林", "黑": "黑龙江", "沪": "上海", "苏": "江苏", "浙": "浙江", "皖": "安徽",
    "闽": "福建", "赣": "江西", "鲁": "山东", "豫": "河南", "鄂": "湖北", "湘": "湖南",
    "粤": "广东", "桂": "广西", "琼": "海南", "渝": "重庆", "川": "四川", "蜀": "四川",
    "贵": "贵州", "黔": "贵州", "云": "云南", "滇": "云南", "藏": "西藏", "陕": "陕西",
    "秦": "陕西", "甘": "甘肃", "陇": "甘肃", "青": "青海", "宁": "宁夏", "新": "新疆",
}  # fmt: skip
_SUFFIX = re.compile(r"(?:(?:壮族|回族|维吾尔)?自治[区州县]|特别行政区|[省市县区州盟旗])?")
_COUNTED = re.compile(f"([{''.join(_BY_ONE_CHARACTER)}]{{2,6}})(?=[两二三四五六][省市区地])")
_NATIONAL = re.compile(r"国家|全国|中央|国务院|我国")


@functools.cache
def _listed() -> tuple[str, ...]:
    return tuple(r.short for r in listed_regions() if r.level != "县" and r.name != _CORPS)


@functools.cache
def _cities() -> Mapping[str, frozenset[str]]:
    """Return the prefecture-level cities of each province that has any."""
    found: dict[str, set[str]] = {}
    for region in listed_regions():
        if region.level == "市" and region.parent:
            found.setdefault(region.parent.short, set()).add(region.short)
    return {province: frozenset(cities) for province, cities in found.items()}


def question_places(question: str, known: Iterable[str]) -> frozenset[str]:
    """Return the known and listed places that a question names, by short names.

    >>> sorted(question_places("青川市和云岭省的目标", ["云岭", "青川", "南渡"]))
    ['云岭', '青川']
    >>> sorted(question_places("冀湘两省的目标", []))
    ['河北', '湖南']
    """
    return frozenset(place for _, _, place in places_in(question, known))


def places_in(text: str, known: Iterable[str] = ()) -> list[tuple[int, int, str]]:
    """Return (start, end, short name) of the known and listed places in a text, in order.

    The suffix is included. Of listed counties only known ones count, of provinces abbreviated to
    one character those in an enumeration with a count, as the characters occur in many words.

    >>> places_in("青川市和山东营商环境", ["青川"])
    [(0, 3, '青川'), (4, 6, '山东')]
    >>> places_in("冀湘两省的目标，新疆青山")
    [(0, 1, '河北'), (1, 2, '湖南'), (8, 10, '新疆')]
    """
    own = frozenset(known)
    found = [
        (at, at + 1, _BY_ONE_CHARACTER[text[at]])
        for match in _COUNTED.finditer(text)
        for at in range(*match.span())
    ]
    for start, name in names_in(text, known=own):
        place, end = name if name in own else called(name), start + len(name)
        if place in own or place in _listed():
            suffix = _SUFFIX.match(text, end) if place == name else None
            found.append((start, suffix.end() if suffix else end, place))
    return sorted(found)


def with_places_inside(places: Collection[str]) -> frozenset[str]:
    """Return places with the prefecture-level cities of the provinces among them.

    A province that is named with a city of its own is dropped.

    >>> sorted(with_places_inside({"海南"}))
    ['三亚', '三沙', '儋州', '海南', '海口']
    >>> sorted(with_places_inside({"湖北", "武汉"}))
    ['武汉']
    """
    inside = {place: _cities().get(place, frozenset[str]()) for place in places}
    wide = {place for place, cities in inside.items() if cities.isdisjoint(places)}
    cities = frozenset[str]().union(*(inside[place] for place in wide))
    return cities | wide


def names_place(name: str) -> bool:
    """Return whether a name is that of a place as a whole.

    >>> [names_place(n) for n in ("四川省", "青川市", "四川省能源局", "示范区", "中心城区")]
    [True, True, False, False, False]
    >>> names_place("正定县"), names_place("河北省石家庄市正定县"), names_place("城区")
    (True, True, False)
    """
    if name in _listed() or name in _COUNTRIES or _is_listed(name):
        return True
    if _KIND_OF_AREA.search(name):
        return False
    listed = next((place for place in _listed() if name.startswith(place)), "")
    if listed and _AREA.fullmatch(name, len(listed)):
        return True
    at, pattern = 0, _PREFIX
    while (match := pattern.match(name, at)) and not _NO_PLACE.search(match.group(1)):
        at, pattern = match.end(), _DISTRICT
    return at == len(name) > 0


def _is_listed(name: str) -> bool:
    """Return whether a name is that of a listed division, with or without the ones around it.

    城区, 矿区 and 郊区 alone are not names.
    """
    found = regions_named(name)
    if found:
        return len(name) > 2 or not name.endswith("区")
    names, end = leading_region(name)
    return len(name) == end > 0 and all(map(regions_named, names))


def asks_nationally(question: str) -> bool:
    """Return whether a question asks for the national level.

    >>> asks_nationally("国家层面有哪些要求")
    True
    """
    return _NATIONAL.search(question) is not None
