"""The place that a title or an organ begins with."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.leading_region import leading_region


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("四川省林业和草原局", (("四川省",), 3)),
        ("成都市发展和改革委员会", (("四川省", "成都市"), 3)),
        ("中共四川省委办公厅", (("四川省",), 5)),
        ("上海徐汇区节能办法", (("上海市", "徐汇区"), 5)),
        ("内蒙古自治区包头市委", (("内蒙古自治区", "包头市"), 9)),
        ("阿坝州人民政府", (("四川省", "阿坝藏族羌族自治州"), 3)),
        ("云岭省青川市石桥县人民政府", (("云岭省", "青川市", "石桥县"), 9)),
        ("成都市金牛区", (("四川省", "成都市", "金牛区"), 6)),
        ("四川成都天府新区规划", (("四川省", "成都市"), 4)),
    ],
)
def test_the_place_that_a_name_begins_with(text, expected):
    """Listed or not, each with what lies around it."""
    assert leading_region(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "省林业局", "市发改委", "国家能源局", "绿色低碳示范区建设方案", "高新区管委会",
     "自治区党委", "各市人民政府", "全市节能规划", "关于城市更新的意见", "碳达峰城市试点"],
)  # fmt: skip
def test_words_before_a_level_are_no_place(text):
    """Bare levels, kinds of areas, and cities in general name no place."""
    assert leading_region(text) == ((), 0)


def test_a_city_that_no_list_holds_lies_in_the_province_around():
    """The context is what the document says of itself."""
    assert leading_region("青川市节能规划", within=("云岭省",)) == (("云岭省", "青川市"), 3)


@given(st.text(max_size=60) | st.text("四川省成都市区县各青云岭", max_size=20))
def test_any_text_is_read(text):
    """It never raises; the end lies inside the text."""
    names, end = leading_region(text)
    assert 0 <= end <= len(text)
    assert bool(names) == bool(end)
