"""The small PDF writer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.pdf_writer import Block, break_lines, width, write_pdf


def test_break_lines_keeps_numbers_whole():
    """A number is not torn apart, and no line begins with a closing mark."""
    assert break_lines("能耗下降2025吨", 6, 6) == ["能耗下降2025", "吨"]
    assert break_lines("能耗下降了2025吨", 6, 6) == ["能耗下降了", "2025吨"]
    assert break_lines("一二三四”。五", 4, 4) == ["一二三", "四”。五"]


@given(st.text(alphabet="一二，。a1”", max_size=40), st.integers(3, 8))
def test_break_lines_for_any_text(text, room):
    """No character is lost, and only a run that cannot be broken is wider than its line."""
    lines = break_lines(text, room, room)

    assert "".join(lines) == text
    assert all(lines) or text == ""


def test_width_counts_ascii_half():
    """Chinese is one wide, ASCII half."""
    assert width("到2025年") == 4.0


def test_write_pdf_is_the_same_each_time():
    """The same blocks give the same bytes, other blocks others."""
    blocks = [Block(("一、目标",)), Block(("甲", "乙"), 12)]

    assert write_pdf(blocks, title="x") == write_pdf(blocks, title="x")
    assert write_pdf(blocks, title="x") != write_pdf(blocks[:1], title="x")


@pytest.mark.parametrize("align", ["left", "center", "right"])
def test_write_pdf_has_a_valid_cross_reference_table(align):
    """Every offset in the table points at its object."""
    data = write_pdf([Block(("节能" * 400,), 16, align)], title="x")

    table = data[data.rindex(b"\nxref\n") + 1 :].split(b"\n")
    n = int(table[1].split()[1])
    for number in range(1, n):
        offset = int(table[2 + number].split()[0])
        assert data[offset:].startswith(b"%d 0 obj" % number)
    assert data.count(b"/Type /Page ") > 1
