import pytest

from kgrag.ingestion.structure import structure
from kgrag.language.headings import HeadingTree
from kgrag.types import Segment

TEXT = """云岭省节能规划
一、总体要求
（一）指导思想。坚持节约优先。
二、重点任务
（一）工业节能
1.钢铁行业。推广余热利用。
（1）高炉；
专栏1 重点工程
附件1
"""


def levels(text):
    return [(h.level, h.text) for h in structure(text)]


def test_structure_nests_official_markers_in_their_order():
    """一、 holds （一）, which holds 1.; 附件 stands outermost; a list item is no heading."""
    assert levels(TEXT) == [
        (2, "一、总体要求"),
        (3, "（一）指导思想"),
        (2, "二、重点任务"),
        (3, "（一）工业节能"),
        (4, "1.钢铁行业"),
        (5, "专栏1 重点工程"),
        (1, "附件1"),
    ]


def test_structure_gives_the_place_of_each_heading():
    """The span of a heading holds its text and nothing of the line after it."""
    for heading in structure(TEXT):
        assert TEXT[heading.start : heading.end] == heading.text


@pytest.mark.parametrize(
    "line",
    [
        "第一章 总则 ........ 3",
        "第二节 目标·······12",
        "一、总体要求  7",
        "1.3以下的数据中心电能利用效率",
        "2025年，绿色工厂达到500家。",
        "",
        "第一条例外情形",
    ],
)
def test_structure_passes_over_lines_that_only_look_like_headings(line):
    """Contents lines, numbers and words that begin like a marker are no headings."""
    assert levels(line + "\n") == []


def test_structure_takes_only_the_number_of_an_article():
    """The text of an article follows its number on the same line."""
    assert levels("第一章 总则\n第一条 为了规范管理，制定本办法。\n") == [
        (1, "第一章 总则"),
        (2, "第一条"),
    ]


def test_structure_reads_markdown_headings_by_their_number_first():
    """A numbered Markdown heading keeps its place among the numbered ones."""
    assert levels("# 规划\n## 一、目标\n### （一）工业\n正文\n") == [
        (1, "规划"),
        (2, "一、目标"),
        (3, "（一）工业"),
    ]


def test_structure_when_a_line_is_long_is_a_paragraph():
    """A numbered paragraph whose first sentence is long has no heading."""
    assert levels("1." + "推动绿色低碳发展" * 12 + "。\n") == []


def test_heading_path_follows_the_sections_around_a_place():
    """The path has one heading a level, from the outermost in."""
    headings = structure(TEXT)
    start = TEXT.index("推广余热利用")
    path = HeadingTree(TEXT, headings).path(start, start + 6)
    assert path == ("二、重点任务", "（一）工业节能", "1.钢铁行业")


def test_heading_path_when_a_piece_opens_with_headings_holds_them_all():
    """A piece that begins with headings one after the other stands in the innermost."""
    headings = structure(TEXT)
    start = TEXT.index("二、重点任务")
    assert HeadingTree(TEXT, headings).path(start, start + 30) == (
        "二、重点任务",
        "（一）工业节能",
        "1.钢铁行业",
    )
    assert HeadingTree(TEXT, headings).path(0, 5) == ()


def test_a_paragraph_that_its_format_calls_a_heading_is_one():
    """Numbered headings keep the place of their number; others have the level stated."""
    text = "节能\n一、目标\n到2025年达到三成。"
    segments = (Segment(0, 2, "paragraph", 1, 1), Segment(3, 7, "paragraph", 2, 1))
    assert [(h.level, h.text) for h in structure(text, segments)] == [(1, "节能"), (2, "一、目标")]
