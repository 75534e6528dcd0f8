"""Cells with spans become full rows, rows become Markdown."""

from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.load.grid import LONGEST_LABEL, Cell, fill, table_lines
from kgrag.text.table_rows import cells_of, is_delimiter, is_row

_TEXT = st.text(alphabet="甲乙产 |\\-\n1%:", max_size=8)
_SPAN = st.one_of(st.integers(1, 3), st.sampled_from([0, 65535]))
_CELL = st.one_of(_TEXT, st.builds(Cell, _TEXT, _SPAN, _SPAN))
_ROWS = st.lists(st.lists(_CELL, max_size=5), max_size=6)


@given(_ROWS)
def test_fill_for_any_cells(rows):
    """Every row has the same number of slots, and no text is lost."""
    grid = fill(rows)

    assert len({len(row) for row in grid.rows}) <= 1
    held = "".join(text for row in grid.rows for text in row)
    for row in rows:
        for cell in row:
            text = cell if isinstance(cell, str) else cell.text
            assert "".join(text.split()) in "".join(held.split())


@given(_ROWS, st.one_of(st.none(), st.integers(0, 8)))
def test_table_lines_for_any_cells(rows, n_header):
    """Rows of a table have one number of cells, with a delimiter below the first."""
    table = [line for line in table_lines(rows, n_header) if is_row(line)]
    width = len(fill(rows).rows[0]) if fill(rows).rows else 0

    if width > 1 and any(is_delimiter(line) for line in table):
        assert len({len(cells_of(line)) for line in table[:2]}) == 1


@given(st.lists(st.lists(_TEXT, min_size=2, max_size=2), min_size=2, max_size=6))
def test_table_lines_when_unescaped_give_the_cells_back(rows):
    """What is read from the rows is what was written into them."""
    told = [[f"标{text}" for text in row] for row in rows]

    header, delimiter, *body = table_lines(told, 1)

    assert is_delimiter(delimiter)
    assert [cells_of(line) for line in (header, *body)] == fill(told).rows


def test_table_lines_when_cells_are_merged():
    """A merged cell repeats its label in every row and column that it covers."""
    lines = table_lines(
        [
            ["类别", "指标", "2025年"],
            [Cell("绿色发展", row_span=2), "森林覆盖率", "24.1"],
            ["湿地保护率", "55"],
            [Cell("合计", col_span=2), "79.1"],
        ]
    )

    assert lines == [
        "| 类别 | 指标 | 2025年 |",
        "| --- | --- | --- |",
        "| 绿色发展 | 森林覆盖率 | 24.1 |",
        "| 绿色发展 | 湿地保护率 | 55 |",
        "| 合计 | 合计 | 79.1 |",
    ]


def test_table_lines_when_cells_are_empty():
    """An empty cell keeps its place; rows and columns without a word are left out."""
    lines = table_lines([["指标", "2020年", "", "2025年"], ["产值", "", "", "5"], ["", "", "", ""]])

    assert lines[0] == "| 指标 | 2020年 | 2025年 |"
    assert lines[2:] == ["| 产值 |  | 5 |"]


def test_table_lines_when_labels_frame_the_table():
    """Caption and unit above, notes below all columns are lines of their own."""
    lines = table_lines(
        [
            [Cell("表1 主要指标", col_span=2)],
            [Cell("单位：亿元", col_span=2)],
            ["指标", "2025年"],
            ["产值", "5"],
            [Cell("注：产值按现价。", col_span=2)],
        ],
        n_header=3,
    )

    assert lines == [
        "表1 主要指标",
        "单位：亿元",
        "| 指标 | 2025年 |",
        "| --- | --- |",
        "| 产值 | 5 |",
        "注：产值按现价。",
    ]


def test_table_lines_when_the_header_has_two_rows():
    """Labels of several rows are joined, each once."""
    lines = table_lines(
        [
            [Cell("指标", row_span=2), Cell("单位", row_span=2), Cell("目标值", col_span=2)],
            ["2025年", "2030年"],
            ["森林覆盖率", "%", "24", "25"],
        ]
    )

    assert lines[0] == "| 指标 | 单位 | 目标值 2025年 | 目标值 2030年 |"
    assert len(lines) == 3


def test_table_lines_when_rows_below_hold_values_or_text():
    """A first column that is merged downwards makes no header; nor does a row of words."""
    merged: list[list[Cell | str]] = [
        [Cell("经济", row_span=2), "产值", "5"],
        ["税收", "3"],
        ["民生", "就业", "2"],
    ]
    words: list[list[Cell | str]] = [
        ["部门", Cell("职责", col_span=2)],
        ["甲局", "规划", "管理"],
        ["乙局", "监督", "执法"],
    ]

    assert len(table_lines(merged)) == 4
    assert table_lines(words)[2] == "| 甲局 | 规划 | 管理 |"


def test_table_lines_when_there_is_one_column_or_row():
    """One column is a frame around text, one row a line: no tables."""
    assert table_lines([["专栏1"], ["重点工程"]]) == ["专栏1", "重点工程"]
    assert table_lines([["抄送：甲局", "", "1月1日印发"]]) == ["抄送：甲局 1月1日印发"]
    assert table_lines([]) == []


def test_table_lines_when_a_cell_breaks_lines():
    """A break within Chinese goes, between other words it becomes a blank."""
    lines = table_lines([["森林覆\n盖率", "GDP\ngrowth"], ["一\n\n（二）", "省财政厅\n省税务局"]])

    assert lines[0] == "| 森林覆盖率 | GDP growth |"
    assert lines[2] == "| 一 （二） | 省财政厅 省税务局 |"


def test_fill_when_a_merged_text_is_long():
    """A paragraph that covers several rows stands once."""
    text = "长" * (LONGEST_LABEL + 1)

    rows = fill([[Cell(text, row_span=2), "甲"], ["乙"]]).rows

    assert rows == [[text, "甲"], ["", "乙"]]


def test_fill_when_spans_are_absurd():
    """Spans end where the table does, and what they would fill is bounded."""
    row = [Cell("a" * 100, 65535, 65535)] * 30
    large = fill([row, *[[f"{i}"] * 30 for i in range(20_000)]])

    assert fill([[Cell("甲", 65535, 65535), "乙"], ["丙"]]).rows[0] == ["甲", "乙"]
    assert sum(len(text) for row in large.rows for text in row) < 30_000_000
    assert len(large.rows) == 20_001


def test_fill_when_spans_overlap():
    """A slot that two cells claim keeps the lower one's text."""
    rows = fill([["甲", Cell("乙", row_span=2)], [Cell("丙", col_span=2), "丁"]]).rows

    assert rows == [["甲", "乙", ""], ["丙", "丙", "丁"]]
