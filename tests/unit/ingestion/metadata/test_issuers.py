"""Who issued a document: signature, red head, title, order, box, and what only suggests it."""

import pytest

from kgrag.ingestion.metadata.issuers import Issuers, read_issuers
from kgrag.ingestion.metadata.lines import read_lines


@pytest.mark.parametrize(
    ("title", "text", "names"),
    [
        (
            "关于节能的通知",
            "关于节能的通知\n正文。\n云岭省财政厅\n云岭省能源局\n2022年3月5日",
            ("云岭省财政厅", "云岭省能源局"),
        ),
        (
            "关于节能的通知",
            "关于节能的通知\n正文。\n云岭省财政厅云岭省能源局2022年3月5日节能方案",
            ("云岭省财政厅", "云岭省能源局"),
        ),
        ("关于节能的通知", "通知\n正文。\n云岭省能源局（代章）\n2022年3月5日", ("云岭省能源局",)),
        ("云岭省人民政府贯彻国务院关于节能意见的意见", "", ("云岭省人民政府",)),
        ("交通管制", "正文。\n云岭市公安局二大队\n2023年2月2日", ("云岭市公安局二大队",)),
        ("关于节能的通知", "通知\n正文。\n财政部\n商务部", ("财政部", "商务部")),
        ("省政府关于节能的通知", "省政府关于节能的通知\n各市：", ("省政府",)),
        ("财政部、商务部关于节能的意见", "", ("财政部", "商务部")),
        (
            "国家能源局等部门关于节能的意见",
            "正文。\n国家能源局\n财政部\n2022年3月5日",
            ("国家能源局", "财政部"),
        ),
        ("省能源局2021年度节能计划", "", ("省能源局",)),
        ("关于节能的通知", "云岭省人民政府文件\n关于节能的通知", ("云岭省人民政府",)),
        ("节能的通知", "云岭省财政厅云岭省能源局\n文件\n通知", ("云岭省财政厅", "云岭省能源局")),
        ("节能规划", "节能规划\n云岭省能源局\n二〇二二年三月\n目录", ("云岭省能源局",)),
        ("节能办法", "中华人民共和国生态环境部令\n第19号", ("生态环境部",)),
        ("节能条例", "1987年9月15日国务院发布", ("国务院",)),
        (
            "节能条例",
            "（2021年9月27日云岭省第十七届人民代表大会常务委员会第九次会议通过）",
            ("云岭省人民代表大会常务委员会",),
        ),
        (
            "节能办法",
            "《节能办法》已于2020年11月5日由生态环境部部务会议审议通过，现予公布。",
            ("生态环境部",),
        ),
        (
            "关于节能的通知",
            "各旗、县：\n经云岭市政府第17次常务会议审议通过，现印发给你们。\n2021年10月8日",
            ("云岭市政府",),
        ),
        ("节能", "发布机构：云岭省能源局", ("云岭省能源局",)),
        ("节能意见", "日前，云岭省委、省政府出台《节能意见》，全文如下。", ("云岭省委", "省政府")),
    ],
)  # fmt: skip
def test_who_issued_it(title, text, names):
    """Each place in which official documents name their issuers."""
    assert read_issuers(read_lines(text), title) == Issuers(names)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("节能办法\n本办法由云岭省能源局负责解释。", ("云岭省能源局",)),
        ("节能规划\n正文\n云岭省能源局办公室2022年3月5日印发", ("云岭省能源局办公室",)),
        ("节能办法\n第一条 节能。", ()),
    ],
)
def test_what_only_suggests_an_issuer_is_inferred(text, names):
    """Who explains it, whose office printed it; else nobody."""
    assert read_issuers(read_lines(text), "节能办法") == Issuers(names, inferred=True)


def test_organs_with_tasks_are_no_issuers():
    """A table of who does what is no signature."""
    text = "节能方案\n（一）节能改造（责任单位：省能源局、省财政厅）\n到2025年3月5日前完成。"
    assert read_issuers(read_lines(text), "节能方案").names == ()
