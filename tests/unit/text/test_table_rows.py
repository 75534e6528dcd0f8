"""Rows and headers of tables in a text."""

from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.table_rows import (
    cell_spans,
    cells_of,
    header_before,
    row_line,
)

_CELL = st.text(alphabet="甲乙|\\ -1", max_size=6).map(str.strip)


@given(st.lists(_CELL, min_size=1, max_size=5))
def test_cells_of_gives_back_what_row_line_wrote(cells):
    """Whatever stands in the cells, bars and backslashes too."""
    line = row_line(cells)

    assert cells_of(line) == cells
    assert all(line[a:b] == line[a:b].strip() for a, b in cell_spans(line))


TABLE = "| 指标 | 2025年 |\n| --- | --- |\n| 产值 | 5 |\n| 税收 | 3 |\n"


def test_header_before_a_place_in_a_table():
    """Within the body; not in the header, before or behind the table."""
    text = f"前文\n{TABLE}后文\n"
    header = "| 指标 | 2025年 |"

    assert header_before(text, text.index("| 产值")) == header
    assert header_before(text, text.index("| 税收")) == header
    assert not any(header_before(text, text.index(t)) for t in ("前文", "| 指标", "| ---", "后文"))


def test_header_before_of_rows_without_header():
    """Rows that no delimiter follows have none; a header too long to repeat is left out."""
    assert header_before("| 甲 | 乙 |\n| 丙 | 丁 |\n", 12) == ""
    long = TABLE.replace("指标", "指" * 700)
    assert header_before(long, long.index("产值")) == ""
