"""Scores of tables that are read, on cases counted by hand."""

from benchmarks.make_tables import digest
from benchmarks.table_readers import markdown_tables
from benchmarks.tables import score_table

LABEL = [
    [digest(text) for text in row]
    for row in (
        ("类别", "目标2025年", "目标2030年"),
        ("甲", "1", "2"),
        ("甲", "", "4"),
    )
]
READ = [["类别", "目标2025年", "目标2030年"], ["甲", "1", "2"], ["甲", "", "4"]]


def test_what_is_read_as_labelled_is_right() -> None:
    """All nine cells and three rows."""
    assert score_table(LABEL, [READ]) == (9, 3, 9, 3, 9, 3)


def test_nothing_found_scores_nothing() -> None:
    """No table, or one with other text; its empty cells count for nothing."""
    assert score_table(LABEL, []) == (0, 0, 0, 0, 9, 3)
    assert score_table(LABEL, [[["乙", "", ""]] * 3]) == (0, 0, 0, 0, 9, 3)


def test_a_vanished_empty_cell_makes_what_follows_wrong() -> None:
    """4 stands under 2025: of the row only its first cell is right."""
    shifted = [*READ[:2], ["甲", "4"]]

    assert score_table(LABEL, [shifted])[:2] == (7, 2)


def test_a_row_that_is_not_labelled_pushes_no_row_away() -> None:
    """Rows are aligned by what they hold, not by number."""
    assert score_table(LABEL, [[READ[0], ["注", "", ""], *READ[1:]]])[:2] == (9, 3)


def test_other_conventions_are_right_freely_only() -> None:
    """Header rows apart, a merged label once, a table a page."""
    header = [["类别", "目标", "目标"], ["", "2025年", "2030年"]]
    pages = [[*header, ["甲", "1", "2"]], [["", "", "4"]]]

    assert score_table(LABEL, pages) == (4, 1, 9, 3, 9, 3)


def test_markdown_tables_end_with_other_lines_and_have_two_columns() -> None:
    """A delimiter row within rows begins a table with the row before it."""
    first, second = (
        "| 甲 | 1 |\n| --- | --- |\n| 乙 |  |",
        "| 丙 | 3 |\n|---|---|\n| 丁<br>戊 | 4\\|5 |",
    )
    text = f"{first}\n{second}\n\n| 己 |"

    assert markdown_tables(text) == [
        [["甲", "1"], ["乙", ""]],
        [["丙", "3"], ["丁戊", "4|5"]],
    ]
