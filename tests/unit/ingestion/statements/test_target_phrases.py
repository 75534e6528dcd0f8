"""Typed values of phrases that models and imports give."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.statements.target_phrases import value_qualifiers
from kgrag.qualifiers import NONE

FIELDS = ("value", "unit", "comparator", "year", "standing")


@pytest.mark.parametrize(
    ("predicate", "phrase", "expected"),
    [
        ("目标为", "2025年比2020年下降13.5%", ("13.5", "%", "-", "2025", "planned")),
        ("目标为", "2025年达到40%", ("40", "%", "=", "2025", "planned")),
        ("目标为", "2025年500家以上", ("500", "家", ">=", "2025", "planned")),
        ("2025年目标为", "57%", ("57", "%", "=", "2025", "planned")),
        ("2025年目标", "60%以上", ("60", "%", ">=", "2025", "planned")),
        ("2025年底目标", "24%左右", ("24", "%", "~", "2025", "planned")),
        ("2030年目标为", "380万立方米", ("3800000", "立方米", "=", "2030", "planned")),
        ("“十四五”目标为", "38%", ("38", "%", "=", "2025", "planned")),
        ("目标为", "“十四五”期间年均增长6%左右", ("6", "%", "+", "2025", "planned")),
        ("目标为", "２０２５年达到８０％以上", ("80", "%", ">=", "2025", "planned")),
        ("目标为", "不高于200元/吨", ("200", "元/吨", "<=", "", "planned")),
        ("目标为", "控制在 23.5 亿立方米以内", ("2350000000", "立方米", "<=", "", "planned")),
        ("目标为", "2025年新增和改造8万公里", ("80000", "公里", "=", "2025", "planned")),
        ("目标为", "2025年增至20家", ("20", "家", "=", "2025", "planned")),
        ("目标为", "2025年降低10个百分点", ("10", "个百分点", "-", "2025", "planned")),
        ("目标为", "40%至50%", ("40", "%", "range", "", "planned")),
        ("每年目标", "200万平方米以上", ("2000000", "平方米", ">=", "", "planned")),
        ("控制目标", "4500万吨左右", ("45000000", "吨", "~", "", "planned")),
        ("2020年底为", "1367万亩", ("13670000", "亩", "=", "2020", "achieved")),
        ("截至2020年12月", "49个", ("49", "个", "=", "2020", "achieved")),
        ("现状约为", "56万吨", ("560000", "吨", "~", "", "achieved")),
        ("已达到", "530公顷", ("530", "公顷", "=", "", "achieved")),
        ("“十三五”完成", "6754台", ("6754", "台", "=", "2020", "achieved")),
        ("保持在", "98%以上（“十三五”期间）", ("98", "%", ">=", "2020", "achieved")),
        ("达到", "530公顷", ("530", "公顷", "=", "", "")),
        ("不超过", "2公顷", ("2", "公顷", "<=", "", "")),
        ("占比上限", "10%", ("10", "%", "<=", "", "")),
        ("2025年较2020年下降", "200吨标准煤以上", ("200", "吨标准煤", "-", "2025", "")),
        ("建成", "7个应急设备库（站）", ("7", "个", "=", "", "")),
        ("完成", "行业标准2项", ("2", "项", "=", "", "")),
    ],
)
def test_a_phrase_with_a_number_and_a_unit(predicate, phrase, expected):
    """Value, unit, comparator, year and standing are those that predicate and phrase tell."""
    told = value_qualifiers(predicate, phrase)
    assert tuple(getattr(told, name) for name in FIELDS) == expected
    assert told.kind == "target"


@pytest.mark.parametrize(
    ("predicate", "phrase"),
    [
        ("目标为", "2060年前实现碳中和"),
        ("目标为", "2025年基本实现全覆盖"),
        ("印发日期", "2021年12月28日"),
        ("依据", "《2030年前碳达峰行动方案》"),
        ("文号", "云政发〔2021〕33号"),
        ("补贴标准", "0.3元/千瓦时"),
        ("含碳率缺省值", "0.510"),
        ("保存期", "30年"),
        ("落实", "省发展改革委等15部门的意见"),
        ("纳入", "超过1万吨的企业"),
        ("研制", "峰值功率3兆瓦的装置"),
        ("整改", "督察反馈的50个问题"),
        ("目标为", "分别达到20%、30%"),
        ("倡导", "“135”绿色出行方式"),
        ("", ""),
    ],
)
def test_what_states_no_value(predicate, phrase):
    """Times, titles, grants, coefficients, thresholds, several values at once."""
    assert value_qualifiers(predicate, phrase) == NONE


def test_what_it_is_compared_with():
    """Base year and base value."""
    told = value_qualifiers("目标为", "由2020年的30%提高到2025年的50%")
    assert (told.base_year, told.base_value, told.value) == ("2020", "30", "50")
    assert value_qualifiers("目标为", "2025年比2020年下降15%").base_year == "2020"


def test_the_year_of_the_document_tells_what_is_past():
    """2025 is ahead of 2021 and behind 2027."""
    standings = [
        value_qualifiers("2025年配备", "3艘", written=year).standing for year in (0, 2021, 2027)
    ]
    assert standings == ["", "planned", "achieved"]


@given(
    st.text(max_size=60),
    st.text(alphabet="0123456789年%万亿家达到比下降、（）()《》. \n\0", max_size=60),
)
def test_any_text_is_read(predicate, phrase):
    """No text raises an error; what is told has a value."""
    told = value_qualifiers(predicate, phrase)
    assert bool(told) == bool(told.value)
