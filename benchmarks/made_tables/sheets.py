"""Made documents as spreadsheets, by openpyxl: figures are numbers with a format, cells merged."""

import re
from pathlib import Path

from openpyxl import Workbook
from openpyxl.worksheet.worksheet import Worksheet

from benchmarks.made_tables.parts import MadeDocument, Table

_FIGURE = re.compile(r"([+-]?)([\d,]*\d)(\.\d+)?(%?)")


def write_sheets(document: MadeDocument, path: Path) -> None:
    """Write the document to a path: its title on the first sheet, then each block on its own."""
    book = Workbook()
    sheet = book.active
    assert isinstance(sheet, Worksheet)
    sheet.title = "说明"
    sheet.append([document.title])
    for number, block in enumerate(document.blocks, 1):
        if isinstance(block, Table):
            _write_table(book.create_sheet(f"表{number}"), block)
        elif isinstance(block, str):
            sheet.append([block])
    book.save(path)


def _write_table(sheet: Worksheet, table: Table) -> None:
    for line in filter(None, (table.caption, table.unit)):
        sheet.append([line])
    top = sheet.max_row + 1 if table.caption or table.unit else 1
    for i, j, cell in table.placed():
        row, column = top + i, 1 + j
        slot = sheet.cell(row, column)
        figure = _FIGURE.fullmatch(cell.text)
        if figure and i >= table.n_header and not re.match(r"0\d", figure[2]):
            sign, whole, decimals, percent = figure.groups(default="")
            shown = ("#,##0" if "," in whole else "0") + re.sub(r"\d", "0", decimals) + percent
            value = float(f"{sign}{whole}{decimals}".replace(",", ""))
            slot.value = value / 100 if percent else value
            slot.number_format = f"+{shown};-{shown}" if sign == "+" else shown
        else:
            slot.value = cell.text or None
        if cell.row_span * cell.col_span > 1:
            sheet.merge_cells(
                start_row=row,
                start_column=column,
                end_row=row + cell.row_span - 1,
                end_column=column + cell.col_span - 1,
            )
    for note in table.notes:
        sheet.append([note])
