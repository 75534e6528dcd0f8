import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.ingestion.rules.conditions import conditions
from kgrag.ingestion.rules.finding import SELF


def read(text):
    return [(f.subject, f.predicate, f.object) for f in conditions(text)]


def told(text, *fields):
    return [tuple(getattr(f.qualifiers, name) for name in fields) for f in conditions(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("第九条本办法自2022年3月1日起施行，有效期至2025年2月28日。",
         [(SELF, "施行日期", "2022年3月1日"), (SELF, "有效期至", "2025年2月28日")]),
        ("本措施自印发之日起实施至2024年12月31日。",
         [(SELF, "施行日期", "印发之日"), (SELF, "有效期至", "2024年12月31日")]),
        ("本规定自发布之日起施行，有效期五年。",
         [(SELF, "施行日期", "发布之日"), (SELF, "有效期", "五年")]),
        ("3.本办法自印发之日起实施，暂定三年。",
         [(SELF, "施行日期", "印发之日"), (SELF, "有效期", "三年")]),
        ("《云岭省节能办法》已经审议通过，现予公布，自2022年6月1日起施行。",
         [(SELF, "施行日期", "2022年6月1日")]),
        ("《绿色目录》自2021年7月1日起施行。", [("绿色目录", "施行日期", "2021年7月1日")]),
        ("政策实施期限为2021年度至2025年度。", [(SELF, "有效期", "2021年度至2025年度")]),
    ],
)  # fmt: skip
def test_conditions_say_from_and_until_when(text, found):
    """The document itself, by 本办法 or beside its issue, or another by its title."""
    assert read(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "绿色工厂评定有效期为五年。",
        "营业执照有效期限五年。",
        "应当自收到通知之日起15日内报告。",
        "新标准自2022年1月1日起实施。",
    ],
)
def test_conditions_leave_validity_of_other_things(text):
    """Certificates, marks and terms for answers have a validity of their own."""
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "who", "predicate", "amount", "value", "unit", "comparator"),
    [
        ("3.对获得称号的企业，给予最高不超过20万元的一次性奖励。",
         "获得称号的企业", "奖励", "最高不超过20万元的一次性奖励", "200000", "元", "<="),
        ("支持小区增设充电设施，按200元/千瓦给予建设补贴。",
         "小区增设充电设施", "补助", "按200元/千瓦给予建设补贴", "200", "元/千瓦", "="),
        ("对改造项目按购置费的20％给予补助。",
         "改造项目", "补助", "按购置费的20％给予补助", "20", "%", "="),
        ("对接收小区的，按每个小区2万元给予奖励。",
         "接收小区", "奖励", "按每个小区2万元给予奖励", "20000", "元/个小区", "="),
        ("为降耗作出贡献的重点企业，经认定，给予50万元奖励。",
         "为降耗作出贡献的重点企业", "奖励", "50万元奖励", "500000", "元", "="),
    ],
)  # fmt: skip
def test_conditions_say_what_is_granted(text, who, predicate, amount, value, unit, comparator):
    """Who or what for, how much, at most or exactly, for each of what."""
    assert read(text) == [(who, predicate, amount)]
    assert told(text, "value", "unit", "comparator") == [(value, unit, comparator)]


def test_conditions_of_grants_have_a_share_and_a_cap():
    """Each amount is a finding; what else is asked for is its condition."""
    text = "企业实施改造项目，并通过验收的，按投资额的20%给予补助，最高不超过200万元。"
    assert told(text, "value", "unit", "comparator", "condition") == [
        ("20", "%", "=", "通过验收"),
        ("2000000", "元", "<=", "通过验收"),
    ]
    assert {s for s, *_ in read(text)} == {"企业实施改造项目"}


def test_conditions_of_grants_of_several_amounts():
    """分别 amounts share their words; a range is one; the next sentence goes on."""
    text = "对金级、银级饭店，分别给予20万元、10万元奖励。单个项目最高不超过30万元。"
    assert told(text, "value") == [("200000",), ("100000",), ("300000",)]
    assert {s for s, *_ in read(text)} == {"金级、银级饭店"}
    ranged = "对制氢项目给予0.15-0.2元/千瓦时的补贴。"
    assert told(ranged, "value", "value_to", "unit", "comparator") == [
        ("0.15", "0.2", "元/千瓦时", "range")
    ]


def test_conditions_of_grants_under_a_heading_are_surer_where_a_sentence_names_whom():
    """扶持标准 says nothing of whom: the item around it does."""
    text = "（二）绿色工厂示范\n1.申报材料。\n3.扶持标准：奖励，金额不超过50万元。\n"
    (found,) = conditions(text)
    (named,) = conditions("对绿色工厂，给予50万元奖励。")
    assert found.subject == "绿色工厂示范"
    assert found.confidence < named.confidence


@pytest.mark.parametrize(
    "text",
    [
        "累计发放补贴5000万元，惠及企业100家。",
        "对年产值1亿元以上的企业，给予适当奖励。",
        "对上述项目按投资给予最高2000万元补助。",
        "单位建筑面积能耗下降不低于10%的项目可申请补贴。",
        "完善财政补贴政策。",
    ],
)
def test_conditions_leave_sums_that_nobody_is_granted(text):
    """Results, thresholds, and what another sentence says."""
    assert read(text) == []


def test_conditions_say_what_is_punished():
    """The conduct without the article that it breaks; each fine with what it hangs on."""
    text = (
        "违反本办法第五条的规定，企业未按时报送报告的，由主管部门责令改正，处一万元以上十万元以下的罚款；"
        "情节严重的，处二十万元罚款。"
    )
    assert read(text) == [
        ("企业未按时报送报告", "处罚", "处一万元以上十万元以下的罚款"),
        ("企业未按时报送报告", "处罚", "处二十万元罚款"),
    ]
    assert told(text, "value", "value_to", "unit", "comparator", "condition") == [
        ("10000", "100000", "元", "range", ""),
        ("200000", "", "元", "=", "情节严重"),
    ]


def test_conditions_of_punished_items_are_one_each():
    """有下列行为之一的 is about every item below, and no further line."""
    text = (
        "第九条企业有下列行为之一的，由主管部门处五万元以下的罚款：\n（一）未建立台账的；\n"
        "（二）伪造数据的。\n第十条其他。\n（一）不相干的；\n"
    )
    assert [(s, o) for s, _, o in read(text)] == [
        ("未建立台账", "处五万元以下的罚款"),
        ("伪造数据", "处五万元以下的罚款"),
    ]
    assert told(text, "comparator") == [("<=",), ("<=",)]


@pytest.mark.parametrize(
    "text", ["2020年办理案件120件，罚款1029万元。", "被依法处以十万元以上罚款的；"]
)
def test_conditions_leave_fines_that_nobody_is_threatened_with(text):
    """Statistics, and fines as a condition of something else."""
    assert read(text) == []


def test_conditions_of_applicants_are_the_items_below():
    """Under a heading the document asks; groups are the condition of what stands in them."""
    text = (
        "三、申报条件\n（一）依法注册的企业；\n（二）产业链项目。\n1.拥有自主知识产权；\n2.已实现产业化。\n"
        "四、申报材料\n（一）申请书原件；\n"
    )
    assert read(text) == [
        (SELF, "申请条件", "依法注册的企业"),
        (SELF, "申请条件", "拥有自主知识产权"),
        (SELF, "申请条件", "已实现产业化"),
    ]
    assert told(text, "condition") == [("",), ("产业链项目",), ("产业链项目",)]


def test_conditions_of_applicants_are_of_whom_the_sentence_names():
    """第三方机构应当具备下列条件; what must meet standards does not apply for anything."""
    text = "第五条核查机构应当具备以下条件：\n（一）独立法人；\n（二）有固定场所。\n第六条其他。\n"
    assert read(text) == [
        ("核查机构", "申请条件", "独立法人"),
        ("核查机构", "申请条件", "有固定场所"),
    ]
    assert read("工厂的照明应符合以下要求：\n（一）尽量利用自然光；\n") == []


@settings(max_examples=200)
@given(
    st.text(
        alphabet="对企业的，给予奖励补助最高10万元%/每处罚款自年月日起施行有效期条件：\n（一）。1.\x00",
        max_size=150,
    )
)
def test_conditions_never_raise_and_stand_in_the_text(text):
    """Half brackets, amounts of nobody, NULs."""
    for found in conditions(text):
        assert 0 <= found.start < found.end <= len(text)
        assert found.subject
        assert found.object
