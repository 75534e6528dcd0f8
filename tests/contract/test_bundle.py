"""What a document brought can be read back and stored elsewhere without loss."""

import json
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.ids import chunk_id, fact_id
from kgrag.qualifiers import NONE, Qualifiers
from kgrag.types import Evidence, Fact, Mention
from tests.fixtures import extent

TEXT = "工信部印发ＰＵＥ节能办法。绿色工厂的PUE达到1.3，由省工信厅负责。"
# Spellings of three entities; those of one row normalise alike.
SPELLINGS = [("PUE", "pue", "ＰＵＥ", "《PUE》"), ("节能", "节 能", "「节能」"), ("工厂", "工厂 ")]
TYPES = ("entity", "indicator", "law")
WORDINGS = ("印发", "印发 ", "《印发》", "依据")


def exported(store):
    return [json.dumps(record, ensure_ascii=False, sort_keys=True) for record in store.export()]


def bundles_of(store):
    return [store.bundle(card.doc_id) for card in store.document_cards()]


def put_all(store, bundles):
    for bundle in bundles:
        store.upsert_document(bundle, source=f"/other/{bundle.document.doc_id}.txt")


def everything(make, name="a"):
    return make.bundle(
        name,
        TEXT,
        title="节能办法",
        headings=["工信部", "绿色工厂"],
        facts=[("工信部", "印发", "节能办法"), ("PUE", "达到", "1.3")],
        mentions=["省工信厅", "绿色工厂"],
        summaries=["办法的摘要", "另一个"],
    )


def test_bundle_of_a_document_that_is_not_held_is_none(store, make):
    """Nor of one that was deleted."""
    assert store.bundle("d-x") is None
    store.upsert_document(everything(make), source="/a.txt")
    store.delete_document("d-a")
    assert store.bundle("d-a") is None


def test_bundle_is_what_was_stored(store, make):
    """Every part of it, parents before children; vectors with their numbers, given or not."""
    stored = everything(make)
    store.upsert_document(stored, source="/b.txt")
    store.attach_source("/a.txt", "d-a")
    store.upsert_document(everything(make, "b"), source="/c.txt")  # shares all vectors
    bundle = store.bundle("d-a")

    assert bundle.document == replace(stored.document, file="/a.txt")
    assert bundle.fingerprint == stored.fingerprint
    assert list(bundle.headings) == list(stored.headings)
    assert list(bundle.chunks) == list(stored.chunks)
    assert sorted(bundle.summaries, key=str) == sorted(stored.summaries, key=str)
    assert sorted(bundle.facts, key=str) == sorted(stored.facts, key=str)
    assert sorted(bundle.mentions, key=str) == sorted(stored.mentions, key=str)
    given = {v.node_id: v for v in stored.vectors}
    assert {v.node_id for v in bundle.vectors} == set(given)
    for v in bundle.vectors:
        assert (v.kind, v.key) == (given[v.node_id].kind, given[v.node_id].key)
        assert np.array_equal(v.vector, given[v.node_id].vector)


def test_bundle_of_an_empty_document_is_empty(store, make):
    """No text, no chunks, no knowledge; its vector is there."""
    stored = make.bundle("a", "")
    store.upsert_document(stored, source="a.txt")
    bundle = store.bundle("d-a")

    assert bundle.document == stored.document
    assert not [*bundle.chunks, *bundle.facts, *bundle.mentions, *bundle.summaries]
    assert [v.node_id for v in bundle.vectors] == ["d-a"]


def test_bundle_holds_what_was_added_and_nothing_of_other_documents(store, make):
    """Evidence and wording of the others stay theirs."""
    triple = ("工信部", "印发", "节能办法")
    store.upsert_document(make.bundle("a", TEXT, facts=[triple]), source="/a.txt")
    for name in "bc":
        (fact,) = make.bundle(name, TEXT, facts=[triple]).facts
        fact = replace(fact, subject=replace(fact.subject, name="工 信部"), predicate="印 发")
        store.upsert_document(replace(make.bundle(name, TEXT), facts=[fact]), source=f"/{name}")
    store.add_knowledge("d-a", mentions=[make.mention("d-a", TEXT, "绿色工厂")])
    bundle = store.bundle("d-a")

    (fact,) = bundle.facts
    assert (fact.subject.name, fact.predicate, fact.object.name) == triple
    assert [e.doc_id for e in fact.evidence] == ["d-a"]
    assert [m.entity.name for m in bundle.mentions] == ["绿色工厂"]


@st.composite
def knowledge(draw):
    """Draw (facts, mentions) as (names, wording, place), full of near duplicates."""
    spelling = st.tuples(
        st.sampled_from(SPELLINGS).flatmap(st.sampled_from), st.sampled_from(TYPES)
    )
    place = st.tuples(
        st.integers(0, 2),
        st.sampled_from(["rules", "import"]),
        st.sampled_from([1.0, 0.5]),
        st.sampled_from([NONE, Qualifiers("target", year="2025"), Qualifiers(year="2030")]),
    )
    fact = st.tuples(spelling, st.sampled_from(WORDINGS), spelling, st.lists(place, min_size=1))
    return (
        draw(st.lists(fact, max_size=6)),
        draw(st.lists(st.tuples(spelling, place), max_size=4)),
    )


def entity_of(make, spelling):
    name, type_ = spelling
    return replace(make.entity(name), type=type_)


def evidence_of(make, doc_id, place):
    number, extractor, *said = place
    start = number * make.LEAF
    chunk = chunk_id(doc_id, make.LEAF, number)
    return Evidence(doc_id, start, start + 3, chunk, extractor, *said)


def facts_of(make, doc_id, drawn):
    for subject, wording, object_, places in drawn:
        s, o = entity_of(make, subject), entity_of(make, object_)
        spots = tuple(evidence_of(make, doc_id, place) for place in places)
        yield Fact(fact_id(s.entity_id, wording, o.entity_id), s, wording, o, spots)


def vectors_of(make, facts):
    """Return a vector for each fact: of the first wording."""
    return list({v.node_id: v for v in map(make.fact_vector, reversed(facts))}.values())


def mentions_of(make, doc_id, drawn):
    for spelling, place in drawn:
        yield Mention(entity_of(make, spelling), evidence_of(make, doc_id, place))


@settings(max_examples=extent.of(30, 10), database=None)
@given(first=knowledge(), second=knowledge(), added=knowledge())
def test_bundles_in_an_empty_store_give_the_same_export(new_store, make, first, second, added):
    """Whatever the spellings, types, wordings and repeated places; in any order of documents."""
    store = new_store()
    for name, (facts, mentions) in (("a", first), ("b", second)):
        bundle = make.bundle(name, TEXT, summaries=[f"摘要{name}"])
        stated = list(facts_of(make, f"d-{name}", facts))
        bundle = replace(
            bundle,
            facts=stated,
            mentions=list(mentions_of(make, f"d-{name}", mentions)),
            vectors=[*bundle.vectors, *vectors_of(make, stated)],
        )
        store.upsert_document(bundle, source=f"/archive/{name}.txt")
    facts, mentions = added
    stated = list(facts_of(make, "d-a", facts))
    store.add_knowledge(
        "d-a",
        facts=stated,
        mentions=list(mentions_of(make, "d-a", mentions)),
        vectors=vectors_of(make, stated),
    )
    left, bundles = exported(store), bundles_of(store)

    fresh = new_store()
    put_all(fresh, reversed(bundles))
    assert exported(fresh) == left
    assert fresh.verify() == []


def test_every_setting_is_returned(store):
    """Ordered by key; none in a new store."""
    assert store.all_meta() == {}
    store.set_meta({"b": "2", "a": "1"})
    store.set_meta({"b": "3"})
    assert list(store.all_meta().items()) == [("a", "1"), ("b", "3")]
