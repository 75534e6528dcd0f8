"""Titles from the first lines of official documents."""

import pytest

from kgrag.ingestion.load.title import find_title, guess_title


def test_what_closes_a_text_is_no_title():
    """特此通告 ends a text; the file's name is the last resort."""
    text = "2023年元宵节将到，为保证安全，现将交通管制有关事项通告如下：\n特此通告\n云岭市公安局"
    assert guess_title(text, "a12") != "特此通告"


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        # one line
        (["云岭省碳达峰实施方案", "为贯彻落实决策部署，制定本方案。"], "云岭省碳达峰实施方案"),
        # broken over lines, in the middle of a quoted title
        (
            ["关于印发《云岭省“十四五”节能", "减排工作方案》的", "通知", "各市人民政府："],
            "关于印发《云岭省“十四五”节能减排工作方案》的通知",
        ),
        # the kind is complete, yet the act follows on the next line
        (
            ["云岭省人民政府办公厅关于印发云岭省能源发展规划", "的通知", "各市："],
            "云岭省人民政府办公厅关于印发云岭省能源发展规划的通知",
        ),
        # after letterhead, number and issuer; the issuer right before it belongs to it
        (
            [
                "云岭省人民政府文件",
                "云岭政发〔2022〕8号",
                "云岭省人民政府",
                "关于加快绿色发展的意见",
                "各市人民政府：",
            ],
            "云岭省人民政府关于加快绿色发展的意见",
        ),
        # two issuers
        (
            ["云岭省财政厅", "云岭省能源局", "关于下达补助资金的通知", "各市财政局："],
            "云岭省财政厅 云岭省能源局关于下达补助资金的通知",
        ),
        # furniture of a web page or an archive
        (
            [
                "索引号：000014349/2022-00012",
                "发布日期：2022-01-26 21:15",
                "【字体：大 中 小】",
                "关于做好节能工作的通知",
            ],
            "关于做好节能工作的通知",
        ),
        # the column, the path and the buttons of a page, with a mark or none
        (["行业动态", "关于转发节能要点的通知", "各市："], "关于转发节能要点的通知"),
        (
            [
                "页面宽度",
                "云岭省人民政府关于印发《节能规则》的通知(2019修订)",
                "云岭省人民政府关于印发《节能规则》的通知",
            ],
            "云岭省人民政府关于印发《节能规则》的通知",
        ),
        (
            ["社交媒体分享", "搜索", "云岭省能源局发布节能的实施意见"],
            "云岭省能源局发布节能的实施意见",
        ),
        (
            ["欢迎来到某某平台! 设为首页 收藏", "某某网 法规首页 关于节能的通知", "关于节能的通知"],
            "关于节能的通知",
        ),
        (
            [
                "今天是 2018年08月17日 星期五",
                "首页 今日云岭 政务公开",
                "应急预案—云岭省洪涝应急预案",
            ],
            "云岭省洪涝应急预案",
        ),
        (
            ["文件有效性: 有效", "云政发〔2020〕7号云岭省人民政府关于节能的通知"],
            "云岭省人民政府关于节能的通知",
        ),
        (
            [
                "云岭省能源局云能[2010]4号(共14篇)",
                "篇1:云岭省能源局",
                "云岭省能源局关于农村节能有关",
                "政策的通知云能[2010]4号",
            ],
            "云岭省能源局关于农村节能有关政策的通知",
        ),
        (
            ["云岭省人民政府贯彻节能意见的实施意见 云政发[2009]6号 2009-11-03 为了节能。"],
            "云岭省人民政府贯彻节能意见的实施意见",
        ),
        # a row of the page's box, and a word drawn wide
        (
            [
                "索 引 号 成文日期",
                "标  题 云岭省人民政府关于节能的通知",
                "云岭省人民政府",
                "关于节能的",
                "通  知",
            ],
            "云岭省人民政府关于节能的通知",
        ),
        # laws that a plan cites are no titles of it
        (
            [
                "云岭开发区洪涝应急预案",
                "1.1 编制依据",
                "《中华人民共和国突发事件应对法》（主席令第69号）",
            ],
            "云岭开发区洪涝应急预案",
        ),
        # what stands in brackets below the title is part of it, a date or a number is not
        (["节能技术改造办法", "（试行）", "第一章 总则"], "节能技术改造办法（试行）"),
        (["绿色发展行动计划", "（2022—2025年）", "正文。"], "绿色发展行动计划（2022—2025年）"),
        (["关于碳达峰的决定", "（2021年11月30日）", "正文。"], "关于碳达峰的决定"),
        (["关于碳达峰的决定", "（云岭政发〔2021〕3号）"], "关于碳达峰的决定"),
        # a cover page
        (
            ["附件1", "云岭省绿色建筑", "“十四五”规划", "2022年3月", "目录"],
            "云岭省绿色建筑“十四五”规划",
        ),
        # text glued to the title
        (
            ["关于印发《节能若干措施》的通知各市、县人民政府，省政府各部门：", "现将"],
            "关于印发《节能若干措施》的通知",
        ),
        (["云岭省低碳县城实施方案为贯彻落实部署，制定本方案。"], "云岭省低碳县城实施方案"),
        (["关于能源工作的意见关于能源工作的意见", "各市："], "关于能源工作的意见"),
        # a whole title in marks loses them, a part of one does not
        (["《节约能源条例》", "第一条"], "节约能源条例"),
        (["中共云岭省委印发《节能的意见》", "近日，"], "中共云岭省委印发《节能的意见》"),
        # Markdown marks and wide blanks
        (["## **节能管理办法**", "正文"], "节能管理办法"),
    ],
)
def test_find_title_in_first_lines(lines, title):
    """The first run of lines that ends in a kind of document is the title."""
    assert find_title("\n".join(lines)) == title
    assert guess_title("\r\n\r\n".join(lines), "stem") == title


@pytest.mark.parametrize(
    "text",
    [
        "一、总体要求\n（一）发展规划\n第三章 能源规划\n1. 实施方案\n",
        "为贯彻落实《节能规划》，现提出以下意见。\n各市人民政府：\n",
        "目录\n前言\n第一章 规划........................1\n",
        "2022年3月\n— 1 —\n通知\n",
        "",
    ],
)
def test_find_title_when_no_line_is_one(text):
    """Headings, sentences, addressees, contents and page marks are no titles."""
    assert find_title(text) is None


def test_guess_title_when_the_first_line_is_short():
    """Without a kind of document the first line that is no furniture is taken, up to 60."""
    assert guess_title("2022年\n新时代的能源发展\n正文。", "stem") == "新时代的能源发展"
    assert guess_title("字" * 60, "stem") == "字" * 60
    assert guess_title("字" * 61, "stem") == "stem"


def test_guess_title_when_only_the_body_names_it():
    """A notice without a heading is named by what it says it issues."""
    text = "云办〔2022〕3号\n各镇人民政府：\n现将《节能支持措施》印发给你们，请执行。"

    assert guess_title(text, "stem") == "节能支持措施"


@pytest.mark.parametrize("text", ["", "\n\n", "为了节能，制定本办法。\n", "序言\n正文。"])
def test_guess_title_when_nothing_names_it(text):
    """The file's stem is the last resort."""
    assert guess_title(text, "云岭规划") == "云岭规划"


def test_guess_title_when_the_stem_is_blank():
    """A title is never empty."""
    assert guess_title("。", "___") == "___"
    assert guess_title("。", "") == "untitled"


def test_guess_title_when_the_text_is_endless():
    """Long text without line breaks is handled in bounded time and gives the stem."""
    assert guess_title("关于" * 500_000, "stem") == "stem"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("编辑时间：2022年3月5日\n云岭省节能方案\n一、", "云岭省节能方案"),
        ("更新日期：2022-03-05\n点击：20\n云岭省节能方案\n一、", "云岭省节能方案"),
        ("云岭省节能方案为深入贯彻，根据《关于节能的意见》（云政〔2021〕4号）", "云岭省节能方案"),
        ("云岭省节能措施清单近日，云岭省能源局印发清单。", "云岭省节能措施清单"),
        ("关于节能的实施意见云政发〔2022〕3号\n财政厅、能源局：", "关于节能的实施意见"),
        ("云岭省信息依法披露制度\n改革工作方案\n一、", "云岭省信息依法披露制度改革工作方案"),
        ("云岭省节能标准\n第一章", "云岭省节能标准"),
    ],
)  # fmt: skip
def test_what_stands_around_a_title_is_none_of_it(text, title):
    """Lines of a page's box, the first paragraph, the number; a title that seems to end early."""
    assert guess_title(text, "stem") == title


@pytest.mark.parametrize(
    "text",
    [
        "根据国家节能规划和省委关于节能的决定\n制定本方案。",
        "为贯彻落实国家和省节能工作方案\n制定本措施。",
        "按照市委，市政府，以及省节能工作方案",
    ],
)
def test_the_line_of_a_first_paragraph_is_no_title(text):
    """Though it ends in 决定 or 方案."""
    assert guess_title(text, "stem") == "stem"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("English | 简体\nHome > News\n关于节能的通知\n各市：", "关于节能的通知"),
        ("云岭省人民政府令\n第12号\n《节能办法》已经通过。\n节能办法\n第一条", "节能办法"),
        ("标　题：关于节能的通知\n关于节能的通知\n各市：", "关于节能的通知"),
        ("标题\n关于节能工作概况介绍\n索引号\n1", "关于节能工作概况介绍"),
        ("云政发〔2021〕3号《关于节能的通知》\n各市：", "关于节能的通知"),
        ("节能发展纲要和 2035 年规划\n第一章", "节能发展纲要和2035年规划"),
        ("《云岭省节能办法》政策解读\n一、背景", "《云岭省节能办法》政策解读"),
        ("节能发展情况English\n第一章。", "节能发展情况"),
        ("序言\n按照要求，立足实际，编制《云岭省节能规划》。\n一、现状", "云岭省节能规划"),
        ("节能概况_总体情况\n一、现状。", "节能概况 总体情况"),
    ],
)
def test_what_pages_and_files_put_around_a_title(text, title):
    """Heads in English, orders, boxes, numbers ahead, blanks beside digits, links."""
    assert guess_title(text, "a") == title
