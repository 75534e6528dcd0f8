"""Tables of Word files and web pages: cells with spans become full rows, rows become Markdown."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree, html

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.load import grid
from kgrag.ingestion.load.docx import frame_cells, word_table_lines
from kgrag.ingestion.load.grid import LONGEST_LABEL, Cell, fill, table_lines
from kgrag.ingestion.load.html import page_lines
from kgrag.text.table_rows import cells_of, is_delimiter, is_row

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


def test_word_table_lines_when_a_cell_holds_a_table():
    """It follows the outer one, below a line of the row that it is in, with its own header."""
    inner = ["甲", "| 年 | 值 |", "| --- | --- |", "| 2020 | 1 |"]
    outer = table("".join(row(cell("项"), cell("数")) for _ in range(2)))

    assert word_table_lines(outer, lambda _: inner)[2:7] == ["| 甲 | 甲 |", "甲 甲", *inner[1:]]


def test_frame_cells_of_frames_and_tables():
    """One column frames text; so do a few rows around tables; all else is a table."""
    one = table(row(cell("专栏1")) + row(cell("重点工程")))
    inner = "<tbl>" + row(cell("甲"), cell("乙")) * 2 + "</tbl>"
    layout = table(row(cell("左"), f"<tc>{inner}</tc>"))

    assert [texts(c) for c in frame_cells(one) or []] == [["专栏1"], ["重点工程"]]
    assert len(frame_cells(layout) or []) == 2
    assert frame_cells(table(row(cell("甲"), cell("乙")))) is None


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


def test_fill_when_a_merged_text_is_long():
    """A paragraph that covers several rows stands once."""
    text = "长" * (LONGEST_LABEL + 1)

    rows = fill([[Cell(text, row_span=2), "甲"], ["乙"]]).rows

    assert rows == [[text, "甲"], ["", "乙"]]


def test_fill_when_spans_are_absurd(monkeypatch):
    """Spans end where the table does, and what they would fill is bounded."""
    monkeypatch.setattr(grid, "_MOST_SLOTS", 50_000)
    monkeypatch.setattr(grid, "_MOST_CHARACTERS", 1_000_000)
    row = [Cell("a" * 100, 65535, 65535)] * 30
    large = fill([row, *[[f"{i}"] * 30 for i in range(1_000)]])

    assert fill([[Cell("甲", 65535, 65535), "乙"], ["丙"]]).rows[0] == ["甲", "乙"]
    assert sum(len(text) for row in large.rows for text in row) < 1_500_000
    assert len(large.rows) == 1_001


LONG = "为了推动全社会节约能源，提高能源利用效率，制定本办法。" * 8


def html_lines(body: str) -> list[str]:
    """Return the lines of a page's body."""
    return [line.text for line in page_lines(html.fromstring(f"<div>{body}</div>"))]


def html_table(*rows: str) -> str:
    """Return a table; cells are given with commas."""
    cells = ["".join(f"<td>{cell}</td>" for cell in row.split(",")) for row in rows]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


@pytest.mark.parametrize("span", ["65535", "0", "99999999999", "-3", "x", ""])
def test_spans_that_no_table_has(span):
    """Absurd spans end where the table does."""
    found = html_lines(
        f'<table><tr><td rowspan="{span}">甲</td><td colspan="{span}">乙</td></tr>'
        "<tr><td>丙</td><td>丁</td></tr></table>"
    )

    assert len(found) == 3
    assert all(line.count("|") <= 4 for line in found)
    assert "丁" in found[2]


def test_layout_of_long_text_and_of_tables():
    """A menu beside the article and a table around tables leave paragraphs and inner tables."""
    paragraphs = "".join(f"<p>{LONG}</p>" for _ in range(3))
    page = f"<table><tr><td>导航</td><td>{paragraphs}{html_table('甲,乙', '1,2')}</td></tr></table>"

    assert html_lines(page) == [
        "导航",
        *[LONG] * 3,
        "| 甲 | 乙 |",
        "| --- | --- |",
        "| 1 | 2 |",
    ]


def test_html_when_a_cell_of_a_table_holds_one():
    """The inner table follows the outer one, below a line of its row, with its own header."""
    inner = html_table("年,值", "2025,7")
    rows = "".join(f"<tr><td>{n}项</td><td>见表{inner}</td></tr>" for n in "甲乙丙丁")
    found = html_lines(f"<table><tr><th>项</th><th>内容</th></tr>{rows}</table>")

    assert found[:6] == [
        "| 项 | 内容 |", "| --- | --- |", *(f"| {n}项 | 见表 |" for n in "甲乙丙丁"),
    ]  # fmt: skip
    assert found[6:10] == ["甲项 见表", "| 年 | 值 |", "| --- | --- |", "| 2025 | 7 |"]
    assert len(found) == 6 + 4 * 4


def test_an_inner_table_is_found_with_its_header(tmp_path):
    """Through a knowledge base: a row within a cell is cited, below the columns of its own."""
    inner = html_table("年度,补助金额", "2031年,777万元")
    rows = "".join(f"<tr><td>{n}</td><td>设施农业{n}{inner}</td></tr>" for n in "1234")
    page = f"<title>补助办法</title><h1>补助办法</h1><table>{rows}</table>"
    (tmp_path / "plan.html").write_text(f"<html><body>{page}</body></html>", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as base:
        assert not base.ingest([tmp_path / "plan.html"]).failed
        texts = [found.chunk.text for found in base.search("补助金额 777万元")]

    cited = "| 年度 | 补助金额 |\n| --- | --- |\n| 2031年 | 777万元 |"
    assert any(cited in text for text in texts)


def test_tables_nested_deep_are_read():
    """As deep as the parser goes, what is inside comes out."""
    page = "<table><tr><td>a</td><td>" * 60 + "最里" + "</td></tr></table>" * 60

    assert "最里" in "".join(html_lines(page))
