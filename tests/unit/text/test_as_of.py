"""The day as of which is asked."""

import pytest

from kgrag.text.as_of import parse_as_of, said_as_of

TODAY = "2026-05-01"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2022", "2022-12-31"),
        ("2022年", "2022-12-31"),
        ("2024-02", "2024-02-29"),
        ("2022-3", "2022-03-31"),
        ("2022年3月底", "2022-03-31"),
        ("2022 年 3 月 5 日", "2022-03-05"),
        ("2022.3.5", "2022-03-05"),
        ("2022/03/05", "2022-03-05"),
    ],
)
def test_a_date_is_read_as_its_last_day(text, day):
    """A year or a month stands for the day on which it ends."""
    assert parse_as_of(text) == day


@pytest.mark.parametrize(
    "text", ["", "22", "昨天", "2022-13", "2022-00", "2022-02-30", "2022-03-00", "1022", "2022-03x"]
)
def test_what_is_no_date_is_refused_with_the_forms_that_there_are(text):
    with pytest.raises(ValueError, match=r"2022, 2022-03, 2022-03-05 or 2022年3月, got"):
        parse_as_of(text)


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("截至2022年6月仍有效的节能补贴有哪些", "2022-06-30"),
        ("截止到2023年3月1日，还在施行的办法", "2023-03-01"),
        ("2021年时有效的排污费规定", "2021-12-31"),
        ("2021-06-30时执行的标准是多少", "2021-06-30"),
        ("现行的节能补贴办法怎么规定", TODAY),
        ("《云岭省节能办法》目前有效吗", TODAY),
        ("《云岭省节能办法》还有效吗", TODAY),
        ("What rules were in force on 2021-06-30?", "2021-06-30"),
        ("which measures are still in force", TODAY),
    ],
)
def test_a_question_says_as_of_when(question, day):
    assert said_as_of(question, today=TODAY) == day


@pytest.mark.parametrize(
    "question",
    [
        "到2025年，绿色工厂要达到多少家",
        "截至2020年底，全省装机容量是多少",
        "2022年时森林覆盖率达到多少",
        "2022年印发的节能办法有哪些",
        "自2022年起施行的办法",
        "到2025年实施的重点项目",
        "截至2035年仍有效的规划",  # of a year to come: a plan
        "截至2022年13月有效的办法",
        "节能措施是否有效",
        "设备现在的有效率是多少",
        "",
    ],
)
def test_a_date_of_figures_is_none_as_of_which_is_asked(question):
    """Only what surely says it counts."""
    assert said_as_of(question, today=TODAY) == ""
