"""Administrative divisions: the list, their hierarchy, and words for them."""

import functools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Literal

RegionLevel = Literal["省", "市", "县"]

DIRECT = "直辖"
# 直辖市: what lies in them is 县 by level, and 市 in their documents means themselves.
MUNICIPALITIES = frozenset(["北京市", "天津市", "上海市", "重庆市"])
_PROVINCE = re.compile(r"[一-鿿]{2,}(?:省|自治区|特别行政区|生产建设兵团)")
_PREFECTURE = re.compile(r"[一-鿿]{2,}(?:市|州|盟|地区)")
_COUNTY = re.compile(r"[一-鿿]{1,}(?:[区县旗])")
# 我省, 全市, 本区, 省 alone: a level of the document's own region.
_RELATIVE = re.compile(r"(?:[我全本各]|全市各)?(自治区|[省市州盟县区旗]|地区)级?")
_LEVELS: Mapping[str, int] = {"省": 0, "自治区": 0, "市": 1, "州": 1, "盟": 1, "地区": 1}


@dataclass(frozen=True, slots=True)
class Region:
    """An administrative division.

    Attributes:
        name: In full: 四川省, 阿坝藏族羌族自治州.
        short: Short name, unless that is another word: 四川, 阿坝, 朝阳市.
        level: 省 (with autonomous regions, municipalities and the 新疆生产建设兵团), 市 (with
            prefectures and leagues), 县 (with districts and banners).
        parent: The division around it; None for a province, and if unknown.
        others: Further names: 阿坝州.
    """

    name: str
    short: str
    level: RegionLevel
    parent: "Region | None" = None
    others: tuple[str, ...] = ()


def path(region: Region) -> tuple[str, ...]:
    """Return the full names of a region's ancestors, outermost first, and its own.

    >>> path(regions_named("成都")[0])
    ('四川省', '成都市')
    """
    around = path(region.parent) if region.parent else ()
    return (*around, region.name)


@functools.cache
def listed_regions() -> tuple[Region, ...]:
    """Return all listed divisions, parents first."""
    text = resources.files("kgrag.text").joinpath("regions.txt").read_text(encoding="utf-8")
    return tuple(_read(text.splitlines()))


def _read(lines: Sequence[str]) -> Iterator[Region]:
    province: Region | None = None
    for line in lines:
        names, colon, inside = line.partition("：")
        if not names or names.startswith("#"):
            continue
        around = province
        if names != DIRECT:
            full, *others = names.split("/")
            short = others[-1] if others else full
            level: RegionLevel = "市" if colon else "省"
            around = Region(full, short, level, province if colon else None, tuple(others[:-1]))
            province = province if colon else around
            yield around
        yield from (Region(name, name, "县", around) for name in inside.split())


@functools.cache
def _by_name() -> Mapping[str, tuple[Region, ...]]:
    found: dict[str, list[Region]] = defaultdict(list)
    for region in listed_regions():
        for name in dict.fromkeys((region.name, region.short, *region.others)):
            found[name].append(region)
    return {name: tuple(regions) for name, regions in found.items()}


def regions_named(name: str) -> tuple[Region, ...]:
    """Return the listed regions with this full or short name; districts are often homonyms.

    >>> [path(region) for region in regions_named("朝阳区")]
    [('北京市', '朝阳区'), ('吉林省', '长春市', '朝阳区')]
    >>> regions_named("云岭省")
    ()
    """
    return _by_name().get(name, ())


def region_of(name: str, *, within: Sequence[str] = ()) -> Region | None:
    """Return the region with this name; None if there is none, or several match.

    An unlisted name is that of a region if it ends in 省, 市, 州, 县 and the like; its parent is
    the innermost place of `within` of a higher level.

    Args:
        name: Full or short.
        within: Full names of the surrounding places, outermost first.

    >>> path(region_of("朝阳区", within=("吉林省", "长春市")))
    ('吉林省', '长春市', '朝阳区')
    >>> region_of("朝阳区") is None
    True
    >>> path(region_of("青川市", within=("云岭省",)))
    ('云岭省', '青川市')
    """
    found = regions_named(name)
    if not found:
        return _unlisted(name, within)
    if len(found) > 1 and within:
        inside = [region for region in found if set(within) <= set(path(region))]
        near = inside or [region for region in found if within[-1] in path(region)]
        found = tuple(near) or tuple(r for r in found if within[0] in path(r))
    return found[0] if len(found) == 1 else None


def region_at(names: Sequence[str]) -> Region | None:
    """Return the region of a path of full names; None for an empty one.

    >>> region_at(("吉林省", "长春市", "朝阳区")).level
    '县'
    """
    region: Region | None = None
    for name in names:
        around = path(region) if region else ()
        region = next((r for r in regions_named(name) if path(r)[:-1] == around), None) or Region(
            name, name, level_of(name), region
        )
    return region


def level_of(name: str) -> RegionLevel:
    """Return the level of a full name; by its ending if not listed.

    >>> [level_of(name) for name in ("重庆市", "云岭省", "青川市", "石桥县")]
    ['省', '省', '市', '县']
    """
    found = regions_named(name)
    if found:
        return found[0].level
    if _PROVINCE.fullmatch(name):
        return "省"
    return "市" if _PREFECTURE.fullmatch(name) else "县"


def _unlisted(name: str, within: Sequence[str]) -> Region | None:
    if not any(pattern.fullmatch(name) for pattern in (_PROVINCE, _PREFECTURE, _COUNTY)):
        return None
    level = level_of(name)
    if level == "省":
        return Region(name, name, level)
    order = ("省", "市", "县")
    around = [n for n in within if order.index(level_of(n)) < order.index(level) and n != name]
    return Region(name, name, level, region_at(around))


def own_region(word: str, regions: Sequence[str]) -> tuple[str, ...]:
    """Resolve a word such as 全省 to a part of a document's region.

    Args:
        word: 全省, 我市, 本区, 省级, 市, 自治区.
        regions: Full names of the document's region, outermost first.

    Returns:
        Full names, outermost first; empty if the word means no place, or one outside `regions`.

    >>> own_region("全省", ("四川省", "成都市"))
    ('四川省',)
    >>> own_region("我市", ("四川省", "成都市")), own_region("我市", ("重庆市", "万州区"))
    (('四川省', '成都市'), ('重庆市',))
    >>> own_region("市", ("四川省",))
    ()
    """
    match = _RELATIVE.fullmatch(word)
    if not match:
        return ()
    wanted = _LEVELS.get(match[1], 2)
    for n, name in enumerate(regions, 1):
        municipality = name in MUNICIPALITIES
        level = 1 if municipality and wanted == 1 else {"省": 0, "市": 1, "县": 2}[level_of(name)]
        fits = wanted != 0 or name.endswith("自治区") == (match[1] == "自治区")
        if level == wanted and fits and not (municipality and wanted == 0):
            return tuple(regions[:n])
    return ()
