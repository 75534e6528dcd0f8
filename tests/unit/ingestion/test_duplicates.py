"""What is proposed as one, and what never is."""

import pytest

from kgrag.ids import entity_id, task_id
from kgrag.ingestion.duplicates import proposals
from kgrag.text.words import normalize_name
from kgrag.types import Entity


def entity(name, type_="measure"):
    return Entity(entity_id(name), name, type_)


def pairs(*entities, **how):
    return [(p.name, p.into) for p in proposals(entities, **how)]


def test_names_that_are_almost_alike_are_proposed_the_rarer_for_the_more_frequent():
    """The likest pairs come first."""
    found = pairs(
        (entity("绿色工厂创建行动"), 9),
        (entity("绿色工厂的创建行动计划"), 1),
        (entity("节水型城市建设"), 3),
    )
    assert found == [("绿色工厂的创建行动计划", "绿色工厂创建行动")]


@pytest.mark.parametrize(
    ("one", "other", "type_"),
    [
        ("新建建筑节能改造", "既有建筑节能改造", "measure"),
        ("“十三五”节能规划任务", "“十四五”节能规划任务", "measure"),
        ("四川省林业和草原局", "云南省林业和草原局", "agency"),
        ("中国人民银行兰州中心支行", "中国人民银行福州中心支行", "agency"),
        ("2025年达到500家", "2025年达到5000家", "value"),
        ("节水", "节电", "measure"),
        ("青川电站一期工程", "青川电站二期工程", "project"),
        ("超临界机组供电煤耗", "超超临界机组供电煤耗", "target"),
        ("以烟煤为原料的合成氨能效", "以褐煤为原料的合成氨能效", "target"),
        ("单位产品能耗上升幅度", "单位产品能耗下降幅度", "target"),
        ("青川市统计局信息中心", "青川市统计局", "agency"),
        ("碳达峰工作领导小组", "碳达峰工作领导小组办公室", "agency"),
        ("城市生活垃圾处理率", "县城生活垃圾处理率", "target"),
        ("对" * 41, "对" * 41 + "的", "measure"),
    ],
)
def test_what_differs_in_what_matters_is_never_proposed(one, other, type_):
    """Numbers, regions, other words, values; names too short to tell, and clauses."""
    assert pairs((entity(one, type_), 1), (entity(other, type_), 1)) == []


def test_pairs_that_a_person_kept_apart_are_left_out():
    """Whatever is alike in them."""
    names = ("绿色工厂创建行动", "绿色工厂创建行动计划")
    entities = [(entity(name), 1) for name in names]
    assert len(pairs(*entities)) == 1
    assert pairs(*entities, apart=[tuple(map(normalize_name, names))]) == []


def test_the_less_differs_the_likelier_it_is():
    """Marks and words that say nothing first; then what only one of them has."""
    found = proposals(
        [
            (entity("一般工业固体废弃物的综合利用"), 1),
            (entity("一般工业固体废物综合利用"), 2),
            (entity("差别化电价形成过程"), 1),
            (entity("差别电价形成过程"), 2),
        ]
    )
    assert [p.into for p in found] == ["一般工业固体废物综合利用", "差别电价形成过程"]
    assert found[0].likeness == 1.0 > found[1].likeness


def test_what_is_a_documents_own_has_no_other_name():
    """加强领导 is a task of every document, and none of them is another's."""
    tasks = [Entity(task_id("加强组织领导", node), "加强组织领导", "measure") for node in "ab"]
    assert pairs(*((task, 1) for task in tasks)) == []
