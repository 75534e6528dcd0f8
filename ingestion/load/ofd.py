"""Pages of OFD files (GB/T 33190-2016): characters and rulings at their places, read as of PDFs."""

import math
import posixpath
import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING

from kgrag.errors import IngestionError
from kgrag.ingestion.load.columns import Fragment, in_columns
from kgrag.ingestion.load.page_tables import Item, Line, Table
from kgrag.ingestion.load.page_tables.aligned import aligned_tables, pieces
from kgrag.ingestion.load.page_tables.find import straight_lines
from kgrag.ingestion.load.page_tables.ruled import ruled_tables
from kgrag.ingestion.load.page_tables.shapes import Char, Ruling, text_lines, text_of
from kgrag.ingestion.load.parsed import Parsed, replace_unusable
from kgrag.ingestion.load.reflow import reflow
from kgrag.ingestion.load.title import find_title, guess_title
from kgrag.ingestion.load.word.package import DAMAGED, NotWordError, WordPackage, open_package
from kgrag.text.messages import message

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_POINTS = 72 / 25.4  # in a millimetre
_DESCENT = 0.12  # the share of a character that is below its line
_MOST_PAGES = 5_000
_MOST_CHARACTERS, _MOST_RULINGS = 50_000, 20_000  # of a page
_OBLIQUE = math.radians(5)
_STEP = re.compile(r"[MLSBQAC]|-?[\d.]+")
_N_NUMBERS = {"B": 6, "Q": 4, "A": 7}  # of curves in an abbreviated path


def read_ofd(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return the text of an OFD file: a paragraph a line, with a segment for every page.

    Lines, columns and tables are read as in PDFs (`read_pdf`). Stamps, annotations and pictures
    are left out, and text across the page, which is a mark.

    Raises:
        IngestionError: It is damaged, locked, too large, or no OFD file.
    """
    try:
        package = open_package(data, name, "OFD.xml")
        root = package.tree(package.main)
        bodies = [] if root is None else root.findall("{*}DocBody")
        pages = [page for body in bodies for page in _pages(package, body)]
    except (*DAMAGED, IndexError, OverflowError) as exc:
        raise IngestionError(
            "{name}: is damaged or no OFD file ({error}); open it in a reader, print it to PDF",
            name=name,
            error=exc,
        ) from exc
    text, segments = reflow(pages)
    text, warnings = replace_unusable(text)
    told = " ".join("".join(b.findtext("{*}DocInfo/{*}Title") or "" for b in bodies[:1]).split())
    return Parsed(
        text=text,
        title=find_title(text) or replace_unusable(told)[0] or guess_title(text, stem),
        segments=segments,
        warnings=tuple(warnings),
    )


def _pages(package: WordPackage, body: "Element") -> Iterator[list[Item]]:
    """Yield the lines and tables of each page of a document, templates included."""
    place = _path("", body.findtext("{*}DocRoot"))
    document = package.tree(place)
    if document is None:
        raise NotWordError(message("no part holds a text"))
    templates = {
        each.get("ID"): package.tree(_path(place, each.get("BaseLoc")))
        for each in document.iterfind("{*}CommonData/{*}TemplatePage")
    }
    for number, page in enumerate(document.iterfind("{*}Pages/{*}Page")):
        root = package.tree(_path(place, page.get("BaseLoc")))
        if root is None:
            raise NotWordError(message("page {number} is missing", number=number + 1))
        used = (templates.get(each.get("TemplateID")) for each in root.iterfind("{*}Template"))
        layers = [part for part in (*used, root) if part is not None]
        chars: list[Char] = []
        for layer in layers:
            for item in layer.iter("{*}TextObject"):
                chars += _characters(item, chars[-1].position + 2 if chars else 0)
        if number >= _MOST_PAGES or len(chars) > _MOST_CHARACTERS:
            raise NotWordError(message("more pages or characters than a document has"))
        rulings = (ruling for layer in layers for ruling in _rulings(layer))
        yield _items(chars, list(islice(rulings, _MOST_RULINGS)))


def _path(base: str, place: str | None) -> str:
    """Return a path in the file: below the folder of another, or from the top."""
    joined = posixpath.join("/", posixpath.dirname(base), (place or "").strip())
    return posixpath.normpath(joined).lstrip("/")


def _numbers(text: str | None) -> list[float]:
    found = [float(part) for part in (text or "").split()]
    if not all(map(math.isfinite, found)):
        raise NotWordError(message("a place that is no number"))
    return found


def _matrix(item: "Element") -> tuple[float, ...]:
    """Return the placement of an object, in points, heights upwards from the page's upper edge."""
    left, top, *_ = (*_numbers(item.get("Boundary")), 0.0, 0.0)
    a, b, c, d, e, f, *_ = _numbers(item.get("CTM", "1 0 0 1 0 0"))
    return (
        a * _POINTS, -b * _POINTS, c * _POINTS, -d * _POINTS,
        (left + e) * _POINTS, -(top + f) * _POINTS,
    )  # fmt: skip


def _at(matrix: tuple[float, ...], x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f


def _characters(item: "Element", first: int) -> Iterator[Char]:
    """Yield the characters of a text object that are seen."""
    matrix = _matrix(item)
    angle = math.atan2(matrix[1], matrix[0])
    is_awry = abs(angle - math.pi / 2 * round(angle / (math.pi / 2))) > _OBLIQUE
    if is_awry or item.get("Visible") == "false" or item.get("Alpha") == "0":
        return
    em = _numbers(item.get("Size", "3.5"))[0]
    size = em * math.hypot(matrix[2], matrix[3])
    for code in item.iterfind("{*}TextCode"):
        x, y = _numbers(code.get("X", "0"))[0], _numbers(code.get("Y", "0"))[0]
        along, down = _steps(code.get("DeltaX")), _steps(code.get("DeltaY"))
        for text in code.text or "":
            wide = 1.0 if unicodedata.east_asian_width(text) in "WFA" else 0.5
            step = next(along, 0.0 if code.get("DeltaY") else wide * em)
            if not text.isspace():
                left, base = _at(matrix, x, y)
                right = left + size * (step / em if 0 < step <= 1.25 * em else wide)
                yield Char(
                    first, text, left, base - _DESCENT * size, right, base + (1 - _DESCENT) * size
                )
            first += 1
            x, y = x + step, y + next(down, 0.0)


def _steps(text: str | None) -> Iterator[float]:
    """Yield how far each character is from the one before; `g 3 4.2` is 4.2, three times."""
    parts = iter((text or "").split())
    for part in parts:
        n = min(int(next(parts, "0")), _MOST_CHARACTERS) if part == "g" else 1
        step = _numbers(next(parts, "0") if part == "g" else part)[0]
        yield from (step for _ in range(n))


def _rulings(layer: "Element") -> Iterator[Ruling]:
    for item in layer.iter("{*}PathObject"):
        matrix = _matrix(item)
        steps = iter(_STEP.findall(item.findtext("{*}AbbreviatedData") or ""))
        figures: list[list[tuple[float, float]]] = []
        for step in steps:
            if step in "MSL":
                point = _at(matrix, float(next(steps, 0)), float(next(steps, 0)))
                if step == "L" and figures:
                    figures[-1].append(point)
                else:
                    figures.append([point])
            elif step == "C" and figures and figures[-1]:
                figures[-1].append(figures[-1][0])
            else:  # a curve ends a figure
                numbers = [float(next(steps, 0)) for _ in range(_N_NUMBERS.get(step, 0))]
                figures.append([_at(matrix, *numbers[-2:])] if len(numbers) > 1 else [])
        for figure in figures:
            if len(figure) > 1:
                yield from straight_lines(figure, is_drawn=True)


def _items(chars: list[Char], rulings: list[Ruling]) -> list[Item]:
    """Return the lines and tables of a page in the order in which they are read."""
    tables = ruled_tables(chars, rulings)
    tables += aligned_tables(_outside(chars, tables), rulings)
    table_of = {i: table for table in tables for i in table.members}
    lines = text_lines(_outside(chars, tables))
    fragments = [_fragment(piece.chars) for line in lines for piece in pieces(line, 1.0)]
    by_position = {char.position: char for char in chars}
    fragments += [_fragment([by_position[i] for i in sorted(t.members)]) for t in tables]
    items: list[Item] = []
    across = [(r.start, r.end, r.at) for r in rulings if r.across]
    for region, line, edges in in_columns(fragments, across):
        for table, members in groupby(line, table_of.get):
            row = [by_position[i] for i in members]
            items.append(table or region.placed(_line(row), edges))
    return items


def _outside(chars: Sequence[Char], tables: Sequence[Table]) -> list[Char]:
    taken = frozenset().union(*(table.members for table in tables))
    return [char for char in chars if char.position not in taken]


def _fragment(chars: Sequence[Char]) -> Fragment:
    lefts, bottoms, rights, tops = zip(*(char[2:] for char in chars), strict=True)
    members = [char.position for char in chars]
    return Fragment(min(lefts), max(rights), min(bottoms), max(tops), members)


def _line(row: Sequence[Char]) -> Line:
    return Line(text_of(row), row[0].left, row[-1].right, row[0].size)
