"""Typed nodes and relationships on a real Neo4j: decisions, bases, constraints, older graphs."""

import logging
from contextlib import closing

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.metadata import Metadata
from kgrag.store.decisions import Decision
from kgrag.store.graph_query import GraphQuery, Step
from kgrag.store.neo4j.store import Neo4jStore
from tests.fixtures.typed_documents import cited_document, typed_document

POLICY = """云岭省人民政府办公厅关于推进工业节能的实施意见

云政办发〔2022〕5号

各市人民政府：

根据《云岭省节能规划》，制定本意见。

一、主要目标

到2025年，全省森林覆盖率达到24%以上，建成绿色工厂500家。

二、重点任务

1．推进工业节能。实施改造。（省工业和信息化厅牵头，省财政厅等按职责分工负责）

云岭省人民政府办公厅
2022年3月5日
"""
STATES = Step(relation="states")
# All that there is of the typed graph, as rows that compare.
TYPED = (
    "MATCH (n:Target|Duty|Organ|Region) RETURN labels(n) AS labels, properties(n) AS properties",
    "MATCH (a)-[r:STATES|OF|APPLIES_TO|ASSIGNS|ASSIGNED_TO|ISSUED_BY|BASED_ON|IMPLEMENTS|AMENDS"
    "|REPEALS|FORWARDS|ISSUES|REFERS_TO]->(b) "
    "RETURN a.id AS a, type(r) AS type, properties(r) AS properties, b.id AS b",
)


@pytest.fixture
def store(empty_neo4j):
    """A store with a document of every kind of statement, and the one that it is based on."""
    with closing(Neo4jStore.open(empty_neo4j)) as store:
        yield store


def fill(store, make):
    for bundle in (typed_document(make), cited_document(make)):
        store.upsert_document(bundle, source=f"/archive/{bundle.document.file}")


def seen(session):
    """Return the typed graph."""
    return [sorted(repr(sorted(r.data().items())) for r in session.run(text)) for text in TYPED]


def issued(session, doc_id="d-a"):
    return session.run(
        "MATCH (:Document {id: $id})-[r:ISSUED_BY]->(o:Organ) RETURN o.name ORDER BY r.index",
        id=doc_id,
    ).value()


def test_captions_can_be_read(store, session, make):
    """Indicator, sign, value with its unit, year and whether it is planned."""
    fill(store, make)
    captions = session.run("MATCH (t:Target) RETURN t.caption").value()
    assert sorted(c.replace("\u2002", " ") for c in captions) == [
        "森林覆盖率 ≥ 24 % （2025年，规划）",
        "森林覆盖率 提高约 24 % （2030年，规划）",
        "绿色工厂 500–600 家 （十四五，完成）",
    ]
    assert set(session.run("MATCH (n:Duty|Organ|Region) RETURN n.caption").value()) >= {"云岭省"}


def test_places_lie_in_their_province(store, session, make):
    """A city that no list knows lies in the document's; a national document is for the country."""
    fill(store, make)
    national = typed_document(make, "n", metadata=Metadata(level="国家", issuers=("国务院",)))
    store.upsert_document(national, source="/archive/n.txt")
    rows = session.run(
        "MATCH (r:Region) RETURN r.name, r.province, r.level, r.path ORDER BY r.name, r.province"
    )
    assert [row.values() for row in rows] == [
        ["云岭省", "云岭省", "省", ["云岭省"]],
        ["全国", None, "国家", ["全国"]],
        ["青川市", "云岭省", "市", ["云岭省", "青川市"]],
        ["青川市", None, "市", ["青川市"]],
    ]


def test_a_decision_on_names_leads_to_other_organs(store, session, make):
    """At once, also where only what a document says of itself names the organ."""
    fill(store, make)
    merge = Decision("merge", "云岭省能源局", "云岭省发展和改革委员会")
    store.decide(decisions=[merge])
    assert issued(session) == ["云岭省人民政府", "云岭省发展和改革委员会"]
    assert store.verify() == []
    assert session.run("MATCH (o:Organ {name: '云岭省能源局'}) RETURN count(o)").value() == [0]
    store.upsert_document(typed_document(make, "c"), source="/archive/c.txt")
    assert issued(session, "d-c") == ["云岭省人民政府", "云岭省发展和改革委员会"]
    store.decide(taken_back=[merge])
    assert issued(session) == issued(session, "d-c") == ["云岭省人民政府", "云岭省能源局"]
    assert store.verify() == []


def test_a_name_that_most_give_is_shown(store, session, make):
    """Spellings that differ in width alone are one organ."""
    for name, issuer in (
        ("a", "ABC公司"),
        ("b", "ＡＢＣ公司"),
        ("c", "ＡＢＣ公司"),
    ):
        bundle = typed_document(make, name, metadata=Metadata(issuers=(issuer,)))
        store.upsert_document(bundle, source=f"/archive/{name}.txt")
        assert store.verify() == []
    organs = "MATCH (:Document)-[:ISSUED_BY]->(o:Organ) RETURN DISTINCT o.name"
    assert session.run(organs).value() == ["ＡＢＣ公司"]
    store.delete_document("d-c")
    assert session.run(organs).value() == ["ABC公司"]
    assert store.verify() == []


def test_an_organ_of_no_told_place_is_the_document_s_own(store, session, make):
    """省林业局 of two documents is not one organ."""
    for name in "ab":
        metadata = Metadata(issuers=("省林业局",))
        bundle = typed_document(make, name, title=f"第{name}号", metadata=metadata)
        store.upsert_document(bundle, source=f"/archive/{name}.txt")
    assert [issued(session, f"d-{name}") for name in "ab"] == [
        ["省林业局（第a号）"],
        ["省林业局（第b号）"],
    ]
    assert store.verify() == []


def test_what_a_person_corrects_is_seen_at_once(empty_neo4j, session, tmp_path):
    """Issuers and regions of `correct`; organs of `merge` and `split`."""
    (tmp_path / "a.txt").write_text(POLICY, "utf-8")
    with KnowledgeBase.open(empty_neo4j, create=True, embedder=HashEmbedder()) as kb:
        kb.ingest([tmp_path])
        (card,) = kb.store.document_cards()
        doc_id = card.doc_id
        assert issued(session, doc_id) == ["云岭省人民政府办公厅"]
        targets = "MATCH (t:Target)-[:APPLIES_TO]->(r:Region) RETURN DISTINCT r.name"
        assert session.run(targets).value() == ["云岭省"]
        assert session.run("MATCH ()-[:BASED_ON]->(e:Entity) RETURN e.name").value() == [
            "云岭省节能规划"
        ]
        led = "MATCH (:Duty)-[:ASSIGNED_TO {role: '牵头'}]->(o:Organ) RETURN o.name"
        assert session.run(led).value() == ["云岭省工业和信息化厅"]

        kb.curator().correct(doc_id, {"issuer": "湖南省能源局", "region": "湖南省"})
        assert issued(session, doc_id) == ["湖南省能源局"]
        assert session.run(targets).value() == ["湖南省"]
        assert session.run("MATCH (r:Region) RETURN r.name").value() == ["湖南省"]
        assert session.run(led).value() == ["湖南省工业和信息化厅"]
        kb.curator().reset(doc_id)

        kb.curator().merge(["云岭省工业和信息化厅"], "云岭省工业厅")
        assert session.run(led).value() == ["云岭省工业厅"]
        kb.curator().split("云岭省工业和信息化厅", "云岭省工业厅")
        assert session.run(led).value() == ["云岭省工业和信息化厅"]
        assert kb.store.verify() == []


def test_a_document_that_is_stored_again_has_its_typed_graph_again(store, session, make):
    """The remedy that `verify` names."""
    fill(store, make)
    whole = seen(session)
    session.run("MATCH (t:Target) SET t.value = 7.0").consume()
    session.run("MATCH ()-[r:ISSUED_BY|BASED_ON]->() DELETE r").consume()
    assert {p.invariant for p in store.verify()} >= {
        "statement-follows-facts",
        "link-follows-facts",
    }
    fill(store, make)
    assert store.verify() == []
    assert seen(session) == whole


def test_a_constraint_on_target_of_another_program_hides_ours(
    store, session, make, empty_neo4j, caplog
):
    """Neither refuses what the other stores; without it the label comes back."""
    session.run("CREATE CONSTRAINT theirs FOR (n:Target) REQUIRE n.unit IS UNIQUE").consume()
    session.run("CREATE (:Target {unit: '%'}), (:Organ {name: '云岭省能源局'})").consume()
    with caplog.at_level(logging.WARNING):
        fill(store, make)
    assert "another program has a constraint on Target" in caplog.text
    counted = session.run("MATCH (t:KgragTarget) RETURN t:Target AS is").value()
    assert counted == [False] * 3
    assert store.count_foreign() == 2
    assert store.verify() == []
    session.run("DROP CONSTRAINT theirs").consume()
    with closing(Neo4jStore.open(empty_neo4j)) as opened:
        assert session.run("MATCH (t:KgragTarget) RETURN t:Target AS is").value() == [True] * 3
        assert opened.count_foreign() == 2


def test_bases_of_one_database_keep_apart(empty_neo4j, session, make):
    """Their nodes have labels of their own, and no relationship leads from one to another."""
    places = [empty_neo4j, f"{empty_neo4j}#energy"]
    for place in places:
        with closing(Neo4jStore.open(place)) as store:
            fill(store, make)
    with closing(Neo4jStore.open(places[1], create=False)) as store:
        found = store.graph_rows(GraphQuery(start="document", step=(STATES,)), most=9)
        assert len(found.rows) == 3
        assert len(store.run_query(found.statement, max_rows=9, timeout_s=5.0)) == 3
        assert store.verify() == []
    crossing = session.run(
        "MATCH (a)-[r]->(b) WITH r, [l IN labels(a) WHERE l ENDS WITH '_energy'] AS one,"
        " [l IN labels(b) WHERE l ENDS WITH '_energy'] AS other"
        " WHERE (size(one) > 0) <> (size(other) > 0) RETURN type(r)"
    ).value()
    assert crossing == []
    with closing(Neo4jStore.open(places[1])) as store:
        store.delete_document("d-a")
        store.delete_document("d-b")
    assert session.run("MATCH (t:Target) RETURN count(t)").value() == [3]
    with closing(Neo4jStore.open(places[0])) as store:
        assert store.verify() == []
