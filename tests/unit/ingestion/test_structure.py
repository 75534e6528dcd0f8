import pytest

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
            "PART 2 CONDUCT\nRule 2.1 Records\nA firm must keep records.\n"
            "Rule 2.2 A firm must act honestly. It must not mislead.\n"
            "Appendix A\nForms\nUse form 1.\n",
            [
                (1, "PART 2 CONDUCT"),
                (2, "Rule 2.1 Records"),
                (2, "Rule 2.2"),
                (1, "Appendix A Forms"),
            ],
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
        "附件1\n云岭省项目清单\n一、水利\n修建水库三座。\n附件2\n云岭省分工方案\n一、分工\n"
        "各厅分别负责。\n"
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # a preface holds nothing, whatever numbering follows it
        (
            "前 言\n坚持绿色发展。\n一、形势\n（一）成效\n能耗强度持续下降。\n二、任务\n"
            "加快调整结构。\n结束语\n共同努力。\n",
            [
                (1, "前 言"),
                (1, "一、形势"),
                (2, "（一）成效"),
                (1, "二、任务"),
                (1, "结束语"),
            ],
        ),
        # not even where the chapter around the next section is lost
        (
            "序言\n坚持绿色发展。\n第二节 问题\n结构偏重。\n第二章 目标\n第一节 思想\n统筹推进。\n",
            [(1, "序言"), (1, "第二节 问题"), (1, "第二章 目标"), (2, "第一节 思想")],
        ),
        # items that open a box are its own, though no numbering like theirs stands around it
        (
            "第一章 任务\n第一节 结构\n加快调整。\n专栏1 结构调整工程\n1.钢铁工程。改造高炉。\n"
            "（1）烧结机。改造烟气。\n2.水泥工程。改造窑炉。\n第二节 排放\n加强监测。\n",
            [
                (1, "第一章 任务"),
                (2, "第一节 结构"),
                (3, "专栏1 结构调整工程"),
                (4, "1.钢铁工程"),
                (5, "（1）烧结机"),
                (4, "2.水泥工程"),
                (2, "第二节 排放"),
            ],
        ),
        # items of a box are a list of its own, the numbering around goes on behind them
        (
            "四、任务\n（一）开展绿化。\n推进资源培育由扩面向提质转变。\n1.造林。\n"
            "全面增加全省森林的面积和蓄积。\n专栏3 示范工程\n"
            "（一）建设荒漠人工造林示范林。\n（二）开展针叶纯林改造示范。\n"
            "（三）完善地方标准规程。\n"
            "2.防沙。\n治理荒漠化土地与沙化土地。\n（二）建设保护地。\n"
            "按照国家部署建立自然公园体系。\n",
            [
                (1, "四、任务"),
                (2, "（一）开展绿化"),
                (3, "1.造林"),
                (4, "专栏3 示范工程"),
                (3, "2.防沙"),
                (2, "（二）建设保护地"),
            ],
        ),
        # an item does not end the numbering in decimals
        (
            "6.1 核算边界\n核算边界应当包括全部设施。\n下列情形除外：\n1、外购的蒸汽。\n"
            "2、自产的热水。\n"
            "6.2 核算方法\n应当采用排放因子法。\n6.2.1 直接排放\n按燃料分别计算。\n",
            [(1, "6.1 核算边界"), (1, "6.2 核算方法"), (2, "6.2.1 直接排放")],
        ),
        # sections without decimals of their own do not end it, either
        (
            "1范围\n1.1总则\n本指南适用于工厂。\n1.2 对象\n见下文。\n2引用文件\n2.1 标准\n"
            "见附表。\n"
            "3术语\n下列术语适用。\n5方法\n5.1边界\n应当包括全部设施。\n5.2 步骤\n依次进行。\n",
            [
                (1, "1范围"), (2, "1.1总则"), (2, "1.2 对象"), (1, "2引用文件"), (2, "2.1 标准"),
                (1, "5方法"), (2, "5.1边界"), (2, "5.2 步骤"),
            ],
        ),
        # one item of a list that reads like a title heads none of the others
        (
            "三、申报要求\n1.申报单位应当在本省注册。\n2. 申报单位应当提交下列材料：\n"
            "（1）申请表；\n（2）承诺书。\n"
            "3.申报单位应当对材料的真实性负责。\n4.申报单位不得重复申报。\n"
            "5.申报单位应当按期报送。\n四、程序\n网上申报。\n",
            [(1, "三、申报要求"), (1, "四、程序")],
        ),
        # the first headings follow the table of contents at once
        (
            "第一章 基础\n第一节 成效\n第二章 任务\n第一节 结构\n第三章 保障\n第一章 基础\n"
            "第一节 成效\n"
            "能耗强度持续下降。\n第二章 任务\n第一节 结构\n加快调整结构。\n第三章 保障\n"
            "加强组织领导。\n",
            [
                (1, "第一章 基础"),
                (2, "第一节 成效"),
                (1, "第二章 任务"),
                (2, "第一节 结构"),
                (1, "第三章 保障"),
            ],
        ),
    ],
)  # fmt: skip
def test_a_section_holds_what_the_reader_would_look_for_in_it(text, expected):
    """Prefaces, boxes, decimals, lists and contents take nothing that is another section's."""
    assert levels(text) == expected
