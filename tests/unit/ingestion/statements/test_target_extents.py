"""An indicator that is a bare head noun takes what its sentence says it is of."""

import pytest

from kgrag.ingestion.statements.targets import targets


def _named(text: str) -> list[tuple[str, str]]:
    return [(f.subject, f.qualifiers.value) for f in targets(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("到2025年，新建林木苗圃6处，面积80公顷。", ("林木苗圃面积", "80")),
        ("到2025年，建成污水处理厂9座，处理能力达到30万吨/日。", ("污水处理厂处理能力", "300000")),
        (
            "到2025年，屋顶光伏发电项目达到40个，总装机容量9万千瓦。",
            ("屋顶光伏发电项目总装机容量", "90000"),
        ),
    ],
)
def test_counted_things_lend_their_name(text: str, expected: tuple[str, str]):
    """What the clause before counts is what an area or a capacity is of."""
    assert _named(text)[1] == expected


def test_clause_without_a_number_lends_its_object():
    """推进X, 利用率: the rate is X's, and words that both have are said once."""
    text = "大力推进园林枝条资源化利用，利用率达到92%以上。"
    assert _named(text) == [("园林枝条资源化利用率", "92")]
    assert _named("建设白鹭洲湿地，恢复湿地面积30公顷。") == [("白鹭洲湿地面积", "30")]


def test_count_without_a_verb_lends_its_noun():
    """主要水库4座,总库容: what is counted need be no target itself."""
    text = "2020年，主要水库4座，总库容1.5亿立方米。全市已认定120个，占比31%。"
    assert ("水库总库容", "150000000") in _named(text)
    assert ("占比", "31") in _named(text)


def test_entry_of_a_list_lends_its_project():
    """1、某项目:…,总投资: the project before the colon is what an investment is of."""
    text = "2、北坡风电项目：单位造价按每千瓦成本计算，总投资约12亿元。"
    assert _named(text) == [("北坡风电项目总投资", "1200000000")]
    assert _named("健全水质监测网络，投资80万元。") == [("水质监测网络投资", "800000")]


def test_indicator_before_lends_what_it_is_of():
    """绿化覆盖面积…、覆盖率: of the same; a value's sum grows and has a size."""
    text = "2020年，建成区绿地面积60公顷、覆盖率31%。"
    assert _named(text)[1] == ("建成区绿地覆盖率", "31")
    text = "“十三五”期间，全县林业总产值年均增长6.1%，2020年总规模达48亿元。"
    assert _named(text)[1] == ("林业总产值总规模", "4800000000")


def test_investments_are_of_the_work_that_opened_the_sentence():
    """Investments are told in a row, with a share done between them, also behind a semicolon."""
    text = (
        "青石水库加固工程总投资900万元，已完成投资600万元，投资完成率66.7%；"
        "2020年计划完成投资300万元。"
    )
    assert [name for name, value in _named(text) if value in ("6000000", "3000000")] == [
        "青石水库加固工程投资",
        "青石水库加固工程投资",
    ]


def test_indicator_that_says_of_what_stays_as_it_is():
    """A name with words of its own takes none from before."""
    text = "到2025年，新建苗圃6处，森林覆盖率达到39%。"
    assert _named(text)[1] == ("森林覆盖率", "39")


def test_bare_head_stays_behind_another_sentence():
    """Nothing is lent across the end of a sentence."""
    assert _named("新建苗圃6处。到2025年，总面积达到80公顷。")[1] == ("总面积", "80")


def test_work_of_a_lists_last_item_is_done_to_all():
    """完成甲3个、乙5辆的X治理: what is done to the last is done to those before."""
    text = "完成12个油库、4个码头、约30辆槽车的油气回收治理。"
    assert _named(text) == [
        ("油库的油气回收治理", "12"),
        ("码头的油气回收治理", "4"),
        ("槽车的油气回收治理", "30"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "开展安全法规宣讲120余场次，开放3家科普场馆。",
            [("安全法规宣讲", "120"), ("科普场馆", "3")],
        ),
        ("改建、扩建及改造供水站14处。", [("供水站", "14")]),
        ("开展白沙受损堤岸8.5公里生态修复工程。", [("白沙受损堤岸生态修复工程", "8.5")]),
        (
            "集中清查1350家用煤企业，210家用煤企业录入县级监管平台。",
            [("用煤企业", "1350"), ("用煤企业录入县级监管平台", "210")],
        ),
        ("实施集水面积50平方公里小河治理项目。", []),
    ],
)
def test_results_that_are_counted(text: str, expected: list[tuple[str, str]]):
    """What was opened, examined, rebuilt or entered, so many times or so long."""
    assert _named(text) == expected


def test_levels_of_a_standard_are_no_values():
    """标杆水平 and 基准水平 say what a standard asks, not what somebody has or is to reach."""
    assert _named("水泥熟料工艺能效标杆水平为100千克标准煤/吨，基准水平为117千克标准煤/吨。") == []
    assert _named("到2025年，能效标杆水平以上的产能比例达到30%。") != []
