"""Spreadsheets and files of separated values: each sheet a section, each row with its cells."""

import csv
import io
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

from kgrag.errors import IngestionError
from kgrag.files.encoding import decode
from kgrag.ingestion.load.grid import Cell, numbered_table_lines
from kgrag.ingestion.load.libreoffice import OLE, as_office
from kgrag.ingestion.load.number_format import CHINESE_FORMATS, shown_number
from kgrag.ingestion.load.parsed import Parsed, join_blocks, replace_unusable
from kgrag.ingestion.load.word.package import DAMAGED, NotWordError, R, WordPackage, open_package
from kgrag.text.messages import message

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_PLACE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
# Rows and cells that have a style only: an area that is formatted to the end of the sheet.
_EMPTY = re.compile(rb'<(?:row|c) [^<>]*?\br="[^<>]*/>')
_DELIMITERS = ",;\t|"
_MOST_CELLS = 1_000_000
_ON = ("1", "true")

_Row = Mapping[int, Cell]  # cells with text, by column from 1


class _Line(NamedTuple):
    """A line of text, and what it shows of a sheet."""

    text: str
    row: int = 1
    label: str = ""
    level: int = 0


@dataclass(slots=True)
class _Book:
    """What sheets share, and what is to be told of them."""

    strings: Sequence[str]
    formats: Sequence[str]
    from_1904: bool
    hidden: list[str] = field(default_factory=list)
    n_hidden: int = 0
    n_uncomputed: int = 0
    n_cells: int = 0


def read_sheets(data: bytes, *, name: str, stem: str, suffix: str) -> Parsed:
    """Return a workbook's text: sheets under their names, tables as rows, numbers as shown.

    A blank row ends a table. Of formulas the stored value is read. Hidden rows and columns are
    read, hidden sheets are not; both are told. Charts, pictures and comments are left out; macros
    and links to other files are ignored. The title is a line above the first table, else the stem.

    Args:
        data: `.xlsx` and its like, strict or not; others are converted by LibreOffice.
        name: The file, for messages.
        stem: The title where no line stands above the first table.
        suffix: Of its format, without dot.

    Raises:
        IngestionError: It is damaged, locked with a password, no spreadsheet, or too large.
    """
    is_other = suffix != "xlsx" or data.startswith(OLE)
    if suffix == "ods" or (is_other and not data.startswith(b"PK")):
        data = as_office(data, suffix=suffix, name=name, to="xlsx")
    try:
        package = open_package(data, name, "xl/workbook.xml")
        root = package.tree(package.main)
        if root is None or root.tag != f"{S}workbook":
            raise NotWordError(message("{main} holds no sheets", main=package.main))
        book = _book(package, root)
        lines = list(_book_lines(package, root, book))
    except DAMAGED as exc:
        raise IngestionError(
            "{name}: is damaged or no spreadsheet ({error}); open it in Excel or WPS and save it "
            "again",
            name=name,
            error=exc,
        ) from exc
    return _parsed(lines, stem, _told(book))


def read_separated(data: bytes, *, name: str, stem: str) -> Parsed:
    """Return the tables in a file of separated values, `.csv` or `.tsv`, in any encoding.

    The delimiter is that which the first line with one has most often.

    Raises:
        IngestionError: It is not text, or a value or the whole is too large.
    """
    decoded = decode(data, name=name)
    file = io.StringIO(decoded.text, newline="")
    head = next((line for line in file if any(mark in line for mark in _DELIMITERS)), "")
    file.seek(0)
    rows: dict[int, _Row] = {}
    n_cells = 0
    try:
        records = csv.reader(file, delimiter=max(_DELIMITERS, key=head.count))
        for number, record in enumerate(records, 1):
            cells = {j: Cell(text) for j, text in enumerate(record, 1) if text.strip()}
            n_cells += len(cells)
            _bound(n_cells, name)
            if cells:
                rows[number] = cells
    except csv.Error as exc:
        raise IngestionError(
            "{name}: cannot be read as separated values ({error}); see to its quotation marks",
            name=name,
            error=exc,
        ) from exc
    return _parsed(list(_table_lines(rows, "")), stem, decoded.warnings)


def _parsed(lines: Sequence[_Line], stem: str, warnings: Iterable[str]) -> Parsed:
    levels = (line.level for line in lines)
    text, segments = join_blocks((line.text for line in lines), "row", levels)
    text, unusable = replace_unusable(text)  # as long as it was
    above = next((line.text for line in lines if not line.level), "|")
    places = zip(segments, lines, strict=True)
    return Parsed(
        text=text,
        title=stem if above.startswith("|") else replace_unusable(above)[0],
        segments=tuple(replace(s, number=line.row, label=line.label) for s, line in places),
        warnings=(*warnings, *unusable),
    )


def _told(book: _Book) -> Iterator[str]:
    if book.hidden:
        yield message("hidden sheets, which are not read: {names}", names="、".join(book.hidden))
    if n := book.n_hidden:
        yield message("hidden rows and columns, which are read: {n}", n=n)
    if n := book.n_uncomputed:
        yield message("formulas without a stored value: {n}; save the file in Excel or WPS", n=n)


def _book(package: WordPackage, root: "Element") -> _Book:
    from openpyxl.styles.numbers import BUILTIN_FORMATS

    strings = [_rich_text(item) for part in package.related("sharedStrings") for item in part]
    styles = next(iter(package.related("styles")), None)
    codes = {**BUILTIN_FORMATS, **CHINESE_FORMATS}
    used: list[str] = []
    if styles is not None:
        for code in styles.iterfind(f"{S}numFmts/{S}numFmt"):
            codes[int(code.get("numFmtId", 0))] = code.get("formatCode", "")
        numbers = [int(xf.get("numFmtId", 0)) for xf in styles.iterfind(f"{S}cellXfs/{S}xf")]
        used = [codes.get(number, "General") for number in numbers]
    properties = root.find(f"{S}workbookPr")
    from_1904 = properties is not None and properties.get("date1904") in _ON
    return _Book(strings, used, from_1904)


def _book_lines(package: WordPackage, root: "Element", book: _Book) -> Iterator[_Line]:
    for sheet in root.iterfind(f"{S}sheets/{S}sheet"):
        title = " ".join(sheet.get("name", "").split())
        relation = package.relations.get(sheet.get(f"{R}id", ""))
        if sheet.get("state", "visible") != "visible":
            book.hidden.append(title)
            continue
        if relation is None or relation.kind != "worksheet":  # of charts alone
            continue
        tree = package.tree(relation.path, _EMPTY)
        if tree is not None and (rows := _rows(tree, book, package.name)):
            yield _Line(title, level=1)
            yield from _table_lines(rows, title)


def _rows(sheet: "Element", book: _Book, name: str) -> dict[int, _Row]:
    """Return the cells of a sheet that have a text, by row and column from 1."""
    spans = {}
    for merged in sheet.iterfind(f"{S}mergeCells/{S}mergeCell"):
        corners = _PLACE.findall(merged.get("ref", ""))
        if len(corners) == 2:
            (left, top), (right, bottom) = ((_column(c), int(r)) for c, r in corners)
            spans[top, left] = bottom - top + 1, right - left + 1
    book.n_hidden += sum(c.get("hidden") in _ON for c in sheet.iterfind(f"{S}cols/{S}col"))
    rows: dict[int, _Row] = {}
    number = 0
    for row in sheet.iterfind(f"{S}sheetData/{S}row"):
        number = int(row.get("r", number + 1))
        cells: dict[int, Cell] = {}
        column = 0
        for cell in row.iterfind(f"{S}c"):
            place = _PLACE.fullmatch(cell.get("r", ""))
            column = _column(place[1]) if place else column + 1
            if text := _shown(cell, book).strip():
                cells[column] = Cell(text, *spans.get((number, column), (1, 1)))
        if cells:
            rows[number] = cells
            book.n_hidden += row.get("hidden") in _ON
            book.n_cells += len(cells)
            _bound(book.n_cells, name)
    return dict(sorted(rows.items()))


def _bound(n_cells: int, name: str) -> None:
    if n_cells > _MOST_CELLS:
        raise IngestionError(
            "{name}: has more than {most:,} cells; split the file", name=name, most=_MOST_CELLS
        )


def _shown(cell: "Element", book: _Book) -> str:
    """Return the text of a cell as shown."""
    kind, stored = cell.get("t", "n"), str(cell.findtext(f"{S}v") or "")
    if kind == "inlineStr":
        return "".join(map(_rich_text, cell.iterfind(f"{S}is")))
    if not stored:
        book.n_uncomputed += cell.find(f"{S}f") is not None
        return ""
    if kind == "s":
        at = int(stored)
        return book.strings[at] if 0 <= at < len(book.strings) else ""
    if kind == "b":
        return "TRUE" if stored in _ON else "FALSE"
    if kind != "n":
        return stored
    number, style = float(stored), int(cell.get("s", 0))
    code = book.formats[style] if 0 <= style < len(book.formats) else "General"
    return shown_number(number, code, from_1904=book.from_1904) if math.isfinite(number) else stored


def _rich_text(item: "Element") -> str:
    """Return a string in runs, without the readings of its characters."""
    readings = {text for reading in item.iter(f"{S}rPh") for text in reading.iter(f"{S}t")}
    return "".join(str(t.text or "") for t in item.iter(f"{S}t") if t not in readings)


def _table_lines(rows: Mapping[int, _Row], sheet: str) -> Iterator[_Line]:
    """Yield the lines of the tables on a sheet, which blank rows part."""
    block: list[tuple[int, _Row]] = []
    reach = 0
    for number, row in rows.items():
        if block and number > reach + 1:
            yield from _block_lines(block, sheet)
            block = []
        block.append((number, row))
        reach = max(reach, *(number + cell.row_span - 1 for cell in row.values()))
    if block:
        yield from _block_lines(block, sheet)


def _block_lines(block: Sequence[tuple[int, _Row]], sheet: str) -> Iterator[_Line]:
    """Yield the lines of one table.

    Rows at its top of one merged cell, or with up to half of its columns filled, are lines above it
    (a title, the unit), and so are below it last rows with a text at the left alone.
    """
    columns = sorted({column for _, row in block for column in row})
    numbers = [number for number, _ in block]

    def line(number: int, row: _Row, text: str = "") -> _Line:
        ends = row if len(row) == 1 else (columns[0], columns[-1])
        area = ":".join(f"{_letters(column)}{number}" for column in ends)
        text = text or " ".join(" ".join(cell.text for cell in row.values()).split())
        return _Line(text, number, f"{sheet}!{area}" if sheet else area)

    def placed(number: int, column: int, cell: Cell) -> Cell:
        at = bisect_left(columns, column)
        width = bisect_right(columns, column + cell.col_span - 1) - at
        bottom = bisect_right(numbers, number + cell.row_span - 1)
        return Cell(cell.text, bottom - bisect_left(numbers, number), width, at)

    def is_above(row: Sequence[Cell]) -> bool:
        is_plain = all(cell.row_span == cell.col_span == 1 for cell in row)
        is_across = [cell.col_span for cell in row] == [len(columns)]
        return is_across or (is_plain and len(row) * 2 <= len(columns))

    cells = [[placed(n, column, row[column]) for column in sorted(row)] for n, row in block]
    top = sum(1 for _ in takewhile(is_above, cells)) % len(block)
    below = takewhile(lambda row: [c.column for c in row] == [0], reversed(cells[top:]))
    end = len(block) - sum(1 for _ in below) * (len(columns) > 1)
    yield from (line(*entry) for entry in block[:top])
    for i, text in numbered_table_lines(cells[top:end]):
        yield line(*block[top + i], text)
    yield from (line(*entry) for entry in block[end:])


def _column(letters: str) -> int:
    """Return the number of a column, from 1.

    >>> _column("A"), _column("XFD"), _letters(28)
    (1, 16384, 'AB')
    """
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def _letters(column: int) -> str:
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
