"""What filters, captions and the graph's properties know of a document: places, year, kinds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from kgrag.language.places import with_provinces
from kgrag.language.titles import document_kinds

NATIONAL = "全国"  # stands for the region of documents that are about no place


@dataclass(frozen=True, slots=True)
class Facets:
    """By what documents are told apart.

    Attributes:
        places: That it is about, as its title names them, the first first; empty for national
            documents.
        regions: These and the provinces of the cities among them; `全国` alone where there are
            none. `--region` finds a document by each of them and by no other listed place.
        year: In which it was issued; None where it does not say.
        kinds: What its title ends in, then the title of what it issues: 通知, 实施方案. `--kind`
            finds it by each of them, and by what these end in.
    """

    places: tuple[str, ...]
    regions: tuple[str, ...]
    year: int | None
    kinds: tuple[str, ...]


def document_facets(title: str, metadata: Mapping[str, str]) -> Facets:
    """Return what a document is told apart by.

    Args:
        title: Its title.
        metadata: With `places` and `year` as ingestion leaves them.

    >>> document_facets("成都市节能规划", {"places": "成都", "year": "2022"})
    Facets(places=('成都',), regions=('成都', '四川'), year=2022, kinds=('规划',))
    """
    told = [place for place in metadata.get("places", "").split("、") if place]
    places = sorted(told, key=lambda place: (place not in title, title.find(place)))
    year = re.match(r"\d{4}", metadata.get("year", ""))
    return Facets(
        places=tuple(places),
        regions=tuple(with_provinces(places)) or (NATIONAL,),
        year=int(year[0]) if year else None,
        kinds=document_kinds(title),
    )
