"""Vectors of another encoder wait beside those in use, and take over all at once."""

import json
from dataclasses import replace

import numpy as np
import pytest

from kgrag.errors import ModelMismatchError, StoreError

TEXT = "工信部印发节能办法。绿色工厂达到500家，由省工信厅负责。"
FACTS = [("工信部", "印发", "节能办法"), ("绿色工厂", "达到", "500家")]
OLD, NEW = {"embedder": "old", "stand_in": "no"}, {"embedder": "new", "languages": "zh"}
WIDE = 12  # dimension of the new encoder


def document(make, name, text=TEXT):
    return make.bundle(name, text, facts=FACTS, summaries=[f"{name}的摘要"])


def put(store, bundle):
    store.upsert_document(bundle, source=f"/archive/{bundle.document.file}")


def fill(store, make, names="ab"):
    """Store documents whose vectors the old encoder made."""
    store.set_meta({**OLD, "chunk_sizes": "24,8"})
    for name in names:
        put(store, document(make, name))


def renewed(make, vectors):
    """Return what the new encoder makes of nodes; equal texts stay equal."""
    return [
        replace(v, key=f"new {v.key}", vector=make.unit_vector(f"new {v.key}", WIDE))
        for v in vectors
    ]


def stage(store, make, *names, meta=NEW):
    """Stage documents as they are now."""
    as_of = store.change_counter()
    bundles = [store.bundle(f"d-{name}") for name in names]
    vectors = {b.document.doc_id: renewed(make, b.vectors) for b in bundles}
    store.staged.put(vectors, meta=meta, as_of=as_of)


def exported(store, *, vectors=True):
    """Return the lines of an export, without vectors and settings where they may differ."""
    records = [
        record
        for record in store.export()
        if vectors or record["record"] not in ("vector", "embedding", "meta")
    ]
    return [json.dumps(record, ensure_ascii=False, sort_keys=True) for record in records]


def nearest(store, vector, kind="chunk"):
    return store.search_vectors(vector, kind=kind, top_k=99)


def old_vector(make, text=TEXT[:8]):
    return make.unit_vector(text)


def test_staged_vectors_change_nothing_until_they_take_over(store, make):
    """Export, counts, searches and checks are those of before."""
    fill(store, make)
    before = exported(store), store.counts(), nearest(store, old_vector(make))
    assert store.staged.meta() is None
    store.staged.begin(NEW)
    stage(store, make, "a")

    assert store.staged.meta() == NEW
    assert store.staged.doc_ids() == {"d-a"}
    assert (exported(store), store.counts(), nearest(store, old_vector(make))) == before
    assert store.verify() == []
    assert not store.staged.switch(NEW)
    assert (exported(store), store.counts(), nearest(store, old_vector(make))) == before


def test_switch_leaves_what_a_fresh_store_of_the_new_encoder_would_hold(new_store, make):
    """Vectors, dimension and what is recorded of the encoder are new, all else is as before."""
    store = new_store()
    fill(store, make)
    rest, counter = exported(store, vectors=False), store.change_counter()
    store.refresh(sizes=[8])
    bundles = [store.bundle(f"d-{name}") for name in "ab"]
    store.staged.begin(NEW)
    stage(store, make, "a")
    stage(store, make, "b")
    assert store.staged.switch(NEW)

    assert exported(store, vectors=False) == rest
    assert store.all_meta() == {**OLD, **NEW, "chunk_sizes": "24,8"}
    assert store.change_counter() > counter
    assert store.staged.meta() is None
    assert store.staged.doc_ids() == set()
    assert store.verify() == []
    leaf = next(v for v in renewed(make, bundles[0].vectors) if v.node_id == "d-a:8:0")
    assert nearest(store, leaf.vector)[:2] == [("d-a:8:0", 1.0), ("d-b:8:0", 1.0)]
    assert len(nearest(store, leaf.vector)) == len(
        [c for c in (*bundles[0].chunks, *bundles[1].chunks) if c.size == 8]
    )
    with pytest.raises(StoreError, match="has shape"):
        nearest(store, old_vector(make))
    left = exported(store)

    fresh = new_store()
    fresh.set_meta({**OLD, **NEW, "chunk_sizes": "24,8"})
    for bundle in bundles:
        put(fresh, replace(bundle, vectors=renewed(make, bundle.vectors), embedder="new"))
    assert exported(fresh) == left


def test_staged_nodes_may_be_others_than_those_in_use(store, make):
    """What is not staged has no vector any more; what had none before may have one."""
    fill(store, make, "a")
    bundle = store.bundle("d-a")
    parent = next(c for c in bundle.chunks if c.parent_id is None)
    wanted = make.node_vector(parent.chunk_id, "chunk", "the parent")
    as_of = store.change_counter()
    store.staged.begin(NEW)
    store.staged.put({"d-a": [wanted]}, meta=NEW, as_of=as_of)
    assert store.staged.switch(NEW)

    assert [(v.node_id, v.key) for v in store.bundle("d-a").vectors] == [
        (parent.chunk_id, wanted.key)
    ]
    assert nearest(store, wanted.vector) == [(parent.chunk_id, 1.0)]
    assert store.counts().vectors == 1
    assert store.verify() == []


def test_vectors_in_use_may_be_staged_again(store, make):
    """The encoder may be the same, with other nodes to encode."""
    fill(store, make)
    before = exported(store)
    store.staged.begin(OLD)
    for name in "ab":
        as_of = store.change_counter()
        vectors = store.bundle(f"d-{name}").vectors
        store.staged.put({f"d-{name}": vectors}, meta=OLD, as_of=as_of)
    assert store.staged.switch(OLD)

    assert exported(store) == before
    assert store.verify() == []


def test_a_document_without_vectors_is_staged_too(store, make):
    """With the last vector goes the dimension: the next may have another."""
    put(store, replace(make.bundle("a", ""), vectors=[]))
    store.staged.begin(NEW)
    assert not store.staged.switch(NEW)
    store.staged.put({"d-a": []}, meta=NEW, as_of=store.change_counter())
    assert store.staged.switch(NEW)
    put(store, make.bundle("b", TEXT, dimension=5))

    assert store.get_meta("embedder") == "new"
    assert store.verify() == []


def test_an_empty_store_takes_over_nothing(store):
    """Only the encoder is recorded."""
    store.staged.begin(NEW)
    assert store.staged.switch(NEW)
    assert store.all_meta() == NEW


@pytest.mark.parametrize("change", ["replaced", "added to", "deleted"])
def test_a_document_that_changes_is_staged_no_more(store, make, change):
    """Its vectors stay by key, so that equal texts need no encoding."""
    fill(store, make)
    store.staged.begin(NEW)
    stage(store, make, "a", "b")
    kept = [v.key for v in renewed(make, store.bundle("d-a").vectors)]
    if change == "replaced":
        put(store, document(make, "a"))
    elif change == "added to":
        store.add_knowledge("d-a", mentions=[make.mention("d-a", TEXT, "办法")])
    else:
        store.delete_document("d-a")

    assert store.staged.doc_ids() == {"d-b"}
    assert store.staged.vectors([*kept, "x"]).keys() == set(kept)
    if change != "deleted":
        assert not store.staged.switch(NEW)
        stage(store, make, "a")
    assert store.staged.switch(NEW)
    assert store.verify() == []


def test_a_document_that_changed_since_it_was_read_is_not_staged(store, make):
    """What was encoded of its old self is kept by key only."""
    fill(store, make, "a")
    store.staged.begin(NEW)
    as_of = store.change_counter()
    vectors = renewed(make, store.bundle("d-a").vectors)
    put(store, document(make, "a", TEXT + "完"))
    store.staged.put({"d-a": vectors, "d-gone": []}, meta=NEW, as_of=as_of)

    assert store.staged.doc_ids() == set()
    found = store.staged.vectors([vectors[0].key])
    assert np.array_equal(found[vectors[0].key], vectors[0].vector)


def test_begin_keeps_what_is_staged_for_the_same_encoder_only(store, make):
    """A run that was killed goes on; another encoder begins anew."""
    fill(store, make)
    store.staged.begin(NEW)
    stage(store, make, "a")
    key = renewed(make, store.bundle("d-a").vectors)[0].key
    store.staged.begin(dict(NEW))
    assert store.staged.doc_ids() == {"d-a"}
    assert store.staged.vectors([key])
    store.staged.begin({**NEW, "embedder": "newer"})

    assert store.staged.doc_ids() == set()
    assert store.staged.vectors([key]) == {}
    store.staged.drop()
    assert store.staged.meta() is None


def test_switch_records_what_decides_the_vectors_and_what_else_is_told(store, make):
    """Both at once; staged vectors stay where only the latter differs."""
    fill(store, make)
    store.staged.begin({"embedder": "new"})
    stage(store, make, "a", "b", meta={"embedder": "new"})
    told = {"embedder": "new", "embedder_settings": "{}", "stand_in": "yes"}
    store.staged.begin({"embedder": "new"})
    assert store.staged.doc_ids() == {"d-a", "d-b"}
    with pytest.raises(StoreError, match="has begun meanwhile"):
        store.staged.switch({**told, "embedder": "newer"})
    assert store.staged.switch(told)

    assert store.all_meta() == {"chunk_sizes": "24,8", **told}
    assert store.staged.meta() is None


def test_what_an_older_version_staged_is_kept(store, make):
    """It noted what is told to people, too."""
    fill(store, make)
    store.staged.begin({"embedder": "new", "stand_in": "no"})
    stage(store, make, "a", meta={"embedder": "new", "stand_in": "no"})
    store.staged.begin({"embedder": "new"})
    assert store.staged.doc_ids() == {"d-a"}
    stage(store, make, "b", meta={"embedder": "new"})
    assert store.staged.switch({"embedder": "new", "stand_in": "yes"})
    assert store.get_meta("stand_in") == "yes"


def test_staging_that_has_not_begun_is_refused(store, make):
    """Nothing would say whose the vectors are."""
    fill(store, make, "a")
    for call in (lambda: stage(store, make, "a"), lambda: store.staged.switch(NEW)):
        with pytest.raises(StoreError, match="being staged"):
            call()


def test_two_runs_to_two_encoders_do_not_mix(store, make):
    """The one that began first is told so."""
    fill(store, make, "a")
    store.staged.begin(NEW)
    store.staged.begin({**NEW, "embedder": "newer"})
    for call in (lambda: stage(store, make, "a"), lambda: store.staged.switch(NEW)):
        with pytest.raises(StoreError, match="to newer has begun meanwhile: run one at a time"):
            call()
    assert store.staged.doc_ids() == set()


def test_vectors_that_cannot_be_searched_are_not_staged(store, make):
    """Of another dimension than those staged, of another length than 1, or without numbers."""
    fill(store, make, "a")
    store.staged.begin(NEW)
    stage(store, make, "a")
    as_of = store.change_counter()
    for vector, error in (
        (make.unit_vector("x", WIDE + 1), StoreError),
        (2 * make.unit_vector("x", WIDE), ValueError),
        (None, ValueError),
    ):
        wrong = replace(make.node_vector("d-a:8:0", "chunk", "x"), vector=vector)
        with pytest.raises(error):
            store.staged.put({"d-a": [wrong]}, meta=NEW, as_of=as_of)


def test_vectors_of_the_encoder_before_are_refused_after_a_switch(store, make):
    """Another process may still be making them; those of no known encoder are not compared."""
    fill(store, make, "a")
    late = replace(document(make, "b"), embedder="old")
    store.staged.begin(NEW)
    stage(store, make, "a")
    assert store.staged.switch(NEW)

    with pytest.raises(ModelMismatchError, match="changed to new meanwhile"):
        put(store, late)
    fact = make.fact("d-a", TEXT, ("节能办法", "归", "工信部"))
    with pytest.raises(ModelMismatchError, match="changed to new meanwhile"):
        store.add_knowledge("d-a", facts=[fact], vectors=[make.fact_vector(fact)], embedder="old")
    assert store.bundle("d-a").embedder == "new"
    assert store.verify() == []


def test_a_second_switch_changes_all_back(store, make):
    """To the same vectors, under the same keys."""
    fill(store, make)
    before, bundles = exported(store), {n: store.bundle(f"d-{n}") for n in "ab"}
    store.staged.begin(NEW)
    stage(store, make, "a", "b")
    assert store.staged.switch(NEW)
    store.refresh(sizes=[8])
    back = {**OLD, "languages": ""}
    store.staged.begin(back)
    as_of = store.change_counter()
    store.staged.put({f"d-{n}": b.vectors for n, b in bundles.items()}, meta=back, as_of=as_of)
    assert store.staged.switch(back)

    changed = {"key": "languages", "record": "meta", "value": ""}
    assert set(exported(store)) - set(before) == {
        json.dumps(changed, ensure_ascii=False, sort_keys=True)
    }
    assert nearest(store, old_vector(make))[0] == ("d-a:8:0", 1.0)
    assert store.verify() == []
