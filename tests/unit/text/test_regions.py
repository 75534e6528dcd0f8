"""Regions: the list, names that several places share, words for the document's own region."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.regions import (
    level_of,
    listed_regions,
    own_region,
    path,
    region_at,
    region_of,
    regions_named,
)


def where(region):
    """Return the path of a region that must be one."""
    assert region is not None
    return path(region)


def test_the_list_has_all_provinces_and_prefectures():
    """34 provinces and the 兵团; 333 prefectures, 雄安 and six more that are right below one."""
    levels = Counter(region.level for region in listed_regions())
    assert levels["省"] == 35
    assert levels["市"] == 333 + 7
    assert 2_840 < levels["县"] < 3_200


def test_no_province_or_city_shares_its_names():
    """A name of a province or a city, full or short, is that of one such place."""
    names = Counter(
        name
        for region in listed_regions()
        if region.level != "县"
        for name in {region.name, region.short, *region.others}
    )
    assert [name for name, n in names.items() if n > 1] == []


def test_paths_are_unique_and_lead_back():
    """Each division has a path of its own, by which it is found again."""
    paths = [path(region) for region in listed_regions()]
    assert len(set(paths)) == len(paths)
    assert all(region_at(path(region)) == region for region in listed_regions())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("四川", ("四川省",)),
        ("内蒙古", ("内蒙古自治区",)),
        ("阿坝州", ("四川省", "阿坝藏族羌族自治州")),
        ("海南", ("海南省",)),
        ("海南州", ("青海省", "海南藏族自治州")),
        ("吉林市", ("吉林省", "吉林市")),
        ("雄安新区", ("河北省", "雄安新区")),
        ("石河子", ("新疆维吾尔自治区", "石河子市")),
        ("新疆生产建设兵团", ("新疆生产建设兵团",)),
        ("神农架", ("湖北省", "神农架林区")),
        ("徐汇区", ("上海市", "徐汇区")),
    ],
)
def test_names_of_the_list(name, expected):
    """Full, short and colloquial names; none is taken for its namesake of another level."""
    assert [path(region) for region in regions_named(name)] == [expected]


def test_a_shared_name_needs_what_lies_around_it():
    """鼓楼区 is in four cities: the province alone tells one, or it does not."""
    assert region_of("鼓楼区") is None
    assert region_of("鼓楼区", within=("江苏省",)) is None
    assert where(region_of("鼓楼区", within=("江苏省", "徐州市"))) == ("江苏省", "徐州市", "鼓楼区")
    assert where(region_of("鼓楼区", within=("河南省",))) == ("河南省", "开封市", "鼓楼区")
    assert region_of("鼓楼区", within=("云岭省",)) is None


def test_an_unlisted_place_lies_in_its_context():
    """It is known by its ending, and lies in what is wider than itself."""
    within = ("云岭省", "青川市")
    assert where(region_of("石桥县", within=within)) == ("云岭省", "青川市", "石桥县")
    assert where(region_of("南渡市", within=within)) == ("云岭省", "南渡市")
    assert where(region_of("江陵省", within=within)) == ("江陵省",)
    assert region_of("节能规划", within=within) is None


@pytest.mark.parametrize(
    ("word", "regions", "expected"),
    [
        ("全省", ("四川省", "成都市"), ("四川省",)),
        ("省级", ("四川省",), ("四川省",)),
        ("省", ("内蒙古自治区",), ()),
        ("自治区", ("内蒙古自治区", "包头市"), ("内蒙古自治区",)),
        ("自治区", ("四川省",), ()),
        ("我市", ("内蒙古自治区", "包头市"), ("内蒙古自治区", "包头市")),
        ("全州", ("四川省", "阿坝藏族羌族自治州"), ("四川省", "阿坝藏族羌族自治州")),
        ("全市", ("上海市", "徐汇区"), ("上海市",)),
        ("本区", ("上海市", "徐汇区"), ("上海市", "徐汇区")),
        ("全省", ("上海市",), ()),
        ("市", ("四川省",), ()),
        ("全县", ("云岭省", "青川市", "石桥县"), ("云岭省", "青川市", "石桥县")),
        ("全国", ("四川省",), ()),
        ("全省", (), ()),
    ],
)
def test_words_for_the_own_region(word, regions, expected):
    """A word means the level of the document's own region that it names, or nothing."""
    assert own_region(word, regions) == expected


@given(st.text(max_size=30), st.lists(st.text(max_size=6), max_size=3))
def test_no_name_is_refused(name, within):
    """Any text may be asked for."""
    region = region_of(name, within=within)
    assert region is None or path(region)[-1] == region.name
    assert level_of(name) in ("省", "市", "县")
    assert own_region(name, within) == tuple(within)[: len(own_region(name, within))]
