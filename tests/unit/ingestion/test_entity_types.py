"""Types told from names: of places, agencies, dates, values and what a name ends in."""

import pytest

from kgrag.ingestion.meta_model import read_meta_model
from kgrag.ingestion.resolve import UNTYPED, type_of, typed
from kgrag.types import Entity

NAMES = {
    "document": ["《节能条例》", "云岭省碳达峰实施方案", "青川市节能三年行动计划"],
    "region": ["云岭省", "成都", "内蒙古自治区", "阿坝藏族羌族自治州", "上海市徐汇区", "全国"],
    "agency": ["云岭省生态环境厅", "市发展改革委", "工业和信息化部", "人民政府", "排放单位"],
    "deadline": ["2025年底", "2021年9月12日", "２０２５年前", "2024至2025年", "“十四五”期间"],
    "value": ["96%", "2025年达到500家以上", "不少于五个工作日", "费用的50%", "比2020年下降13.5%"],
    "target": ["森林覆盖率", "绿色建筑占比", "碳排放总量"],
    "standard": ["污染物排放标准", "设计规范"],
    "project": ["造林工程", "国家级示范基地"],
    "technology": ["储能技术", "充电设施"],
    "industry": ["钢铁行业", "建筑业"],
    "measure": ["节能改造", "碳交易机制"],
    UNTYPED: ["国发〔2021〕33号", "格局", "内部", "中心城区", "保护区", "就业", "统一", "第三方"],
}  # fmt: skip


@pytest.mark.parametrize(("type_", "name"), [(t, n) for t, names in NAMES.items() for n in names])
def test_a_name_tells_its_type(type_, name):
    """Where it tells none, nothing is said."""
    assert type_of(name) == type_


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("低于293克标准煤/千瓦时", "value"),
        ("为1520千克标准煤/吨", "value"),
        ("不超过0.6—1.2万人/平方公里", "value"),
        ("2025年达到80万吨/日左右", "value"),
        ("15万吨/日污水处理厂", UNTYPED),
        ("铁路/公路", UNTYPED),
        ("达到" * 10_000 + "/吨", UNTYPED),
    ],
)
def test_so_much_of_one_thing_for_each_of_another_is_a_value(name, type_):
    """The unit names both; what goes on behind it is a thing."""
    assert type_of(name) == type_


def test_types_are_those_of_the_meta_model():
    """What rules and models call a thing must be one word, but for documents."""
    keys = {t.key for t in read_meta_model("dual-carbon").types}
    assert NAMES.keys() - {"document", UNTYPED} <= keys


def test_a_type_that_was_given_stays_and_so_does_the_id():
    """A model that was asked for types knows better than a rule."""
    assert typed(Entity("e-1", "云岭省", "agency")) == Entity("e-1", "云岭省", "agency")
    assert typed(Entity("e-1", "云岭省")) == Entity("e-1", "云岭省", "region")
