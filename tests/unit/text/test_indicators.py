"""One name for an indicator, and never one for two."""

import pytest

from kgrag.text.indicators import indicator_name, is_indicator


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("万元国内生产总值能源消耗", "单位GDP能耗"),
        ("单位地区生产总值（GDP）能耗强度", "单位GDP能耗"),
        ("单位生产总值二氧化碳排放强度", "单位GDP二氧化碳排放"),
        ("单位GDP碳排放", "单位GDP二氧化碳排放"),
        ("单位生产总值 CO2排放", "单位GDP二氧化碳排放"),
        ("万元工业增加值用水量", "单位工业增加值用水量"),
        ("规上工业单位增加值能耗", "规模以上工业单位增加值能耗"),
        ("细颗粒物（PM2.5）年均浓度", "PM2.5浓度"),
        ("ＰＭ２．５平均浓度", "PM2.5浓度"),
        ("SO2浓度", "二氧化硫浓度"),
        ("氨氮排放总量", "氨氮排放量"),
        ("非化石能源占一次能源消费的比重", "非化石能源消费比重"),
        ("煤炭消费占能源消费总量比重", "煤炭消费比重"),
        ("非化石能源消费占比", "非化石能源消费比重"),
        ("环境空气质量优良天数比率", "空气质量优良天数比例"),
        ("光伏发电总装机规模", "光伏装机容量"),
        ("光伏发电累计装机", "光伏装机容量"),
        ("用水总量指标", "用水总量"),
        ("森林覆盖率1", "森林覆盖率"),
        ("非化石能源消费占比²", "非化石能源消费比重"),
        ("新能源发电装机占比", "新能源装机比例"),
        ("农业灌溉用水有效利用系数", "农田灌溉水有效利用系数"),
        ("装配式建筑占新建建筑的比例", "装配式建筑占新建建筑比重"),
    ],
)
def test_what_measures_the_same_has_one_name(name, called):
    """Width, brackets, 的, abbreviations and words for one thing make no difference."""
    assert indicator_name(name) == called
    assert indicator_name(called) == called


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("单位GDP能耗", "单位工业增加值能耗"),
        ("单位工业增加值能耗", "规模以上工业单位增加值能耗"),
        ("单位GDP能耗", "单位GDP能耗降低率"),
        ("电能占终端能源消费比重", "电能占能源消费比重"),
        ("煤炭（不含焦炭）占能源消费总量比重", "煤炭占能源消费总量比重"),
        ("新增风电装机", "风电装机"),
        ("光伏并网装机", "光伏装机"),
        ("风电装机占总装机比重", "风电装机容量"),
        ("城市空气质量优良天数比例", "空气质量优良天数比例"),
        ("PM2.5日均浓度", "PM2.5年均浓度"),
        ("城市污水处理率", "县城污水处理率"),
        ("大陆自然岸线保有率", "自然岸线保有率"),
        ("碳排放强度", "单位GDP碳排放"),
    ],
)
def test_what_measures_something_else_stays_apart(one, other):
    """Scope, what is added, what it is a share of."""
    assert indicator_name(one) != indicator_name(other)


def test_a_unit_tells_what_is_measured():
    """Of a source of power its capacity or what it gives; of planting the area."""
    assert indicator_name("光伏发电", unit="千瓦") == "光伏装机容量"
    assert indicator_name("光伏发电", unit="千瓦时") == "光伏发电量"
    assert indicator_name("太阳能发电", unit="千瓦") == "太阳能发电装机容量"
    assert indicator_name("造林", unit="亩") == "造林面积"
    assert indicator_name("水土流失综合治理", unit="亩") == "水土流失治理面积"
    assert indicator_name("细颗粒物", unit="微克/立方米") == "PM2.5浓度"
    assert indicator_name("造林", unit="株") == indicator_name("造林") == "造林"


@pytest.mark.parametrize(
    "name", ["绿色工厂", "占比", "目的", "森林覆盖率", "“十四五”投资", "长" * 60]
)
def test_other_names_stay_as_they_are(name):
    """Also their marks."""
    assert indicator_name(name) == name


def test_quality_and_amount_end_alike():
    """空气质量 is no amount."""
    names = ("用水总量", "单位GDP碳排放", "空气质量", "生产能力")
    assert [is_indicator(name) for name in names] == [True, True, False, False]
