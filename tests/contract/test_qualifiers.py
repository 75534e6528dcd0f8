"""What documents say of themselves, and add to a triple, comes back wherever it is asked for."""

import json
from dataclasses import replace

import pytest

from kgrag.ids import document_node_id
from kgrag.metadata import Metadata
from kgrag.qualifiers import NONE, Qualifiers
from kgrag.store.graph import CountedEntity, Statement, Triple
from kgrag.types import Entity

TEXT = "根据《节能规划》（云政发〔2021〕3号），绿色工厂2025年达到500家，2030年达到500家。"
METADATA = Metadata(
    issuers=("云岭省人民政府", "云岭省发展和改革委员会"),
    number="云政发〔2022〕5号",
    written="2022-03-01",
    issued="2022-03-05",
    effective="2022-04",
    expires="2027",
    kind="实施方案",
    level="省",
    regions=("云岭省", "青川市"),
    recipients=("各市人民政府",),
    status=("试行",),
    notice="关于印发《节能方案》的通知",
)
CITED = Qualifiers("reference", object="节能规划", role="依据", number="云政发〔2021〕3号")
FIRST = Qualifiers("target", value="500", unit="家", comparator="=", year="2025")
SECOND = replace(FIRST, year="2030")


def qualified_bundle(make, name="a", **changes):
    bundle = make.bundle(name, TEXT, title="云岭省人民政府关于印发《节能方案》的通知")
    doc_id = bundle.document.doc_id
    node = Entity(document_node_id("节能规划", "云岭省人民政府"), "云岭省节能规划", "document")
    cited = make.qualified(doc_id, TEXT, ("绿色工厂", "依据", node), CITED, place="节能规划")
    first = make.qualified(doc_id, TEXT, ("绿色工厂", "目标为", "500家"), FIRST)
    (spot,) = first.evidence
    both = replace(first, evidence=(spot, replace(spot, qualifiers=SECOND)))
    mention = make.mention(doc_id, TEXT, "云政发")
    spot = replace(mention.evidence, qualifiers=Qualifiers(number="云政发〔2021〕3号"))
    return replace(
        bundle,
        document=replace(bundle.document, metadata=METADATA, **changes),
        facts=[cited, both],
        mentions=[replace(mention, evidence=spot)],
    )


def test_metadata_come_back(store, make):
    """With the text and without; a document that says nothing has none."""
    bundle = qualified_bundle(make)
    store.upsert_document(bundle, source="/a.txt")
    store.upsert_document(make.bundle("b", TEXT), source="/b.txt")

    for read in (store.documents, store.document_cards):
        told, silent = read(["d-a", "d-b"])
        assert (told.metadata, silent.metadata) == (METADATA, Metadata())
        assert told.properties == bundle.document.properties
    assert store.verify() == []


def test_qualifiers_come_back_wherever_evidence_does(store, make):
    """Two statements of one place that differ in their qualifiers alone are two."""
    bundle = qualified_bundle(make)
    store.upsert_document(bundle, source="/a.txt")
    cited, both = bundle.facts
    by_id = {f.fact_id: [e.qualifiers for e in f.evidence] for f in bundle.facts}
    wanted = {cited.fact_id: [CITED], both.fact_id: [FIRST, SECOND]}
    assert by_id == wanted

    entity = make.entity("绿色工厂").entity_id
    chunks = [e.chunk_id for f in bundle.facts for e in f.evidence]
    held = store.bundle("d-a")
    for facts in (
        store.facts(list(wanted)),
        store.facts_around([entity], limit=9),
        store.facts_of_chunks(chunks),
        store.knowledge_of("d-a")[0],
        held.facts,
    ):
        assert {f.fact_id: [e.qualifiers for e in f.evidence] for f in facts} == wanted
    for mentions in (store.knowledge_of("d-a")[1], held.mentions):
        assert list(mentions) == list(bundle.mentions)
    assert store.verify() == []


def test_an_export_tells_metadata_and_qualifiers(store, make):
    """Sparse: what is not told is not there."""
    store.upsert_document(qualified_bundle(make), source="/a.txt")
    store.upsert_document(make.bundle("b", TEXT, mentions=["绿色"]), source="/b.txt")
    lines = [json.loads(json.dumps(record)) for record in store.export()]

    documents = [r["metadata"] for r in lines if r["record"] == "document"]
    assert documents == [METADATA.to_record(), {}]
    told = [r["qualifiers"] for r in lines if r["record"] == "evidence"]
    assert sorted(told, key=str) == sorted((q.to_record() for q in (CITED, FIRST, SECOND)), key=str)
    assert {"number": "云政发〔2021〕3号"} in [r.get("qualifiers") for r in lines]
    assert {} in [r["qualifiers"] for r in lines if r["record"] == "mention"]


def test_evidence_that_is_added_keeps_its_qualifiers(store, make):
    """And again adds nothing."""
    store.upsert_document(make.bundle("a", TEXT), source="/a.txt")
    bundle = qualified_bundle(make)
    for _ in range(2):
        store.add_knowledge("d-a", facts=bundle.facts, mentions=bundle.mentions)
        assert {e.qualifiers for f in store.knowledge_of("d-a")[0] for e in f.evidence} == {
            CITED,
            FIRST,
            SECOND,
        }
        counter = store.change_counter()
    assert store.change_counter() == counter


def test_an_entity_may_have_names_that_are_not_alike(store, make):
    """Its id is what is given; it is found under the name that it is shown by."""
    organ = Entity("e-organ", "生态环境部", "agency")
    alias = replace(organ, name="环境保护部")
    text = "环境保护部与生态环境部负责监督。"
    for name, entity in (("a", organ), ("b", alias), ("c", alias)):
        bundle = make.bundle(name, text)
        doc_id = bundle.document.doc_id
        fact = make.fact(doc_id, text, (entity, "负责", "监督"))
        store.upsert_document(replace(bundle, facts=[fact]), source=f"/{name}.txt")
    assert store.find_entities(["环境保护部"]) == [alias]
    assert store.find_entities(["生态环境部"]) == []
    assert store.verify() == []

    store.delete_document("d-c")
    assert store.find_entities(["环境保护部"]) == [alias]
    store.delete_document("d-b")
    assert store.find_entities(["生态环境部"]) == [organ]
    assert [entity_id for entity_id, _ in store.search_entities("生态环境", top_k=3)] == ["e-organ"]
    assert store.search_entities("环境保护部", top_k=1) != [("e-organ", 1.0)]
    assert store.verify() == []


def test_entities_are_told_with_the_documents_that_name_them(store, make):
    """In facts or without."""
    store.upsert_document(qualified_bundle(make), source="/a.txt")
    store.upsert_document(make.bundle("b", TEXT, mentions=["绿色工厂"]), source="/b.txt")
    plant, number = make.entity("绿色工厂").entity_id, make.entity("云政发").entity_id

    assert store.entity_uses([number, plant, "e-x"]) == {plant: ["d-a", "d-b"], number: ["d-a"]}
    assert store.entity_uses([]) == {}


def test_entities_come_in_pages(store, make):
    """Each once, with the number of its facts."""
    store.upsert_document(qualified_bundle(make), source="/a.txt")
    pages: list[CountedEntity] = []
    while page := store.entity_page(after=pages[-1].entity.entity_id if pages else "", limit=3):
        assert len(page) <= 3
        pages += page
    found = [counted.entity for counted in pages]

    assert found == sorted(found, key=lambda e: e.entity_id)
    assert {e.name for e in found} == {"绿色工厂", "500家", "云岭省节能规划", "云政发"}
    degrees = store.entity_degrees([e.entity_id for e in found])
    assert {c.entity.entity_id: c.facts for c in pages} == degrees
    assert store.entity_page(limit=0) == []


@pytest.mark.parametrize("kind", ["reference", "target", "duty"])
@pytest.mark.parametrize("doc_ids", [None, ["d-b", "d-a"], ["d-a"], ["d-x"], []])
def test_statements_of_a_kind_are_told_in_order(store, make, kind, doc_ids):
    """Every place with what stands beside the triple there; of some documents, or of all."""
    for name in "ba":
        store.upsert_document(qualified_bundle(make, name), source=f"/{name}.txt")
    expected = [
        Statement(
            doc_id, e.start, e.end, Triple(f.fact_id, f.subject, f.predicate, f.object),
            e.qualifiers, e.extractor, e.chunk_id, e.confidence,
        )
        for doc_id in ("d-a", "d-b")
        if doc_ids is None or doc_id in doc_ids
        for f in qualified_bundle(make, doc_id[-1]).facts
        for e in f.evidence
        if e.qualifiers.kind == kind
    ]  # fmt: skip
    assert store.statements(kind, doc_ids) == expected
    assert len(expected) == {"reference": 1, "target": 2, "duty": 0}[kind] * len(
        {s.doc_id for s in expected}
    )


@pytest.mark.parametrize("doc_ids", [None, ["d-a"], []])
def test_statements_of_a_kind_are_held_to_predicates(store, make, doc_ids):
    """Only places of facts that say one of them; none for none."""
    for name in "ab":
        store.upsert_document(qualified_bundle(make, name), source=f"/{name}.txt")
    all_ = store.statements("reference", doc_ids)
    assert store.statements("reference", doc_ids, predicates=["依据", "废止"]) == all_
    assert bool(all_) == (doc_ids != [])
    for predicates in ([], ["废止"], ["目标为"]):
        assert store.statements("reference", doc_ids, predicates=predicates) == []


@pytest.mark.parametrize("doc_ids", [None, ["d-a"], []])
def test_statements_around_entities_are_told_alone(store, make, doc_ids):
    """Whatever the end of the fact that an entity is at; in the same order, each once."""
    for name in "ab":
        store.upsert_document(qualified_bundle(make, name), source=f"/{name}.txt")
    cited, counted = store.statements("reference", doc_ids), store.statements("target", doc_ids)
    plan = document_node_id("节能规划", "云岭省人民政府")
    plant, number = make.entity("绿色工厂").entity_id, make.entity("500家").entity_id

    for around in ([plan], [plant], [plant, plan]):
        assert store.statements("reference", doc_ids, around=around) == cited
    for around in ([number], [plant, number]):
        assert store.statements("target", doc_ids, around=around) == counted
    assert store.statements("target", doc_ids, around=[plan]) == []
    assert bool(cited and counted) == (doc_ids != [])
    for around in ([], ["e-x"], [make.entity("云政发").entity_id]):
        assert store.statements("reference", doc_ids, around=around) == []
    held_to = [
        store.statements("reference", around=[plan], predicates=[p]) for p in ("依据", "废止")
    ]
    assert held_to == [store.statements("reference"), []]


def test_a_statement_over_several_chunks_is_one(store, make):
    """Evidence has a record for each chunk."""
    bundle = make.bundle("a", TEXT)
    fact = make.qualified("d-a", TEXT, ("绿色工厂", "依据", "节能规划"), CITED)
    (spot,) = fact.evidence
    spots = tuple(replace(spot, end=20, chunk_id=f"d-a:8:{i}") for i in (3, 2))
    spots = tuple(replace(s, start=23, end=30) for s in spots)
    store.upsert_document(replace(bundle, facts=[replace(fact, evidence=spots)]), source="/a.txt")

    (statement,) = store.statements("reference")
    assert (statement.start, statement.end, statement.chunk_id) == (23, 30, "d-a:8:2")


def test_nothing_told_is_nothing(store, make):
    """Qualifiers that say nothing are those that are not given."""
    bundle = make.bundle("a", TEXT)
    fact = make.qualified("d-a", TEXT, ("绿色工厂", "有", "500家"), Qualifiers())
    store.upsert_document(replace(bundle, facts=[fact]), source="/a.txt")
    (held,) = store.knowledge_of("d-a")[0]
    assert [e.qualifiers for e in held.evidence] == [NONE]
    assert store.statements("target") == []
