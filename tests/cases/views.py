"""What cases call by a short name: functions that need more than the text of a case."""

from collections.abc import Callable, Sequence
from typing import Any

from kgrag.ingestion.metadata.dates import Dates, issue_year, read_dates
from kgrag.ingestion.metadata.issuers import Issuers, read_issuers
from kgrag.ingestion.metadata.lines import read_lines
from kgrag.ingestion.metadata.numbers import own_number
from kgrag.ingestion.metadata.read import read_metadata, suggested_year, title_particulars
from kgrag.ingestion.metadata.regions import read_region
from kgrag.metadata import Metadata
from kgrag.text.indicators import split_place
from kgrag.text.leading_region import leading_region
from kgrag.text.official_terms import official_terms
from kgrag.text.organs import canonical_organ, full_organ_name, place_name
from kgrag.text.places import with_places_inside
from kgrag.text.quantities import broken_numbers
from kgrag.text.region_mentions import regions_in
from kgrag.text.regions import path, region_of, regions_named


def dates_of(text: str, title: str = "") -> Dates:
    """Return the dates that a document tells of itself."""
    return read_dates(read_lines(text), title=title)


def issuers_of(title: str, text: str) -> Issuers:
    """Return who issued a document."""
    return read_issuers(read_lines(text), title)


def region_of_document(
    title: str, text: str = "", number: str = "", issuers: Sequence[str] = ()
) -> Any:
    """Return level and regions of a document."""
    return [read_region(read_lines(text), title, list(issuers), number)]


def suggested_year_of(title: str, number: str, text: str, effective: str) -> str:
    """Return the year that a text without a date suggests."""
    return suggested_year(title, number, read_lines(text), effective=effective)


def metadata_of(text: str, title: str = "", properties: dict[str, str] | None = None) -> Metadata:
    """Return what a document says of itself; its title is its first line if none is given."""
    title = title or text.partition("\n")[0]
    return read_metadata(text, title=title, properties=properties or {})


def region_by_name(name: str, within: Sequence[str] = ()) -> list[str]:
    """Return the path of the region that a name means, or nothing."""
    region = region_of(name, within=within)
    return ["、".join(path(region))] if region else []


def regions_by_name(name: str) -> list[str]:
    """Return the paths of all regions of a name."""
    return ["、".join(path(region)) for region in regions_named(name)]


def regions_within(text: str, within: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Return the places that a text names, and their paths."""
    found = regions_in(text, within=within)
    return [(text[m.start : m.end], "、".join(path(m.region))) for m in found]


def broken_numbers_in(text: str) -> list[str]:
    """Return the numbers that a gap breaks."""
    return [text[start:end] for start, end in broken_numbers(text)]


def official_terms_in(text: str) -> list[tuple[str, str]]:
    """Return the everyday wordings of a text, and the first official term of each."""
    return [(text[t.start : t.end], t.terms[0]) for t in official_terms(text)]


VIEWS: dict[str, Callable[..., Any]] = {
    "broken_numbers": broken_numbers_in,
    "canonical_organ": lambda name, regions=(): canonical_organ(name, regions=regions),
    "dates": dates_of,
    "full_organ_name": lambda name, regions=(): full_organ_name(name, regions=regions),
    "issue_year": lambda text: issue_year(read_lines(text)),
    "issuers": issuers_of,
    "leading_region": lambda text, within=(): [leading_region(text, within=within)],
    "lines": read_lines,
    "metadata": metadata_of,
    "official_terms": official_terms_in,
    "own_number": lambda text: own_number(read_lines(text)),
    "region of a document": region_of_document,
    "region": region_by_name,
    "regions": regions_by_name,
    "regions in a text": regions_within,
    "place_name": place_name,
    "split_place": lambda name, regions=(): [split_place(name, tuple(regions))],
    "suggested_year": suggested_year_of,
    "title_particulars": lambda title: [title_particulars(title)],
    "with_places_inside": lambda places: with_places_inside(set(places)),
}
