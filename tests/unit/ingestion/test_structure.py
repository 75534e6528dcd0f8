from kgrag.ingestion.structure import structure
from kgrag.text.headings import HeadingTree
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
云岭省节能项目清单
余热利用改造
"""


def test_structure_gives_the_place_of_each_heading():
    """The span of a heading holds its text and nothing of the line after it."""
    for heading in structure(TEXT):
        assert TEXT[heading.start : heading.end].replace("\n", " ") == heading.text


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
    """Numbered ones keep the place of their number; others stand beside those of their level."""
    text = "综述\n一、目标\n（一）工业\n到2025年达到三成。\n成员"
    places = [(0, 2, 1), (3, 7, 1), (8, 13, 2), (len(text) - 2, len(text), 2)]
    segments = [Segment(a, b, "paragraph", n, level) for n, (a, b, level) in enumerate(places, 1)]
    assert [(h.level, h.text) for h in structure(text, segments)] == [
        (1, "综述"),
        (1, "一、目标"),
        (2, "（一）工业"),
        (2, "成员"),
    ]
