import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.ingestion.statements.definitions import abbreviations, definitions


def meanings(text):
    return {f.subject: f.object for f in definitions(text) if f.predicate == "是指"}


@pytest.mark.parametrize(
    ("text", "term", "meaning"),
    [
        ("第二条本办法所称碳汇，是指森林吸收的二氧化碳。", "碳汇", "森林吸收的二氧化碳"),
        (
            "电力可靠性管理是指为提高可靠性而开展的活动。",
            "电力可靠性管理",
            "为提高可靠性而开展的活动",
        ),
        ("（二）碳普惠（PHCER）：是指量化减排的机制。", "碳普惠", "量化减排的机制"),
        ("本规定所称“双碳园区”，主要是指纳入试点的园区。", "双碳园区", "纳入试点的园区"),
        ("前款所称管理费支出，是指日常管理的费用。", "管理费支出", "日常管理的费用"),
        ("基准线：指没有项目时的情景。", "基准线", "没有项目时的情景"),
    ],
)
def test_definitions_of_sentences(text, term, meaning):
    """所称 and the number of the article are no part of the term, nor a bracket behind it."""
    assert meanings(text) == {term: meaning}


def test_definitions_of_items_under_a_heading_of_terms():
    """Items with a colon and numbered terms on their own lines, as standards have them."""
    text = (
        "3术语和定义\n3.1核算边界 accounting boundary\n与项目生产经营活动相关的排放范围。\n"
        "3.2活动数据\n指导致排放的生产活动量。\n4 总则\n4.1一般要求\n核算应当真实、准确、完整。\n"
        "附则\n用语的含义：\n（一）碳履约：按时提交配额的行为。\n"
    )
    assert meanings(text) == {
        "核算边界": "与项目生产经营活动相关的排放范围",
        "活动数据": "导致排放的生产活动量",
        "碳履约": "按时提交配额的行为",
    }


@pytest.mark.parametrize(
    "text",
    [
        "其是指前述各项内容。",
        "本办法所称重点领域包括工业和建筑。",
        "这并不是指所有企业都要改造。",
        "绿色金融的定义，是指导各地开展工作的基础。",
        "下列企业，是指：\n（一）大型企业；",
    ],
)
def test_definitions_leave_what_defines_nothing(text):
    """Pronouns, 不是指, 指导, and meanings that are a list elsewhere."""
    assert meanings(text) == {}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("由市发展和改革委员会（以下简称市发改委）牵头。", {"市发改委": "市发展和改革委员会"}),
        ("落实《云岭省节能行动方案》（以下简称《方案》）。", {"方案": "云岭省节能行动方案"}),
        ("根据《节能办法》（云政发〔2021〕1号）（以下简称“《办法》”）", {"办法": "节能办法"}),
        ("为做好全国碳排放权交易市场(简称“全国碳市场”)", {"全国碳市场": "全国碳排放权交易市场"}),
        ("第五条青川碳排放权交易中心（以下简称“交易中心”）", {"交易中心": "青川碳排放权交易中心"}),
        ("坚决遏制高耗能、高排放（以下简称“两高”）项目", {"两高": "高耗能、高排放"}),
        ("制定基本要求（试行，以下简称《要求》）", {"要求": "基本要求"}),
        ("健全以环境影响评价（以下简称环评）为主体的体系", {"环评": "环境影响评价"}),
        ("储能、碳捕集利用与封存（以下简称\"CCUS\"）等领域", {"CCUS": "碳捕集利用与封存"}),
        ("青川市“碳惠”平台（以下统称平台，名单见附件）", {"平台": "青川市“碳惠”平台"}),
        ("中国（云岭）自由贸易试验区（以下简称试验区）", {"试验区": "中国（云岭）自由贸易试验区"}),
        ("客运企业及货运企业（以下简称运企业）", {"运企业": "客运企业及货运企业"}),
        ("严格执行《节能方案》（下称《方案》）。", {"方案": "节能方案"}),
        ("《节能意见》《节能通知》（以下分别简称《意见》《通知》）", {}),  # references reads these
        ("市水利和湖泊局（称号另定）", {}),
    ],
)  # fmt: skip
def test_abbreviations_stand_for_what_begins_where_they_do(text, names):
    """The characters of the short name tell where the full one begins; verbs end before it."""
    assert abbreviations(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "通过上级主管部门或科技行政部门（以下简称局级单位）审核",
        "企业名单（简称企业名单）",
        "（以下简称本市）",
        "申请材料（详见附件）",
    ],
)
def test_abbreviations_leave_what_cannot_be_told(text):
    """Where the characters do not stand before it, or nothing does."""
    assert abbreviations(text) == {}


def test_abbreviations_keep_what_the_text_says_first():
    """A second document in one file does not change the first one's names."""
    text = "《甲规划》（以下简称《规划》）……\n《乙规划》（以下简称《规划》）"
    assert abbreviations(text) == {"规划": "甲规划"}
    assert [f.object for f in definitions(text)] == ["甲规划", "乙规划"]


def test_definitions_stand_where_they_are_stated():
    """From the full name to the bracket's end; from the article to the sentence's."""
    text = "为落实《节能\n方案》（以下简称《方案》），制定本办法。\n第二条碳汇是指森林的吸收量。"
    places = [text[f.start : f.end] for f in definitions(text)]
    assert places == ["节能\n方案》（以下简称《方案》）", "第二条碳汇是指森林的吸收量"]
    assert {f.qualifiers.kind for f in definitions(text)} == {"definition"}


@settings(max_examples=200)
@given(st.text(alphabet="甲乙碳汇是指以下简称：，。（）《》“”\n1.术语 定义\x00", max_size=120))
def test_definitions_never_raise_and_stand_in_the_text(text):
    """Half brackets, terms without meanings, NULs."""
    for found in definitions(text):
        assert 0 <= found.start < found.end <= len(text)
        assert found.subject
        assert found.object
