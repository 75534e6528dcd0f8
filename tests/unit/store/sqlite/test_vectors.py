import json
import shutil
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgrag.store.sqlite import vectors
from kgrag.store.sqlite.cache import CacheFolder, CacheUnwritableError
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.vectors import search
from kgrag.vectors.files import Limits
from kgrag.vectors.rows import CodedRows
from kgrag.vectors.vector import cosines
from tests.fixtures import extent
from tests.fixtures.dense_vectors import Dense, unit

SMALL = Limits(few=6, exact=40, small=20, floats=0, segment=64)
SCANNED = Limits(few=6, exact=40, small=20, segment=64)
QUERY = unit(np.random.default_rng(99), 1)[0]

_DOCUMENT = st.integers(0, 7)
_STEP = st.one_of(
    st.tuples(st.just("put"), _DOCUMENT, st.integers(0, 30)),
    st.tuples(st.just("delete"), _DOCUMENT, st.just(0)),
    st.tuples(st.just("ask"), st.integers(0, 1), st.integers(0, 3)),
    st.tuples(st.just("reopen"), st.integers(0, 1), st.just(0)),
)


@settings(max_examples=extent.of(60, 25))
@given(
    st.lists(_STEP, max_size=25),
    st.integers(0, 1000),
    st.sampled_from([SMALL, SCANNED, Limits(few=1)]),
)
def test_any_history_finds_what_a_plain_product_finds(steps, seed, limits):
    """In two processes that share a folder: added, replaced, deleted, opened again, filtered."""
    rng = np.random.default_rng(seed)
    folder = Path(tempfile.mkdtemp())
    bases = [Dense(folder, limits=limits) for _ in range(2)]
    try:
        for step, which, n in [*steps, ("ask", 0, 0), ("ask", 1, 1)]:
            if step == "put":
                bases[0].put(f"d-{which}", unit(rng, n))
            elif step == "delete":
                bases[0].delete(f"d-{which}")
            elif step == "reopen":
                bases[which].database.close()
                bases[which] = Dense(folder, limits=limits)
            else:
                query = unit(rng, 1)[0]
                doc_ids = [None, None, ["d-1", "d-2", "d-9"], []][n]
                asked = {"top_k": 7, "doc_ids": doc_ids}
                nearest = bases[which].nearest(query, **asked)
                assert bases[which].ask(query, **asked) == nearest
                assert bases[which].ask_ahead(query, doc_ids=doc_ids)[:7] == nearest
                every = dict(bases[which].nearest(query, top_k=999))
                at_hand = bases[which].similarities(query, [*every, "d-0:99"])
                assert at_hand.items() <= every.items()
                assert limits is SMALL or at_hand == every
        assert bases[0].problems() == []
    finally:
        for base in bases:
            base.database.close()
        shutil.rmtree(folder)


def filled(dense, *, limits=SMALL, n_documents=20):
    base = dense(limits=limits)
    rng = np.random.default_rng(1)
    for i in range(n_documents):
        base.put(f"d-{i:02}", unit(rng, 10))
    return base


@pytest.fixture
def reads(monkeypatch):
    """Return a function that takes the documents read from the database since the last call."""
    asked = []
    original = vectors.stream

    def read(connection, kind, lengths, *rest):
        asked.extend(lengths)
        return original(connection, kind, lengths, *rest)

    monkeypatch.setattr(vectors, "stream", read)

    def take():
        out = sorted(asked)
        asked.clear()
        return out

    return take


def test_a_large_index_is_of_coded_segments_of_bounded_size(dense):
    """Each document in one of them."""
    blocks = filled(dense).blocks

    assert [b.n_rows for b in blocks] == [50, 50, 50, 50]
    assert all(isinstance(b.segment.rows, CodedRows) for b in blocks)
    assert sorted(d for b in blocks for d in b.standing()) == [f"d-{i:02}" for i in range(20)]


def test_the_next_process_reads_nothing_from_the_database(dense, reads):
    """Only what changed since the list was written."""
    filled(dense).ask(QUERY)
    reads()
    again = dense(limits=SMALL)
    assert again.ask(QUERY) == again.nearest(QUERY)
    assert reads() == []
    again.put("d-20", unit(np.random.default_rng(2), 3))
    again.delete("d-00")
    after = dense(limits=replace(SMALL, few=20))
    assert after.ask(QUERY) == after.nearest(QUERY)
    assert reads() == ["d-20"]


def test_changes_are_read_alone(dense, reads):
    """One document added, replaced or deleted is all that is read; no file changes."""
    base = filled(dense, limits=replace(SMALL, few=40))
    base.ask(QUERY)
    reads()
    rng = np.random.default_rng(3)
    before = {p: p.stat().st_mtime_ns for p in base.cache.folder.rglob("*")}
    for change, read in (
        (lambda: base.put("d-20", unit(rng, 3)), ["d-20"]),
        (lambda: base.put("d-02", unit(rng, 10)), ["d-02"]),
        (lambda: base.put("d-20", unit(rng, 2)), ["d-20"]),
        (lambda: base.delete("d-20"), []),
    ):
        change()
        assert base.ask(QUERY) == base.nearest(QUERY)
        assert reads() == read
    assert {p: p.stat().st_mtime_ns for p in base.cache.folder.rglob("*")} == before


def test_a_full_segment_stays_when_others_are_written(dense, reads):
    """Adding a document to a large index does not rewrite it."""
    base = filled(dense)
    before = {b.segment.name for b in base.blocks}
    reads()
    base.put("d-20", unit(np.random.default_rng(4), 8))
    base.ask(QUERY)

    assert before < {b.segment.name for b in base.blocks}
    assert reads() == ["d-20"]


def test_only_a_segment_with_many_dead_is_written_again(dense, reads):
    """What is left of it alone is read."""
    base = filled(dense)
    doc_ids = base.blocks[1].standing()
    reads()
    base.delete(*doc_ids[:2])

    assert base.ask(QUERY, top_k=300) == base.nearest(QUERY, top_k=300)
    assert reads() == doc_ids[2:]
    assert sum(b.n_rows - b.n_alive for b in base.blocks) == 0


def test_deletions_outlive_the_process_without_new_vectors(dense, reads):
    """The dead are on the disk before their segment is written again."""
    base = filled(dense)
    base.ask(QUERY)
    base.delete(base.blocks[0].standing()[0])
    base.ask(QUERY)
    reads()
    again = dense(limits=SMALL)

    assert again.ask(QUERY, top_k=300) == again.nearest(QUERY, top_k=300)
    assert sorted(b.n_alive for b in again.blocks) == [40, 50, 50, 50]
    assert reads() == []


@pytest.mark.parametrize(("data", "floats"), [("random", 10_000), ("clustered", 0)])
def test_recall_stays_after_a_fifth_is_deleted(dense, monkeypatch, data, floats):
    """At least 0.99 of the best 50, in the process that deleted and in the next."""
    monkeypatch.setattr(search, "_CANDIDATE", 0)
    monkeypatch.setattr(search, "_FINE_DEPTH", 300)
    monkeypatch.setattr(search, "_FINE_DEPTH_OF_EACH", 1)
    monkeypatch.setattr(search, "_FINE_ROWS", 1)
    monkeypatch.setattr(search, "_DIRECT", 100)
    monkeypatch.setattr(search, "_DEPTH", 600)
    monkeypatch.setattr(search, "_DEPTH_OF_EACH", 1)
    limits = Limits(few=100, exact=0, small=100, floats=floats, segment=4000)
    base = dense(limits=limits, dimension=32)
    rng = np.random.default_rng(5)
    topics = unit(rng, 40, 32)
    for i in range(60):
        matrix = unit(rng, 100, 32)
        if data == "clustered":
            matrix = matrix + 2 * topics[rng.integers(0, 40, 100)]
            matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
        base.put(f"d-{i}", matrix.astype(np.float32))
    queries = unit(rng, 15, 32)
    base.ask(queries[0])
    base.delete(*(f"d-{i}" for i in range(0, 60, 5)))

    for one in (base, dense(limits=limits, dimension=32)):
        found = [{node for node, _ in one.ask(query, top_k=50)} for query in queries]
        true = [{node for node, _ in one.nearest(query, top_k=50)} for query in queries]
        assert all(b.segment.rows.codes is not None for b in one.blocks)
        assert {len(f) for f in found} == {50}
        assert np.mean([len(f & t) / 50 for f, t in zip(found, true, strict=True)]) >= 0.99


def test_many_changes_by_another_process_are_taken_from_its_files(dense, reads):
    """Nothing is read or written twice."""
    base, other = filled(dense), dense(limits=SMALL)
    base.ask(QUERY)
    other.ask(QUERY)
    base.put("d-50", unit(np.random.default_rng(6), 30))
    base.ask(QUERY)
    reads()

    assert other.ask(QUERY) == other.nearest(QUERY)
    assert reads() == []
    assert {b.segment.name for b in other.blocks} == {b.segment.name for b in base.blocks}


def test_a_list_written_while_it_is_read_is_read_again(dense, reads, monkeypatch):
    """Its segments are gone by then, and nothing needs to be built anew."""
    base = filled(dense)
    base.ask(QUERY)
    other = dense(limits=SMALL)
    original = vars(vectors)["read_list"]

    def read_late(note, known):
        monkeypatch.setattr(vectors, "read_list", original)
        base.delete(*base.blocks[0].standing())
        base.ask(QUERY)
        reads()
        return original(note, known)

    monkeypatch.setattr(vectors, "read_list", read_late)
    assert other.ask(QUERY) == other.nearest(QUERY)
    assert reads() == []


@pytest.mark.parametrize("step", ["fill_segment", "write_list"])
def test_a_crash_leaves_the_old_list(dense, monkeypatch, step):
    """Before or after the files of a segment; what it left is removed with the next."""
    base = filled(dense)
    base.ask(QUERY)

    def crash(*_, **__):
        raise KeyboardInterrupt

    base.put("d-50", unit(np.random.default_rng(7), 30))
    with monkeypatch.context() as patched:
        patched.setattr(
            vectors if step == "fill_segment" else CacheFolder,
            step.replace("write_list", "write"),
            crash,
        )
        with pytest.raises(KeyboardInterrupt):
            base.ask(QUERY)
    again = dense(limits=SMALL)
    assert again.ask(QUERY) == again.nearest(QUERY)
    assert base.ask(QUERY) == base.nearest(QUERY)
    folder = base.cache.folder / "vectors-chunk.segments"
    assert {p.name for p in folder.iterdir() if p.is_dir()} == {
        b.segment.name for b in again.blocks
    }


def test_a_full_disk_keeps_vectors_in_memory(dense, monkeypatch):
    """What was written goes: it may be what fills the disk. The old files stay."""
    base = filled(dense)
    base.ask(QUERY)
    folder = base.cache.folder / "vectors-chunk.segments"
    before = {p.name for p in folder.iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vectors, "write_list", full)
    base.put("d-50", unit(np.random.default_rng(7), 30))
    assert base.ask(QUERY) == base.nearest(QUERY)
    assert {p.name for p in folder.iterdir()} == before


def test_files_that_may_only_be_read_are_used(dense, reads, monkeypatch):
    """Many changes are kept in memory, as segments of their own; nothing else is read."""
    filled(dense).ask(QUERY)
    other = dense(limits=SMALL)

    def refuse(*_):
        raise CacheUnwritableError

    monkeypatch.setattr(CacheFolder, "exclusive", refuse)
    reads()
    for i in range(30, 34):
        other.put(f"d-{i}", unit(np.random.default_rng(i), 10))
        assert other.ask(QUERY) == other.nearest(QUERY)
    assert "d-00" not in reads()
    assert [b.segment.name != "" for b in other.blocks].count(True) == 4


def test_another_dimension_builds_the_index_anew(dense):
    """A knowledge base that was embedded again may have one."""
    filled(dense).ask(QUERY)
    base = dense(limits=SMALL, dimension=6)
    rng = np.random.default_rng(8)
    base.delete(*(f"d-{i:02}" for i in range(20)))
    for i in range(9):
        base.put(f"d-{i:02}", unit(rng, 10, 6))
    query = unit(rng, 1, 6)[0]

    assert base.ask(query) == base.nearest(query)
    assert {b.segment.rows.shape[1] for b in base.blocks} == {6}
    assert base.problems() == []


@pytest.mark.parametrize("limits", [Limits(), SMALL, SCANNED])
def test_a_node_of_many_rows_hides_no_other(dense, monkeypatch, limits):
    """A fact that many documents state: once it is known, its rows are looked at no more."""
    base = filled(dense, limits=limits)
    expected = [("d-all", 1.0), *base.nearest(QUERY, top_k=4)]
    for i in range(100, 200):
        base.put(f"d-{i}", QUERY[None])
    with base.database.write() as connection:
        connection.execute("UPDATE node_vectors SET node_id = 'd-all' WHERE doc_id LIKE 'd-___'")
    asked = []

    def watched(blocks, scans):
        asked.append(scans.wanted.n_rows)
        return exact_candidates(blocks, scans)

    exact_candidates = vars(vectors)["exact_candidates"]
    monkeypatch.setattr(vectors, "exact_candidates", watched)

    assert base.ask(QUERY, top_k=5) == expected
    assert asked == [5, 20]


def test_a_vector_that_many_rows_share_is_scored_once(dense, monkeypatch):
    """All of them are found, with its cosine; each vector is read from the database once."""
    base = filled(dense)
    base.put("d-all", QUERY[None])
    with base.database.write() as connection:
        connection.execute(
            "UPDATE node_vectors SET key = (SELECT key FROM node_vectors"
            " WHERE doc_id = 'd-all') WHERE doc_id LIKE 'd-1_'"
        )
    scored = []

    def watched(matrix, query):
        scored.append(matrix)
        return cosines(matrix, query)

    monkeypatch.setattr(vectors, "cosines", watched)

    for top_k in (20, 150):
        assert base.ask(QUERY, top_k=top_k) == base.nearest(QUERY, top_k=top_k)
    assert all(isinstance(b.segment.rows, CodedRows) for b in base.blocks)
    assert len(scored) == 2
    assert all(len(matrix) == len(np.unique(matrix, axis=0)) for matrix in scored)


@pytest.mark.parametrize("limits", [Limits(few=1), SMALL, SCANNED])
def test_a_search_that_began_before_a_change_finds_what_is_there_now(dense, limits):
    """Whether something came that is nearer, or the nearest went."""
    base = filled(dense, limits=limits)
    nearest = base.nearest(QUERY)
    assert base.ask_ahead(QUERY) == nearest

    found = base.ask_ahead(QUERY, meanwhile=lambda: base.put("d-new", QUERY[None]))
    assert found == [("d-new:0", 1.0), *nearest[:9]]
    gone = nearest[0][0].rpartition(":")[0]
    found = base.ask_ahead(QUERY, meanwhile=lambda: base.delete("d-new", gone))
    assert found == base.nearest(QUERY)
    assert gone not in {node.rpartition(":")[0] for node, _ in found}


# in a store


@pytest.fixture(
    params=[
        Limits(few=3),
        Limits(few=3, exact=0, small=16),
        Limits(few=3, exact=0, small=16, floats=0),
    ],
    ids=["plain", "scanned", "bytes"],
)
def opened(request, monkeypatch, folder, put):
    """A store of a few documents that are enough for files."""
    monkeypatch.setattr(vectors, "LIMITS", request.param)
    with closing(SQLiteStore.open(folder)) as store:
        for i in range(8):
            put(store, i)
        store.refresh()
        yield store


def hits(store, make):
    return store.search_vectors(make.unit_vector("问"), kind="chunk", top_k=99)


def expected(store, make):
    """Return what a plain product over what the store holds gives."""
    chunks = [
        c.chunk_id for d in store.document_cards() for c in store.chunks_of([d.doc_id], size=8)
    ]
    stored = store.vectors_of(chunks)
    scores = cosines(np.stack(list(stored.values())), make.unit_vector("问")).tolist()
    return sorted(zip(stored, scores, strict=True), key=lambda hit: (-hit[1], hit[0]))


def note(folder):
    path = folder / "cache" / "vectors-chunk.json"
    return path, json.loads(path.read_text("utf-8"))


def segment(folder):
    _, now = note(folder)
    return folder / "cache" / now["content"] / now["details"]["segments"][0][0]


def other_note(folder, **changes):
    path, now = note(folder)
    path.write_text(json.dumps(now | changes), "utf-8")


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (segment(folder) / "matrix.npy").unlink(),
        lambda folder: (segment(folder) / "matrix.npy").write_bytes(b"garbage" * 99),
        lambda folder: shutil.rmtree(segment(folder)),
        lambda folder: (segment(folder) / "documents.json").write_text("[]", "utf-8"),
        lambda folder: other_note(folder, stamp="x"),
        lambda folder: other_note(folder, details={}),
        lambda folder: other_note(folder, format="1"),
        lambda folder: shutil.rmtree(folder / "cache"),
    ],
)
def test_files_that_cannot_be_used_are_written_anew(opened, folder, make, damage):
    """Silently: a cache is no loss."""
    before = hits(opened, make)
    opened.close()
    damage(folder)

    with closing(SQLiteStore.open(folder)) as again:
        assert hits(again, make) == before == expected(again, make)
        assert again.verify() == []
    assert (segment(folder) / "matrix.npy").exists()


def test_without_a_folder_to_write_vectors_are_kept_in_memory(opened, folder, make, put):
    """Searching works, and follows changes."""
    before = hits(opened, make)
    opened.close()
    shutil.rmtree(folder / "cache")
    (folder / "cache").write_text("in the way")

    with closing(SQLiteStore.open(folder)) as again:
        assert hits(again, make) == before
        for i in (9, 10, 11, 2):
            put(again, i)
            assert hits(again, make) == expected(again, make)
        again.delete_document("d-09")
        assert hits(again, make) == expected(again, make)
        assert again.verify() == []
