"""The number of a document, and those that it cites."""

import pytest

from kgrag.ingestion.metadata.lines import read_lines
from kgrag.ingestion.metadata.numbers import numbers_in, own_number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("关于节能的通知\n云政发〔2022〕3号\n各市：", "云政发〔2022〕3号"),
        ("关于节能的通知\n（云政发[２０２２] ３号）", "云政发〔2022〕3号"),
        ("云政发【2022】第3号\n关于节能的通知", "云政发〔2022〕第3号"),
        ("关于节能的通知（云政发﹝2022﹞3号）", "云政发〔2022〕3号"),
        ("关于节能的实施意见云政发〔2022〕3号", "云政发〔2022〕3号"),
        ("云岭省财政厅文件云财〔2022〕3号", "云财〔2022〕3号"),
        ("云政发〔2022〕3号云岭省人民政府", "云政发〔2022〕3号"),
        ("发文字号：云政发〔2022〕3号", "云政发〔2022〕3号"),
        ("云岭省人民政府令\n（第12号）", "云岭省人民政府令第12号"),
        ("中华人民共和国生态环境部令\n第十九号", "生态环境部令第十九号"),
        ("2008年8月1日中华人民共和国国务院令第531号公布", "国务院令第531号"),
        ("（2021年12月11日生态环境部令第24号公布）", "生态环境部令第24号"),
        # on a page of one line, behind the day, the organ, or in a row of labels
        ("关于落实2023年重点节能工作的通知 云政发〔2023〕5号 现将工作分解。", "云政发〔2023〕5号"),
        ("云岭省人民政府办公厅云政办发〔2022〕3号\n关于节能的通知", "云政办发〔2022〕3号"),
        ("索引号 6207/2020-15 发文字号 云政发〔2022〕3号", "云政发〔2022〕3号"),
        ("根据《节能办法》（云政发〔2020〕1号），制定本办法。", ""),
        ("按照2020年关于节能的通知云政发〔2020〕1号，制定本办法。", ""),
        ("根据云政发〔2020〕1号文件", ""),
        ("各市人民政府：\n云政发〔2020〕1号", ""),
        ("节能办法", ""),
    ],
)
def test_own_number(text, number):
    """On a line of its own, behind a label or a title, of an order; not those of sentences."""
    assert own_number(read_lines(text)) == number


def test_numbers_in_a_text():
    """Each with the year in its brackets, in order."""
    text = "《办法》（云政发〔2020〕1号）、《意见》（国发[2021]4号）"
    assert list(numbers_in(text)) == [("云政发〔2020〕1号", 2020), ("国发〔2021〕4号", 2021)]
