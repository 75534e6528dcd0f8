"""What is proposed as one, and what never is."""

from kgrag.ids import entity_id, task_id
from kgrag.ingestion.duplicates import proposals
from kgrag.text.words import normalize_name
from kgrag.types import Entity


def entity(name, type_="measure"):
    return Entity(entity_id(name), name, type_)


def pairs(*entities, **how):
    return [(p.name, p.into) for p in proposals(entities, **how)]


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
