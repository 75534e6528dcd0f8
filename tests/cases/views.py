"""What cases call by a short name: functions that need more than the text of a case."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from lxml import etree, html

from kgrag.ids import entity_id
from kgrag.ingestion.citation_fit import Cited, Held
from kgrag.ingestion.duplicates import proposals
from kgrag.ingestion.link import DocumentNames
from kgrag.ingestion.load.docx import word_table_lines
from kgrag.ingestion.load.grid import Cell, fill, table_lines
from kgrag.ingestion.load.html import page_lines, read_html
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.load.plain import read_markdown
from kgrag.ingestion.load.raised import Scripted, written
from kgrag.ingestion.load.statement import stated_fields, stated_value
from kgrag.ingestion.load.title import guess_title
from kgrag.ingestion.load.word.formulas import formula
from kgrag.ingestion.locate import locate
from kgrag.ingestion.metadata.dates import Dates, issue_year, read_dates
from kgrag.ingestion.metadata.issuers import Issuers, read_issuers
from kgrag.ingestion.metadata.lines import read_lines
from kgrag.ingestion.metadata.numbers import own_number
from kgrag.ingestion.metadata.read import read_metadata, suggested_year, title_particulars
from kgrag.ingestion.metadata.regions import read_region
from kgrag.ingestion.resolve import name_resolver
from kgrag.ingestion.self_names import self_names
from kgrag.metadata import Metadata
from kgrag.text.indicators import split_place
from kgrag.text.leading_region import leading_region
from kgrag.text.official_terms import official_terms
from kgrag.text.organs import canonical_organ, full_organ_name, place_name
from kgrag.text.places import with_places_inside
from kgrag.text.quantities import broken_numbers
from kgrag.text.region_mentions import regions_in
from kgrag.text.regions import path, region_of, regions_named
from kgrag.types import Document, Entity
from tests.fixtures.word_files import NS


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


def located(quote: str, text: str) -> list[tuple[str, str]]:
    """Return the words in which a text has a quote, and how they were found."""
    place = locate(quote, text)
    return [(text[place.start : place.end], place.match)] if place else []


def resolved(name: str, about: dict[str, Any] | None = None) -> list[tuple[str, str, str]]:
    """Return name, type and wording of what a name means in a document.

    Args:
        name: As it is written.
        about: Of the document: title, regions, issuers, level; `abbreviations` that it explains,
            and the `type` that is told beside the name.
    """
    told = tuples(about or {})
    type_, short = told.pop("type", ""), told.pop("abbreviations", None)
    title = told.pop("title", "节能规划")
    document = Document("d", title, "", "d.txt", "txt", "00", metadata=Metadata(**told))
    entity, written = name_resolver(document, abbreviations=short).entity(name, type_)
    return [(entity.name, entity.type, written)]


def resolved_by_itself(
    word: str, title: str, regions: Sequence[str] = (), issuers: Sequence[str] = ()
) -> str:
    """Return what a word for itself, as 本地区, means in a document."""
    metadata = Metadata(regions=tuple(regions), issuers=tuple(issuers))
    return self_names(Document("d", title, "", "d.txt", "txt", "00", metadata=metadata)).resolve(
        word
    )


def proposed(*named: list[Any]) -> list[tuple[str, str]]:
    """Return which of some names, with their types and how often they occur, may be one."""
    entities = [(Entity(entity_id(name), name, type_), n) for name, type_, n in named]
    return [(p.name, p.into) for p in proposals(entities)]


def cells_of(rows: list[list[Any]]) -> list[list[Cell | str]]:
    """Return cells: texts, or a text with the rows and columns that it spans."""
    return [[c if isinstance(c, str) else Cell(*c) for c in row] for row in rows]


def tuples(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record of TOML as keyword arguments of a dataclass: its lists as tuples."""
    return {key: tuple(v) if isinstance(v, list) else v for key, v in record.items()}


def cited(
    title: str, about: dict[str, Any] | None = None, *, documents: list[list[Any]]
) -> list[tuple[str, str]]:
    """Return the document that a citation means among (id, title, metadata), and by what."""
    names = DocumentNames(
        Held(doc_id, name, Metadata(**tuples(metadata))) for doc_id, name, metadata in documents
    )
    found = names.resolve(Cited(title, **tuples(about or {})))
    return [found] if found else []


def page_of(body: str, head: str = "") -> Parsed:
    """Return what is read of a web page."""
    body = body.replace("\n<", "<")
    text = f"<html><head><meta charset='utf-8'>{head}</head><body>{body}</body></html>"
    return read_html(text.encode(), name="a.html", stem="stem")


def word_table(rows: str) -> list[str]:
    """Return the lines of a table of Word, of whose cells the text stands for the paragraph."""
    rows = re.sub(r"(<tc>|</tcPr>)([^<]*)</tc>", r"\1<p><r><t>\2</t></r></p></tc>", rows)
    rows = re.sub(r" val=", " w:val=", re.sub(r"<(/?)", r"<\1w:", rows))
    table = etree.fromstring(f"<w:tbl {NS}>{rows}</w:tbl>")
    return word_table_lines(table, lambda cell: ["".join(p.itertext()) for p in cell.iter("{*}p")])


def word_formula(markup: str) -> str:
    """Return a formula of Word, of whose parts the text stands for a run."""
    runs = re.sub(r"(?<=[>^])([^<>]+)(?=<)", r"<r><t>\1</t></r>", f">{markup}<")[1:-1]
    xml = re.sub(r"(?<![:\w])(val=)", r"m:\1", re.sub(r"<(/?)(?!/?w:)", r"<\1m:", runs))
    return formula(etree.fromstring(f"<m:oMath {NS}>{xml}</m:oMath>"))


def html_table_lines(body: str) -> list[str]:
    """Return the lines of a page's body."""
    element = html.fromstring(f"<div>{body}</div>".replace("\n<", "<"))
    return [line.text for line in page_lines(element)]


VIEWS: dict[str, Callable[..., Any]] = {
    "broken_numbers": broken_numbers_in,
    "canonical_organ": lambda name, regions=(): canonical_organ(name, regions=regions),
    "cited": cited,
    "dates": dates_of,
    "filled": lambda rows: [" | ".join(row) for row in fill(cells_of(rows)).rows],
    "full_organ_name": lambda name, regions=(): full_organ_name(name, regions=regions),
    "issue_year": lambda text: issue_year(read_lines(text)),
    "issuers": issuers_of,
    "html lines": html_table_lines,
    "leading_region": lambda text, within=(): [leading_region(text, within=within)],
    "lines": read_lines,
    "located": located,
    "markdown title": lambda text: read_markdown(text.encode(), name="a.md", stem="stem").title,
    "metadata": metadata_of,
    "official_terms": official_terms_in,
    "own_number": lambda text: own_number(read_lines(text)),
    "proposed": proposed,
    "region of a document": region_of_document,
    "region": region_by_name,
    "stated regions": lambda text: stated_fields({"stated.regions": stated_value("regions", text)}),
    "regions": regions_by_name,
    "regions in a text": regions_within,
    "formula": word_formula,
    "word table": word_table,
    "raised": lambda pieces: written(Scripted(*piece) for piece in pieces),
    "page lines": lambda body: page_of(body).text.split("\n"),
    "page title": lambda body, head="": page_of(body, head).title,
    "place_name": place_name,
    "resolved": resolved,
    "resolved by itself": resolved_by_itself,
    "split_place": lambda name, regions=(): [split_place(name, tuple(regions))],
    "suggested_year": suggested_year_of,
    "table lines": lambda rows, n_header=None: table_lines(cells_of(rows), n_header),
    "title over blank lines": lambda text: guess_title(text.replace("\n", "\r\n\r\n"), "stem"),
    "title_particulars": lambda title: [title_particulars(title)],
    "with_places_inside": lambda places: with_places_inside(set(places)),
}
