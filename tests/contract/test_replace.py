"""What a document says can be replaced; what is left is what storing it anew would leave."""

import json
from dataclasses import replace

import pytest

from kgrag.errors import ModelMismatchError, NotFoundError
from kgrag.metadata import Metadata

TEXT = "工信部印发节能办法。绿色工厂达到500家，由省工信厅负责。"
BEFORE = {
    "facts": [("工信部", "印发", "节能办法"), ("绿色工厂", "达到", "500家")],
    "mentions": ["省工信厅"],
}
AFTER = {
    "facts": [("绿色工厂", "达到", "500家"), ("省工信厅", "负责", "绿色工厂")],
    "mentions": ["节能办法"],
}
METADATA = Metadata(issuers=("云岭省人民政府",), issued="2022-03-05", regions=("云岭省",))


def exported(store):
    return [json.dumps(record, ensure_ascii=False, sort_keys=True) for record in store.export()]


def bundle(make, name="a", said=BEFORE, **more):
    return make.bundle(name, TEXT, title="旧题", summaries=["摘要"], **said, **more)


def facts_of(wanted):
    return [v for v in wanted.vectors if v.kind == "fact"]


def replaced(store, wanted, **more):
    given = {"facts": wanted.facts, "mentions": wanted.mentions, "vectors": facts_of(wanted)}
    store.replace_knowledge(wanted.document.doc_id, **given, **more)


@pytest.mark.parametrize("described", [False, True])
def test_what_is_left_is_what_the_whole_bundle_leaves(new_store, make, described):
    """Facts, mentions, names, vectors, title, metadata; other documents keep theirs."""
    wanted = bundle(make, said=AFTER)
    told = {"title": "云岭省节能办法", "metadata": METADATA} if described else {}
    wanted = replace(wanted, document=replace(wanted.document, **told))
    store = new_store()
    store.upsert_document(bundle(make), source="/a.txt")
    store.upsert_document(bundle(make, "b"), source="/b.txt")
    imported = make.fact("d-a", TEXT, ("省工信厅", "管", "工信部"), "import")
    store.add_knowledge("d-a", facts=[imported], vectors=[make.fact_vector(imported)])
    replaced(store, wanted, **told)
    left = exported(store)
    assert store.verify() == []
    found = store.search_words({"旧题": 1.0, "办法": 1.0}, field="path", size=24, top_k=9)

    fresh = new_store()
    fresh.upsert_document(bundle(make, "b"), source="/b.txt")
    fresh.upsert_document(wanted, source="/a.txt")
    assert exported(fresh) == left
    again = fresh.search_words({"旧题": 1.0, "办法": 1.0}, field="path", size=24, top_k=9)
    assert dict(again) == pytest.approx(dict(found), rel=1e-3)


def test_replacing_by_the_same_changes_nothing(store, make):
    """No commit: nobody need catch up."""
    store.upsert_document(bundle(make), source="/a.txt")
    wanted = bundle(make, said=AFTER)
    replaced(store, wanted, title="新题", metadata=METADATA)
    before, counter = exported(store), store.change_counter()
    replaced(store, wanted, title="新题", metadata=METADATA)
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


def test_vectors_of_facts_that_stay_are_kept_or_replaced(store, make):
    """Kept where none is given."""
    stored = bundle(make)
    store.upsert_document(stored, source="/a.txt")
    kept = stored.facts[1]
    store.replace_knowledge("d-a", facts=[kept], mentions=[])
    (vector,) = facts_of(store.bundle("d-a"))
    assert (vector.node_id, vector.key) == (kept.fact_id, make.fact_vector(kept).key)

    other = make.node_vector(kept.fact_id, "fact", "另一种说法")
    store.replace_knowledge("d-a", facts=[kept], mentions=[], vectors=[other])
    (vector,) = facts_of(store.bundle("d-a"))
    assert vector.key == other.key
    hits = store.search_vectors(make.unit_vector("另一种说法"), kind="fact", top_k=1)
    assert hits[0][0] == kept.fact_id
    assert store.verify() == []


def test_cards_and_searches_show_the_new_title(store, make):
    """They were read before."""
    store.upsert_document(bundle(make), source="/a.txt")
    assert store.document_cards()[0].title == "旧题"
    assert store.find_documents("旧题", top_k=1) == ["d-a"]
    store.replace_knowledge("d-a", facts=[], mentions=[], title="新的方案", metadata=METADATA)

    (card,) = store.document_cards()
    assert (card.title, card.metadata) == ("新的方案", METADATA)
    assert store.find_documents("新的方案", top_k=1) == ["d-a"]
    assert store.find_documents("旧题", top_k=1) == []
    assert store.search_words({"新": 1.0, "方案": 1.0}, field="path", size=24, top_k=1)
    assert store.verify() == []


def test_what_is_wrong_changes_nothing(store, make):
    """Another document's facts, another encoder's vectors, no title, no document."""
    store.set_meta({"embedder": "test", "chunk_sizes": "24,8", "embedded_sizes": "8"})
    store.upsert_document(bundle(make), source="/a.txt")
    before = exported(store)
    strange = make.fact("d-b", TEXT, ("工信部", "印发", "节能办法"))
    for wrong, error in (
        ({"facts": [strange]}, ValueError),
        ({"title": ""}, ValueError),
        ({"embedder": "another"}, ModelMismatchError),
    ):
        with pytest.raises(error):
            store.replace_knowledge("d-a", **{"facts": [], "mentions": [], **wrong})
    with pytest.raises(NotFoundError):
        store.replace_knowledge("d-x", facts=[], mentions=[])
    assert exported(store) == before
