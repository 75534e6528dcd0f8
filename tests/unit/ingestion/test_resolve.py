"""One resolver for the names of rules, imports and models; what may be one; types by name."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ids import entity_id, task_id
from kgrag.ingestion.duplicates import proposals
from kgrag.ingestion.meta_model import read_meta_model
from kgrag.ingestion.resolve import UNTYPED, document_node, name_resolver, type_of, typed
from kgrag.ingestion.statements.finding import SELF
from kgrag.metadata import Metadata
from kgrag.store.decisions import DecidedNames, Decision
from kgrag.text.words import normalize_name
from kgrag.types import Document, Entity

SICHUAN = ("四川省",)
CHENGDU = ("四川省", "成都市")


def document(title="节能规划", *, regions=CHENGDU, issuers=(), notice="", level=""):
    metadata = Metadata(regions=regions, issuers=issuers, notice=notice, level=level)
    return Document("d", title, "", "d.txt", "txt", "00", metadata=metadata)


def resolve(name, type_="", *, abbreviations=None, decisions=None, **about):
    resolver = name_resolver(document(**about), abbreviations=abbreviations, decisions=decisions)
    return resolver.entity(name, type_)


def test_an_organ_of_no_known_place_is_the_regions_own():
    """市林业局 of a province's document is any of its cities', and never another province's."""
    here, _ = resolve("市林业局", regions=SICHUAN)
    there, _ = resolve("市林业局", regions=("云南省",))
    assert here.name == "市林业局（四川省）"
    assert here.entity_id != there.entity_id
    assert here.type == "agency"


@pytest.mark.parametrize("name", [SELF, "本规划", "节能规划", "《节能规划》", "本文件"])
def test_what_a_document_calls_itself_is_its_node(name):
    """So that what it says of itself hangs on one node."""
    assert resolve(name)[0] == document_node(document())


def test_the_notice_that_covers_a_document_is_the_document():
    """Facts about the notice are the document's."""
    notice = "云岭省人民政府关于印发《节能规划》的通知"
    assert resolve(notice, notice=notice)[0] == document_node(document(notice=notice))


def test_documents_of_one_name_by_several_issuers_are_several():
    """Provinces give their plans the same name."""
    of = [document_node(document(issuers=(issuer,))) for issuer in ("甲省人民政府", "乙省人民政府")]
    by_region = [document_node(document(regions=r)) for r in (("甲省",), ("乙省",))]
    assert len({node.entity_id for node in (*of, *by_region)}) == 4
    assert {node.name for node in of} == {"节能规划"}


def test_a_stop_word_that_the_document_explains_is_no_stop_word():
    """本地区 names nothing elsewhere; here it is the region."""
    resolver = name_resolver(document())
    assert not resolver.names_nothing("本地区")
    assert resolver.names_nothing("有关部门")
    assert not resolver.names_nothing("绿色工厂")


def test_a_persons_decision_comes_last():
    """A merger holds for what the rules make of a name, and a split for what is written."""
    decisions = DecidedNames.of(
        [
            Decision("merge", "成都市经济和信息化局", "成都市工业和信息化局"),
            Decision("split", "市发改委", "成都市发展和改革委员会"),
        ]
    )
    assert resolve("市经信局", decisions=decisions)[0].name == "成都市工业和信息化局"
    assert resolve("市发改委", decisions=decisions)[0].name == "市发改委（成都市）"


def test_mergers_that_lead_in_a_circle_end():
    """Two people may decide the opposite."""
    decisions = DecidedNames.of(
        [Decision("merge", "甲方", "乙方"), Decision("merge", "乙方", "甲方")]
    )
    assert resolve("甲方", decisions=decisions)[0].name in ("甲方", "乙方")


@given(st.text(min_size=1).filter(str.strip))
def test_resolving_again_changes_nothing(name):
    """What is stored is resolved anew at each ingest."""
    entity, _ = resolve(name)
    again, written = resolve(entity.name, entity.type)
    assert (again.entity_id, written) == (entity.entity_id, "")


def test_an_indicator_has_one_name_without_its_place():
    """Decisions of a person on either name hold; unless a value is stated, a source is a source."""
    assert resolve("全省万元GDP能耗")[0].name == "单位GDP能耗"
    assert resolve("四川省森林覆盖率", regions=())[0].name == "森林覆盖率"
    resolver = name_resolver(document())
    assert resolver.place("全省万元GDP能耗") == "四川省"
    assert resolver.entity("风电", unit="千瓦")[0].name == "风电装机容量"
    assert resolver.entity("风电")[0].name == "风电"


def test_decisions_on_the_names_of_indicators_hold():
    """Also those that were made when the name had its place still."""
    older = DecidedNames.of([Decision("merge", "四川省森林覆盖率", "全川森林覆盖率")])
    assert resolve("全省森林覆盖率", decisions=older)[0].name == "全川森林覆盖率"
    newer = DecidedNames.of([Decision("merge", "单位GDP能耗", "单位地区生产总值能耗")])
    for name in ("万元GDP能耗", "单位地区生产总值能耗"):
        assert resolve(name, decisions=newer)[0].name == "单位地区生产总值能耗"
    apart = DecidedNames.of([Decision("split", "万元GDP能耗", "单位GDP能耗")])
    assert resolve("万元GDP能耗", decisions=apart)[0].name == "万元GDP能耗"
    placed = DecidedNames.of([Decision("split", "全省森林覆盖率", "四川省森林覆盖率")])
    assert resolve("全省森林覆盖率", decisions=placed)[0].name == "全省森林覆盖率"


def test_a_task_is_its_documents():
    """Every plan has its 加强组织领导, under that name."""
    here, there = (name_resolver(document(title)) for title in ("节能规划", "节水规划"))
    one, other = here.task("加强组织领导")[0], there.task("加强组织领导")[0]
    assert (one.name, one.type) == (other.name, other.type) == ("加强组织领导", "measure")
    assert one.entity_id != other.entity_id
    assert here.task("市林业局")[0] == here.entity("市林业局")[0]


def test_a_document_may_be_called_by_its_title_cut_short():
    """Where a model says so; a title that the text quotes is another document's."""
    title = "成都市加快建立健全绿色低碳循环发展经济体系实施方案"
    short = "成都市绿色低碳循环发展经济体系实施方案"
    resolver = name_resolver(document(title))
    assert resolver.entity(short, loosely=True) == (resolver.document, short)
    assert resolver.entity(short)[0] != resolver.document
    quoting = replace(document(title), text=f"落实《{short}》。")
    assert name_resolver(quoting).entity(short, loosely=True)[0].name == short


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


def test_types_are_those_of_the_meta_model():
    """What rules and models call a thing must be one word, but for documents."""
    keys = {t.key for t in read_meta_model("dual-carbon").types}
    told = "region agency deadline value target standard project technology industry measure"
    assert {*told.split()} <= keys


def test_an_endless_name_tells_no_type():
    """It is looked at once."""
    assert type_of("达到" * 1_000 + "/吨") == UNTYPED


def test_a_type_that_was_given_stays_and_so_does_the_id():
    """A model that was asked for types knows better than a rule."""
    assert typed(Entity("e-1", "云岭省", "agency")) == Entity("e-1", "云岭省", "agency")
    assert typed(Entity("e-1", "云岭省")) == Entity("e-1", "云岭省", "region")
