"""Rows of tables in a document's text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.table_rows import (
    cell_spans,
    cells_of,
    delimiter_line,
    is_delimiter,
    is_row,
    row_line,
)

_CELL = st.text(alphabet="甲乙|\\ -1", max_size=6).map(str.strip)


@given(st.lists(_CELL, min_size=1, max_size=5))
def test_cells_of_gives_back_what_row_line_wrote(cells):
    """Whatever stands in the cells, bars and backslashes too."""
    line = row_line(cells)

    assert cells_of(line) == cells
    assert all(line[a:b] == line[a:b].strip() for a, b in cell_spans(line))


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("甲 | 乙", ["甲", "乙"]),
        ("|甲|乙|", ["甲", "乙"]),
        ("甲 |  | 乙", ["甲", "", "乙"]),
        ("| 甲 | 乙", ["甲", "乙"]),
    ],
)
def test_cells_of_rows_written_by_others(line, cells):
    """Bars at the ends and blanks beside them may be missing."""
    assert cells_of(line) == cells


def test_is_delimiter_of_rows_and_rules():
    """Only dashes and colons between bars; a rule across the page is none."""
    assert is_delimiter(delimiter_line(3))
    assert is_delimiter("---|:---:")
    assert not is_delimiter("| -5 | 甲 |")
    assert not is_delimiter("-----")
    assert is_row("| 甲 |")
    assert not is_row("|")
    assert not is_row("甲 | 乙")
