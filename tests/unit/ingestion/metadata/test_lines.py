"""Lines as particulars are read from them, and whom a document is addressed to."""

import pytest

from kgrag.ingestion.metadata.lines import narrowed, read_lines


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("云 岭 省　节能办法", "云岭省节能办法"),
        ("ＰＵＥ１．３", "PUE1．3"),
        ("**发布日期**: 2022-03-05", "发布日期:2022-03-05"),
        ("## 第一章", "第一章"),
        ("«节能⽅案»的通知", "《节能方案》的通知"),
        ("green building", "green building"),
        ("\x00", ""),
    ],
)
def test_narrowed(line, expected):
    """Width, blanks between characters, marks of other fonts; Latin words keep their blanks."""
    assert narrowed(line) == expected


@pytest.mark.parametrize(
    ("text", "recipients"),
    [
        ("关于节能的通知\n各市人民政府，省直各部门：\n正文", "各市人民政府，省直各部门"),
        ("关于节能的通知各市人民政府：\n正文", "各市人民政府"),
        ("关于节能的通知\n各有关单位：为了节能", "各有关单位"),
        ("节能的通知\n省级单位，各市环境局（分\n局）：\n正文", "省级单位，各市环境局（分局）"),
        ("关于节能的通知\n云岭大学、青川大学：", "云岭大学、青川大学"),
        ("关于节能的通知\n各市能源主管部门：", "各市能源主管部门"),
        ("关于节能的通知\n现就有关事项通知如下：", ""),
        ("发布部门：云岭省能源局", ""),
        ("节能办法\n第六条 各市应当做到以下内容：", ""),
        ("节能办法\n市场主体应当：", ""),
        ("节能办法\n企业申请条件：", ""),
        ("x\n" * 40 + "各市人民政府：", ""),
    ],
)  # fmt: skip
def test_recipients(text, recipients):
    """A line of the head before a colon that names organs; nothing else that ends in a colon."""
    assert read_lines(text).recipients == recipients


def test_page_numbers_and_empty_lines_are_left_out():
    """—17— between two lines is none of the text."""
    assert read_lines("甲\n\n—17—\n— 1 —\n乙").lines == ("甲", "乙")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("省能源局2022年3\n月5日\n附件", ("省能源局2022年3月5日", "附件")),
        ("省能源局2022年\n3月5日印发", ("省能源局2022年3月5日", "印发")),
        ("到2025年\n3月底完成", ("到2025年", "3月底完成")),
    ],
)
def test_a_day_that_a_line_broke_is_whole_again(text, lines):
    """Only what makes a whole day with the line before it moves there."""
    assert read_lines(text).lines == lines
