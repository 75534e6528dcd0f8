"""Questions answered from a copy of a server's knowledge base: never from an older one."""

import threading
from dataclasses import replace
from typing import Any

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, SearchConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder
from kgrag.maintenance.copying import compare
from kgrag.store.background_copy import FIRST, BackgroundCopy
from kgrag.store.local_copy import LocalCopy
from kgrag.store.neo4j.store import Neo4jStore
from kgrag.store.sqlite.store import SQLiteStore

COPIED = Config(search=SearchConfig(local_copy="on"))
QUESTIONS = ("《云岭省绿色工厂创建实施方案》由谁印发？", "绿色工厂的数量目标是多少？", "节能")


@pytest.fixture
def store(empty_neo4j):
    found = Neo4jStore.open(empty_neo4j)
    yield found
    found.close()


@pytest.fixture
def copied(store, tmp_path):
    found = LocalCopy(store, tmp_path / "copies")
    yield found
    found.close()


def read_by(store: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets the name of every statement with which a store reads."""
    read, names = store._database.read, list[str]()

    def named(name: str, /, **parameters: object) -> object:
        names.append(name)
        return read(name, **parameters)

    monkeypatch.setattr(store._database, "read", named)
    return names


def changes(store, make):
    """Return every way to change a knowledge base, in an order in which each changes something."""
    bundle = make.bundle("a", "工信部印发办法。", facts=[("工信部", "印发", "办法")])
    vectors = [make.node_vector(bundle.facts[0].fact_id, "fact", "vector")]
    other = [make.node_vector(f"d-a:{make.LEAF}:0", "chunk", "other")]

    def put(bundle, source):
        return lambda: store.upsert_document(bundle, source=source)

    def switch():
        store.staged.begin({"embedder": "new"})
        documents = {"d-a": other, "d-b": []}
        now = store.change_counter()
        store.staged.put(documents, meta={"embedder": "new"}, as_of=now)
        assert store.staged.switch({"embedder": "new"})

    return {
        "settings": lambda: store.set_meta({"embedder": "old"}),
        "document": put(bundle, "/a.txt"),
        "another": put(make.bundle("b", "绿色工厂。"), "/b.txt"),
        "source": lambda: store.attach_source("/0.txt", "d-a"),
        "facts": lambda: store.add_knowledge("d-b", facts=make.bundle(
            "b", "绿色工厂。", facts=[("绿色", "是", "工厂")]).facts),
        "summaries": lambda: store.add_knowledge(
            "d-a", summaries=make.bundle("a", bundle.document.text, summaries=["摘要"]).summaries),
        "vectors": lambda: store.add_knowledge("d-a", vectors=vectors, embedder="old"),
        "reembed": switch,
        "new text": put(make.bundle("b", "绿色工厂三家。"), "/b.txt"),
        "moved source": lambda: store.attach_source("/b.txt", "d-a"),
        "deleted": lambda: store.delete_document("d-a"),
    }  # fmt: skip


def test_after_every_kind_of_change_the_copy_is_what_the_server_holds(store, copied, make):
    """Who is asked next sees it; whoever changes something in another process is seen like this."""
    for name, change in changes(store, make).items():
        before = store.state()
        change()
        assert store.state() != before, name
        here = copied.current()
        assert compare(store, here).difference is None, name
        assert here.sources() == store.sources(), name
        assert here.verify() == [], name


def test_a_question_costs_one_round_trip_and_finds_the_same(empty_neo4j, tmp_path, monkeypatch):
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    with KnowledgeBase.open(empty_neo4j, embedder=HashEmbedder()) as plain:
        plain.ingest([sample_folder()])
        folder = tmp_path / "kb"
        with (
            KnowledgeBase.open(empty_neo4j, embedder=HashEmbedder(), config=COPIED) as copied,
            KnowledgeBase.open(folder, embedder=HashEmbedder(), config=COPIED) as here,
        ):
            here.ingest([sample_folder()])
            assert copied.search("节能")  # the copy is made
            trips = read_by(copied.store, monkeypatch)
            for question in QUESTIONS:
                trips.clear()
                found = copied.search(question)
                assert trips == ["state"]
                assert found == here.search(question)
                answer = copied.ask(question)
                assert trips == ["state", "state"]
                ours = here.ask(question)
                cited = [replace(c, file="") for c in answer.citations]
                assert (answer.text, cited) == (
                    ours.text,
                    [replace(c, file="") for c in ours.citations],
                )
    assert isinstance(here.store, SQLiteStore)


def chunk_ids(results):
    """Return what was found, in order; the last digits of a score differ from store to store."""
    return [result.chunk.chunk_id for result in results]


def test_a_process_that_goes_on_asking_is_answered_from_a_copy_and_takes_it_along(
    empty_neo4j, tmp_path, monkeypatch
):
    """As it is by default: first the server answers, then the copy, the same; nothing stays."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    copies = tmp_path / "cache" / "copies" / "processes"
    with KnowledgeBase.open(empty_neo4j, embedder=HashEmbedder()) as base:
        base.ingest([sample_folder()])
        trips = read_by(base.store, monkeypatch)
        by_server = {question: chunk_ids(base.search(question)) for question in QUESTIONS}
        assert "state" not in trips
        for _ in range(FIRST):
            base.search(QUESTIONS[0], system="bm25")
        copy = base._current._copy
        assert isinstance(copy, BackgroundCopy)
        copy.wait()
        for question, found in by_server.items():
            trips.clear()
            assert chunk_ids(base.search(question)) == found
            assert trips == ["state"]
        assert list(copies.iterdir())
    assert list(copies.iterdir()) == []


def test_what_others_store_and_delete_meanwhile_is_seen_by_the_next_question(
    empty_neo4j, tmp_path, make
):
    """One process writes as fast as it can, another one looks after each of its commits."""
    begun, committed = [], []  # (document, its number; None where it was deleted)
    writing, reading = Neo4jStore.open(empty_neo4j), Neo4jStore.open(empty_neo4j)
    copied = LocalCopy(reading, tmp_path / "copies")

    def write():
        for i in range(24):
            name = f"n{i % 7}"
            number = None if i % 5 == 4 else i
            begun.append((f"d-{name}", number))
            if number is None:
                writing.delete_document(f"d-{name}")
            else:
                facts = [("工信部", "印发", f"第{i}号")]
                bundle = make.bundle(name, f"工信部印发第{i}号。", facts=facts)
                writing.upsert_document(bundle, source=f"/{name}.txt")
            committed.append(i)

    thread = threading.Thread(target=write)
    thread.start()
    looked = 0
    while thread.is_alive() or not looked:
        n = len(committed)
        store = copied.current()
        if store is None:  # written faster than copied: the server is asked
            continue
        looked += 1
        held = {d.doc_id: int(d.text[6:-2]) for d in store.documents()}
        for doc_id, number in dict(begun[:n]).items():
            since = [other for name, other in begun[n:] if name == doc_id]
            assert held.get(doc_id) in [number, *since]
        for doc_id, number in held.items():  # no half of each
            facts, _, _ = store.knowledge_of(doc_id)
            assert [fact.object.name for fact in facts] == [f"第{number}号"]
    thread.join()
    current = copied.current()
    assert current
    assert compare(writing, current).difference is None
    for opened in (copied, writing, reading):
        opened.close()
