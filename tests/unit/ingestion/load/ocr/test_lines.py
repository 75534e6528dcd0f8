"""What was recognised becomes lines, and doubt is told."""

import json

import pytest

from kgrag.ingestion.load.ocr.engine import Read
from kgrag.ingestion.load.ocr.lines import Quotes, as_printed, doubts, placed
from kgrag.ingestion.load.ocr.page import _piece
from kgrag.ingestion.load.ocr.page_text import Box, PageText, Piece
from kgrag.ingestion.load.page_tables import Line, Table, expand


def piece(text, left, top, *, size=20, confidence=0.99, doubtful=()):
    width = size * len(text)
    return Piece(text, Box(left, top, left + width, top + size), confidence, doubtful)


CELLS = (
    piece("指标", 10, 130), piece("目标", 200, 105), piece("2025年", 150, 155),
    piece("2030年", 300, 155), piece("绿色工厂", 10, 180), piece("8", 300, 180),
)  # fmt: skip
TABLE = Table(
    (("指标", "目标", "目标"), ("指标", "2025年", "2030年"), ("绿色\n工厂", "", "8")),
    ((0, 1, 1), (0, 2, 3), (4, 5, 6)),
    (0.0, 140.0, 280.0, 400.0),
    frozenset(range(6)),
)


def items(*pieces, tables=(), scale=1.0):
    return [item for item, _ in placed(PageText(pieces, tables), scale=scale)]


def test_a_page_survives_being_kept():
    """As JSON and back it is the same, tables too."""
    page = PageText((piece("甲", 1, 2, doubtful=("3",)),), (TABLE,), 1, 2.5, 1)
    assert PageText.from_json(page.to_json()) == page


@pytest.mark.parametrize("broken", [{}, {"pieces": 3}, {"pieces": [{"text": "甲"}]}, [], None])
def test_what_is_no_page_is_an_error(broken):
    """A file that was changed by hand is not taken for a page."""
    with pytest.raises(ValueError, match="PageText"):
        PageText.from_json(json.dumps(broken))


def test_a_ruled_table_becomes_markdown():
    """Merged labels are repeated, empty cells stay, lines within a cell are joined."""
    (rows,) = expand([items(*CELLS, tables=(TABLE,))])
    assert [row.text for row in rows] == [
        "| 指标 | 目标 2025年 | 目标 2030年 |",
        "| --- | --- | --- |",
        "| 绿色工厂 |  | 8 |",
    ]


def test_gaps_in_a_row_become_tabs_and_blanks():
    """As in PDFs: a tab between columns, a blank between words, nothing in a broken line."""
    row = (piece("甲", 0, 0), piece("乙", 20, 0), piece("丙", 55, 0), piece("丁", 120, 0))
    (line,) = items(*row, scale=0.5)
    assert isinstance(line, Line)
    assert line.text == "甲乙 丙\t丁"
    assert (line.left, line.right, line.height) == (0, 70, 10)


def test_doubt_is_told_by_page():
    """Lines are counted, numbers named once."""
    row = (piece("甲", 0, 0, confidence=0.7), piece("乙3", 50, 0, doubtful=("3", "3")))
    assert doubts(PageText(row), 3) == [
        "page 3: 1 of 2 lines read with doubt (below 0.8)",
        "page 3: numbers read with doubt (1): 3",
    ]
    assert doubts(PageText((piece("甲", 0, 0),)), 1) == []


def test_a_number_is_in_doubt_for_one_digit():
    """A line of 20 sure characters hides a digit that is none."""
    text = "单位能耗下降13.5%，占24%"
    sure = [1.0] * len(text)
    sure[text.index("5")] = 0.5
    assert _piece(Read(text, 0.97, tuple(sure)), Box(0, 0, 9, 9)).doubtful == ("13.5%",)


def test_columns_of_prose_are_read_one_by_one():
    """What reaches over the gutter ends the columns above it."""
    text = "长长长长长长长长长长长长"
    left = [piece(f"左{i}{text}", 0, 100 + 30 * i) for i in range(5)]
    right = [piece(f"右{i}{text}", 320, 100 + 30 * i) for i in range(5)]
    head, foot = piece("题" * 15, 150, 40), piece("尾" * 20, 100, 300)
    assert [line.text[:2] for line in items(*right, foot, *left, head)] == [
        "题题", *(f"左{i}" for i in range(5)), *(f"右{i}" for i in range(5)), "尾尾",
    ]  # fmt: skip


def test_rows_of_an_unruled_table_stay_rows():
    """Short cells on both sides of a gap are no columns of prose."""
    left = [piece(f"指标{i}", 0, 30 * i) for i in range(6)]
    right = [piece(f"{i}.5", 320, 30 * i) for i in range(6)]
    assert [line.text for line in items(*right, *left)] == [f"指标{i}\t{i}.5" for i in range(6)]


def test_a_table_stands_where_it_begins():
    """Between the lines above and below."""
    found = items(*CELLS, piece("下", 0, 300), piece("上", 0, 50), tables=(TABLE,))
    assert [i.text if isinstance(i, Line) else "表" for i in found] == ["上", "表", "下"]


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
