"""Parse the place at the start of a title or the name of an organ, listed or not."""

import re
from collections.abc import Sequence

from kgrag.text.region_mentions import names_in
from kgrag.text.regions import (
    MUNICIPALITIES,
    Region,
    level_of,
    path,
    region_of,
    regions_named,
)
from kgrag.text.vocabulary import FIVE_YEAR_PLAN

_BODIES = ("中共", "共青团")  # stand before the place in the names of their committees
_LONGEST = 16  # characters of a name
_SUFFIXED = re.compile(r"([一-鿿]{2,5}?)(自治区|自治州|地区|[省市州县区旗盟])")
# What stands before 省, 市, 区 without being the name of a place.
_WORDS = (
    rf"[各全本我该外省市县区州镇乡与和及的等关于厅局委府部室]|绿色|低碳|试点|示范|试验|创建|{FIVE_YEAR_PLAN}|国家|中央|全国"
    r"|高新|经济|开发|自治|保护|功能|重点|碳|先行|合作|自由贸易|直辖|生态|智慧|文明|宜居|森林|海绵"
    r"|污染|工业|能源|产业|流域"
)
_NOT_A_PLACE = re.compile(rf"{_WORDS}|[林海矿港库灌禁限牧农景城片街社郊园山新小地校厂双三]$")
# Areas with aims of their own that are no division. Some kinds are called so only behind a place.
_OWN_AREA = (
    r"新片区|新区|经开区|高新区|保税区|合作区|自贸区|示范区"
    r"|(?:临空|临港|航空港)?经济区|科学城|科技城"
)
_AREA = re.compile(
    rf"([一-鿿]{{0,4}}?(?:国际机场)?)(?:(?:经济技术|高新技术产业|经济|综合|工业|化学)?"
    rf"(?:开发区|{_OWN_AREA})|(?:[一-鿿]{{0,4}}工业|产业)?园区|(?:工业|产业)园|新城|城市副中心)"
)
_NAMED_ALONE = re.compile(rf"(?:{_OWN_AREA})$")
_FREE_TRADE = re.compile(
    r"(?:中国(?:[（(][一-鿿]{2,3}[)）])?)?(?:自由贸易试验区|自贸试验区|自贸区)"
)
_NOT_AN_AREA = re.compile(
    rf"{_WORDS}|[个类批级座些某内在对为以把将从向由占]|建[设成立]|推[进动广]|打造|加[快强]|提升|支持|新建|鼓励"
    r"|引[导领]|发展|培育|其他|所有|入驻|依托|优[化先]|改造|升级|选择|大型|老旧|若干|现代|农业|共同"
)
_NOT_AFTER = re.compile(r"[场域级内外属际容民]|化|政(?!府|协)")


def leading_region(text: str, *, within: Sequence[str] = ()) -> tuple[tuple[str, ...], int]:
    """Return the place, listed or not, at the start of a title or the name of an organ.

    A leading 中共 or 共青团 is skipped, as is an area that is no administrative division
    (江北新区).

    Returns:
        (full names, outermost first; end offset): ((), 0) without a place.

    >>> leading_region("四川省成都市生态环境局")
    (('四川省', '成都市'), 6)
    >>> leading_region("青川市石桥县节能规划", within=("云岭省",))
    (('云岭省', '青川市', '石桥县'), 6)
    >>> leading_region("省林业局")
    ((), 0)
    """
    at = next((len(body) for body in _BODIES if text.startswith(body)), 0)
    names: tuple[str, ...] = ()
    while step := _step(text, at, names or tuple(within), first=not names):
        names, at = step
    return (names, at) if names else ((), 0)


def leading_area(text: str) -> tuple[str, int]:
    """Return the unlisted area (zone, new area) at the start of a text, and its end.

    Returns:
        (name, end): without the surrounding place, if the rest is a name; ("", 0) for none, and
        for unnamed areas.

    >>> leading_area("临港新片区光伏"), leading_area("南京江北新区"), leading_area("济宁高新区")
    (('临港新片区', 5), ('江北新区', 6), ('济宁高新区', 5))
    >>> leading_area("北京大兴国际机场临空经济区能源"), leading_area("未来科学城供热")
    (('大兴国际机场临空经济区', 13), ('未来科学城', 5))
    >>> leading_area("各类开发区"), leading_area("四川省"), leading_area("现代农业示范区")
    (('', 0), ('', 0), ('', 0))
    """
    names, at = leading_region(text)
    if names and not regions_named(names[-1]) and _NAMED_ALONE.search(names[-1]):
        return names[-1], at
    trade = _FREE_TRADE.match(text, at)
    start = trade.end() if trade else at
    match = _AREA.match(text, start)
    if not match or _NOT_AN_AREA.search(match[1]) or regions_named(match[1]):
        return (trade[0], start) if trade and len(trade[0]) > len("自由贸易试验区") else ("", 0)
    whole = text[: match.end()]
    if regions_named(whole):
        return "", 0
    if len(match[1]) > 1 and _NAMED_ALONE.search(match[0]):
        return match[0], match.end()
    return (whole, match.end()) if names or trade else ("", 0)


def _step(
    text: str, at: int, around: Sequence[str], *, first: bool
) -> tuple[tuple[str, ...], int] | None:
    """Return the names of the place at an offset, and its end."""
    own = [] if first else [n for n in around if not regions_named(n)]
    start, name = next(names_in(text[at : at + _LONGEST], known=own), (1, ""))
    if start == 0:
        region = _inside_names(name, around, first=first)
        if region:
            return path(region), at + len(name)
        if not first:
            return None
    return _unlisted_at(text, at, around)


def _inside_names(name: str, around: Sequence[str], *, first: bool) -> Region | None:
    region = region_of(name, within=around)
    if region is None or first:
        return region
    return region if set(around) <= set(path(region)[:-1]) else None


def _unlisted_at(text: str, at: int, around: Sequence[str]) -> tuple[tuple[str, ...], int] | None:
    match = _SUFFIXED.match(text, at)
    if not match or _NOT_A_PLACE.search(match[1]) or _NOT_AFTER.match(text, match.end()):
        return None
    name = match[0]
    if regions_named(name):
        return None
    order = ("省", "市", "县")
    level = order.index(level_of(name))
    outer = [n for n in around if order.index(level_of(n)) < level or n in MUNICIPALITIES]
    if level == 0:
        outer = []
    return (*dict.fromkeys(outer), name), match.end()
