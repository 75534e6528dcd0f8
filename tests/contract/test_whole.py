"""Export, verify, concurrency and life span; what must hold after any sequence of changes."""

import json
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.errors import StoreError
from tests.fixtures import extent

CALLS = 40


def text_of(i, version):
    """Return a text that shares names with its neighbours, and more with other versions."""
    return f"工信部第{i}号，绿色工厂版本{version}，共{i + version}家。节能降碳" + "，推进" * (
        version * 4
    )


def bundle_of(make, i, version):
    text = text_of(i, version)
    return make.bundle(
        # The odd ones are named by content: a new version is a new document of the same source.
        f"{i}-{version}" if i % 2 else str(i),
        text,
        title=f"第{i}号",
        facts=[
            ("工信部", "印发" + " " * (i % 3), "绿色工厂"),
            (f"第{i}号", "有", f"{i + version}家"),
        ],
        mentions=["节能", f"版本{version}"],
        summaries=[f"摘要{version}"],
    )


def knowledge_of(make, i, version, n):
    doc_id, text = bundle_of(make, i, version).document.doc_id, text_of(i, version)
    fact = make.fact(doc_id, text, ("节能降碳", "归", f"部门{n}"), f"import{n}")
    return doc_id, {
        "facts": [fact],
        "vectors": [make.fact_vector(fact)],
        "mentions": [make.mention(doc_id, text, "家")],
        "summaries": [make.summary(doc_id, text, f"新摘要{n}")],
    }


def replace_knowledge(store, make, i, version, n):
    doc_id, text = bundle_of(make, i, version).document.doc_id, text_of(i, version)
    said = make.fact(doc_id, text, ("节能降碳", "改归", f"部门{n}"))  # never has a vector
    mention = make.mention(doc_id, text, "家")
    store.replace_knowledge(doc_id, facts=[said], mentions=[mention])


def forget(i, *kept):
    for mapping in kept:
        mapping.pop(i, None)


def put(store, make, i, version):
    store.upsert_document(bundle_of(make, i, version), source=f"/archive/{i}.txt")


def exported(store):
    return [json.dumps(record, ensure_ascii=False, sort_keys=True) for record in store.export()]


changes = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "delete", "add", "replace"]),
        st.integers(0, 4),
        st.integers(0, 2),
    ),
    max_size=14,
)


@settings(max_examples=extent.of(40, 12), database=None)
@given(changes=changes, order=st.randoms(use_true_random=False))
def test_any_changes_leave_what_a_fresh_store_would_hold(new_store, make, changes, order):
    """Invariants hold, and nothing but the final content is left, whatever came before."""
    store = new_store()
    versions: dict[Any, Any] = {}
    added: dict[Any, Any] = defaultdict(set)
    replaced: dict[Any, Any] = {}
    summed: dict[Any, Any] = defaultdict(set)  # what was added and outlives a replacement
    for what, i, n in changes:
        if what == "put":
            put(store, make, i, n)
            versions[i] = n
            forget(i, added, replaced, summed)
        elif i not in versions:
            continue
        elif what == "delete":
            assert store.delete_document(bundle_of(make, i, versions.pop(i)).document.doc_id)
            forget(i, added, replaced, summed)
        elif what == "replace":
            replace_knowledge(store, make, i, versions[i], n)
            replaced[i] = n
            added.pop(i, None)
        else:
            doc_id, knowledge = knowledge_of(make, i, versions[i], n)
            store.add_knowledge(doc_id, **knowledge)
            added[i].add(n)
            summed[i].add(n)
    assert store.verify() == []
    left = exported(store)
    found = store.search_words({"工厂": 1.0, "节能": 2.0}, field="text", size=24, top_k=99)

    fresh = new_store()
    todo = list(versions.items())
    order.shuffle(todo)
    for i, version in todo:
        put(fresh, make, i, version)
        for n in summed[i]:
            doc_id, knowledge = knowledge_of(make, i, version, n)
            fresh.add_knowledge(doc_id, summaries=knowledge["summaries"])
        if i in replaced:
            replace_knowledge(fresh, make, i, version, replaced[i])
        for n in sorted(added[i], reverse=True):
            doc_id, knowledge = knowledge_of(make, i, version, n)
            fresh.add_knowledge(doc_id, **knowledge)
    assert exported(fresh) == left
    again = fresh.search_words({"工厂": 1.0, "节能": 2.0}, field="text", size=24, top_k=99)
    assert dict(again) == pytest.approx(dict(found), rel=1e-3)


def test_export_is_the_same_whatever_the_order_of_ingestion(new_store, make):
    """Byte for byte; settings count, sources and their folders do not."""
    exports = []
    for folder, order in (("/a", [0, 1, 2, 3]), ("/b", [3, 1, 0, 2])):
        store = new_store()
        store.set_meta({"embedder": "x", "sizes": "1"})
        for i in order:
            store.upsert_document(bundle_of(make, i, 1), source=f"{folder}/{i}.txt")
        exports.append(exported(store))

    assert exports[0] == exports[1]
    assert not any("/a" in line for line in exports[0])


@pytest.mark.parametrize("change", ["text", "vector", "evidence", "meta"])
def test_export_tells_any_difference(new_store, make, change):
    """A knowledge base that differs in anything but paths has other lines."""

    def content(changed):
        store = new_store()
        bundle = bundle_of(make, 0, 0)
        if changed == "text":
            bundle = replace(bundle, document=replace(bundle.document, title="另题"))
        elif changed == "vector":
            bundle = replace(bundle, vectors=bundle.vectors[:-1])
        elif changed == "evidence":
            (spot,) = bundle.facts[0].evidence
            facts = [replace(bundle.facts[0], evidence=(replace(spot, confidence=0.5),))]
            bundle = replace(bundle, facts=[*facts, *bundle.facts[1:]])
        store.upsert_document(bundle, source="/a.txt")
        store.set_meta({"embedder": changed if changed == "meta" else "x"})
        return exported(store)

    assert content(change) != content(None)


def test_notes_are_kept_beside_the_settings(new_store):
    """They say nothing of the content: neither exported nor among the settings, nor copied."""
    exports = []
    for notes in ({}, {"note.unread": "[]"}):
        store = new_store()  # on a server it takes the place of the one before
        store.set_meta({"embedder": "x", "notes": "a setting", **notes})
        assert store.all_meta() == {"embedder": "x", "notes": "a setting"}
        assert store.get_meta("note.unread") == notes.get("note.unread")
        exports.append(exported(store))

    assert exports[0] == exports[1]
    store.set_meta({"note.unread": "[1]"})
    assert store.get_meta("note.unread") == "[1]"


def test_export_holds_every_record(store, make):
    """As many as the counts say; every one names its kind and is JSON."""
    for i in range(3):
        put(store, make, i, 0)
    kinds: dict[Any, Any] = defaultdict(int)
    for line in exported(store):
        kinds[json.loads(line)["record"]] += 1
    counts = store.counts()

    assert kinds["document"] == counts.documents == 3
    assert kinds["chunk"] == sum(counts.chunks.values())
    assert kinds["fact"] == counts.facts
    assert kinds["entity"] == counts.entities
    assert kinds["mention"] == counts.mentions
    assert kinds["summary"] == counts.summaries


def test_threads_search_while_one_writes(store, make):
    """Readers see whole documents only, and no error."""
    put(store, make, 0, 0)
    expected = [c.chunk_id for c in bundle_of(make, 0, 0).chunks if c.size == make.LEAF]
    done = threading.Event()

    def read(n):
        for _ in range(CALLS):
            hits = store.search_words({"工厂": 1.0}, field="text", size=24, top_k=50)
            assert hits
            assert store.search_vectors(make.unit_vector(str(n)), kind="chunk", top_k=50)
            found = [c.chunk_id for c in store.chunks_of(["d-0"], size=make.LEAF)]
            assert found == expected
            facts = store.facts_around([make.entity("工信部").entity_id], limit=9)
            assert all(f.evidence for f in facts)
        return n

    def write():
        for i in range(1, 12):
            put(store, make, i, 0)
            put(store, make, 0, 0)
        done.set()

    with ThreadPoolExecutor(5) as pool:
        readers = [pool.submit(read, n) for n in range(4)]
        writer = pool.submit(write)
        assert [r.result() for r in readers] == [0, 1, 2, 3]
        writer.result()
    assert done.is_set()
    assert store.counts().documents == 12
    assert store.verify() == []


def test_closed_is_closed(store, make):
    """Every call after `close` is refused; closing twice is no error."""
    put(store, make, 0, 0)
    store.close()
    store.close()

    for call in (
        store.counts,
        store.sources,
        store.documents,
        store.verify,
        lambda: list(store.export()),
        lambda: store.run_query("RETURN 1 AS n", max_rows=1, timeout_s=1.0),
        lambda: put(store, make, 1, 0),
        lambda: store.search_words({"工厂": 1.0}, field="text", size=8, top_k=1),
        lambda: store.search_vectors(make.unit_vector("x"), kind="chunk", top_k=1),
        lambda: store.begin_search_vectors(make.unit_vector("x"), kind="chunk", top_k=1)(),
    ):
        with pytest.raises(StoreError, match="closed"):
            call()


def test_a_store_names_the_language_of_its_queries(store):
    """A statement in it is answered."""
    statement = {"sql": "SELECT 1 AS n", "cypher": "RETURN 1 AS n"}[store.query_language]
    assert store.run_query(statement, max_rows=5, timeout_s=5.0) == [{"n": 1}]
