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


def test_layout_of_long_text_and_of_tables():
    """A menu beside the article and a table around tables leave paragraphs and inner tables."""
    paragraphs = "".join(f"<p>{LONG}</p>" for _ in range(3))
    page = f"<table><tr><td>导航</td><td>{paragraphs}{table('甲,乙', '1,2')}</td></tr></table>"

    assert lines(page) == ["导航", *[LONG] * 3, "| 甲 | 乙 |", "| --- | --- |", "| 1 | 2 |"]


def test_tables_nested_deep_are_read():
    """As deep as the parser goes, what is inside comes out."""
    page = "<table><tr><td>a</td><td>" * 60 + "最里" + "</td></tr></table>" * 60

    assert "最里" in "".join(lines(page))
