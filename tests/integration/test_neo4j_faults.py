"""A server store whose connection fails ends as one that was never disturbed."""

import json
import re
import threading
from contextlib import closing
from functools import partial
from importlib import resources

import neo4j
import pytest

from kgrag.errors import StoreUnavailableError
from kgrag.maintenance.copying import compare, copy
from kgrag.store.neo4j import connection, write
from kgrag.store.neo4j.store import Neo4jStore
from kgrag.store.sqlite.store import SQLiteStore
from tests.fixtures import extent
from tests.neo4j_server.plugin import clear
from tests.neo4j_server.proxy import BoltProxy

pytestmark = pytest.mark.neo4j

DEADLOCK = "Neo.TransientError.Transaction.DeadlockDetected"
AWAY = "Neo.TransientError.General.DatabaseUnavailable"
A = "云岭省碳达峰方案。依据《国家方案》，建设绿色工厂三百家，推动节能降碳。"
B = "国家方案。推动绿色工厂建设，节能降碳，健全标准体系。"
DELETE_REMAINS = write.delete_remains
SCHEMES = ["bolt", "neo4j"]

ROUTED = ["statement lost", "commit unheard", "away for a while", "not a leader"]

# By name: asks a proxy for a fault, given how many RUN the undisturbed step sends.
FAULTS = {
    "statement lost": lambda proxy, n: proxy.cut_at("RUN", lost="request", skip=n // 2),
    "statement unheard": lambda proxy, n: proxy.cut_at("RUN", lost="reply", skip=n // 3),
    "result lost": lambda proxy, n: proxy.cut_at("PULL", lost="reply", skip=n // 2),
    "broken off": lambda proxy, n: proxy.cut_after(150 * n, "server"),
    "answer broken off": lambda proxy, n: proxy.cut_after(60 * n, "client"),
    "commit lost": lambda proxy, n: proxy.cut_at("COMMIT", lost="request"),
    "commit unheard": lambda proxy, n: proxy.cut_at("COMMIT", lost="reply"),
    "commit unheard twice": lambda proxy, n: [
        proxy.cut_at("COMMIT", lost="reply") for _ in range(2)
    ],
    "idle connections cut": lambda proxy, n: proxy.cut(),
    "away for a while": lambda proxy, n: go_away(proxy),
    "not a leader": lambda proxy, n: proxy.not_a_leader(3),
    "deadlock": lambda proxy, n: proxy.fail("RUN", DEADLOCK, times=2, skip=n // 2),
    "deadlock at commit": lambda proxy, n: proxy.fail("COMMIT", DEADLOCK, times=2),
    "database away": lambda proxy, n: proxy.fail("BEGIN", AWAY, times=2),
}


def go_away(proxy):
    """Refuse connections for a moment."""
    proxy.refuse()
    proxy.cut()
    threading.Timer(0.3, proxy.listen).start()


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Let the driver try again soon, and not for minutes."""
    driver = partial(neo4j.GraphDatabase.driver, initial_retry_delay=0.02)
    monkeypatch.setattr(neo4j.GraphDatabase, "driver", driver)
    monkeypatch.setattr(connection, "_RETRY_S", 20.0)


@pytest.fixture
def direct(empty_neo4j):
    """An empty store."""
    with closing(Neo4jStore.open(empty_neo4j)) as store:
        yield store


@pytest.fixture
def through(direct, neo4j_proxy):
    """A function that returns a store that works through the proxy."""
    stores = []

    def open_store(scheme="bolt"):
        stores.append(Neo4jStore.open(neo4j_proxy.uri(scheme)))
        return stores[-1]

    yield open_store
    for store in stores:
        store.close()


def steps(make):
    """Return (name, what it does to a store, whether content changes) of every way to write."""
    a = make.bundle(
        "a", A, title="云岭省碳达峰方案", facts=[("云岭省", "依据", "国家方案")],
        mentions=["绿色工厂"], summaries=["讲碳达峰。"],
    )  # fmt: skip
    b = make.bundle("b", B, title="国家方案", facts=[("国家方案", "推动", "绿色工厂")])
    changed = make.bundle("b", B[5:], title="国家方案", facts=[("绿色工厂", "需", "标准体系")])
    c = make.bundle("c", "只在这里：光伏。", facts=[("光伏", "属于", "绿色工厂")][:0])
    more = {
        "facts": [make.fact("d-a", A, ("绿色工厂", "数量", "三百家"), "import")],
        "mentions": [make.mention("d-a", A, "节能降碳")],
        "summaries": [make.summary("d-a", A, "另一个概括。")],
    }

    def delete(store):
        assert store.delete_document("d-c") is True
        assert store.delete_document("d-nobody") is False

    return [
        ("set_meta", lambda s: s.set_meta({"embedder": "test", "languages": "zh"}), False),
        ("upsert", lambda s: s.upsert_document(a, source="/a"), True),
        ("upsert of what is cited", lambda s: s.upsert_document(b, source="/b"), True),
        ("upsert of another", lambda s: s.upsert_document(c, source="/c"), True),
        ("attach_source", lambda s: s.attach_source("/another", "d-a"), False),
        ("refresh", lambda s: s.refresh(sizes=(make.LEAF,)), False),
        ("replacement", lambda s: s.upsert_document(changed, source="/b"), True),
        ("add_knowledge", lambda s: s.add_knowledge("d-a", **more), True),
        ("delete", delete, True),
    ]


def lines(store):
    return [json.dumps(record, sort_keys=True, ensure_ascii=False) for record in store.export()]


@pytest.fixture
def wanted(make, tmp_path):
    """What a knowledge base in a folder exports after each step."""
    with closing(SQLiteStore.open(tmp_path / "kb")) as store:
        out = []
        for _, step, _ in steps(make):
            step(store)
            out.append(lines(store))
        return out


@pytest.fixture(scope="module")
def undisturbed(neo4j_uri, make):
    """How many statements each step sends."""
    counted = {}
    clear(neo4j_uri)
    with BoltProxy(neo4j_uri) as proxy, closing(Neo4jStore.open(proxy.uri())) as store:
        for name, step, _ in steps(make):
            before = proxy.seen["RUN"]
            step(store)
            counted[name] = proxy.seen["RUN"] - before
    return counted


@pytest.mark.parametrize(
    ("fault", "scheme"),
    extent.among([*((f, "bolt") for f in FAULTS), *((f, "neo4j") for f in ROUTED)], 4),
)
def test_every_write_survives_a_fault(
    through, direct, neo4j_proxy, make, wanted, undisturbed, fault, scheme
):
    """Struck at each step, the store is whole after it and holds what it shall."""
    store = through(scheme)
    struck = 0
    for (name, step, changes), expected in zip(steps(make), wanted, strict=True):
        before = direct.change_counter()
        FAULTS[fault](neo4j_proxy, undisturbed[name])
        step(store)
        struck += not neo4j_proxy.waiting
        neo4j_proxy.forget()
        assert lines(direct) == expected, name
        assert direct.verify() == [], name
        assert direct.change_counter() > before or not changes, name
    assert struck >= len(wanted) - 2, "the faults did not strike"


@pytest.mark.slow
@pytest.mark.parametrize("lost", ["request", "reply"])
def test_a_replacement_may_be_cut_off_at_every_statement(
    through, direct, neo4j_proxy, make, wanted, undisturbed, lost
):
    """Wherever the connection ends, the document is the old one until it is the new one."""
    store = through()
    by_name = {name: step for name, step, _ in steps(make)}
    order = list(by_name)[:7]
    for name in order:
        by_name[name](store)
    new, old = order.index("replacement"), order.index("refresh")
    for at in extent.among(range(undisturbed["replacement"] - 2), 6):
        now = order[old if at % 2 == 0 else new]
        neo4j_proxy.cut_at("RUN", lost=lost, skip=at)
        by_name["upsert of what is cited" if at % 2 == 0 else "replacement"](store)
        neo4j_proxy.forget()
        assert lines(direct) == wanted[order.index(now)], at
    assert direct.verify() == []


def test_a_write_that_fails_for_good_changes_nothing(through, direct, neo4j_proxy, make, wanted):
    """A cluster without a leader, or a server that does not come back, is told after a while."""
    name, step, _ = steps(make)[1]
    for scheme, fault, remedy in (
        ("bolt", lambda: neo4j_proxy.not_a_leader(10_000), "use neo4j:// for a cluster"),
        ("bolt", lambda: neo4j_proxy.fail("RUN", DEADLOCK, times=10_000), "try again later"),
        ("neo4j", lambda: [neo4j_proxy.refuse(), neo4j_proxy.cut()], "check the address"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(connection, "_RETRY_S", 0.3)
            store = through(scheme)
            store.documents()
        fault()
        with pytest.raises(StoreUnavailableError, match=remedy):
            step(store)
        neo4j_proxy.forget()
        neo4j_proxy.listen()
        assert (lines(direct), direct.verify()) == ([], []), name


# Reading.


def reads(make):
    """Return every call that reads, by name."""
    vector = make.unit_vector("问")
    return {
        "get_meta": lambda s: s.get_meta("embedder"),
        "all_meta": lambda s: s.all_meta(),
        "sources": lambda s: s.sources(),
        "documents": lambda s: s.documents(),
        "document_cards": lambda s: s.document_cards(["d-a"]),
        "bundle": lambda s: repr(s.bundle("d-a")),
        "headings": lambda s: s.headings(["d-a"]),
        "chunks": lambda s: s.chunks([f"d-a:{make.LEAF}:0"]),
        "chunks_of": lambda s: s.chunks_of(["d-a"], size=make.LEAF),
        "children": lambda s: s.children([f"d-a:{make.PARENT}:0"], size=make.LEAF),
        "families": lambda s: s.families([f"d-a:{make.PARENT}:0"]),
        "summaries": lambda s: s.summaries(),
        "find_documents": lambda s: s.find_documents("国家方案", top_k=3),
        "search_words": lambda s: s.search_words(
            {"工厂": 1.0}, field="text", size=make.LEAF, top_k=5
        ),
        "search_phrase": lambda s: s.search_phrase(
            "绿色工厂", field="path", size=make.LEAF, top_k=5
        ),
        "search_vectors": lambda s: s.search_vectors(vector, kind="chunk", top_k=5),
        "begin_search_vectors": lambda s: s.begin_search_vectors(vector, kind="chunk", top_k=5)(),
        "similarities": lambda s: s.similarities(vector, ["d-a", f"d-a:{make.LEAF}:0"]),
        "vectors": lambda s: sorted(s.vectors(["none"])),
        "vectors_of": lambda s: sorted(s.vectors_of([f"d-a:{make.LEAF}:0"])),
        "find_entities": lambda s: s.find_entities(["绿色工厂"]),
        "search_entities": lambda s: s.search_entities("绿色工", top_k=3),
        "entities": lambda s: s.entities([make.entity("绿色工厂").entity_id]),
        "facts_around": lambda s: s.facts_around([make.entity("绿色工厂").entity_id], limit=9),
        "facts_of_chunks": lambda s: s.facts_of_chunks([f"d-a:{make.LEAF}:0"]),
        "entity_degrees": lambda s: s.entity_degrees([make.entity("绿色工厂").entity_id]),
        "knowledge_of": lambda s: s.knowledge_of("d-a"),
        "counts": lambda s: s.counts(),
        "change_counter": lambda s: s.change_counter(),
        "verify": lambda s: s.verify(),
        "export": lines,
    }


@pytest.fixture
def filled(direct, make):
    """A store with all steps done and everything indexed."""
    for _, step, _ in steps(make):
        step(direct)
    direct.refresh(sizes=(make.LEAF, make.PARENT))
    return direct


@pytest.mark.parametrize("scheme", SCHEMES)
def test_reads_are_made_again_after_a_fault(through, neo4j_proxy, filled, make, scheme):
    """A read is one message pair; after a fault the driver's own repetition takes over."""
    store = through(scheme)
    calls = reads(make)
    calls["search_words"](store)
    for seen, fault in (
        (True, lambda: neo4j_proxy.cut_at("RUN", lost="request")),
        (True, lambda: neo4j_proxy.cut_at("PULL", lost="reply")),
        (True, lambda: neo4j_proxy.fail("RUN", AWAY, times=2)),
        (True, lambda: [neo4j_proxy.cut_at(m, lost="reply") for m in ("RUN", "COMMIT")]),
        (False, lambda: neo4j_proxy.cut()),
        (False, lambda: go_away(neo4j_proxy)),
    ):
        for name in ("get_meta", "documents", "chunks_of", "search_words", "facts_around"):
            before = neo4j_proxy.seen.copy()
            fault()
            assert calls[name](store) == calls[name](filled), name
            assert not neo4j_proxy.waiting
            assert neo4j_proxy.seen["BEGIN"] > before["BEGIN"] or not seen
    asked = neo4j_proxy.seen["ROUTE"]
    neo4j_proxy.cut_at("RUN", lost="request")
    assert calls["counts"](store) == calls["counts"](filled)
    assert (neo4j_proxy.seen["ROUTE"] > asked) is (scheme == "neo4j")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_reads_go_out_as_reads_in_one_message(through, neo4j_proxy, filled, make, scheme):
    """Any member of a cluster may answer; none opens a transaction of its own."""
    store = through(scheme)
    for name, call in reads(make).items():
        writing, began = neo4j_proxy.writing["RUN"], neo4j_proxy.seen["BEGIN"]
        assert call(store) == call(filled), name
        assert (neo4j_proxy.writing["RUN"], neo4j_proxy.seen["BEGIN"]) == (writing, began), name


def test_a_read_names_what_the_store_wrote_before(through, neo4j_proxy, make):
    """A member that has not got it yet waits until it has."""
    store = through("neo4j")
    store.set_meta({"embedder": "x"})
    before = neo4j_proxy.bookmarked["RUN"]
    assert store.get_meta("embedder") == "x"
    assert neo4j_proxy.bookmarked["RUN"] == before + 1


def test_no_statement_uses_internal_ids():
    """Neo4j gives the id of what was deleted to something else."""
    folder = resources.files("kgrag.cypher")
    files = [f for f in folder.iterdir() if f.name.endswith(".cypher")]
    files += list(folder.joinpath("browser").iterdir())
    assert len(files) > 5
    for file in files:
        assert not re.search(r"\b(id|elementId)\s*\(", file.read_text(encoding="utf-8")), file.name
    assert re.search(r"\b(id|elementId)\s*\(", "WHERE id (n) = 1")


# Copies.


@pytest.mark.parametrize(
    "fault", extent.among(["statement lost", "commit unheard", "not a leader", "deadlock"], 2)
)
def test_a_copy_survives_faults_all_along(through, direct, neo4j_proxy, make, tmp_path, fault):
    """Every document is struck; the copy is equal."""
    with closing(SQLiteStore.open(tmp_path / "kb")) as source:
        for _, step, _ in steps(make)[:-1]:
            step(source)
        store = through("neo4j")
        copied = copy(source, store, progress=lambda *call: FAULTS[fault](neo4j_proxy, 20))
        assert copied.written == 3
        neo4j_proxy.forget()
        assert compare(source, direct).difference is None
    assert direct.verify() == []


# Large documents.


@pytest.fixture
def large(direct, make, monkeypatch):
    """A document of which each transaction may delete two chunks, beside a small one."""
    monkeypatch.setattr(write, "_LARGE", 10)
    monkeypatch.setattr(write, "_REMAINS", 2)
    for _, step, _ in steps(make)[:2]:
        step(direct)
    direct.refresh(sizes=(make.LEAF,))
    return make.bundle("large", "这是一份很长的文件。" * 10, mentions=["文件"])


def cut_off(store, large):
    """Delete the large document, but for the transactions after the second."""
    store.upsert_document(large, source="/large")
    tries = iter([True])

    def delete_some(tx):
        if next(tries, None) is None:
            raise StoreUnavailableError("cut off")
        return DELETE_REMAINS(tx)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "delete_remains", delete_some)
        with pytest.raises(StoreUnavailableError):
            store.delete_document(large.document.doc_id)
    assert "deletion-finished" in {p.invariant for p in store.verify()}
    assert store.documents([large.document.doc_id]) == []
    assert store.chunks([c.chunk_id for c in large.chunks]) == []  # nor what is left of it


def test_a_cut_off_deletion_is_ended_by_what_is_written_next(direct, large, make, wanted):
    """It is seen until then; some chunks are gone, no transaction deletes more than it may."""
    replaced = make.bundle("a", A, title="另一个名称")
    for end in (
        lambda: direct.refresh(),
        lambda: direct.upsert_document(replaced, source="/a"),
        lambda: direct.attach_source("/more", "d-a"),
        lambda: direct.delete_document("d-nobody"),
    ):
        cut_off(direct, large)
        before = direct.change_counter()
        left = direct.counts().chunks
        end()
        assert direct.verify() == []
        gone = sum(left.values()) - sum(direct.counts().chunks.values())
        assert gone > 6
        assert direct.change_counter() - before >= gone / 2
    steps(make)[1][1](direct)
    assert lines(direct) == wanted[1]


def test_a_document_whose_deletion_was_cut_off_can_be_stored_again(direct, large, make):
    """What is left of the old one is no part of the new one."""
    direct.upsert_document(large, source="/large")
    expected = lines(direct)
    for again in (large, make.bundle("large", "现在很短。")):
        cut_off(direct, large)
        direct.upsert_document(again, source="/large")
        assert direct.verify() == []
        assert direct.documents(["d-large"])[0].text == again.document.text
        direct.upsert_document(large, source="/large")
        assert lines(direct) == expected
