"""Places: what lies in what."""

import pytest

from kgrag.text.leading_region import leading_region
from kgrag.text.places import question_places, with_places_inside


@pytest.mark.parametrize(
    ("province", "n", "some"),
    [
        ("湖北", 17, {"武汉", "恩施", "神农架"}),  # four of them are below a prefecture
        ("广东", 21, {"广州", "中山市", "云浮"}),
        ("新疆", 15, {"乌鲁木齐", "石河子"}),
        ("河北", 12, {"石家庄", "雄安"}),
        ("北京", 0, set()),
        ("云岭", 0, set()),
    ],
)
def test_a_province_has_the_cities_on_its_line_of_the_list(province, n, some):
    """As many as there are; municipalities and names that no list holds have none."""
    inside = with_places_inside({province})
    assert len(inside) == n + 1
    assert inside >= {province, *some}


def test_every_city_lies_in_one_province():
    """333 prefectures and seven counties of their own."""
    provinces = question_places(
        "河北山西辽宁吉林黑龙江江苏浙江安徽福建江西山东河南湖北湖南广东海南四川贵州云南陕西"
        "甘肃青海内蒙古广西西藏宁夏新疆",
        (),
    )
    inside = [with_places_inside({province}) - {province} for province in provinces]
    assert len(provinces) == 27
    assert all(inside)
    assert sum(map(len, inside)) == len(frozenset().union(*inside)) == 333 + 7


def test_a_province_that_says_where_a_city_lies_gives_way_to_it():
    """湖北省武汉市 is 武汉; 湖北和长沙 are two places."""
    assert with_places_inside({"湖北", "武汉"}) == {"武汉"}
    assert with_places_inside({"湖北", "长沙"}) == {"长沙", *with_places_inside({"湖北"})}
    assert with_places_inside(set()) == frozenset()


@pytest.mark.parametrize(
    "title",
    [
        "自治区党委关于节能的意见",
        "国家高新区节能办法",
        "省人民政府关于节能的意见",
        "经济开发区规划",
    ],
)
def test_levels_and_kinds_of_areas_are_no_places(title):
    """自治 and 国家高新 are none, though 区 stands behind them."""
    assert leading_region(title) == ((), 0)
