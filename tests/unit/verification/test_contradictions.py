"""Figures, years, agencies and modality that a cited text says otherwise."""

import pytest

from kgrag.verification.contradictions import contradictions

TEXT = (
    "云岭省绿色办法\n到2025年，非化石能源消费比重达到20%，森林覆盖率达到25%。\n"
    "到2030年，非化石能源消费比重达到26%，风电装机容量达到500万千瓦。\n"
    "单位生产总值能耗比2020年下降13.5%。\n建成一批示范园区，光伏装机容量达到800万千瓦。\n"
    "推广高效节能电机。（责任单位：市工信局）\n建设充电基础设施网络。（责任单位：市住建局）\n"
    "未取得许可的企业不得开展碳排放核查业务。\n符合条件的企业可以申请延期履约清缴。\n"
    "重点排放单位应当按时报送监测计划。\n严禁新建超高能耗、过度亮化的灯光工程。"
)


@pytest.mark.parametrize(
    ("claim", "contrary"),
    [
        ("非化石能源消费比重达到25%", ("25%",)),
        ("森林覆盖率20%，非化石能源消费比重25%", ("20%", "25%")),
        ("风电装机容量为800万千瓦", ("800万千瓦",)),
        ("2030年非化石能源消费比重为20%", ("2030年",)),
        ("到2030年，森林覆盖率达到25%", ("2030年",)),
        ("单位生产总值能耗比2015年下降13.5%", ("2015年",)),
        ("市住建局负责推广高效节能电机", ("市住建局",)),
        ("未取得许可的企业可以开展碳排放核查业务", ("可以",)),
        ("符合条件的企业不得申请延期履约清缴", ("不得",)),
        ("重点排放单位可以按时报送监测计划", ("可以",)),
    ],
)
def test_what_a_text_says_of_something_else_is_contrary(claim, contrary):
    """All of it stands somewhere in the text: only what it is told of is wrong."""
    assert contradictions(claim, TEXT) == contrary


@pytest.mark.parametrize(
    "claim",
    [
        "2025年非化石能源消费比重为20%，森林覆盖率为25%",
        "非化石能源消费占比由20%升至26%",
        "2030年风电装机达500万千瓦",
        "单位生产总值能耗较2020年降低13.5%",
        "市工信局负责推广高效节能电机",
        "由市住建局建设充电网络",
        "企业未取得许可的，不得从事核查业务",
        "符合条件的，可以申请延期清缴",
        "重点排放单位必须报送监测计划",
        "超高能耗、过度亮化的灯光工程禁止新建",
        "The share of forests is 25 %.",
        "绿色工厂达到300家",
        "20%",
    ],
)
def test_what_a_text_says_is_not_contrary(claim):
    """In other words, with a part of it, or of nothing that stands there."""
    assert contradictions(claim, TEXT) == ()


ROLES = (
    "推进工业节能改造。（市工信局牵头，市财政局、市科技局配合）\n"
    "建设充电基础设施网络。（牵头单位：市住建局；配合单位：市工信局、市交通局）\n"
    "由市林业局牵头开展国土绿化行动，市水利局配合。\n相关部门要密切配合。"
)


@pytest.mark.parametrize(
    ("claim", "contrary"),
    [
        ("推进工业节能改造由市工信局配合", ("市工信局配合",)),
        ("推进工业节能改造由市工信局牵头，市财政局配合", ()),
        ("市财政局牵头推进工业节能改造", ("市财政局牵头",)),
        (
            "建设充电基础设施网络：牵头单位：市交通局；配合单位：市住建局",
            ("市交通局牵头", "市住建局配合"),
        ),
        ("建设充电基础设施网络，市住建局牵头，市工信局配合", ()),  # which leads elsewhere
        ("国土绿化行动由市水利局牵头", ("市水利局牵头",)),
        ("国土绿化行动由市水利局负责", ()),
        ("国土绿化行动由市卫健局牵头", ()),  # not named there: another check's
    ],
)
def test_who_leads_in_a_text_does_not_help(claim, contrary):
    """Roles are compared where the text is most like the claim."""
    assert contradictions(claim, ROLES) == contrary


def test_figures_told_in_order_are_left_alone():
    """分别 pairs them in a way that no rule here reads."""
    assert contradictions("森林覆盖率、非化石能源消费比重分别为25%、20%", TEXT) == ()
