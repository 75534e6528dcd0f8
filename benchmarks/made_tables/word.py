"""Made documents as Word files, by python-docx with real merged cells."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import docx
from docx.enum.section import WD_ORIENT, WD_SECTION
from docx.enum.table import WD_CELL_VERTICAL_ALIGNMENT, WD_TABLE_ALIGNMENT
from docx.enum.text import WD_ALIGN_PARAGRAPH, WD_TAB_ALIGNMENT, WD_TAB_LEADER
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Cm, Emu, Pt

from benchmarks.made_tables.parts import (
    Block,
    Box,
    Contents,
    Letterhead,
    Lines,
    MadeDocument,
    Signatures,
    Table,
    TwoColumns,
)

_FONT = "Noto Serif CJK SC"


def write_word(document: MadeDocument, path: Path) -> None:
    """Write the document to a path."""
    file = docx.Document()
    _set_font(file.styles["Normal"])
    section = file.sections[0]
    sides = (Cm(29.7), Cm(21)) if document.landscape else (Cm(21), Cm(29.7))
    section.page_width, section.page_height = sides
    section.orientation = WD_ORIENT.LANDSCAPE if document.landscape else WD_ORIENT.PORTRAIT
    section.left_margin = section.right_margin = Cm(2.2)
    title = _line(file, document.title, WD_ALIGN_PARAGRAPH.CENTER)
    title.runs[0].font.size = Pt(18)
    for block in document.blocks:
        _write(file, block)
    file.save(str(path))


def _set_font(style: Any) -> None:
    style.font.name, style.font.size = _FONT, Pt(12)
    style.element.get_or_add_rPr().get_or_add_rFonts().set(qn("w:eastAsia"), _FONT)


def _line(file: Any, text: str, alignment: WD_ALIGN_PARAGRAPH | None = None) -> Any:
    paragraph = file.add_paragraph(text)
    paragraph.paragraph_format.space_after = Pt(4)
    if alignment is None:
        paragraph.paragraph_format.first_line_indent = Pt(24)
    else:
        paragraph.alignment = alignment
    return paragraph


def _write(file: Any, block: Block) -> None:
    match block:
        case str():
            _line(file, block)
        case Table():
            _write_table(file, block)
        case Box():
            _write_box(file, block)
        case Letterhead():
            head = _line(file, block.organ, WD_ALIGN_PARAGRAPH.CENTER)
            head.runs[0].font.size = Pt(26)
            _border(head._p.get_or_add_pPr(), "w:pBdr", {"bottom": 24})
            _line(file, block.number, WD_ALIGN_PARAGRAPH.RIGHT)
        case Signatures():
            lines = zip(block.left, block.right, strict=True)
            _write_tabbed(file, lines, Cm(10))
        case Contents():
            dotted = WD_TAB_ALIGNMENT.RIGHT, WD_TAB_LEADER.DOTS
            _write_tabbed(file, block.entries, Cm(16), *dotted)
        case TwoColumns():
            _write_columns(file, block)
        case Lines():
            for text in block.lines:
                file.add_paragraph(text)


def _write_tabbed(
    file: Any, lines: Iterable[tuple[str, str | int]], place: int, *kind: Any
) -> None:
    for left, right in lines:
        line = _line(file, f"{left}\t{right}", WD_ALIGN_PARAGRAPH.LEFT)
        line.paragraph_format.tab_stops.add_tab_stop(place, *kind)


def _write_box(file: Any, box: Box) -> None:
    """Write a box as Word users do: a table of one cell."""
    cell = file.add_table(1, 1, style="Table Grid").cell(0, 0)
    cell.text = box.lines[0]
    for line in box.lines[1:]:
        cell.add_paragraph(line)


def _write_columns(file: Any, block: TwoColumns) -> None:
    for n_columns, paragraphs in ((2, block.paragraphs), (1, ())):
        section = file.add_section(WD_SECTION.CONTINUOUS)
        columns = section._sectPr.find(qn("w:cols"))
        columns.set(qn("w:num"), str(n_columns))
        for paragraph in paragraphs:
            _line(file, paragraph)


def _write_table(file: Any, table: Table) -> None:
    for line, alignment in (
        (table.caption, WD_ALIGN_PARAGRAPH.CENTER),
        (table.unit, WD_ALIGN_PARAGRAPH.RIGHT),
    ):
        if line:
            _line(file, line, alignment).paragraph_format.keep_with_next = True
    style = "Table Grid" if table.layout == "ruled" else "Normal Table"
    written = file.add_table(len(table.rows), len(table.widths))
    written.style = style if style in [s.name for s in file.styles] else None
    section = file.sections[-1]
    _fill(written, table, section.page_width - section.left_margin - section.right_margin)
    if table.repeats_header:
        for row in list(written.rows)[: table.n_header]:
            row._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    for note in table.notes:
        _line(file, note, WD_ALIGN_PARAGRAPH.LEFT)


def _fill(written: Any, table: Table, width: int) -> None:
    written.alignment, written.autofit = WD_TABLE_ALIGNMENT.CENTER, False
    grid = [list(row.cells) for row in written.rows]
    for column, share in zip(written.columns, table.widths, strict=True):
        column.width = Emu(int(width * share))
    for row in grid:
        for slot, share in zip(row, table.widths, strict=True):
            slot.width = Emu(int(width * share))
    for i, j, cell in table.placed():
        slot = grid[i][j]
        if cell.row_span > 1 or cell.col_span > 1:
            slot = slot.merge(grid[i + cell.row_span - 1][j + cell.col_span - 1])
        paragraph = slot.paragraphs[0]
        paragraph.add_run(cell.text).font.size = Pt(table.font_pt)
        paragraph.paragraph_format.space_after = Pt(0)
        if i >= table.n_header and j in table.right:
            paragraph.alignment = WD_ALIGN_PARAGRAPH.RIGHT
        elif j in table.centred or (i < table.n_header and table.centred):
            paragraph.alignment = WD_ALIGN_PARAGRAPH.CENTER
        if cell.inner:
            nested = slot.add_table(len(cell.inner.rows), len(cell.inner.widths))
            nested.style = written.style
            _fill(nested, cell.inner, int(width * table.widths[j]))
            slot.add_paragraph()
        if table.middle:
            slot.vertical_alignment = WD_CELL_VERTICAL_ALIGNMENT.CENTER
    _draw_lines(written, table)


def _draw_lines(written: Any, table: Table) -> None:
    """Draw what the layout has: `ruled` has its lines from its style, `borderless` none."""
    properties = written._tbl.tblPr
    if table.layout == "three-line":
        _border(properties, "w:tblBorders", {"top": 12, "bottom": 12})
        for i, _, cell in table.placed():
            if i + cell.row_span == table.n_header or (i < table.n_header and cell.col_span > 1):
                _rule_below(written, table, i, cell.row_span)
    elif table.layout in ("shaded", "banded", "headed"):
        if table.layout == "shaded":
            _border(properties, "w:tblBorders", {"bottom": 4, "insideH": 4})
        for i, row in enumerate(written.rows):
            if i < table.n_header or (table.layout == "banded" and i % 2 == 0):
                for slot in row._tr.tc_lst:
                    _shade(slot, "CFDCEA" if i < table.n_header else "EEF2F8")


def _shade(slot: Any, colour: str) -> None:
    shade = OxmlElement("w:shd")
    shade.set(qn("w:val"), "clear")
    shade.set(qn("w:fill"), colour)
    slot.get_or_add_tcPr().append(shade)


def _rule_below(written: Any, table: Table, row: int, row_span: int) -> None:
    """Draw a rule below the header's cells in the last row that those of this row reach."""
    for slot in written.rows[row + row_span - 1]._tr.tc_lst:
        is_spanning = slot.grid_span > 1
        if row + row_span == table.n_header or is_spanning:
            properties = slot.get_or_add_tcPr()
            if properties.find(qn("w:tcBorders")) is None:
                _border(properties, "w:tcBorders", {"bottom": 6})


def _border(properties: Any, name: str, sizes: dict[str, int]) -> None:
    """Add borders of these sizes, in eighths of a point."""
    borders = OxmlElement(name)
    for side, size in sizes.items():
        line = OxmlElement(f"w:{side}")
        for key, value in (
            ("val", "single"),
            ("sz", str(size)),
            ("space", "0"),
            ("color", "000000"),
        ):
            line.set(qn(f"w:{key}"), value)
        borders.append(line)
    properties.append(borders)
