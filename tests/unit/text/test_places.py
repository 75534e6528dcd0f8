"""Reading places: the same one for questions, titles and texts."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.leading_region import leading_region
from kgrag.text.places import places_in, question_places
from kgrag.text.region_mentions import names_in, regions_in
from kgrag.text.regions import listed_regions, path

PROVINCES = [r.short for r in listed_regions() if r.level == "省" and not r.name.endswith("兵团")]
CITIES = [r.short for r in listed_regions() if r.level == "市"]
# The first character of many completes the name of another place: 江|西安|全, 湖|南通|信.
WORDS = [
    "安全生产",
    "安置",
    "安静",
    "营商环境",
    "营业执照",
    "通信",
    "通知",
    "通勤",
    "充电",
    "充分",
    "宁静",
    "昌盛",
    "门类",
    "门诊",
    "口岸",
    "口粮",
    "山林",
    "阳光",
    "阳台",
    "平台",
    "平衡",
    "水利",
    "海绵城市",
    "江河",
    "沙漠",
    "州府",
    "岗位",
    "南方",
    "西部",
    "东部",
    "北部",
    "都市圈",
    "市场监管",
    "区域协调",
    "县域经济",
    "省级示范",
    "城区",
    "人均收入",
    "林业",
    "田园",
    "乡村振兴",
    "光伏",
    "养老服务",
    "碳达峰",
    "节能",
    "教育",
    "交通",
    "能耗强度",
]


@pytest.mark.parametrize("province", PROVINCES)
def test_a_word_behind_a_province_makes_no_second_place(province):
    """Whatever its first character would complete; the province itself is found."""
    asked = [f"{said}{province}{word}{behind}" for word in WORDS for said, behind in ASKED]
    found = {text: question_places(text, ()) for text in asked}
    assert {text: named for text, named in found.items() if named != {province}} == {}


ASKED = (("", ""), ("", "的目标是多少"), ("2025年", "有哪些规定"), ("关于", "的通知"))


def test_a_word_behind_a_city_makes_no_other_place():
    """A few are taken for words (海|东南|方), none for another city."""
    found = {
        city + word: question_places(city + word, ()) - {city} for city in CITIES for word in WORDS
    }
    assert {text: others for text, others in found.items() if others} == {}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("建设美丽江苏", {"江苏"}),
        ("新乡村和四平方公里", set()),
        ("医保定点机构、公铁联运城市、推广安全生产", set()),
        ("贺兰山东麓和入海口", set()),
        ("西安区域协调", {"西安"}),
        ("江西和西安的安全生产", {"江西", "西安"}),
        ("湖北武汉", {"湖北", "武汉"}),
        ("首都北京", {"北京"}),
        ("吉林市场和吉林市政府", {"吉林", "吉林市"}),
        ("冀湘两省", {"河北", "湖南"}),
        ("新疆生产建设兵团", set()),
    ],
)
def test_names_tear_no_word(text, places):
    """What a word runs into is no place; what begins one is."""
    assert question_places(text, ()) == places


def test_a_known_place_is_read_like_a_listed_one():
    """With its suffix, and not within a word."""
    assert places_in("青川市能耗、重大兴建", ["青川", "大兴"]) == [(0, 3, "青川")]
    assert places_in("大兴区能耗", ["大兴"]) == [(0, 3, "大兴")]


def test_texts_and_titles_are_read_like_questions():
    """沿海城市 names no 海城市; a suffix stays with its name."""
    assert regions_in("沿海城市、新增城市和适应城市发展") == []
    assert list(names_in("中共湖南省委、广州市天河区委")) == [
        (2, "湖南省"),
        (7, "广州市"),
        (10, "天河区"),
    ]
    assert leading_region("江西安全生产条例") == (("江西省",), 2)
    assert [path(m.region) for m in regions_in("内江城区")] == [("四川省", "内江市")]


@given(st.lists(st.sampled_from([*PROVINCES, *WORDS[:20], "市", "、", "x"])).map("".join))
def test_places_are_in_order_and_inside_the_text(text):
    """They never overlap, and every one begins with its name."""
    found = places_in(text)
    assert all(a[1] <= b[0] for a, b in pairwise(found))
    assert all(text.startswith(place, start) for start, _, place in found)
