import pytest

from kgrag.language.issued import issue_year


@pytest.mark.parametrize(
    ("text", "year"),
    [
        ("关于节能的通知\n发布日期：2021.09.22\n云政发〔2020〕1号", "2021"),
        ("节能规划（2023—2025年）\n（云政发〔2022〕3号）\n各市：", "2022"),
        ("节能规划\n云 政 发 [２０２２] ３ 号\n各市：", "2022"),
        ("节能条例\n（2019年3月1日云岭省人民代表大会\n常务委员会第四次会议通过）", "2019"),
        ("节能通知\n各市人民政府：\n请照办。\n云岭省人民政府\n2021年8月12日\n附件", "2021"),
        ("节能通知\n请照办。\n云岭省人民政府办公厅二〇二一年八月十二日", "2021"),
        ("节能意见\n正文。\n（新华社北京2021年10月24日电）", "2021"),
        ("云岭省节能规划\n二〇二二年三月\n第一章", "2022"),
    ],
)
def test_issue_year_when_a_document_says_it(text, year):
    """A labelled date, its own number, adoption, a signature's date, a month below the title."""
    assert issue_year(text) == year


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2030年前碳达峰行动方案\n到2025年，比重达到20%。",
        "节能意见\n根据《节能办法》（国发〔2018〕33号），制定本意见。",
        "节能意见\n〔2020〕9号），以及有关规定，结合实际，制定本规程。",
        "节能办法\n自2022年3月1日起施行。",
        "节能规划\n" + "目标。\n" * 40 + "2022年3月",
    ],
)
def test_issue_year_when_a_document_does_not_say_it_is_empty(text):
    """Years of plans, of documents that are cited, and of what comes into force are none."""
    assert issue_year(text) == ""
