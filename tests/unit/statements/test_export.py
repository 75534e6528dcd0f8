"""Tables as files, opened as other programs open them."""

import csv
import io
import json

import pytest
from docx import Document
from lxml import html
from openpyxl import load_workbook

from kgrag.answer.citation import Citation
from kgrag.statements.export import as_csv, as_docx, as_html, as_page, as_workbook, as_xlsx
from kgrag.statements.table import Column, Row, Table
from kgrag.status import Status
from tests.fixtures.word_files import footnotes

HOSTILE = ("=1+1", "+1", "-1", "@SUM(A1)", "＝1", "\t=1", '=HYPERLINK("http://a")')
SOURCE = Citation(
    0,
    "d-1",
    "甲方案",
    "甲.txt",
    ("一、目标", "（一）总量"),
    None,
    3,
    9,
    '到2025年达到<b>41%</b>，"约"',
    "",
    document_number="甲政发〔2022〕3号",
    status=Status("draft", "2026-01-01", word="草案"),
)
TABLE = Table(
    "targets",
    (Column("name", "名称", "name"), Column("value", "数值", "value")),
    (
        Row(("森林，覆盖率", 40.5), (SOURCE, SOURCE)),
        Row(("空", None)),
        *(Row((text, -3)) for text in HOSTILE),
        Row(("坏\x07字符", 1)),
    ),
    ("=3 of 4",),
    Column("targets", "指标数值", "Figures"),
)


def test_csv_is_what_a_spreadsheet_expects():
    """A byte-order mark, quoted cells, and nothing that is computed."""
    data = as_csv(TABLE, "zh")
    assert data.startswith(b"\xef\xbb\xbf")
    head, first, empty, *rest = csv.reader(io.StringIO(data.decode("utf-8-sig")))
    assert head[2:] == ["文件", "文号", "效力", "条款", "原文", "文件路径", "位置"]
    assert first[:2] == ["森林，覆盖率", "40.5"]
    assert first[2] == "[1] 《甲方案》\n[2] 《甲方案》"
    assert first[3].splitlines() == ["甲政发〔2022〕3号"] * 2
    assert first[4].splitlines() == ["草案，不是正式文件"] * 2
    assert first[5].splitlines()[0] == "一、目标 › （一）总量"
    assert empty == ["空", *[""] * 8]
    assert [row[0] for row in rest[:-1]] == [f"'{text}" for text in HOSTILE]
    assert {row[1] for row in rest[:-1]} == {"-3"}  # a number, no formula


def test_workbooks_have_texts_and_numbers():
    """What begins like a formula is a text; notes stand on a sheet of their own."""
    book = load_workbook(io.BytesIO(as_xlsx(TABLE, "en")))
    sheet = book["Figures"]
    rows = list(sheet.iter_rows())
    assert [cell.value for cell in rows[0]][:3] == ["name", "value", "document"]
    assert [cell.value for cell in rows[1]][:2] == ["森林，覆盖率", 40.5]
    assert rows[2][1].value is None
    assert [row[0].value for row in rows[3:10]] == list(HOSTILE)
    assert "f" not in {cell.data_type for row in rows for cell in row}
    assert rows[10][0].value == "坏\\x07字符"
    assert book["notes"]["A2"].value == "=3 of 4"
    assert book["notes"]["A2"].data_type != "f"


def test_pages_hold_no_markup_of_documents():
    """Whatever a document says stands there as text."""
    page = html.fromstring(as_html(TABLE, "zh"))
    assert page.xpath("//b") == []
    cells = [cell.text_content() for cell in page.xpath("//tbody/tr[1]/td")]
    assert cells[:2] == ["森林，覆盖率", "40.5"]
    told = page.xpath("//td//li")[0].text_content()
    assert SOURCE.quote in told
    assert SOURCE.document_number in told
    assert "草案，不是正式文件" in told
    assert page.xpath("//p")[0].text_content() == "=3 of 4"


def test_several_tables_share_a_workbook_and_a_page():
    """Each on a sheet called by its heading; nothing of documents is evaluated."""
    counts = Table(
        "kind",
        (Column("kind", "文种", "kind"), Column("n", "份数", "documents")),
        tuple(Row((text, n)) for n, text in enumerate(("<b>法</b>", *HOSTILE))),
        ("<i>2</i>",),
        Column("kind", "按文种", "by kind"),
    )
    book = load_workbook(io.BytesIO(as_workbook((TABLE, counts), "zh")))
    assert book.sheetnames == ["指标数值", "按文种", "说明"]
    assert [cell.value for cell in book["按文种"][1]] == ["文种", "份数"]  # no sources: no columns
    assert [cell.value for cell in book["按文种"]["A"]][2:] == list(HOSTILE)
    assert "f" not in {cell.data_type for row in book["按文种"].iter_rows() for cell in row}
    assert [cell.value for cell in book["说明"][3]] == ["按文种", "<i>2</i>"]

    data = as_page((TABLE, counts), "<u>甲</u>", "en")
    page = html.fromstring(data)
    assert not [tag for tag in (b"<b>", b"<i>", b"<u>") if tag in data]
    assert page.xpath("//b | //i | //u") == []
    assert [h.text_content() for h in page.xpath("//h2")] == ["Figures 10", "by kind 8"]


@pytest.mark.parametrize("form", [as_csv, as_xlsx, as_html, as_docx])
def test_a_table_without_rows_has_its_headings(form):
    """It opens, and says what it would have held."""
    assert form(Table("targets", TABLE.columns, ()), "zh")


def test_word_files_have_texts_as_they_are():
    """Nothing is computed or linked; a source cited twice in a row is quoted once."""
    data = as_docx(TABLE, "zh")
    document = Document(io.BytesIO(data))
    first, *rest = ([cell.text for cell in row.cells] for row in document.tables[0].rows)
    assert first == ["名称", "数值"]
    assert rest[0] == ["森林，覆盖率,", "40.5"]  # 1,2
    assert [row[0] for row in rest[2:-1]] == list(HOSTILE)
    assert rest[-1] == ["坏\\x07字符", "1"]
    reference = "《甲方案》（甲政发〔2022〕3号）一、（一）【草案，不是正式文件】，甲.txt"
    assert footnotes(data) == [f"{reference}：“{SOURCE.quote}”", reference]


def test_records_are_ready_for_json():
    """By the keys of the columns, with the sources."""
    first = json.loads(json.dumps(TABLE.records()))[0]
    assert (first["name"], first["value"]) == ("森林，覆盖率", 40.5)
    assert [*first["sources"][0]] == [
        "doc_id", "title", "file", "heading_path", "page", "start", "end", "quote", "status",
        "document_number", "cells", "address", "reference",
    ]  # fmt: skip
    assert first["sources"][0]["heading_path"] == ["一、目标", "（一）总量"]
