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
云岭省节能项目清单
余热利用改造
"""


def levels(text):
    return [(h.level, h.text) for h in structure(text)]


def test_structure_nests_official_markers_in_their_order():
    """一、 holds （一）, which holds 1.; 附件 stands outermost; a list item is no heading."""
    assert levels(TEXT) == [
        (1, "一、总体要求"),
        (2, "（一）指导思想"),
        (1, "二、重点任务"),
        (2, "（一）工业节能"),
        (3, "1.钢铁行业"),
        (4, "专栏1 重点工程"),
        (1, "附件1 云岭省节能项目清单"),
    ]


def test_structure_gives_the_place_of_each_heading():
    """The span of a heading holds its text and nothing of the line after it."""
    for heading in structure(TEXT):
        assert TEXT[heading.start : heading.end].replace("\n", " ") == heading.text


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
    assert levels("# 规划\n## 一、目标\n### （一）工业\n正文\n## 附则\n正文\n") == [
        (1, "一、目标"),
        (2, "（一）工业"),
        (1, "附则"),
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**（一）加强领导。**各地要落实责任。\n", [(1, "（一）加强领导。")]),
        ("第六章\n法律责任\n违反本办法的，依法处理。\n", [(1, "第六章 法律责任")]),
        ("（一）推动石化、\n建材行业改造。加快实施。\n", [(1, "（一）推动石化、 建材行业改造")]),
        (
            "第三条 有下列情形之一的：\n（一）未报告；\n（二）未公开；\n（三）未整改。\n处罚。\n",
            [(1, "第三条")],
        ),
        (
            "1.1 适用范围\n本标准用于工厂。\n1.2 术语\n见下文。\n1.2.1 能耗\n指消耗的能源总量。\n"
            "2.1 要求\n应有人负责。\n",
            [(1, "1.1 适用范围"), (1, "1.2 术语"), (2, "1.2.1 能耗"), (1, "2.1 要求")],
        ),
        (
            "Chapter I\nGeneral Provisions\nArticle 1 This law protects rivers.\n"
            "Article 2 Everybody may complain.\n",
            [(1, "Chapter I General Provisions"), (2, "Article 1"), (2, "Article 2")],
        ),
        (
            "目录\n一、目标\n二、任务\n一、目标\n到2025年达到三成。\n二、任务\n建设电站。\n",
            [(1, "一、目标"), (1, "二、任务")],
        ),
        (
            "第一条 本办法依据第二十条制定。\n第九条规定的情形除外。\n第二条 适用全省。\n",
            [(1, "第一条"), (1, "第二条")],
        ),
    ],
)
def test_headings_as_documents_write_them(text, expected):
    """Emphasis, broken lines, articles, decimals, English, contents."""
    assert levels(text) == expected


def test_numbering_begins_anew_in_an_attachment():
    """What an attachment holds stands below its title; a list of attachments names none."""
    text = (
        "一、目标\n到2025年达到三成。\n附件：1.云岭省项目清单\n2.云岭省分工方案\n云岭省人民政府\n"
        "附件1\n云岭省项目清单\n一、水利\n修建水库三座。\n附件2\n云岭省分工方案\n一、分工\n各厅分别负责。\n"
    )
    assert levels(text) == [
        (1, "一、目标"),
        (1, "附件1 云岭省项目清单"),
        (2, "一、水利"),
        (1, "附件2 云岭省分工方案"),
        (2, "一、分工"),
    ]


def test_a_box_ends_where_the_numbering_around_goes_on():
    """The items of 专栏 stand in it, even where they are numbered as the sections are."""
    text = (
        "一、任务\n（一）优化结构\n加快调整。\n专栏1 结构调整工程\n（一）钢铁工程。改造高炉。\n"
        "（二）水泥工程。改造窑炉。\n（二）控制排放\n加强监测。\n（三）保护水体\n治理河湖。\n"
    )
    assert levels(text) == [
        (1, "一、任务"),
        (2, "（一）优化结构"),
        (3, "专栏1 结构调整工程"),
        (4, "（一）钢铁工程"),
        (4, "（二）水泥工程"),
        (2, "（二）控制排放"),
        (2, "（三）保护水体"),
    ]


def test_a_level_is_by_what_holds_what_in_the_document():
    """（一） stands below 1. where it begins anew in each."""
    part = "{}.推进第{}项工作\n（一）具体内容\n说明文字在此。\n（二）有关要求\n说明文字在此。\n"
    text = "".join(part.format(n, n) for n in (1, 2, 3))
    assert [level for level, _ in levels(text)] == [1, 2, 2] * 3


def test_a_run_in_heading_ends_at_an_ascii_stop():
    """Some texts end Chinese sentences with a stop of ASCII."""
    text = "一、总体要求\n(一)指导思想.全面贯彻新发展理念,推动绿色转型.\n(二)主要目标.到2025年建成."
    assert levels(text) == [(1, "一、总体要求"), (2, "(一)指导思想"), (2, "(二)主要目标")]
