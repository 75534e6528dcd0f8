"""Organs and places: the lists and properties; examples are in tests/cases/organs.toml."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from kgrag.text.leading_region import leading_region
from kgrag.text.organs import (
    canonical_organ,
    central_organs,
    is_bare_organ,
)
from kgrag.text.places import question_places, with_places_inside
from kgrag.text.region_mentions import regions_in
from kgrag.text.regions import (
    level_of,
    listed_regions,
    own_region,
    path,
    region_at,
    region_of,
)

PROVINCE, CITY = ("云岭省",), ("云岭省", "青川市")


PARTS = """
省 市 区 自治区 中共 四川 成都市 云岭省 青川市 朝阳区 发展改革 发改 委 局
厅 办公室 人民政府 政府 工信部 原 和 各 人大
"""
NAMES = st.lists(st.sampled_from(PARTS.split()), max_size=5).map("".join) | st.text(max_size=20)
REGIONS = st.sampled_from(
    [(), PROVINCE, CITY, ("四川省", "成都市"), ("上海市", "徐汇区"), ("吉林省", "长春市", "朝阳区")]
)


@given(NAMES, REGIONS)
@example("省青川市委", PROVINCE)
@example("省成都市委", ("四川省", "成都市"))
@example("市中共市委", CITY)
def test_a_full_name_is_its_own(name, regions):
    """Read again in the same document, the result stays; no name has one province twice."""
    assume(name.count("云岭省") < 2)
    once = canonical_organ(name, regions=regions)
    assert canonical_organ(once, regions=regions) == once


@given(NAMES)
def test_a_bare_organ_never_gets_another_regions_place(name):
    """Of a place of an invented province nothing of the list is said."""
    if is_bare_organ(name):
        found = canonical_organ(name, regions=CITY)
        assert found == name or "云岭省" in found or "青川市" in found


def test_names_of_central_organs_lead_to_full_ones():
    """No alias leads to an alias."""
    names = dict(central_organs())
    assert {names.get(full) for full in names.values()} == set(names.values())
    now = {canonical_organ(name, regions=()) for name in names}
    assert {canonical_organ(name, regions=()) for name in now} == now


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


@given(st.text(max_size=30), st.lists(st.text(max_size=6), max_size=3))
def test_no_name_is_refused(name, within):
    """Any text may be asked for."""
    region = region_of(name, within=within)
    assert region is None or path(region)[-1] == region.name
    assert level_of(name) in ("省", "市", "县")
    assert own_region(name, within) == tuple(within)[: len(own_region(name, within))]


def named(text, **context):
    """Return what is named as (text, path)."""
    return [(text[m.start : m.end], path(m.region)) for m in regions_in(text, **context)]


TEXTS = st.lists(
    st.sampled_from(["四川", "省", "成都市", "朝阳区", "美丽", "江苏", "县", "、", "x", "\x00"])
).map("".join)


@given(TEXTS | st.text(max_size=80))
def test_mentions_are_in_order_and_inside_the_text(text):
    """They never overlap, and never raise."""
    spans = [(m.start, m.end) for m in regions_in(text)]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


@given(st.text(max_size=60) | st.text("四川省成都市区县各青云岭", max_size=20))
def test_any_text_is_read(text):
    """It never raises; the end lies inside the text."""
    names, end = leading_region(text)
    assert 0 <= end <= len(text)
    assert bool(names) == bool(end)


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
