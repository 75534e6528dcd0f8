"""English questions in the words of Chinese policies."""

from collections import Counter
from importlib import resources

import pytest

from kgrag.text.in_chinese import dates_in, in_chinese
from kgrag.text.regions import regions_named

FOLDER = resources.files("kgrag.text").joinpath("bilingual")
LINES = [
    (file.name, line)
    for file in FOLDER.iterdir()
    for line in file.read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What is the 2025 target for non-fossil energy consumption in Jiangsu?",
            "江苏 到2025年 非化石能源消费 目标 多少",
        ),
        ("How many Green Factories will Henan Province build?", "河南 绿色工厂 建设 多少"),
        ("green-factory targets of Fujian and Zhejiang", "福建 浙江 绿色工厂 目标"),
        ("recycling of waste batteries", "废旧电池 回收"),  # 废旧电池的回收
        ("What PUE must a data centre reach?", "PUE 数据中心 达到 多少"),
        ("Suzhou in Anhui, afforestation", "宿州 安徽 造林"),  # of two the one in Anhui
        ("afforestation in Suzhou", "苏州 造林"),
        ("How many 5A logistics firms in the 14th?", "5A 物流 企业 多少"),
        ("more than 5 million kW of PV", "光伏 以上 500万 千瓦"),
        ("Can a company apply when a fund is cut?", "企业 申报 资金 下降 是否"),  # when: no date
        ("People’s Government of Xi’an", "西安 人民政府"),
    ],
)
def test_a_question_is_read_in_chinese_order(question, expected):
    """Places, dates, what is asked about, words of asking."""
    read = in_chinese(question)
    assert read is not None
    assert read.text == expected


def test_figures_are_asked_for_by_what_is():
    """Where a target, a share or a rate is named."""
    asked = in_chinese("What is the forest coverage rate?")
    told = in_chinese("What are forests?")
    assert asked is not None
    assert told is not None
    assert asked.text == "森林覆盖率 多少"
    assert "多少" not in told.text


@pytest.mark.parametrize("question", ["Who founded it?", "", "the of and", "2025?", "Beijing"])
def test_a_question_of_other_words_is_none(question):
    """It is asked as it stands."""
    assert in_chinese(question) is None


def test_further_terms_are_given_besides():
    """As keywords."""
    read = in_chinese("renewable energy in data centers: PUE")
    assert read is not None
    assert "电能利用效率" in read.others
    assert "PUE" in read.terms


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("by 2030", ["到2030年"]),
        ("in 2030", ["2030年"]),
        ("the 2025 goals", ["到2025年"]),
        ("June 13, 2022", ["2022年6月13日"]),
        ("during the fourteenth five-year plan period", ["“十四五”"]),
        ("2025 and 2025", ["2025年"]),
        ("12025 may", []),
    ],
)
def test_dates_are_written_as_policies_do(text, dates):
    """Years alone, months, days, planning periods."""
    assert dates_in(text)[0] == dates


def test_every_entry_has_both_sides():
    """English in lower case, Chinese without blanks; places are listed ones."""
    for file, line in LINES:
        english, is_entry, chinese = line.partition(" = ")
        terms = chinese.split("、")
        assert is_entry, line
        assert english == english.lower(), line
        assert english.isascii(), line
        assert all(term and " " not in term for term in terms), line
        if file == "places.txt":
            assert all(regions_named(term) or regions_named(f"{term}市") for term in terms), line


def test_no_two_entries_are_worded_alike():
    """The later would take the place of the former."""
    said = Counter(word for _, line in LINES for word in line.partition(" = ")[0].split(", "))
    assert [word for word, n in said.items() if n > 1] == []


@pytest.mark.parametrize(
    ("question", "unread", "is_read"),
    [
        ("What is the 2025 target for forest coverage in Jiangsu?", (), True),
        ("What does Jiangsu still have to do for forest coverage?", (), True),
        ("Which swindlers forged forest coverage in Jiangsu?", ("swindlers", "forged"), True),
        ("Which swindlers forged maps of Jiangsu?", ("swindlers", "forged", "maps"), False),
        ("How do villagers split profits of orchards?", ("split", "profits", "orchards"), False),
        ("Does the PUE upset neighbours?", ("upset", "neighbours"), False),
    ],
)
def test_words_that_nobody_read_are_told(question, unread, is_read):
    """Half of those that say something, or more: then what was read is another question."""
    said = in_chinese(question)
    assert said is not None
    assert (said.unread, said.is_read) == (unread, is_read)
