"""Organs by any of their names: one full name, and nothing invented."""

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from kgrag.text.organs import (
    canonical_organ,
    central_organs,
    full_organ_name,
    is_bare_organ,
    place_name,
)

PROVINCE, CITY = ("云岭省",), ("云岭省", "青川市")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("工信部", "工业和信息化部"),
        ("国家发展改革委", "国家发展和改革委员会"),
        ("国家发展改革委办公厅", "国家发展和改革委员会办公厅"),
        ("原环境保护部", "生态环境部"),
        ("中国银保监会", "国家金融监督管理总局"),
        ("国家林草局", "国家林业和草原局"),
        ("人民银行", "中国人民银行"),
        ("人民银行青川分行", "中国人民银行青川分行"),
        ("市场监管总局", "国家市场监督管理总局"),
    ],
)
@pytest.mark.parametrize("regions", [(), PROVINCE, CITY])
def test_central_organs_are_called_alike_everywhere(name, expected, regions):
    """Aliases and former names lead to the full name, whatever the document governs."""
    assert canonical_organ(name, regions=regions) == expected


@pytest.mark.parametrize(
    ("name", "regions", "expected"),
    [
        ("省林业局", PROVINCE, "云岭省林业局"),
        ("省林业局", CITY, "云岭省林业局"),
        ("市发改委", CITY, "青川市发展和改革委员会"),
        ("市工业和信息化局", CITY, "青川市工业和信息化局"),
        ("市工信局", CITY, "青川市工业和信息化局"),
        ("省经信厅", PROVINCE, "云岭省经济和信息化厅"),
        ("市地方金融监管局", CITY, "青川市地方金融监督管理局"),
        ("市规划资源局", CITY, "青川市规划和自然资源局"),
        ("省委", CITY, "中共云岭省委"),
        ("中共云岭省委", (), "中共云岭省委"),
        ("省委组织部", CITY, "中共云岭省委组织部"),
        ("中共云岭省委员会", (), "中共云岭省委"),
        (
            "中共云岭省委员会网络安全和信息化委员会办公室",
            (),
            "中共云岭省委网络安全和信息化委员会办公室",
        ),
        ("省政府办公厅", PROVINCE, "云岭省人民政府办公厅"),
        ("市人大常委会", CITY, "青川市人民代表大会常务委员会"),
        ("省大数据中心", PROVINCE, "云岭省大数据中心"),
        ("自治区党委", ("内蒙古自治区",), "中共内蒙古自治区委"),
        ("州住建局", ("四川省", "阿坝藏族羌族自治州"), "阿坝藏族羌族自治州住房和城乡建设局"),
        ("阿坝州政府", (), "阿坝藏族羌族自治州人民政府"),
        ("市规划资源局（湖城办）", CITY, "青川市规划和自然资源局"),
        ("民政厅", CITY, "云岭省民政厅"),
        ("市场监管局", CITY, "青川市市场监督管理局"),
        ("住建局", PROVINCE, "云岭省住房和城乡建设局"),
        ("发展改革委", PROVINCE, "云岭省发展和改革委员会"),
        ("乡村振兴局", CITY, "青川市乡村振兴局"),
        ("住房城乡建设厅", ("内蒙古自治区",), "内蒙古自治区住房和城乡建设厅"),
        ("市政务和大数据发展局", CITY, "青川市政务和大数据发展局"),
        ("市政公用局", CITY, "市政公用局"),
        ("自治区高级法院", ("内蒙古自治区",), "内蒙古自治区高级人民法院"),
        ("市检察院", CITY, "青川市人民检察院"),
        ("省委网信办", PROVINCE, "中共云岭省委网络安全和信息化委员会办公室"),
        ("国家税务总局云岭省税务局", (), "云岭省税务局"),
        ("通州区财政局", ("北京市", "通州区"), "北京市通州区财政局"),
        ("区发改委", ("上海市", "徐汇区"), "上海市徐汇区发展和改革委员会"),
        ("市财政局", ("上海市", "徐汇区"), "上海市财政局"),
        ("四川省成都市生态环境局", (), "成都市生态环境局"),
        ("成都环保局", (), "成都市生态环境局"),
    ],
)
def test_local_organs_have_their_place_and_kind_in_full(name, regions, expected):
    """A level means the document's own place; a place stands once, kinds in full."""
    assert canonical_organ(name, regions=regions) == expected


@pytest.mark.parametrize(
    ("name", "regions"),
    [
        ("市林业局", PROVINCE),  # which city's?
        ("区财政局", CITY),
        ("省林业局", ()),
        ("发展改革委员", PROVINCE),
        ("自治区财政厅", PROVINCE),
        ("各市人民政府", PROVINCE),
        ("市和区人民政府", CITY),
        ("有关部门", PROVINCE),
        ("省直有关单位", PROVINCE),
        ("省财政厅和省林业局", PROVINCE),
        ("省级人民政府", PROVINCE),
        ("四川证监局", PROVINCE),
        ("市场监管局", ()),
        ("党委", CITY),
        ("民政厅", ()),
        ("办公厅", PROVINCE),
        ("碳达峰碳中和工作领导小组", PROVINCE),
        ("中共云岭省委云岭省人民政府", PROVINCE),  # two
        ("省委省政府", PROVINCE),
        ("市能源局2021年第7次局务会", CITY),
        ("", CITY),
    ],
)
def test_what_is_not_sure_stays_as_it_is(name, regions):
    """Collectives, levels that the document does not have, kinds without a place."""
    assert canonical_organ(name, regions=regions) == name


def test_the_short_name_of_a_ministry_counts_in_national_documents_only():
    """发展改革委 of a province's document is the province's."""
    assert canonical_organ("发展改革委", regions=()) == "国家发展和改革委员会"


@pytest.mark.parametrize(
    ("name", "bare"),
    [
        ("市林业局", True),
        ("省生态环境厅", True),
        ("自治区党委", True),
        ("市市场监管局", True),
        ("区政府", True),
        ("县生态环境主管部门", True),
        ("市政务服务局", True),
        ("省碳达峰碳中和工作领导小组办公室", True),
        ("市场监管局", True),
        ("市政公用局", True),
        ("发展改革委〔能源局〕", True),
        ("各有关部门（单位）", True),
        ("大气环境（应对气候变化）处", True),
        ("市和区人民政府", True),
        ("监测中心", True),
        ("各区", True),
        ("领导小组办公室（成都市）", False),
        ("数据中心", False),
        ("各行业", False),
        ("领导小组办公室", True),
        ("碳汇试验区建设领导小组", True),
        ("气候处", True),
        ("业务主管部门", True),
        ("人民政府", True),
        ("各市人民政府", True),
        ("县（市）区林业主管部门", True),
        ("发展改革、财政、统计部门", True),
        ("青川市林业局", False),
        ("林草碳汇（成都）试验区领导小组", False),
        ("市区", False),
        ("生态环境部", False),
        ("国务院生态环境主管部门", False),
        ("国家能源集团", False),
        ("国家电网公司", False),
        ("清华大学", False),
        ("营业厅", False),
        ("空间布局", False),
        ("挂牌督办", False),
        ("绿色学校、节能医院", False),
        ("发电机组", False),
    ],
)
def test_bare_organs(name, bare):
    """What organs of many places are called, and no name of a place."""
    assert is_bare_organ(name) == bare


@pytest.mark.parametrize("name", ["市行政审批局", "市行政审批服务局"])
def test_an_organ_is_not_called_as_that_of_other_places_is(name):
    """行政审批局 is the whole name of one, 行政审批服务局 of another."""
    assert canonical_organ(name, regions=CITY) == f"青川{name}"


def test_districts_are_called_with_their_city():
    """There is more than one 朝阳区."""
    assert place_name(("吉林省", "长春市", "朝阳区")) == "长春市朝阳区"
    assert place_name(("云岭省", "石桥县")) == "石桥县"
    assert place_name(()) == ""


PARTS = [
    "省",
    "市",
    "区",
    "自治区",
    "中共",
    "四川",
    "成都市",
    "云岭省",
    "青川市",
    "朝阳区",
    "发展改革",
    "发改",
    "委",
    "局",
    "厅",
    "办公室",
    "人民政府",
    "政府",
    "工信部",
    "原",
    "和",
    "各",
    "人大",
]
NAMES = st.lists(st.sampled_from(PARTS), max_size=5).map("".join) | st.text(max_size=20)
REGIONS = st.sampled_from(
    [(), PROVINCE, CITY, ("四川省", "成都市"), ("上海市", "徐汇区"), ("吉林省", "长春市", "朝阳区")]
)


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("省青川市委", "中共青川市委"),
        ("省青川市委办公室", "中共青川市委办公室"),
        ("省成都市委", "省成都市委"),  # which lies in another province
    ],
)
def test_a_level_before_a_place_says_where_that_lies(name, full):
    """It is the organ of that place, read once as read twice."""
    assert canonical_organ(name, regions=PROVINCE) == full
    assert canonical_organ(full, regions=PROVINCE) == full


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


def test_a_former_organ_keeps_its_name_in_its_own_documents():
    """Who issued a document in 2015 was called so then."""
    assert full_organ_name("环保部", regions=()) == "环境保护部"
    assert full_organ_name("省林业局", regions=PROVINCE) == "云岭省林业局"


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("环科院", "四川省环境科学研究院"),
        ("省环科院", "四川省环境科学研究院"),
        ("金融办", "四川省金融工作办公室"),
        ("上海市交通委", "上海市交通委员会"),
    ],
)
def test_a_short_name_that_every_place_has_is_the_documents(name, full):
    """Otherwise one node would stand for the institutes of all provinces."""
    assert canonical_organ(name, regions=("四川省",)) == full
