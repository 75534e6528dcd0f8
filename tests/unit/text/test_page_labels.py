"""The box above a page's text: which lines are labels, and where their values stand."""

import pytest

from kgrag.text.page_labels import label_row, page_label, with_labels


@pytest.mark.parametrize(
    "line", ["发文机关", "发文机关：", "• 发 文 机 关:", "【发文机关】", "- 发文机关"]
)
def test_a_label_has_marks_and_blanks_around_it(line):
    """Bullets, brackets and colons differ from site to site."""
    assert page_label(line) == "发文机关"


@pytest.mark.parametrize("line", ["发文机关：省能源局", "机关", "", "来源于" * 20])
def test_anything_else_is_no_label(line):
    """A label with its value, a word like one, nothing, a long line."""
    assert page_label(line) == ""


def test_values_that_do_not_fit_their_label_stay_apart():
    """Behind an empty field the next line is the text, or another label."""
    lines = ["发文机关", "关于节能的通知", "成文日期", "发文字号", "云政发〔2022〕3号"]
    assert with_labels(lines) == [*lines[:3], "发文字号：云政发〔2022〕3号"]


def test_a_row_of_cells_gives_a_line_for_each_label():
    """An empty cell leaves its label empty; a row without labels stays whole."""
    row = "索引号 | 123 | 发文机关 | 成文日期 | 2022-03-05"
    assert with_labels([row, "序号 | 名称项"]) == [
        "索引号：123",
        "发文机关：",
        "成文日期：2022-03-05",
        "序号 | 名称项",
    ]


@pytest.mark.parametrize(
    ("line", "rows"),
    [
        ("索 引 号 成文日期", ["索引号：", "成文日期："]),
        (
            "文 号: 云政发〔2020〕7号 发布机构: 省能源局",
            ["文号：云政发〔2020〕7号", "发布机构：省能源局"],
        ),
        ("标  题 云岭省能源局关于节能的通知", ["标题：云岭省能源局关于节能的通知"]),
        ("名称 数量", ["名称 数量"]),
        ("来源 清楚", ["来源 清楚"]),
        ("本文的来源 发布日期", ["本文的来源 发布日期"]),
    ],
)
def test_blanks_part_the_labels_of_a_row(line, rows):
    """Two labels make a row, or one that names a title; other lines stay as they are."""
    assert label_row(line) == rows
