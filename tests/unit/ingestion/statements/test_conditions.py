import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.ingestion.statements.finding import SELF
from kgrag.ingestion.statements.provisions import conditions


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


def test_conditions_of_grants_under_a_heading_are_surer_where_a_sentence_names_whom():
    """扶持标准 says nothing of whom: the item around it does."""
    text = "（二）绿色工厂示范\n1.申报材料。\n3.扶持标准：奖励，金额不超过50万元。\n"
    (found,) = conditions(text)
    (named,) = conditions("对绿色工厂，给予50万元奖励。")
    assert found.subject == "绿色工厂示范"
    assert found.confidence < named.confidence


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
