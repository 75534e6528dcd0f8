"""Rows of indicator tables that lost their cells, below headers that a page broke."""

import pytest

from kgrag.ingestion.statements.target_tables import Columns, Heads
from kgrag.ingestion.statements.targets import targets

NOTICE = "云政发〔2021〕3号\n"


def read(text):
    """Return (indicator, value, unit, year, standing) of what is found."""
    told = [(f.subject, f.qualifiers) for f in targets(NOTICE + text)]
    return [(name, q.value, q.unit, q.year, q.standing) for name, q in told]


def both(name, first, last, unit="%"):
    return [(name, first, unit, "2020", "achieved"), (name, last, unit, "2025", "planned")]


@pytest.mark.parametrize(
    "header",
    [
        "序号指标2020年2025年属性",
        "指标2025年\n2020年现状值\n序号指标（单位）指标属性类别目标值",
        "现状值目标值\n类型序号指标单位属性\n（2020年）（2025年）",
        "2020指标属类别序号指标2025年\n年性",
        "2020年2025年\n类别序号指标名称单位属性完成情况目标值",
    ],
)
def test_a_header_goes_over_lines_in_any_order(header):
    """Its years are the columns, ascending."""
    assert read(f"表1 主要指标\n{header}\n3森林覆盖率（%）42 43约束性\n") == both(
        "森林覆盖率", "42", "43"
    )


def test_what_a_header_tells():
    """Years, what follows them, whether the first is what was."""
    heads = Heads()
    for line in ("类别指标", "2020年现状2025年", "五年累计年均增速属性"):
        assert heads.step(line) == len(line)
    assert heads.columns == Columns(("2020", "2025"), ("achieved", ""), 2, True, True)
    assert heads.step("单位地区生产总值能耗降低(%)3 5约束性") == 0


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("5修复岸线长度km - ≥50预期性海洋", [("修复岸线长度", "50", "公里", "2025", "planned")]),
        ("6红树林面积hm2 - 120预期性", [("红树林面积", "120", "公顷", "2025", "planned")]),
        ("7氨氮减排量吨—75约束性", [("氨氮减排量", "75", "吨", "2025", "planned")]),
        ("8湿地保护率 %－55预期性", [("湿地保护率", "55", "%", "2025", "planned")]),
        ("（9）湿地面积（公顷）——18② 预期性", [("湿地面积", "18", "公顷", "2025", "planned")]),
        ("风电装机（万千瓦）预期性80 200", both("风电装机", "800000", "2000000", "千瓦")),
        ("10污水处理率（%）91 93左右导向性", both("污水处理率", "91", "93")),
        ("绿化覆盖率（%）约束性11 44 45", both("绿化覆盖率", "44", "45")),
        ("环12污水处理率 % 95.6 ≥97约束性境", both("污水处理率", "95.6", "97")),
        ("林木覆盖率（%）36 37 / 约束性", both("林木覆盖率", "36", "37")),
        ("辐射事故发生率（起/每万枚）0 0约束性", both("辐射事故发生率", "0", "0", "起/万枚")),
        ("绿化覆盖率（%）约束性\n44 45", both("绿化覆盖率", "44", "45")),
        ("农村污水有效治理\n6 63.5 85预期性比例（%）", both("农村污水有效治理比例", "63.5", "85")),
        ("重点工程减排量\n9 54 40约束性（吨）", both("重点工程减排量", "54", "40", "吨")),
        ("非化石能源占消费\n预期性3 % 21 26\n比例", both("非化石能源占消费比例", "21", "26")),
        ("碳排放下降率\n3—20预期性\n（%）", [("碳排放下降率", "20", "%", "2025", "planned")]),
        ("13地块利用率（%）92约束性", []),
        ("外送装机万千瓦预期性122 130", []),
    ],
)  # fmt: skip
def test_rows_in_many_forms(row, expected):
    """As many values as there are years, and 约束性 or 预期性 beside them."""
    assert read(f"序号指标2020年2025年属性\n1生态质量指数—稳中向好预期性\n{row}\n") == expected


def test_columns_behind_the_years():
    """Growth a year is left out; a sum of five years is of their last where nothing else is."""
    header = "指标2020年2025年年均增速属性\n"
    assert read(header + "用电量（亿千瓦时）8 11 4.7%预期性\n") == both(
        "用电量", "800000000", "1100000000", "千瓦时"
    )
    header = "指标2020年2025年五年累计属性\n"
    assert read(header + "氨氮减排量（吨） - - 250约束性\n") == [
        ("氨氮减排量", "250", "吨", "2025", "planned")
    ]


def test_the_plan_of_a_caption_dates_a_column_of_aims():
    """A header without a year below 表2 “十四五”…目标."""
    row = "序号指标单位目标值指标属性\n1绿色建筑执行率 % 100约束性\n"
    assert read(f"表2“十四五”绿色建筑发展目标\n{row}") == [
        ("绿色建筑执行率", "100", "%", "2025", "planned")
    ]
    assert read(f"表2绿色建筑发展目标\n{row}") == []


@pytest.mark.parametrize(
    "header",
    [
        "表1规划目标完成情况表2015年现状2020年目标2020年情况序号指标（单位）完成情况属性",
        "2015年2020年2020年指标评估结论\n现状规划目标实际",
    ],
)
def test_a_year_may_have_a_column_of_aims_and_one_of_results(header):
    """What was planned for a year and what it came to are told apart, in the header's order."""
    row = "1污水处理率（%）89 95 96.4完成约束性2氨氮下降比例（%）975吨9.3 18.6完成约束性\n"
    assert read(f"{header}\n{row}") == [
        ("污水处理率", "89", "%", "2015", "achieved"),
        ("污水处理率", "95", "%", "2020", "planned"),
        ("污水处理率", "96.4", "%", "2020", "achieved"),
        ("氨氮下降比例", "9.3", "%", "2020", "planned"),
        ("氨氮下降比例", "18.6", "%", "2020", "achieved"),
    ]


def test_a_plan_names_the_year_of_its_aims():
    """“十三五”目标值 stands for 2020; cells that have their % need no unit."""
    header = "序号指标名称“十三五”目标值2020年完成值完成情况"
    assert read(f"{header}\n3氮氧化物减排18% 21%完成\n") == [
        ("氮氧化物减排", "18", "%", "2020", "planned"),
        ("氮氧化物减排", "21", "%", "2020", "achieved"),
    ]


def test_a_year_twice_without_a_word_is_no_header():
    """Nothing tells which column is which."""
    assert read("指标2020年2020年属性\n1污水处理率（%）89 95约束性\n") == []


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("林木覆盖率（%）24.7 ≥25 -", both("林木覆盖率", "24.7", "25")),
        (
            "保持稳定预期性18湿地保护率（%）61 65 - 预期性19供水率（%）90 95预期性",
            [*both("湿地保护率", "61", "65"), *both("供水率", "90", "95")],
        ),
        ("控制3二氧化硫下降比例（%）5 6约束性", both("二氧化硫下降比例", "5", "6")),
        ("2公众满意率 % 96.4巩固提升预期性", [("公众满意率", "96.4", "%", "2020", "achieved")]),
        (
            "2地热（万平方米）150 280未达预期风电（万千瓦）20 60好于预期",
            [
                *both("地热", "1500000", "2800000", "平方米"),
                *both("风电", "200000", "600000", "千瓦"),
            ],
        ),
        ("地热（万平方米）150", []),
        ("东山水库（见图）24 25", []),
    ],
)
def test_rows_without_a_word_for_binding(row, expected):
    """A row that has its unit and all its cells stands by itself, also behind another's end."""
    assert read(f"序号指标2020年2025年属性\n1生态质量指数—稳中向好预期性\n{row}\n") == expected


@pytest.mark.parametrize(
    "header",
    [
        "2020年2025年\n一级指标具体指标指标性质",
        "序指标单2020\n指标名称2025年属性号分类位年",
    ],
)
def test_words_of_a_header_that_a_page_broke(header):
    """一级指标 and 单, of which 位 stands elsewhere, are words of a header."""
    assert read(f"表1 主要指标\n{header}\n3．森林覆盖率（%）42 43约束性\n") == both(
        "森林覆盖率", "42", "43"
    )


def test_years_beyond_the_plan_and_growth_within_it():
    """Three years and 十四五年均增速: the growth is of no year."""
    text = "专栏三 主要目标\n2026年\n类十四五年\n2020年2025年\n指标属性别展望均增速\n"
    found = read(text + "用电负荷（兆瓦）610 742 800 4.1%预期性\n")
    assert [(value, year) for _, value, _, year, _ in found] == [
        ("610000", "2020"),
        ("742000", "2025"),
        ("800000", "2026"),
    ]


def test_a_year_by_itself_ahead_of_an_aim_and_a_result():
    """2019年, told last, is the first column; 2020 has an aim and a result."""
    text = "2020年2020年2025年指标指标分类指标名称计算单位2019年\n规划目标实际规划目标属性\n"
    found = read(text + "耕地保有量（万亩）31 32 33 35预期性\n")
    assert [(value, year, standing) for _, value, _, year, standing in found] == [
        ("310000", "2019", "achieved"),
        ("320000", "2020", "planned"),
        ("330000", "2020", "achieved"),
        ("350000", "2025", "planned"),
    ]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("（2）污水处理率（%）91 95约束性完成再生水利用率（%）", both("污水处理率", "91", "95")),
        ("（2）卫生合格率（%）98 100是约束性", both("卫生合格率", "98", "100")),
        ("氨氮减排量（吨） [69.9]1) 130约束性", both("氨氮减排量", "69.9", "130", "吨")),
        ("湿地保护率（%）48􀆰9 50􀆰5约束性", both("湿地保护率", "48.9", "50.5")),
        (
            "耕地保有量（万公顷）34 32（以下达指标为准）约束性",
            both("耕地保有量", "340000", "320000", "公顷"),
        ),
        ("满意度（%）未统计 ≥80参考性", [("满意度", "80", "%", "2025", "planned")]),
        ("县城污水处理率90 95 / 约束性", both("县城污水处理率", "90", "95")),
        ("低碳园区建设数量个预期性14 3 50", both("低碳园区建设数量", "3", "50", "个")),
        ("建成区绿化覆盖率预期性26 % 44 45", both("建成区绿化覆盖率", "44", "45")),
        (
            "重金属排放\n大气6 28 27约束性\n强度（克/吨）",
            both("重金属排放强度", "28", "27", "克/吨"),
        ),
        (
            "特色林业产值（亿\n预期性160 400\n元）",
            both("特色林业产值", "16000000000", "40000000000", "元"),
        ),
        ("特色林业面积（万亩）预期性1554 1900", both("特色林业面积", "15540000", "19000000", "亩")),
        (
            "优良天数比率（%）县级城市91.4 91.8 / 预期性",
            both("优良天数比率县级城市", "91.4", "91.8"),
        ),
    ],
)  # fmt: skip
def test_rows_with_notes_turned_or_behind_another(row, expected):
    """Whether an aim was met, notes, a value ahead of 约束性, a name or unit in two pieces."""
    assert read(f"序号指标2020年2025年属性\n1生态质量指数—稳中向好预期性\n{row}\n") == expected


def test_a_name_begins_behind_the_row_before():
    """What stands behind 约束性 belongs to the next line's values."""
    rows = "4污水收集率（%）62 70约束性城市空气质量优良天数\n5 92.9 94约束性比率（%）\n"
    found = read("序号指标2020年2025年属性\n" + rows)
    assert found == both("污水收集率", "62", "70") + both("城市空气质量优良天数比率", "92.9", "94")


def test_a_sum_of_five_years_where_the_last_year_has_none():
    """[16] behind a dash is due in 2025; what 2020 tells stays."""
    found = read("2020年2025年五年累计指标\n指标属性\n9.能耗强度降低（%） [14.9] / [16.0] 约束性\n")
    assert found == both("能耗强度降低", "14.9", "16")


def test_a_table_of_what_was_met():
    """Below an aim and a result of one year a numbered row ends with whether it was met."""
    text = "表1 十三五规划指标完成情况\n2020年2020年完成类别指标名称单位\n目标值现状值情况\n"
    found = read(text + "4.二氧化硫排放量削减比例 % 22 25.9完成\n")
    assert [each[1:] for each in found] == [
        ("22", "%", "2020", "planned"),
        ("25.9", "%", "2020", "achieved"),
    ]
    assert not read(text + "4.二氧化硫排放量削减比例 % 22 25.9\n")
