"""The steps that all readers share."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.load.parsed import (
    join_blocks,
    join_cells,
    line_segments,
    numbered_lines,
    replace_unusable,
)


def test_replace_unusable_when_text_is_clean():
    """Clean text comes back as it is, without a warning."""
    assert replace_unusable("甲乙") == ("甲乙", [])


def test_replace_unusable_when_characters_cannot_be_stored():
    """Each NUL or lone surrogate becomes one U+FFFD, and the warning counts them."""
    text, warnings = replace_unusable("a\x00b\ud800c")

    assert text == "a\ufffdb\ufffdc"
    assert len(warnings) == 1
    assert warnings[0].startswith("2 unusable characters")


def test_numbered_lines_when_breaks_are_mixed():
    """CR, LF and CRLF each end one line; blank lines are counted but not given."""
    text = "一\r\n二\r三\n\n \n五"

    assert [(n, text[a:b]) for n, a, b in numbered_lines(text)] == [
        (1, "一"),
        (2, "二"),
        (3, "三"),
        (6, "五"),
    ]


def test_numbered_lines_when_other_separators_stand_in_a_line():
    """A form feed or a Unicode line separator ends no line: editors do not count it."""
    assert [n for n, _, _ in numbered_lines("a\x0cb\u2028c\nd")] == [1, 2]


@given(st.text(alphabet="甲 \r\n\x85a"))
def test_line_segments_for_any_text(text):
    """Segments are in order, apart, never blank, and hold all that is not blank."""
    segments = line_segments(text)

    assert all(a.end < b.start and a.number < b.number for a, b in pairwise(segments))
    assert all(text[s.start : s.end].strip() for s in segments)
    held = "".join(text[s.start : s.end] for s in segments)
    assert "".join(held.split()) == "".join(text.split())


@given(st.lists(st.text(alphabet="甲乙 　")))
def test_join_blocks_for_any_blocks(blocks):
    """Every block that is not blank stands on a line of its own and has its segment."""
    text, segments = join_blocks(blocks, "paragraph")

    kept = [block.strip() for block in blocks if block.strip()]
    assert text.split("\n") == (kept or [""])
    assert [text[s.start : s.end] for s in segments] == kept
    assert [s.number for s in segments] == list(range(1, len(kept) + 1))


def test_join_cells_when_no_cell_says_anything():
    """A row in which nothing stands gives nothing."""
    assert join_cells(["", " ", "\n"]) == ""


def test_join_cells_when_a_cell_has_line_breaks():
    """A cell stays on one line, and an empty cell keeps its place."""
    assert join_cells(["指标\n名称", "", "5%"]) == "指标 名称 |  | 5%"
