"""Whether a held document can be the one that a citation means: its organ, place and number."""

import re
from dataclasses import dataclass

from kgrag.ingestion.metadata.numbers import clean_number
from kgrag.metadata import Metadata
from kgrag.text.leading_region import leading_region
from kgrag.text.numerals import HAN_SMALL
from kgrag.text.organs import canonical_organ, is_central_organ
from kgrag.text.regions import region_at, regions_named
from kgrag.text.title_keys import CENTRE, issuer_before, same_organ

# 省委、省政府; 中共云岭省委云岭省人民政府 are two as well.
_BETWEEN_ORGANS = re.compile(
    r"[、，,；;\s]+|(?<=[厅局委部府])[和与及](?=[一-鿿]{2})|(?<=[省市区县党州]委)(?=[一-鿿]{2,12}政府)"
    r"|(?<=中央)(?=国务院)"
)
_AND_OTHERS = re.compile(rf"等[\d{HAN_SMALL}]*个?(?:部门|单位|部委)?$")
_OWN = re.compile("[我本](?:部|委|局|厅|省|市|县|区|办)")
_OFFICE = re.compile("办公[厅室]$")
_PARTS = re.compile(r"(\D+?)〔(\d{4})〕(\d+)号")


@dataclass(frozen=True, slots=True)
class Held:
    """What a held document is known by.

    Attributes:
        doc_id: Its id.
        title: Of the body.
        metadata: Number, issuers, regions, year, title of the notice around it.
    """

    doc_id: str
    title: str
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class Cited:
    """A title as a document cites it.

    Attributes:
        title: As written; empty where a number stands alone.
        number: 文号 told with it; empty for none.
        issuer: The organ named right before the title; empty for none.
        doc_id: The citing document: no document cites itself.
        regions: Full names of the place that the citing document governs, the outermost first.
        year: In which the citing document was issued; None where it does not say.
    """

    title: str
    number: str = ""
    issuer: str = ""
    doc_id: str = ""
    regions: tuple[str, ...] = ()
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """Whom and where a citation names.

    Attributes:
        organs: Full names of the organs; empty for none.
        place: Full names of the place, the outermost first; () for the whole country, None where
            the citation leaves it open.
    """

    organs: tuple[str, ...]
    place: tuple[str, ...] | None


def named_by(cited: Cited) -> Named:
    """Return whom and where a citation names, before 关于, before the marks or in its title.

    >>> named_by(Cited("关于节能的意见", issuer="省政府", regions=("云岭省", "青川市")))
    Named(organs=('云岭省人民政府',), place=('云岭省',))
    >>> named_by(Cited("云岭省节能规划"))
    Named(organs=(), place=('云岭省',))
    """
    told = issuer_before(cited.title) or cited.issuer
    if told and _OWN.match(told):
        return Named((), cited.regions)
    words = [_AND_OTHERS.sub("", word) for word in _BETWEEN_ORGANS.split(told) if word]
    organs = tuple(canonical_organ(word, regions=cited.regions) for word in words if word)
    places = [place for organ in organs if (place := _place(organ, cited)) is not None]
    if places:
        return Named(organs, places[0])
    place, _ = leading_region(cited.title, within=cited.regions)
    return Named(organs, place or None)


def _place(organ: str, cited: Cited) -> tuple[str, ...] | None:
    bare = _OFFICE.sub("", organ)
    if is_central_organ(organ) or is_central_organ(bare) or CENTRE.match(organ):
        return ()
    place, _ = leading_region(organ, within=cited.regions)
    return place or None


def fit(held: Held, cited: Cited, named: Named) -> float | None:
    """Return how well a held document of that title fits a citation; None where it cannot be meant.

    What the citation names must agree. Where it names nothing, a national document fits, one of
    the citing document's own place fits better, one of another place only if its title says where.

    >>> generic = Held("d", "关于节能的意见", Metadata(regions=("云岭省",)))
    >>> cited = Cited("关于节能的意见", regions=("南渡省",))
    >>> fit(generic, cited, named_by(cited)) is None
    True
    """
    said = held.metadata
    if held.doc_id == cited.doc_id or contradict(said.number, cited.number):
        return None
    is_there = named.place is not None and _same(named.place, said.regions)
    if any(same_organ(a, b) for a in named.organs for b in said.issuers):
        return 3.0 if named.place is None or is_there else None
    if named.place is not None:
        is_silent = not (said.issuers or said.regions or said.level)
        return 2.0 if is_silent or is_there else None
    return _fit_of_place(said.regions, cited)


def _fit_of_place(place: tuple[str, ...], cited: Cited) -> float | None:
    """Return how well a document's place fits a citation that names none."""
    if place == cited.regions[: len(place)]:
        return 1.0 + 0.1 * len(place)
    region = region_at(place)
    return 1.0 if region and region.short in cited.title else None


def _same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether two places are one; of one that no list holds its own name tells."""
    return one == other or (one[-1:] == other[-1:] and not any(map(regions_named, one[-1:])))


def contradict(one: str, other: str) -> bool:
    """Return whether two numbers are those of two documents; one slip of a digit is none.

    >>> contradict("国发〔2021〕4号", "云政发〔2021〕4号")
    True
    >>> contradict("国发〔2021〕4号", "国发〔2022〕4号")
    False
    """
    a, b = _PARTS.fullmatch(clean_number(one)), _PARTS.fullmatch(clean_number(other))
    if not a or not b:
        return False
    return a[1] != b[1] or (a[2] != b[2] and a[3] != b[3])
