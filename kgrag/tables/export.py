"""Write tables as CSV, XLSX, HTML, Word files and JSON."""

import csv
import html
import io
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kgrag.answer.word import WordFile
from kgrag.status import Status
from kgrag.tables.table import SOURCE_COLUMNS, Cell, Row, Table, shown, source_cells, worded
from kgrag.text.visible import visible
from kgrag.types import Language

if TYPE_CHECKING:
    from openpyxl import Workbook
    from openpyxl.cell.cell import Cell as SheetCell
    from openpyxl.cell.cell import MergedCell
    from openpyxl.worksheet.worksheet import Worksheet

BYTE_ORDER_MARK = "\ufeff"  # by which Excel knows UTF-8
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_NARROWEST, _WIDEST = 8, 60  # columns of a spreadsheet, in characters
_LONGEST_NAME = 31  # characters of a sheet's name
_LONGEST = 32_767  # characters of a cell in a spreadsheet
_TITLES = {  # of Word files, by the name of the table: Chinese, English
    "targets": ("指标数值", "Figures"),
    "compare": ("指标对比", "Comparison of figures"),
    "duties": ("任务分工", "Duties"),
    "cites": ("引用文件", "Documents cited"),
    "cited_by": ("被引情况", "Cited by"),
    "basis": ("制定依据", "Basis"),
    "timeline": ("时间节点", "Timeline"),
    "digest": ("新旧对照", "Changes"),
    "conflicts": ("不一致之处", "Conflicts"),
}


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
    book = _workbook({table.name: _lines(table, language)})
    notes = book.create_sheet("notes")
    for number, note in enumerate(worded(table.notes, language), start=1):
        _fill(notes.cell(number, 1), note)
    return _saved(book)


def sheets_as_xlsx(sheets: Mapping[str, Iterable[Sequence[Cell]]]) -> bytes:
    """Return sheets by name as a workbook; the first line of each is its header.

    Texts are never stored as formulas.
    """
    return _saved(_workbook(sheets))


def _workbook(sheets: Mapping[str, Iterable[Sequence[Cell]]]) -> "Workbook":
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.worksheets[0])
    for name, lines in sheets.items():
        _fill_sheet(book.create_sheet(name[:_LONGEST_NAME]), lines)
    return book


def _fill_sheet(sheet: "Worksheet", lines: Iterable[Sequence[Cell]]) -> None:
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    widths: defaultdict[int, int] = defaultdict(lambda: _NARROWEST)
    for number, line in enumerate(lines, start=1):
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


def _saved(book: "Workbook") -> bytes:
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def as_docx(table: Table, language: Language, statuses: Mapping[str, Status]) -> bytes:
    """Return a table as a Word file: a row's sources are footnotes at its first cell.

    Columns without any value are left out, as on screen; numbers are shown in 万 and 亿.

    Args:
        table: The table.
        language: Of headings, notes and marks.
        statuses: Of documents, by id.
    """
    title = _TITLES.get(table.name, (table.name,) * 2)[language == "en"]
    filled = table.filled
    file = WordFile(title, language, columns=len(filled))
    file.heading(title)
    file.table(
        (
            [
                [_text(row.cells[at]), *(sources if at == filled[0] else ())]
                for sources in [[s.cited(statuses.get(s.doc_id)) for s in row.sources]]
                for at in filled
            ]
            for row in table.rows
        ),
        head=[[table.columns[at].heading(language)] for at in filled],
    )
    for note in worded(table.notes, language):
        file.note(note)
    return file.data()


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
    return html.escape(visible(_text(cell)))


def _text(cell: Cell) -> str:
    return "" if cell is None else str(shown(cell))
