"""Facets of a document for filters, captions and the graph: places, year, kinds."""

import functools
import re
from dataclasses import dataclass

from kgrag.metadata import Metadata
from kgrag.text.regions import level_of, listed_regions, regions_named
from kgrag.text.titles import document_kinds

# 徐汇区 is called 徐汇, 忠县 is not called 忠.
_SUFFIX = re.compile(r"(?<=..)(?:自治[区县旗]|新区|[省市州县区旗盟])$")

NATIONAL = "全国"  # stands for the region of documents that are about no place


@dataclass(frozen=True, slots=True)
class Facets:
    """Facets of a document.

    Attributes:
        places: Places that it is about, by short name; empty for national documents. A county's
            document is also about its city.
        regions: These and the places around them; `全国` alone for none. `--region` matches each
            of them and no other listed place.
        year: Year of issue; None if not stated.
        kinds: Endings of its title, then of the title of the notice that issues it: 通知, 实施方案.
            `--kind` matches each of them, and their endings.
    """

    places: tuple[str, ...]
    regions: tuple[str, ...]
    year: int | None
    kinds: tuple[str, ...]


@functools.lru_cache(maxsize=1 << 16)
def document_facets(title: str, metadata: Metadata) -> Facets:
    """Return the facets of a document with this title.

    >>> document_facets("成都市节能规划", Metadata(regions=("四川省", "成都市"), issued="2022"))
    Facets(places=('成都',), regions=('成都', '四川'), year=2022, kinds=('规划',))
    """
    governed = [name for name in metadata.regions if level_of(name) != "省"]
    provinces = [name for name in metadata.regions if level_of(name) == "省"]
    places = [called(name) for name in governed or provinces]
    if governed and level_of(governed[0]) == "县":  # 上海市徐汇区: no city is between them
        places = [*map(called, provinces), *places]
    around = dict.fromkeys((*places, *map(called, provinces)))
    titles = (title, metadata.notice)
    return Facets(
        places=tuple(places),
        regions=tuple(around) or (NATIONAL,),
        year=metadata.year,
        kinds=tuple(dict.fromkeys(kind for t in titles if t for kind in document_kinds(t))),
    )


@functools.cache
def _ranks() -> dict[str, int]:
    return {region.name: n for n, region in enumerate(listed_regions())}


def place_rank(name: str) -> tuple[int, str]:
    """Return a key by which places stand in the order of the official list, the country first.

    >>> sorted(["上海市", "成都市", "全国", "某园区", "北京市"], key=place_rank)
    ['全国', '北京市', '上海市', '成都市', '某园区']
    """
    ranks = _ranks()
    return (-1 if name == NATIONAL else ranks.get(name, len(ranks))), name


def called(region: str) -> str:
    """Return the short name of a region, as used in questions.

    >>> called("四川省"), called("徐汇区"), called("吉林市"), called("忠县")
    ('四川', '徐汇', '吉林市', '忠县')
    """
    listed = regions_named(region)
    if listed and (listed[0].level == "市" or listed[0].short != region):
        return listed[0].short
    return _SUFFIX.sub("", region)
