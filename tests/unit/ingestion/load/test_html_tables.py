"""Tables of web pages: data becomes rows, layout stays text."""

import pytest
from lxml import html

from kgrag.ingestion.load.html_lines import page_lines

LONG = "为了推动全社会节约能源，提高能源利用效率，制定本办法。" * 8


def lines(body: str) -> list[str]:
    """Return the lines of a page's body."""
    return [line.text for line in page_lines(html.fromstring(f"<div>{body}</div>"))]


def table(*rows: str) -> str:
    """Return a table; cells are given with commas."""
    cells = ["".join(f"<td>{cell}</td>" for cell in row.split(",")) for row in rows]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def test_spans_repeat_their_label():
    """`rowspan` and `colspan` keep every figure in its row and column; empty cells stay."""
    assert lines(
        "<table><tr><th rowspan=2>指标</th><th colspan=2>目标值</th></tr>"
        "<tr><th>2023年</th><th>2025年</th></tr>"
        "<tr><td>森林覆盖率</td><td></td><td>42</td></tr></table>"
    ) == [
        "| 指标 | 目标值 2023年 | 目标值 2025年 |",
        "| --- | --- | --- |",
        "| 森林覆盖率 |  | 42 |",
    ]


@pytest.mark.parametrize("span", ["65535", "0", "99999999999", "-3", "x", ""])
def test_spans_that_no_table_has(span):
    """Absurd spans end where the table does."""
    found = lines(
        f'<table><tr><td rowspan="{span}">甲</td><td colspan="{span}">乙</td></tr>'
        "<tr><td>丙</td><td>丁</td></tr></table>"
    )

    assert len(found) == 3
    assert all(line.count("|") <= 4 for line in found)
    assert "丁" in found[2]


def test_caption_head_and_foot():
    """The caption is a line of its own; `thead` tells the header, whatever it holds."""
    assert lines(
        "<table><caption>表1 主要指标</caption><thead><tr><td>项</td><td>值</td></tr>"
        "<tr><td>一</td><td>2</td></tr></thead><tbody><tr><td>甲</td><td>3</td></tr></tbody>"
        "<tfoot><tr><td colspan=2>注：预计数</td></tr></tfoot></table>尾"
    ) == ["表1 主要指标", "| 项 一 | 值 2 |", "| --- | --- |", "| 甲 | 3 |", "注：预计数", "尾"]


@pytest.mark.parametrize(
    "layout",
    [
        table("第一段", "第二段"),
        "<table><tr><td><p>第一段</p></td><td><h2>第二段</h2></td></tr></table>",
        "<table role=presentation><tr><td>第一段</td><td>第二段</td></tr></table>",
        "<table><tr><td>第一段<br>第二段</td><td></td></tr></table>",
        "<table>第一段<tr><td>第二段</td><td></td></tr></table>",
    ],
)
def test_layout_stays_text(layout):
    """One column, headings, several lines in a single row, text outside the cells: no table."""
    assert sorted(lines(layout)) == ["第一段", "第二段"]


def test_layout_of_long_text_and_of_tables():
    """A menu beside the article and a table around tables leave paragraphs and inner tables."""
    paragraphs = "".join(f"<p>{LONG}</p>" for _ in range(3))
    page = f"<table><tr><td>导航</td><td>{paragraphs}{table('甲,乙', '1,2')}</td></tr></table>"

    assert lines(page) == ["导航", *[LONG] * 3, "| 甲 | 乙 |", "| --- | --- |", "| 1 | 2 |"]


def test_a_table_in_a_cell_becomes_its_text():
    """Where the outer table holds data, an inner one is text of the cell."""
    rows = table("项目,内容", "甲,INNER", "乙,2", "丙,3")

    assert lines(rows.replace("INNER", table("年,值", "2025,5")))[2] == "| 甲 | 年值 2025 5 |"


def test_tables_nested_deep_are_read():
    """As deep as the parser goes, what is inside comes out."""
    page = "<table><tr><td>a</td><td>" * 60 + "最里" + "</td></tr></table>" * 60

    assert "最里" in "".join(lines(page))
