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
