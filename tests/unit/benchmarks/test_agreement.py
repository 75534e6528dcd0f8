"""When found and labelled statements agree."""

from decimal import Decimal

import pytest

from benchmarks.agreement import (
    amount,
    digits,
    indicator_core,
    last_year,
    same_indicator,
    same_organ,
    same_task,
    unit_and_scale,
)


@pytest.mark.parametrize(
    ("found", "label"),
    [
        ("全市森林覆盖率", "森林覆盖率"),
        ("云岭省森林 覆盖率", "森林覆盖率"),
        ("青川市主城区已建成污水处理厂", "污水处理厂"),
        ("单位地区生产总值能源消耗", "单位地区生产总值能源消耗降低"),
        ("新能源汽车占比", "新能源汽车的占比"),
    ],
)
def test_wordings_of_one_indicator_agree(found, label):
    """Place, verbs, blanks and 的 do not matter."""
    assert same_indicator(found, label)
    assert same_indicator(label, found)


@pytest.mark.parametrize(
    ("found", "label"),
    [
        ("森林覆盖率", "森林蓄积量"),
        ("增加值", "绿色产业增加值占地区生产总值比重"),
        ("非化石能源", "非化石能源占一次能源消费比重"),
        ("化学需氧量排放总量", "氨氮排放总量"),
        ("", "森林覆盖率"),
    ],
)
def test_wordings_of_two_indicators_differ(found, label):
    """Too few characters in common of the shorter or of the longer one."""
    assert not same_indicator(found, label)


def test_an_indicator_goes_to_the_nearest_label_of_the_sentence():
    """二氧化硫 and 氮氧化物 share most of their characters."""
    both = ["二氧化硫排放量", "氮氧化物排放量"]
    assert same_indicator("二氧化硫排放量", both[0], both)
    assert not same_indicator("二氧化硫排放量", both[1], both)


def test_the_core_of_nothing_but_verbs_is_the_wording():
    """Something is left to compare."""
    assert indicator_core("完成建设") == "完成建设"


def test_scales_of_value_and_unit_are_one():
    """The same amount, wherever the scale stands."""
    assert amount("33.2", "万千瓦") == amount("332000", "千瓦") == Decimal(332000)
    assert amount("1", "亿千瓦时") == Decimal(10**8)
    assert amount("１５", "%") == 15
    assert amount("许多", "家") is None


def test_units_have_one_spelling():
    """Scales and widths go, names of one unit are one."""
    assert unit_and_scale("万吨标煤") == ("吨标准煤", 4)
    assert unit_and_scale("百分点") == unit_and_scale("个百分点")
    assert unit_and_scale("µg/m³") == unit_and_scale("微克/立方米")
    assert unit_and_scale("家") != unit_and_scale("个")
    assert unit_and_scale("") == ("", 0)


def test_the_last_year_of_a_period():
    """As years or as the number of a plan."""
    assert [last_year(p) for p in ("十三五", "2021—2023年", "每年", "")] == ["2020", "2023", "", ""]


def test_significant_digits():
    """A scale adds zeros only."""
    assert digits("50") == digits("５０万") == digits("500000") == "5"
    assert digits("10.5") != digits("15")


def test_organs_agree_but_for_the_place_ahead():
    """Verbs ahead and other kinds of bureau are not agreed to."""
    assert same_organ("青川市财政局", "财政局")
    assert same_organ("财政局", "区财政局")
    assert same_organ("商务部门", "商务")
    assert not same_organ("会同财政局", "财政局")
    assert not same_organ("领导小组办公室", "节能工作领导小组办公室")
    assert not same_organ("局", "财政局")


def test_a_task_may_be_worded_within_its_item():
    """But not in four characters less than nothing."""
    item = "（三）推进绿色建筑。推广绿色建材，发展装配式建筑。"
    assert same_task("推广绿色建材", "推进绿色建筑", item)
    assert same_task("推进绿色建筑发展", "推进绿色建筑", item)
    assert same_task("解释", "解释", "本办法由省林业局负责解释。")
    assert not same_task("绿色", "推进绿色建筑", item)
    assert not same_task("加强宣传引导", "推进绿色建筑", item)
    assert not same_task("", "推进绿色建筑", item)
