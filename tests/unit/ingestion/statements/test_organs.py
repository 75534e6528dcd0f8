import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.statements.organs import is_organ, organs


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("市发展改革委、市工信局、市财政局等", ["市发展改革委", "市工信局", "市财政局"]),
        ("工业和信息化部、住房和城乡建设部", ["工业和信息化部", "住房和城乡建设部"]),
        ("省农业农村厅和各区（县、市）人民政府", ["省农业农村厅", "各区（县、市）人民政府"]),
        ("林业和草原局与自然资源厅", ["林业和草原局", "自然资源厅"]),
        ("各市、县（市、区）人民政府", ["各市、县（市、区）人民政府"]),
        ("各省、自治区、直辖市人民政府", ["各省、自治区、直辖市人民政府"]),
        ("各级党委、政府", ["各级党委、政府"]),
        ("各区县党委和政府", ["各区县党委和政府"]),
        ("省发展改革委（能源局）、省科技厅", ["省发展改革委（能源局）", "省科技厅"]),
        ("发展改革、工业和信息化等部门", ["发展改革部门", "工业和信息化部门"]),
        ("青川供电公司，各区（市）县政府", ["青川供电公司", "各区（市）县政府"]),
        ("市财政局、有关部门", ["市财政局"]),
        ("市直各相关部门", []),
        ("市工信局、市工信局", ["市工信局"]),
        ("节能改造费用的10%给予补助", []),
        ("的钢铁、焦化项目企业", []),
        ("省工信厅、重点用能企业、相关上市公司", ["省工信厅"]),
        ("业主或物业公司、省电力公司", ["省电力公司"]),
    ],
)
def test_organs_of_a_list(text, names):
    """和 in a name joins nothing, brackets hold; 等, nobody and kinds of firms are left out."""
    assert organs(text) == names


@pytest.mark.parametrize("name", ["工业布局", "全部", "东部", "绿色工厂", "有关部门", "监测站"])
def test_is_organ_is_not_deceived_by_a_last_character(name):
    """布局 is no 局, 全部 no 部."""
    assert not is_organ(name)


@given(st.text(alphabet="市工信局和、（）等各县部门及", max_size=60))
def test_organs_never_raise(text):
    """Half brackets and joints without sides are names of nobody."""
    assert all(len(name) > 1 for name in organs(text))
