"""Facts carry vectors: each document's wording its own, found as one fact."""

from dataclasses import replace

import numpy as np
import pytest

TEXT = "工信部印发节能办法。绿色工厂达到500家，由省工信厅负责。"
ISSUED = ("工信部", "印发", "节能办法")
COUNTED = ("绿色工厂", "达到", "500家")


def put(store, bundle):
    store.upsert_document(bundle, source=f"/archive/{bundle.document.file}")
    return bundle


def stating(make, name, *triples):
    """Return a document that states some triples, each in its words."""
    return make.bundle(name, TEXT, facts=triples)


def worded(triple):
    return " ".join(triple)


def id_of(make, triple):
    return make.fact("d-x", TEXT, triple).fact_id


def nearest(store, make, text, *, top_k=9, doc_ids=None):
    return store.search_vectors(make.unit_vector(text), kind="fact", top_k=top_k, doc_ids=doc_ids)


def test_a_fact_is_found_by_its_words(store, make):
    """Best first, with its cosine; chunks and facts are apart."""
    put(store, stating(make, "a", ISSUED, COUNTED))
    query = make.unit_vector(worded(COUNTED))
    other = float(query @ make.unit_vector(worded(ISSUED)))

    (first, best), (second, cosine) = nearest(store, make, worded(COUNTED))
    assert (first, second) == (id_of(make, COUNTED), id_of(make, ISSUED))
    assert (best, cosine) == pytest.approx((1.0, other), abs=2e-6)
    assert nearest(store, make, worded(COUNTED), top_k=1) == [(first, 1.0)]
    chunks = store.search_vectors(query, kind="chunk", top_k=99)
    assert not {first, second} & {node_id for node_id, _ in chunks}


def test_a_fact_in_several_wordings_counts_by_the_nearest(store, make):
    """It comes once; within documents, only their wordings count."""
    put(store, stating(make, "a", ISSUED))
    put(store, stating(make, "b", ("工信部", "印 发", "节能办法")))
    fact_id = id_of(make, ISSUED)
    worse = float(make.unit_vector(worded(ISSUED)) @ make.unit_vector("工信部 印 发 节能办法"))

    assert nearest(store, make, worded(ISSUED)) == [(fact_id, 1.0)]
    assert nearest(store, make, "工信部 印 发 节能办法") == [(fact_id, 1.0)]
    assert nearest(store, make, worded(ISSUED), doc_ids=["d-a", "d-b"]) == [(fact_id, 1.0)]
    (hit,) = nearest(store, make, worded(ISSUED), doc_ids=["d-b", "d-x"])
    assert hit == (fact_id, pytest.approx(worse, abs=2e-6))
    assert nearest(store, make, worded(ISSUED), doc_ids=["d-x"]) == []
    similar = store.similarities(make.unit_vector(worded(ISSUED)), [fact_id, "d-a:8:0", "x"])
    assert similar[fact_id] == pytest.approx(1.0)
    assert similar.keys() == {fact_id, "d-a:8:0"}


def test_a_fact_that_many_documents_state_leaves_room_for_others(store, make):
    """As many facts are found as are asked for, however often and near one is stated."""
    query = np.eye(make.DIMENSION, dtype=np.float32)[0]

    def at(cosine):
        return np.array([cosine, (1 - cosine**2) ** 0.5, *[0] * 6], np.float32)

    cosines = {f"{i:02}": 0.9 - i / 100 for i in range(40)}
    for name, cosine in {**cosines, "x": 0.3, "y": 0.2}.items():
        bundle = stating(make, name, ISSUED if name in cosines else (COUNTED[0], name, "500家"))
        (of_fact,) = (v for v in bundle.vectors if v.kind == "fact")
        near = replace(of_fact, key=f"{of_fact.key}{name}", vector=at(cosine))
        put(store, replace(bundle, vectors=[near]))
    expected = [0.9, 0.3, 0.2]

    for doc_ids in (None, [card.doc_id for card in store.document_cards()]):
        for top_k in (1, 2, 3, 9):
            hits = store.search_vectors(query, kind="fact", top_k=top_k, doc_ids=doc_ids)
            assert [c for _, c in hits] == pytest.approx(expected[:top_k], abs=2e-6)
            assert hits[0][0] == id_of(make, ISSUED)


def test_a_vector_goes_with_the_last_document_that_words_it_so(store, make):
    """Others that state the fact keep theirs, and equal words are one vector until the end."""
    for name in "ab":
        put(store, stating(make, name, ISSUED))
    put(store, stating(make, "c", ("工信部", "印 发", "节能办法")))
    (same,) = {v.key for v in stating(make, "a", ISSUED).vectors if v.kind == "fact"}
    fact_id = id_of(make, ISSUED)

    store.delete_document("d-a")
    assert nearest(store, make, worded(ISSUED)) == [(fact_id, 1.0)]
    assert same in store.vectors([same])
    put(store, stating(make, "b", COUNTED))
    assert same not in store.vectors([same])
    assert nearest(store, make, "工信部 印 发 节能办法")[0] == (fact_id, 1.0)
    store.delete_document("d-c")
    assert [f for f, _ in nearest(store, make, worded(ISSUED))] == [id_of(make, COUNTED)]
    store.delete_document("d-b")
    assert nearest(store, make, worded(ISSUED)) == []
    assert store.counts().vectors == 0
    assert store.verify() == []


def test_a_fact_may_lack_a_vector_and_get_one_later(store, make):
    """As in knowledge bases made before facts had vectors; giving it twice is no change."""
    bundle = stating(make, "a", ISSUED)
    put(store, replace(bundle, vectors=[v for v in bundle.vectors if v.kind != "fact"]))
    before = store.counts().vectors
    assert nearest(store, make, worded(ISSUED)) == []
    assert store.similarities(make.unit_vector("x"), [id_of(make, ISSUED)]) == {}
    assert store.verify() == []

    for _ in range(2):
        store.add_knowledge("d-a", facts=bundle.facts, vectors=[make.fact_vector(*bundle.facts)])
        assert nearest(store, make, worded(ISSUED)) == [(id_of(make, ISSUED), 1.0)]
        assert store.counts().vectors == before + 1
    assert [r["doc_id"] for r in store.export() if r.get("kind") == "fact"] == ["d-a"]
    assert store.verify() == []


def test_replacing_a_document_replaces_the_vectors_of_its_facts(store, make):
    """Whether its chunks stay or not, and also where none are given any more."""
    first = put(store, stating(make, "a", ISSUED))
    put(store, stating(make, "a", COUNTED))
    assert nearest(store, make, worded(ISSUED), top_k=1)[0][0] == id_of(make, COUNTED)
    put(store, make.bundle("a", TEXT + "另有规定。", facts=[ISSUED]))
    assert nearest(store, make, worded(ISSUED)) == [(id_of(make, ISSUED), 1.0)]
    put(store, replace(first, vectors=[]))
    assert nearest(store, make, worded(ISSUED)) == []
    assert store.counts().vectors == 0
    assert store.verify() == []


def test_a_fact_of_empty_words_has_the_zero_vector(store, make):
    """It is as far from everything; a zero query finds facts by id."""
    bundle = stating(make, "a", ISSUED, COUNTED)
    zero = [
        replace(v, vector=np.zeros(make.DIMENSION, np.float32)) if v.kind == "fact" else v
        for v in bundle.vectors
    ]
    put(store, replace(bundle, vectors=zero))
    expected = [(fact_id, 0.0) for fact_id in sorted((id_of(make, ISSUED), id_of(make, COUNTED)))]

    assert nearest(store, make, "问") == expected
    nothing = np.zeros(make.DIMENSION, np.float32)
    assert store.search_vectors(nothing, kind="fact", top_k=1) == expected[:1]


def test_facts_come_in_the_order_asked(store, make):
    """Each once, with all its evidence; unknown ids are left out."""
    for name in "ab":
        put(store, stating(make, name, ISSUED, COUNTED))
    wanted = [id_of(make, COUNTED), "f-x", id_of(make, ISSUED), id_of(make, COUNTED)]

    first, second = store.facts(wanted)
    assert (first.subject.name, first.predicate, first.object.name) == COUNTED
    assert second.fact_id == id_of(make, ISSUED)
    assert [e.doc_id for e in second.evidence] == ["d-a", "d-b"]
    assert store.facts([]) == store.facts(["f-x"]) == []
