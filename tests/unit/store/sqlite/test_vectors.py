import json
import logging
import shutil
from contextlib import closing

import numpy as np
import pytest

from kgrag.store.sqlite import vectors
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.store.sqlite.vectors import Block

LOGGER = "kgrag.store.sqlite.vectors"


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Let a handful of rows be enough for a file."""
    monkeypatch.setattr(vectors, "_FEW", 3)


@pytest.fixture
def reads(monkeypatch):
    """Return how many documents were read from the database since the last call; None for all."""
    asked = []
    original = vectors._read

    def read(connection, kind, doc_ids, dimension, **more):
        asked.append(None if doc_ids is None else len(list(doc_ids)))
        return original(connection, kind, doc_ids, dimension, **more)

    monkeypatch.setattr(vectors, "_read", read)

    def take():
        out = asked[:]
        asked.clear()
        return out

    return take


def hits(store, make):
    return store.search_vectors(make.unit_vector("问"), kind="chunk", top_k=99)


def expected(store, make):
    """Return what a plain product over what the store holds gives."""
    query = make.unit_vector("问")
    chunks = [
        c.chunk_id for d in store.document_cards() for c in store.chunks_of([d.doc_id], size=8)
    ]
    scores = store.similarities(query, chunks)
    return sorted(scores.items(), key=lambda hit: (-hit[1], hit[0]))


def content(folder):
    note = json.loads((folder / "cache" / "vectors-chunk.json").read_text("utf-8"))
    return folder / "cache" / note["content"]


def test_the_matrix_is_written_once_and_mapped_by_the_next(store, folder, make, reads):
    """The cache outlives the process; nothing but what changed is read from the database."""
    assert hits(store, make) == expected(store, make)
    store.close()
    reads()
    with closing(SQLiteStore.open(folder)) as again:
        assert hits(again, make) == expected(again, make)
    assert reads() == [0]


def test_changes_are_read_alone(store, make, put, reads, monkeypatch):
    """One document added, replaced or deleted is all that is read."""
    monkeypatch.setattr(vectors, "_FEW", 1000)
    hits(store, make)
    reads()
    for change in (
        lambda: put(store, 5),
        lambda: put(store, 2),
        lambda: store.delete_document("d-05"),
    ):
        change()
        assert hits(store, make) == expected(store, make)
        assert reads() == [1]


def test_many_changes_write_the_matrix_anew(store, folder, make, put):
    """Above a fifth of its rows."""
    hits(store, make)
    before = content(folder)
    for i in range(4, 12):
        put(store, i)
    assert hits(store, make) == expected(store, make)

    assert content(folder) != before
    assert not before.exists()


def test_few_changes_leave_the_matrix_as_it_is(store, folder, make, put, monkeypatch):
    """Whatever happens to a document, in this process or the next."""
    hits(store, make)
    before = content(folder)
    monkeypatch.setattr(vectors, "_FEW", 1000)
    for change in (
        lambda: put(store, 5),
        lambda: store.delete_document("d-01"),
        lambda: put(store, 2),
        lambda: put(store, 5),
        lambda: store.delete_document("d-05"),
        lambda: put(store, 1),
    ):
        change()
        assert hits(store, make) == expected(store, make)
        with closing(SQLiteStore.open(folder)) as other:
            assert hits(other, make) == expected(store, make)
    assert content(folder) == before
    assert store.verify() == []


def lose_matrix(folder):
    (content(folder) / "matrix.npy").unlink()


def empty_matrix(folder):
    (content(folder) / "matrix.npy").write_bytes(b"")


def garbage_matrix(folder):
    (content(folder) / "matrix.npy").write_bytes(b"garbage" * 99)


def cut_matrix(folder):
    path = content(folder) / "matrix.npy"
    path.write_bytes(path.read_bytes()[:-40])


def cut_numbers(folder):
    path = content(folder) / "numbers.npy"
    np.save(path, np.load(path)[:-1])


def other_dimension(folder):
    path = content(folder) / "matrix.npy"
    np.save(path, np.load(path)[:, :-1].copy())


def other_database(folder):
    path = folder / "cache" / "vectors-chunk.json"
    note = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(note | {"stamp": "x"}), "utf-8")


def no_documents(folder):
    path = folder / "cache" / "vectors-chunk.json"
    note = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(note | {"details": {}}), "utf-8")


def lose_everything(folder):
    shutil.rmtree(folder / "cache")


@pytest.mark.parametrize(
    "damage",
    [
        lose_matrix,
        empty_matrix,
        garbage_matrix,
        cut_matrix,
        cut_numbers,
        other_dimension,
        other_database,
        no_documents,
        lose_everything,
    ],
)
def test_a_matrix_that_cannot_be_used_is_written_anew(store, folder, make, damage):
    """Silently: a cache is no loss."""
    before = hits(store, make)
    store.close()
    damage(folder)

    with closing(SQLiteStore.open(folder)) as again:
        assert hits(again, make) == before
        assert again.verify() == []
        assert (content(folder) / "matrix.npy").exists()


def test_without_a_folder_to_write_the_matrix_is_kept_in_memory(store, folder, make, put):
    """Searching works, and follows changes."""
    before = hits(store, make)
    store.close()
    shutil.rmtree(folder / "cache")
    (folder / "cache").write_text("in the way")

    with closing(SQLiteStore.open(folder)) as again:
        assert hits(again, make) == before
        put(again, 5)
        assert hits(again, make) == expected(again, make)


def block(*rows):
    """Return a block of documents a, b, c with these many rows; each row's number is its place."""
    spans, at = {}, 0
    for name, n in zip("abc", rows, strict=False):
        spans[name] = (at, at + n)
        at += n
    numbers = np.arange(at)
    return Block(np.stack([numbers, numbers], axis=1).astype(np.float32), numbers, spans)


def test_rows_of_a_document_die_and_are_left_behind():
    """The others keep their vectors, under new row numbers."""
    dead = block(2, 3, 1).without(["b", "x"])
    living = dead.living()

    assert dead.dead.tolist() == [2, 3, 4]
    assert living.numbers.tolist() == [0, 1, 5]
    assert living.matrix[:, 0].tolist() == [0.0, 1.0, 5.0]
    assert living.spans == {"a": (0, 2), "c": (2, 3)}
    one = np.ones(2, np.float32)
    assert dict(dead.candidates(one, 9, None)) == {0: 0.0, 1: 2.0, 5: 10.0}
    assert dict(dead.candidates(one, 9, ["b", "c"])) == {5: 10.0}


def test_joined_blocks_hold_both():
    """The second's spans move down."""
    other = Block(np.full((1, 2), 9.0, np.float32), np.array([77]), {"z": (0, 1)})
    joined = block(2).joined(other)

    assert joined.numbers.tolist() == [0, 1, 77]
    assert joined.spans == {"a": (0, 2), "z": (2, 3)}
    assert block(2).joined(vectors._empty(0)).numbers.tolist() == [0, 1]
    assert vectors._empty(0).joined(other) is other


def test_candidates_are_the_best_and_those_that_may_tie():
    """No tie is cut before it is put in order."""
    tied = Block(np.ones((5, 2), np.float32), np.arange(5), {"a": (0, 5)})
    query = np.array([1.0, 0.0], np.float32)

    assert len(tied.candidates(query, 2, None)) == 5
    assert [n for n, _ in block(5).candidates(query, 2, None)] == [3, 4]


def test_the_log_says_when_a_matrix_cannot_be_read(store, folder, make, caplog):
    """Quietly, for those who look."""
    hits(store, make)
    store.close()
    garbage_matrix(folder)
    with caplog.at_level(logging.INFO, LOGGER), closing(SQLiteStore.open(folder)) as again:
        hits(again, make)
    assert "rebuilt" in caplog.text
