"""The place that the name of an indicator begins with: 四川省森林覆盖率, 全省森林覆盖率."""

import re
from collections.abc import Sequence

from kgrag.language.facets import NATIONAL
from kgrag.language.indicators import is_indicator
from kgrag.language.region_mentions import regions_in
from kgrag.language.regions import own_region

_LONGEST = 16  # characters of the names of a place
_NATION = re.compile("全国(?!人|各|性)|我国|中国(?!式)")
_OWN = re.compile(r"(?:[我本全](省|市|县|州|旗|盟|区(?!域)|自治区)|(自治区))(?!级|直|属|内|外)")
# 四川盆地, 包头境内, 江苏沿海: what lies in a place, not the place.
_GOES_ON = re.compile(
    r"[、，,和与及至—-]|[级域内外直属]|平原|盆地|高原|流域|境|[东西南北中]部|沿|段|港|湾|新区|经济|片区|都市|主城|机场"
)


def split_place(name: str, regions: Sequence[str]) -> tuple[str, str]:
    """Return (place, rest) of the name of an indicator; ("", name) where it begins with none.

    Only what is an indicator by itself is parted: 成都市高新区 stays. 全省 is the document's
    province; where that is not known, the place is empty and the rest without it. 全市 in a
    province's document is any city, and stays.

    Args:
        name: As a document writes it.
        regions: Full names of the place that the document governs, the outermost first.

    >>> split_place("四川省森林覆盖率", ()), split_place("全省森林覆盖率", ("云岭省", "青川市"))
    (('四川省', '森林覆盖率'), ('云岭省', '森林覆盖率'))
    >>> split_place("全国森林覆盖率", ()), split_place("成都平原空气质量优良率", ())
    (('全国', '森林覆盖率'), ('', '成都平原空气质量优良率'))
    """
    if not is_indicator(name):
        return "", name
    place, end = _leading(name, regions)
    rest = name[end:].removeprefix("的")
    if not end or len(rest) < 2 or _GOES_ON.match(rest) or not is_indicator(rest):
        return "", name
    return place, rest


def _leading(name: str, regions: Sequence[str]) -> tuple[str, int]:
    """Return the place that a name begins with, and where it ends; ("", 0) for none."""
    if nation := _NATION.match(name):
        return NATIONAL, nation.end()
    if own := _OWN.match(name):
        word = own[1] or own[2]
        place = own_region(word, regions) or (own_region("自治区", regions) if word == "区" else ())
        return (place[-1] if place else ""), own.end() if place or not regions else 0
    mention = next(iter(regions_in(name[:_LONGEST], within=regions)), None)
    if mention is None or mention.start:
        return "", 0
    return mention.region.name, mention.end
