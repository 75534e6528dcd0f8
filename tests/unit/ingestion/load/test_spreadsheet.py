"""Spreadsheets: sheets, tables, cells as shown, and where each row is."""

import io
import shutil
import subprocess
import zipfile

import openpyxl
import pytest

from kgrag.errors import IngestionError
from kgrag.ingestion.load.parsed import Parsed
from kgrag.ingestion.load.spreadsheet import read_separated, read_sheets
from kgrag.types import Document
from tests.fixtures.sheets import edited, plan, saved

SHEET = (
    b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">%s</worksheet>'
)


def read(data: bytes, suffix: str = "xlsx") -> Parsed:
    """Read a workbook as if it came from a file."""
    return read_sheets(data, name="a.xlsx", stem="stem", suffix=suffix)


def places(parsed: Parsed) -> list[tuple[str, str]]:
    """Return the lines of a text with the cells that they are from."""
    return [(s.label, parsed.text[s.start : s.end]) for s in parsed.segments]


def test_read_sheets_gives_sections_tables_and_cells_as_shown():
    """Sheets are headings; titles and units stand above a table, notes below it."""
    parsed = read(saved(plan()))
    assert parsed.title == "云岭省2023年重点项目计划表"
    assert places(parsed) == [
        ("", "项目"),
        ("项目!A1", "云岭省2023年重点项目计划表"),
        ("项目!A2:F2", "填报单位：省发展改革委 单位：万元"),
        ("项目!A3:F3", "| 序号 | 项目名称 | 投资 总投资 | 投资 年度投资 | 完成率 | 开工时间 |"),
        ("项目!A4:F4", "| --- | --- | --- | --- | --- | --- |"),
        ("项目!A5:F5", "| 1 | 青川市污水处理厂 | 12,345.50 | 3,000 | 12.5% | 2023年3月15日 |"),
        ("项目!A6:F6", "| 2 | 云岭数据中心 | 98,000.00 | 45,000 | 50.0% | 2023年5月1日 |"),
        ("项目!A7:F7", "| 3 | 滨河大道 | 4,500.00 | 4,500 | 100.0% | 2022年11月8日 |"),
        ("项目!A8", "注：投资含征地费用。"),
        ("项目!A10:B10", "| 地区 | 项目数 |"),
        ("项目!A10:B10", "| --- | --- |"),
        ("项目!A11:B11", "| 青川市 | 2 |"),
        ("", "资金"),
        ("资金!A1:B1", "| 来源 | 金额（亿元） |"),
        ("资金!A1:B1", "| --- | --- |"),
        ("资金!A2:B2", "| 省级财政 | 0.5 |"),
        ("资金!A3:B3", "| 专项债券 | 12 |"),
    ]
    assert [s.level for s in parsed.segments if s.level] == [1, 1]


def test_cells_at_covers_what_a_text_touches():
    """A passage of several rows is cited with their whole area, on its first sheet."""
    parsed = read(saved(plan()))
    document = Document("d", "t", parsed.text, "a.xlsx", "xlsx", "", parsed.segments)
    row = parsed.text.index("| 2 | 云岭数据中心")
    assert document.cells_at(row, row + 5) == "项目!A6:F6"
    assert document.cells_at(parsed.text.index("云岭省"), row + 5) == "项目!A1:F6"
    assert document.cells_at(row, len(parsed.text)) == "项目!A6:F11"
    assert document.page_at(row) is None


def test_read_sheets_tells_what_is_hidden_and_what_has_no_value():
    """Hidden rows and columns are read, hidden sheets are not, and both are told."""
    book = plan()
    sheet = book["项目"]
    sheet.row_dimensions[6].hidden = True
    sheet.column_dimensions["D"].hidden = True
    book["资金"].sheet_state = "veryHidden"
    sheet["G5"] = "=C5*2"
    parsed = read(saved(book))
    assert "云岭数据中心" in parsed.text
    assert "专项债券" not in parsed.text
    assert [warning.partition(";")[0] for warning in parsed.warnings] == [
        "hidden sheets, which are not read: 资金",
        "hidden rows and columns, which are read: 2",
        "formulas without a stored value: 1",
    ]


def test_read_sheets_reads_every_kind_of_cell():
    """Stored results of formulas, rich and inline text, truth values, errors; no readings."""
    cells = (
        b'<c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>\xe4\xb9\x99</t></is></c>'
        b'<c t="b"><v>1</v></c><c t="str"><f>A1&amp;1</f><v>x1</v></c><c t="e"><v>#REF!</v></c>'
        b'<c><f>1+1</f><v>2</v></c><c t="s"><v>99</v></c><c><v>1e999</v></c><c s="99"><v>3</v></c>'
    )
    strings = (
        '<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><r><t>青</t></r>'
        "<r><t>川</t></r><rPh><t>かな</t></rPh></si></sst>"
    )
    relations = member(saved(plan()), "xl/_rels/workbook.xml.rels").replace(
        b"</Relationships>",
        b'<Relationship Id="s" Target="sharedStrings.xml" Type="http://schemas.openxmlformats.org'
        b'/officeDocument/2006/relationships/sharedStrings"/></Relationships>',
    )
    parts = {
        "xl/_rels/workbook.xml.rels": relations,
        "xl/worksheets/sheet1.xml": SHEET % (b"<sheetData><row>" + cells + b"</row></sheetData>"),
        "xl/sharedStrings.xml": strings.encode(),
    }
    parsed = read(edited(saved(plan()), parts))
    assert places(parsed)[1] == ("项目!A1:I1", "青川 乙 TRUE x1 #REF! 2 1e999 3")


def test_read_sheets_when_merged_cells_reach_far():
    """Spans end with what is written, and hold together the rows that they cover."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "表"
    for row in (("地区", "项目"), ("青川市", "甲"), (None, "乙"), (None, None), ("全省", "丙")):
        sheet.append(row)
    data = saved(book)
    with_spans = edited(
        data,
        {
            "xl/worksheets/sheet1.xml": edited_sheet(
                data,
                b'<mergeCells><mergeCell ref="A2:A4"/><mergeCell ref="Z1:XFD9"/></mergeCells>',
            )
        },
    )
    assert [text for _, text in places(read(with_spans))][1:] == [
        "| 地区 | 项目 |", "| --- | --- |", "| 青川市 | 甲 |", "| 青川市 | 乙 |", "| 全省 | 丙 |",
    ]  # fmt: skip


def member(data: bytes, name: str) -> bytes:
    """Return a member of a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read(name)


def edited_sheet(data: bytes, added: bytes) -> bytes:
    """Return the first sheet of a workbook with something after its cells."""
    sheet = member(data, "xl/worksheets/sheet1.xml")
    return sheet.replace(b"</sheetData>", b"</sheetData>" + added)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04" + b"0" * 99, "is damaged or no spreadsheet"),
        (b"<html>", "is damaged or no spreadsheet"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "is damaged or cut short"),
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
            + b"\0" * 600
            + "EncryptedPackage".encode("utf-16-le"),
            "is locked with a password; take it away and save it again",
        ),
    ],
)
def test_read_sheets_when_the_file_is_none(data, said):
    """What is no workbook, or a locked one, is refused with the remedy."""
    with pytest.raises(IngestionError, match=said):
        read(data)


def test_read_sheets_when_a_word_file_has_its_name(tmp_path):
    """A file of another kind is named, not read as an empty workbook."""
    import docx

    docx.Document().save(str(tmp_path / "a.xlsx"))
    with pytest.raises(IngestionError, match="no spreadsheet"):
        read((tmp_path / "a.xlsx").read_bytes())


@pytest.mark.skipif(not shutil.which("soffice"), reason="LibreOffice is not installed")
@pytest.mark.parametrize("suffix", ["xls", "ods"])
def test_read_sheets_through_libreoffice(tmp_path, suffix):
    """Older and open formats give the same lines as the workbook that they were saved from."""
    (tmp_path / "a.xlsx").write_bytes(saved(plan()))
    subprocess.run(
        ["soffice", f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}", "--headless",
         "--convert-to", suffix, "--outdir", str(tmp_path), str(tmp_path / "a.xlsx")],
        check=True, capture_output=True,
    )  # fmt: skip
    other = read((tmp_path / f"a.{suffix}").read_bytes(), suffix)
    assert places(other) == places(read(saved(plan())))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_read_separated_in_any_encoding_and_with_any_delimiter(encoding, mark):
    """Values in quotation marks keep their delimiters and line breaks; blank lines part tables."""
    lines = ["项目清单", mark.join(("项目", "投资（万元）")), mark.join(('"公路', '一期"', "x"))]
    lines[2] = mark.join(('"公路\n一期"', f'"1{mark}200"'))
    text = "\r\n".join([*lines, "", mark.join(("机构", "人数")), mark.join(("甲局", "3"))])
    parsed = read_separated(text.encode(encoding), name="a.csv", stem="stem")
    shown = " ".join(f"1{mark}200".split())
    assert parsed.title == "项目清单"
    assert places(parsed) == [
        ("A1", "项目清单"),
        ("A2:B2", "| 项目 | 投资（万元） |"),
        ("A2:B2", "| --- | --- |"),
        ("A3:B3", f"| 公路一期 | {shown} |"),
        ("A5:B5", "| 机构 | 人数 |"),
        ("A5:B5", "| --- | --- |"),
        ("A6:B6", "| 甲局 | 3 |"),
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (saved(plan()), "holds a zip archive or an Office file, not text"),
        (b"a,b\n" + b"x" * 200_000, "field larger than field limit"),
        (b",1" * 1_100_000, "more than 1,000,000 cells"),
    ],
)
def test_read_separated_when_the_file_is_none(data, said):
    """What is no text, or too large, is refused with the remedy."""
    with pytest.raises(IngestionError, match=said):
        read_separated(data, name="a.csv", stem="stem")


def test_read_separated_when_a_value_has_control_characters():
    """They are kept or replaced, and cost no place."""
    parsed = read_separated(
        "项目名称和内容,金额（万元）\n甲\x01乙,1\x002\n".encode(), name="a.csv", stem="stem"
    )
    assert places(parsed)[-1] == ("A2:B2", "| 甲\x01乙 | 1\ufffd2 |")
    assert "U+FFFD: 1" in parsed.warnings[0]
