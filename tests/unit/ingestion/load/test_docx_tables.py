"""Tables of Word files, from the XML that Word writes."""

import re

from lxml import etree

from kgrag.ingestion.load.docx import frame_cells, word_table_lines

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def table(rows: str) -> etree._Element:
    """Return a `w:tbl` of the given rows; the prefix `w:` may be left out."""
    prefixed = re.sub(r"<(/?)(?!w:)", r"<\1w:", rows)
    prefixed = re.sub(r" val=", " w:val=", prefixed)
    return etree.fromstring(f'<w:tbl xmlns:w="{W}">{prefixed}</w:tbl>')


def cell(text: str, properties: str = "") -> str:
    """Return a cell of one paragraph."""
    return f"<tc><tcPr>{properties}</tcPr><p><r><t>{text}</t></r></p></tc>"


def row(*cells: str, properties: str = "") -> str:
    """Return a row."""
    return f"<tr><trPr>{properties}</trPr>{''.join(cells)}</tr>"


def texts(element: etree._Element) -> list[str]:
    """Return the paragraphs of a cell."""
    return ["".join(p.itertext()) for p in element.iter(f"{{{W}}}p")]


def lines(rows: str) -> list[str]:
    """Return the lines of a table of the given rows."""
    return word_table_lines(table(rows), texts)


def test_word_table_lines_when_cells_are_merged_down_and_across():
    """`vMerge` and `gridSpan` repeat the label where it holds, in the column where it stands."""
    assert lines(
        row(cell("类别", '<vMerge val="restart"/>'), cell("指标值", '<gridSpan val="2"/>'))
        + row(cell("", "<vMerge/>"), cell("2020年"), cell("2025年"))
        + row(cell("绿色", '<vMerge val="restart"/>'), cell("1"), cell("2"))
        + row(cell("", "<vMerge/>"), cell(""), cell("4"))
    ) == [
        "| 类别 | 指标值 2020年 | 指标值 2025年 |",
        "| --- | --- | --- |",
        "| 绿色 | 1 | 2 |",
        "| 绿色 |  | 4 |",
    ]


def test_word_table_lines_when_merged_parts_differ_in_width():
    """The lower part of a merged cell may be narrower: the cells beside it keep their columns."""
    wide = '<vMerge val="restart"/><gridSpan val="2"/>'
    assert lines(
        row(cell("甲"), cell("乙"), cell("丙"))
        + row(cell("合并", wide), cell("1"))
        + row(cell("", "<vMerge/>"), cell("中"), cell("2"))
    )[2:] == ["| 合并 | 合并 | 1 |", "| 合并 | 中 | 2 |"]


def test_word_table_lines_when_a_row_begins_late():
    """Columns that a row leaves out ahead of its first cell stay empty."""
    assert lines(
        row(cell("指标"), cell("2020年"), cell("2025年"))
        + row(cell("1"), cell("2"), properties='<gridBefore val="1"/>')
        + row(cell("产值"), properties='<gridAfter val="2"/>')
    )[2:] == ["|  | 1 | 2 |", "| 产值 |  |  |"]


def test_word_table_lines_when_rows_are_marked_as_header():
    """Rows that Word repeats on each page are the header, whatever they hold."""
    marked = "<tblHeader/>"
    body = row(cell("甲"), cell("3"))
    told = row(cell("项"), cell("值"), properties=marked) + row(
        cell("（1）"), cell("5"), properties=marked
    )

    assert lines(told + body) == ["| 项 （1） | 值 5 |", "| --- | --- |", "| 甲 | 3 |"]
    assert len(lines(told.replace("<tblHeader/>", '<tblHeader val="0"/>') + body)) == 4


def test_word_table_lines_when_rows_were_deleted_or_wrapped():
    """A row deleted under change tracking is gone; rows and cells in content controls are read."""
    control = "<sdt><sdtContent>{}</sdtContent></sdt>"
    assert lines(
        row(cell("项"), control.format(cell("值")))
        + row(cell("旧"), cell("1"), properties="<del/>")
        + control.format(row(cell("新"), cell("2")))
    ) == ["| 项 | 值 |", "| --- | --- |", "| 新 | 2 |"]


def test_word_table_lines_when_merged_in_the_old_way():
    """`hMerge` widens the cell on its left."""
    assert lines(
        row(cell("合计", '<hMerge val="restart"/>'), cell("", "<hMerge/>"), cell("值"))
        + row(cell("甲"), cell("乙"), cell("1"))
    ) == ["| 合计 | 合计 | 值 |", "| --- | --- | --- |", "| 甲 | 乙 | 1 |"]


def test_word_table_lines_when_spans_say_nothing_of_use():
    """What is no number, and a part of a merged cell that nothing begins, are plain cells."""
    assert lines(
        row(cell("项", '<gridSpan val="x"/>'), cell("值", '<gridSpan val="0"/>'))
        + row(cell("甲", "<vMerge/>"), cell("1"))
    ) == ["| 项 | 值 |", "| --- | --- |", "| 甲 | 1 |"]


def test_word_table_lines_when_a_cell_holds_a_table():
    """Its rows become text of the cell."""
    inner = ["甲", "| 年 | 值 |", "| --- | --- |", "| 2020 | 1 |"]
    outer = table("".join(row(cell("项"), cell("数")) for _ in range(2)))

    assert word_table_lines(outer, lambda _: inner)[0].startswith("| 甲；年 值；2020 1 |")


def test_frame_cells_of_frames_and_tables():
    """One column frames text; so do a few rows around tables; all else is a table."""
    one = table(row(cell("专栏1")) + row(cell("重点工程")))
    inner = "<tbl>" + row(cell("甲"), cell("乙")) * 2 + "</tbl>"
    layout = table(row(cell("左"), f"<tc>{inner}</tc>"))

    assert [texts(c) for c in frame_cells(one) or []] == [["专栏1"], ["重点工程"]]
    assert len(frame_cells(layout) or []) == 2
    assert frame_cells(table(row(cell("甲"), cell("乙")))) is None
