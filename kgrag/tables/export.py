"""Write tables as CSV, XLSX, HTML and JSON."""

import csv
import html
import io
import json
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kgrag.tables.table import SOURCE_COLUMNS, Cell, Row, Table, shown, source_cells, worded
from kgrag.text.visible import visible
from kgrag.types import Language

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell as SheetCell
    from openpyxl.cell.cell import MergedCell

BYTE_ORDER_MARK = "\ufeff"  # by which Excel knows UTF-8
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
    text.write(BYTE_ORDER_MARK)
    writer = csv.writer(text)
    for line in _lines(table, language):
        writer.writerow([_no_formula(cell) for cell in line])
    return text.getvalue().encode()


def as_json(table: Table) -> str:
    """Return a table as one JSON object: `name`, `rows` (mappings with `sources`), `notes`."""
    told = {"name": table.name, "rows": table.records(), "notes": list(table.notes)}
    return json.dumps(told, ensure_ascii=False, indent=1)


def as_html(table: Table, language: Language) -> bytes:
    """Return a table as a self-contained HTML page; all texts are escaped."""
    head, *body = _lines(table, language)
    notes = "".join(f"<p>{_escaped(note)}</p>\n" for note in worded(table.notes, language))
    rows = "\n".join(
        f"<tr>{''.join(f'<td>{_escaped(cell)}</td>' for cell in line)}</tr>" for line in body
    )
    return (
        f'<!DOCTYPE html>\n<html lang="{language}">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{_escaped(table.name)}</title>\n<style>\n"
        "body { font-family: sans-serif; margin: 2em; }\n"
        "table { border-collapse: collapse; }\n"
        "th, td { border: 1px solid #bbb; padding: 4px 8px; text-align: left; "
        "vertical-align: top; white-space: pre-line; }\n"
        "</style>\n</head>\n<body>\n"
        f"{notes}<table>\n<thead><tr>{''.join(f'<th>{_escaped(h)}</th>' for h in head)}</tr>"
        f"</thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</body>\n</html>\n"
    ).encode()


def as_xlsx(table: Table, language: Language) -> bytes:
    """Return a table as a workbook with a sheet of rows and one of notes.

    Texts are never stored as formulas.
    """
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    book = Workbook()
    sheet = book.create_sheet(table.name[:_LONGEST_NAME], 0)
    widths: defaultdict[int, int] = defaultdict(lambda: _NARROWEST)
    for number, line in enumerate(_lines(table, language), start=1):
        for at, value in enumerate(line, start=1):
            cell = sheet.cell(number, at)
            _fill(cell, value)
            cell.alignment = Alignment(wrap_text=True, vertical="top")
            longest = max(map(len, str(value or "").split("\n")))
            widths[at] = max(widths[at], min(2 * longest, _WIDEST))
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    for at, width in widths.items():
        sheet.column_dimensions[get_column_letter(at)].width = width
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = sheet.dimensions
    notes = book[book.sheetnames[1]]
    notes.title = "notes"
    for number, note in enumerate(worded(table.notes, language), start=1):
        _fill(notes.cell(number, 1), note)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def _fill(cell: "SheetCell | MergedCell", value: Cell) -> None:
    if isinstance(value, str):
        cell.value = visible(value)[:_LONGEST]  # a workbook cannot hold control characters
        cell.data_type = "s"  # never a formula
    else:
        cell.value = value


def _lines(table: Table, language: Language) -> Iterator[list[Cell]]:
    """Yield the header, then the rows, with the columns of their sources."""
    columns = (*table.columns, *SOURCE_COLUMNS)
    yield [column.heading(language) for column in columns]
    for row in table.rows:
        yield _cells(row)


def _cells(row: Row) -> list[Cell]:
    return [*row.cells, *source_cells(row.sources)]


def _no_formula(cell: Cell) -> Cell:
    """Return a cell that no spreadsheet evaluates.

    >>> _no_formula("=1+1"), _no_formula(-3.5), _no_formula("绿色")
    ("'=1+1", -3.5, '绿色')
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell


def _escaped(cell: Cell) -> str:
    return "" if cell is None else html.escape(visible(str(shown(cell))))
