"""What is proposed as one, and what never is."""

import pytest

from kgrag.ids import entity_id
from kgrag.ingestion.duplicates import proposals
from kgrag.language.text import normalize_name
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
    ],
)
def test_what_differs_in_what_matters_is_never_proposed(one, other, type_):
    """Numbers, regions, opposed words, values; and names too short to tell."""
    assert pairs((entity(one, type_), 1), (entity(other, type_), 1)) == []


def test_pairs_that_a_person_kept_apart_are_left_out():
    """Whatever is alike in them."""
    names = ("绿色工厂创建行动", "绿色工厂创建行动计划")
    entities = [(entity(name), 1) for name in names]
    assert len(pairs(*entities)) == 1
    assert pairs(*entities, apart=[tuple(map(normalize_name, names))]) == []
