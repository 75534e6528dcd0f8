"""What was recognised becomes lines, and doubt is told."""

import json

import pytest

from kgrag.ingestion.load.ocr.engine import Read
from kgrag.ingestion.load.ocr.lines import Quotes, as_printed, doubts, in_reading_order, page_items
from kgrag.ingestion.load.ocr.page import _piece
from kgrag.ingestion.load.ocr.page_text import Box, PageText, Piece, RuledCell, RuledTable
from kgrag.ingestion.load.page_tables import Line, expand


def piece(text, left, top, *, size=20, confidence=0.99, doubtful=()):
    width = size * len(text)
    return Piece(text, Box(left, top, left + width, top + size), confidence, doubtful)


TABLE = RuledTable(
    Box(0, 100, 400, 200),
    (
        RuledCell(0, 0, 2, 1, (piece("指标", 10, 130),)),
        RuledCell(0, 1, 1, 2, (piece("目标", 200, 105),)),
        RuledCell(1, 1, 1, 1, (piece("2025年", 150, 155),)),
        RuledCell(1, 2, 1, 1, (piece("2030年", 300, 155),)),
        RuledCell(2, 0, 1, 1, (piece("绿色工厂", 10, 180), piece("数量", 10, 200))),
        RuledCell(2, 1, 1, 1, ()),
        RuledCell(2, 2, 1, 1, (piece("8", 300, 180),)),
    ),
)


def test_a_page_survives_being_kept():
    """As JSON and back it is the same, tables too."""
    page = PageText(((piece("甲", 1, 2, doubtful=("3",)),), TABLE), 500, 700, 1, 2.5, 1)
    assert PageText.from_json(page.to_json()) == page


@pytest.mark.parametrize("broken", [{}, {"blocks": 3}, {"blocks": [], "other": 1}, [], None])
def test_what_is_no_page_is_an_error(broken):
    """A file that was changed by hand is not taken for a page."""
    with pytest.raises(ValueError, match="PageText"):
        PageText.from_json(json.dumps(broken))


def test_a_ruled_table_becomes_markdown():
    """Merged labels are repeated, empty cells stay, lines within a cell are joined."""
    (rows,) = expand([page_items(PageText((TABLE,), 500, 700), scale=1.0)])
    assert [row.text for row in rows] == [
        "| 指标 | 目标 2025年 | 目标 2030年 |",
        "| --- | --- | --- |",
        "| 绿色工厂数量 |  | 8 |",
    ]


def test_gaps_in_a_row_become_tabs_and_blanks():
    """As in PDFs: a tab between columns, a blank between words, nothing in a broken line."""
    row = (piece("甲", 0, 0), piece("乙", 20, 0), piece("丙", 55, 0), piece("丁", 120, 0))
    (line,) = page_items(PageText((row,), 500, 700), scale=0.5)
    assert isinstance(line, Line)
    assert line.text == "甲乙 丙\t丁"
    assert (line.left, line.right, line.height) == (0, 70, 10)


def test_doubt_is_told_by_page():
    """Lines are counted, numbers named once."""
    row = (piece("甲", 0, 0, confidence=0.7), piece("乙3", 50, 0, doubtful=("3", "3")))
    assert doubts(PageText((row,), 9, 9), 3) == [
        "page 3: 1 of 2 lines read with doubt (below 0.8)",
        "page 3: numbers read with doubt (1): 3",
    ]
    assert doubts(PageText(((piece("甲", 0, 0),),), 9, 9), 1) == []


def test_a_number_is_in_doubt_for_one_digit():
    """A line of 20 sure characters hides a digit that is none."""
    text = "单位能耗下降13.5%，占24%"
    sure = [1.0] * len(text)
    sure[text.index("5")] = 0.5
    assert _piece(Read(text, 0.97, tuple(sure)), Box(0, 0, 9, 9)).doubtful == ("13.5%",)


def flat(blocks):
    return [piece for block in blocks if not isinstance(block, RuledTable) for piece in block]


def test_columns_of_prose_are_read_one_by_one():
    """What reaches over the gutter ends the columns above it."""
    text = "长长长长长长长长长长长长"
    left = [piece(f"左{i}{text}", 0, 100 + 30 * i) for i in range(5)]
    right = [piece(f"右{i}{text}", 320, 100 + 30 * i) for i in range(5)]
    head, foot = piece("题" * 15, 150, 40), piece("尾" * 20, 100, 300)
    rows = in_reading_order([*right, foot, *left, head], (), width=600)
    assert [p.text[:2] for p in flat(rows)] == [
        "题题", *(f"左{i}" for i in range(5)), *(f"右{i}" for i in range(5)), "尾尾",
    ]  # fmt: skip


def test_rows_of_an_unruled_table_stay_rows():
    """Short cells on both sides of a gap are no columns of prose."""
    left = [piece(f"指标{i}", 0, 30 * i) for i in range(6)]
    right = [piece(f"{i}.5", 320, 30 * i) for i in range(6)]
    rows = in_reading_order([*right, *left], (), width=600)
    assert [p.text for p in flat(rows)] == [t for i in range(6) for t in (f"指标{i}", f"{i}.5")]


def test_a_table_stands_where_it_begins():
    """Between the lines above and below."""
    rows = in_reading_order([piece("下", 0, 300), piece("上", 0, 50)], [TABLE], width=600)
    assert [row if isinstance(row, RuledTable) else row[0].text for row in rows] == [
        "上", TABLE, "下",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("read", "printed"),
    [
        ("(一)加强组织领导", "（一）加强组织领导"),
        ("企业(含园区)应当", "企业（含园区）应当"),
        ("标准（试行)印发", "标准（试行）印发"),
        ("目标:到2025年,建成", "目标：到2025年，建成"),
        ("GB/T 2589(2020)", "GB/T 2589(2020)"),
        ("1:3和12:30", "1:3和12:30"),
    ],
)
def test_marks_beside_chinese_are_full_width(read, printed):
    """Beside figures and letters they stay."""
    assert as_printed(read) == printed


def test_quotation_marks_go_in_pairs_over_lines():
    """A mark before a comma closes whatever was read, and sets right what follows."""
    quotes = Quotes()
    assert quotes.paired("”双碳”目标和”十四") == "“双碳”目标和“十四"
    assert quotes.paired("五”规划，“零碳“，”绿电”") == "五”规划，“零碳”，“绿电”"
