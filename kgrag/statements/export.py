"""Write tables as CSV, XLSX, HTML, Word files and JSON."""

import csv
import html
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from string import Template
from typing import TYPE_CHECKING

from kgrag.answer.word import WordFile
from kgrag.statements.table import SOURCE_COLUMNS, Cell, Row, Table, shown, source_cells, worded
from kgrag.status import mark
from kgrag.text.visible import visible
from kgrag.types import Language

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_NARROWEST, _WIDEST = 8, 60  # columns of a spreadsheet, in characters
_LONGEST_NAME = 31  # characters of a sheet's name
_LONGEST = 32_767  # characters of a cell in a spreadsheet


def as_csv(table: Table, language: Language) -> bytes:
    """Return a table as CSV (RFC 4180) in UTF-8 with a byte-order mark.

    Texts that a spreadsheet would take for a formula are prefixed with an apostrophe (OWASP, CSV
    injection); numbers stay numbers.
    """
    text = io.StringIO()
    writer = csv.writer(text)
    for line in _lines(table, language):
        writer.writerow([_no_formula(cell) for cell in line])
    return text.getvalue().encode("utf-8-sig")  # by its mark Excel knows UTF-8


def as_html(table: Table, language: Language) -> bytes:
    """Return a table as a self-contained HTML page; all texts are escaped."""
    return as_page((table,), _heading(table, language), language)


def as_page(tables: Sequence[Table], title: str, language: Language) -> bytes:
    """Return tables as one self-contained HTML page; all texts are escaped."""
    form = Template(resources.files("kgrag.statements").joinpath("page.html").read_text("utf-8"))
    return form.substitute(
        language=language,
        title=_escaped(title),
        tables="\n".join(_part(table, language) for table in tables),
    ).encode()


def _part(table: Table, language: Language) -> str:
    """Return a table under its heading, with the sources of each row."""
    sourced = any(row.sources for row in table.rows)
    names = [column.heading(language) for column in table.columns]
    names += [{"zh": "出处", "en": "sources"}[language]] if sourced else []
    head = "".join(f"<th>{_escaped(name)}</th>" for name in names)
    body = []
    for row in table.rows:
        cells = "".join(f"<td>{_escaped(cell)}</td>" for cell in row.cells)
        body.append(f"<tr>{cells}{_sources(row, language) if sourced else ''}</tr>")
    notes = "".join(f"<p>{_escaped(told)}</p>\n" for told in worded(table.notes, language))
    summary = f"{_escaped(_heading(table, language))} <small>{len(body)}</small>"
    return (
        f'<section id="{_escaped(table.name)}">\n<details{" open" if body else ""}>\n'
        f"<summary><h2>{summary}</h2></summary>\n"
        f"{notes}<table>\n<thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{chr(10).join(body)}\n</tbody>\n</table>\n</details>\n</section>"
    )


def _sources(row: Row, language: Language) -> str:
    items = "".join(
        f"<li>{_escaped(s.reference + mark(s.status, language))}：{_escaped(s.quote)}"
        f" <small>{_escaped(s.file)} {s.start}-{s.end}</small></li>"
        for s in row.sources
    )
    counted = {"zh": f"{len(row.sources)}处", "en": str(len(row.sources))}[language]
    return f"<td><details><summary>{counted}</summary><ol>{items}</ol></details></td>"


def _heading(table: Table, language: Language) -> str:
    return table.heading.heading(language) if table.heading else table.name


def as_xlsx(table: Table, language: Language) -> bytes:
    """Return a table as a workbook: its rows, and its notes."""
    return as_workbook((table,), language)


def as_workbook(tables: Sequence[Table], language: Language) -> bytes:
    """Return tables as a workbook with a sheet for each, and one of notes.

    Texts are never stored as formulas.
    """
    from openpyxl import Workbook

    book, data = Workbook(), io.BytesIO()
    book.remove(book.worksheets[0])
    title = {"zh": "说明", "en": "notes"}[language]
    noted: list[tuple[Cell, ...]] = [(title,)]
    for table in tables:
        name = _heading(table, language)[:_LONGEST_NAME]
        _fill_sheet(book.create_sheet(name), _lines(table, language))
        told = worded(table.notes, language)
        noted += [(name, one) if len(tables) > 1 else (one,) for one in told]
    _fill_sheet(book.create_sheet(title), noted)
    book.save(data)
    return data.getvalue()


def _fill_sheet(sheet: "Worksheet", lines: Iterable[Sequence[Cell]]) -> None:
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    widths: defaultdict[int, int] = defaultdict(lambda: _NARROWEST)
    for number, line in enumerate(lines, start=1):
        for at, value in enumerate(line, start=1):
            cell = sheet.cell(number, at)
            if isinstance(value, str):
                cell.value = visible(value)[:_LONGEST]  # it cannot hold control characters
                cell.data_type = "s"  # never a formula
            else:
                cell.value = value
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            longest = max(map(len, str(value or "").split("\n")))
            widths[at] = max(widths[at], min(2 * longest, _WIDEST))
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for at, width in widths.items():
        sheet.column_dimensions[get_column_letter(at)].width = width
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions


def as_docx(table: Table, language: Language) -> bytes:
    """Return a table as a Word file: a row's sources are footnotes at its first cell.

    Columns without any value are left out, as on screen; numbers are shown in 万 and 亿.

    Args:
        table: The table.
        language: Of headings, notes and marks.
    """
    title = _heading(table, language)
    filled = table.filled
    file = WordFile(title, language, columns=len(filled))
    file.heading(title)
    file.table(
        (
            [[_text(row.cells[at]), *(row.sources if at == filled[0] else ())] for at in filled]
            for row in table.rows
        ),
        head=[[table.columns[at].heading(language)] for at in filled],
    )
    for told in worded(table.notes, language):
        file.note(told)
    return file.data()


def _lines(table: Table, language: Language) -> Iterator[list[Cell]]:
    """Yield the header, then the rows, with the columns of their sources unless none has any."""
    sourced = not table.rows or any(row.sources for row in table.rows)
    columns = (*table.columns, *(SOURCE_COLUMNS if sourced else ()))
    yield [column.heading(language) for column in columns]
    for row in table.rows:
        yield [*row.cells, *(source_cells(row.sources, language) if sourced else ())]


def _no_formula(cell: Cell) -> Cell:
    """Return a cell that no spreadsheet evaluates.

    >>> _no_formula("=1+1"), _no_formula(-3.5), _no_formula("绿色")
    ("'=1+1", -3.5, '绿色')
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _escaped(cell: Cell) -> str:
    return html.escape(visible(_text(cell)))


def _text(cell: Cell) -> str:
    return "" if cell is None else str(shown(cell))


# What writes a table, by the ending of a file.
FORMS: Mapping[str, Callable[[Table, Language], bytes]] = {
    "csv": as_csv,
    "xlsx": as_xlsx,
    "html": as_html,
    "docx": as_docx,
}
