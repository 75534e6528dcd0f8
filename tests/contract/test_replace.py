"""What a document says can be replaced; what is left is what storing it anew would leave."""

import json
from dataclasses import replace

import pytest

from kgrag.errors import NotFoundError

TEXT = "工信部印发节能办法。绿色工厂达到500家，由省工信厅负责。"
BEFORE = {
    "facts": [("工信部", "印发", "节能办法"), ("绿色工厂", "达到", "500家")],
    "mentions": ["省工信厅"],
}
AFTER = {
    "facts": [("绿色工厂", "达到", "500家"), ("省工信厅", "负责", "绿色工厂")],
    "mentions": ["节能办法"],
}


def exported(store):
    return [json.dumps(record, ensure_ascii=False, sort_keys=True) for record in store.export()]


def bundle(make, name="a", said=BEFORE):
    return make.bundle(name, TEXT, summaries=["摘要"], **said)


def facts_of(wanted):
    return [v for v in wanted.vectors if v.kind == "fact"]


def replaced(store, wanted):
    store.replace_knowledge(wanted.document.doc_id, facts=wanted.facts, mentions=wanted.mentions)


def test_what_is_left_is_what_the_whole_bundle_leaves(new_store, make):
    """Facts, mentions, names; of facts that stay the vectors; other documents keep theirs."""
    wanted = bundle(make, said=AFTER)
    (new,) = [f.fact_id for f in wanted.facts if f.predicate == "负责"]
    wanted = replace(wanted, vectors=[v for v in wanted.vectors if v.node_id != new])
    store = new_store()
    store.upsert_document(bundle(make), source="/a.txt")
    store.upsert_document(bundle(make, "b"), source="/b.txt")
    imported = make.fact("d-a", TEXT, ("省工信厅", "管", "工信部"), "import")
    store.add_knowledge("d-a", facts=[imported], vectors=[make.fact_vector(imported)])
    replaced(store, wanted)
    left = exported(store)
    assert store.verify() == []

    fresh = new_store()
    fresh.upsert_document(bundle(make, "b"), source="/b.txt")
    fresh.upsert_document(wanted, source="/a.txt")
    assert exported(fresh) == left


def test_replacing_by_the_same_changes_nothing(store, make):
    """No commit: nobody need catch up."""
    store.upsert_document(bundle(make), source="/a.txt")
    wanted = bundle(make, said=AFTER)
    replaced(store, wanted)
    before, counter = exported(store), store.change_counter()
    replaced(store, wanted)

    assert (exported(store), store.change_counter()) == (before, counter)
    assert store.verify() == []


def test_all_that_a_document_says_may_go(store, make):
    """What nothing else supports goes with it; chunks, summaries and their vectors stay."""
    stored = bundle(make)
    store.upsert_document(stored, source="/a.txt")
    store.replace_knowledge("d-a", facts=[], mentions=[])

    counts = store.counts()
    assert (counts.facts, counts.mentions, counts.entities) == (0, 0, 0)
    assert counts.summaries == 1
    kept = store.bundle("d-a")
    assert list(kept.chunks) == list(stored.chunks)
    assert {v.node_id for v in kept.vectors} == {
        v.node_id for v in stored.vectors if v.kind != "fact"
    }
    assert store.search_vectors(make.unit_vector("x"), kind="fact", top_k=3) == []
    assert store.verify() == []


def test_vectors_of_facts_that_stay_are_kept(store, make):
    """Those of others go."""
    stored = bundle(make)
    store.upsert_document(stored, source="/a.txt")
    kept = stored.facts[1]
    store.replace_knowledge("d-a", facts=[kept], mentions=[])

    (vector,) = facts_of(store.bundle("d-a"))
    assert (vector.node_id, vector.key) == (kept.fact_id, make.fact_vector(kept).key)
    assert store.verify() == []


def test_what_is_wrong_changes_nothing(store, make):
    """Another document's facts, no document."""
    store.upsert_document(bundle(make), source="/a.txt")
    before = exported(store)
    strange = make.fact("d-b", TEXT, ("工信部", "印发", "节能办法"))
    with pytest.raises(ValueError, match="known from d-b"):
        store.replace_knowledge("d-a", facts=[strange], mentions=[])
    with pytest.raises(NotFoundError):
        store.replace_knowledge("d-x", facts=[], mentions=[])
    assert exported(store) == before
