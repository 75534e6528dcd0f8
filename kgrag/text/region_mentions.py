"""Find administrative regions in a text, and resolve homonyms."""

import functools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgrag.text.regions import (
    Region,
    listed_regions,
    path,
    region_of,
    regions_named,
)

# Words that run into the short name of a place: 美丽|江苏 holds 丽江, 均衡|水平 holds 衡水.
_WORDS = """
美丽 江河 黄河 海河 辽河 淮河 运河 漳河 入海 黄海 渤海 东海 滨海 复合 普通 指南 制定 重大 加大 扩大
最大 清凉 均衡 平衡 确保 集中 稳定 稳固 洞庭湖 鄱阳湖 长治久安 大同小异 三明治 四平方 标准和 生产和
以上 入户 交通 中共 长江 珠江 松花江 庐山 阿里巴巴 阿里云 南京路 北京时间 河北岸 河南岸
"""
# Districts whose names are words: only right behind the place that they lie in.
_ORDINARY_WORDS = """
城区 郊区 矿区 东区 西区 老城区 新城区 市中区 港口区 海港区 解放区 中原区 湖滨区 工农区 友好区
站前区 前进区 东风区 中站区 城中区 城东区 城西区 城北区 山城区
"""
_ORDINARY = frozenset(_ORDINARY_WORDS.split())
_GAP = re.compile(r"[（(、，,\s·]?")
_AFTER_ORDINARY = re.compile(r"[级域城乡镇]")


@dataclass(frozen=True, slots=True)
class RegionMention:
    """A region named in a text.

    Attributes:
        start: Offset of its first character.
        end: Offset after its last; 四川省成都市 is one mention.
        region: The innermost region of the mention.
    """

    start: int
    end: int
    region: Region


@functools.cache
def _names() -> Mapping[str, tuple[str, ...]]:
    """Return names, and words that contain names, by first two characters, longest first."""
    found: dict[str, set[str]] = defaultdict(set)
    for region in listed_regions():
        for name in (region.name, region.short, *region.others):
            found[name[:2]].add(name)
    for word in _WORDS.split():
        found[word[:2]].add(word)
    return {key: tuple(sorted(names, key=len, reverse=True)) for key, names in found.items()}


def names_in(text: str, *, known: Sequence[str] = ()) -> Iterator[tuple[int, str]]:
    """Yield (start, name) of listed and `known` names of places in a text, longest match first."""
    names, at, end = _names(), 0, len(text) - 1
    while at < end:
        listed = names.get(text[at : at + 2], ())
        name = next((n for n in (*listed, *known) if text.startswith(n, at)), "")
        if name and (name in known or regions_named(name)):
            yield at, name
        at += len(name) or 1


def counties_in(text: str) -> Iterator[tuple[int, str]]:
    """Yield (start, name) of the listed counties, districts and county-level cities in a text.

    Names of two characters, and those that are words, are skipped: 成县, 城区.

    >>> list(counties_in("苏州市吴中区和泰兴市的城区"))
    [(3, '吴中区'), (7, '泰兴市')]
    """
    for start, name in names_in(text):
        is_county = all(region.level == "县" for region in regions_named(name))
        if is_county and len(name) > 2 and name not in _ORDINARY:
            yield start, name


def regions_in(text: str, *, within: Sequence[str] = ()) -> list[RegionMention]:
    """Return the regions that a text names, in order, without overlap.

    The longest name wins. A homonymous district must follow its city or lie within the context, and
    be unique there. Unlisted regions are found only in the context; `leading_region` finds others
    at the start of a name.

    Args:
        text: Any.
        within: Full names of the place that the text is about, outermost first.

    >>> [(m.start, m.end, path(m.region)) for m in regions_in("吉林市和长春市朝阳区")]
    [(0, 3, ('吉林省', '吉林市')), (4, 10, ('吉林省', '长春市', '朝阳区'))]
    >>> [path(m.region) for m in regions_in("海南州的绿电，朝阳区，建设美丽江苏")]
    [('青海省', '海南藏族自治州'), ('江苏省',)]
    """
    found: list[RegionMention] = []
    own = [name for name in within if not regions_named(name)]
    for start, name in names_in(text, known=own):
        end = start + len(name)
        before = found[-1] if found else None
        if before and _GAP.fullmatch(text, before.end, start):
            inner = _inside(name, before.region)
            if inner:
                if before.end == start:
                    start = found.pop().start
                found.append(RegionMention(start, end, inner))
                continue
        region = _alone(name, text[end : end + 1], within)
        if region:
            found.append(RegionMention(start, end, region))
    return found


def _inside(name: str, around: Region) -> Region | None:
    fits = [r for r in regions_named(name) if around.name in path(r)[:-1] and around in _around(r)]
    return fits[0] if len(fits) == 1 else None


def _around(region: Region) -> Iterator[Region]:
    while region.parent:
        region = region.parent
        yield region


def _alone(name: str, after: str, within: Sequence[str]) -> Region | None:
    """Return the region of a name without a region before it."""
    if name in _ORDINARY:
        return None
    region = region_of(name, within=within)
    if region and region.level == "县" and len(name) == 2:  # 成县 in 建成县级 is none
        known = bool(within) and within[-1] in path(region)
        return region if known and not _AFTER_ORDINARY.match(after) else None
    return region
