"""Find administrative regions in a text, and resolve homonyms."""

import functools
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgrag.text.regions import (
    Region,
    listed_regions,
    path,
    region_of,
    regions_named,
)
from kgrag.text.words import runs_of_words, tears

# Words that begin with the name of a place, or stand before one.
_WORDS = """
中共 中国 首都 海河 长治久安 大同小异 三明治 四平方 北京时间 南京路 阿里巴巴 阿里云 河北岸 河南岸
"""
# Districts whose names are words: only right behind the place that they lie in.
_ORDINARY_WORDS = """
城区 郊区 矿区 东区 西区 老城区 新城区 市中区 港口区 海港区 解放区 中原区 湖滨区 工农区 友好区
站前区 前进区 东风区 中站区 城中区 城东区 城西区 城北区 山城区
"""
# A logarithm: of names that tear words, those in 新|乡村, 重|大连|续 have 4 and more, those where a
# place is meant (东营|养老, 大同|比) up to 2.7.
_MUCH_LIKELIER = 3.0
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


def _least_torn(names: Collection[str], run: str, at: int, *, from_here: bool) -> str:
    """Return the name of several at an offset that tears least; empty if all tear words."""
    # No word begins in the name read before.
    since, start = (run[at:], 0) if from_here else (run, at)
    torn, _, name = min((tears(since, start, start + len(n)), -len(n), n) for n in names)
    if torn >= _MUCH_LIKELIER:
        return ""
    whole = (r.name for r in regions_named(name) if run.startswith(r.name, at))
    return next(whole, name)  # 眉山市 of 眉山|市委


@functools.cache
def _names() -> Mapping[str, frozenset[str]]:
    """Return names, and words that contain names, by first two characters."""
    regions = ((r.name, r.short, *r.others) for r in listed_regions())
    return _by_beginning([*_WORDS.split(), *(name for names in regions for name in names)])


def _by_beginning(names: Iterable[str]) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for name in names:
        found[name[:2]].add(name)
    return {key: frozenset(of) for key, of in found.items()}


def names_in(text: str, *, known: Collection[str] = ()) -> Iterator[tuple[int, str]]:
    """Yield (start, name) of listed and `known` names of places in a text, in order.

    The one reading of places: the leftmost name that tears no word, as 丽江 does in 美丽|江苏 and
    新乡 in 新|乡村; of several at one offset the longest that tears least.

    >>> list(names_in("江西安全生产、山东营商环境和新乡村"))
    [(0, '江西'), (7, '山东')]
    """
    listed, own = _names(), _by_beginning(known)
    for offset, run in runs_of_words(text):
        at = reached = 0
        while at < len(run) - 1:
            key = run[at : at + 2]
            here = [n for n in (*listed.get(key, ()), *own.get(key, ())) if run.startswith(n, at)]
            name = _least_torn(here, run, at, from_here=at == reached) if here else ""
            if name and (name in known or regions_named(name)):
                yield offset + at, name
            at += len(name) or 1
            reached = at if name else reached


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
