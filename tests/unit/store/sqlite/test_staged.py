"""How staged vectors take over in a file; what every store does is in `contract/test_staged.py`."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from kgrag.store.contents import NodeVector
from kgrag.store.sqlite.store import SQLiteStore

META = {"embedder": "new"}
WIDE = 512
N_NODES = 2000


@pytest.fixture
def renew(store, make):
    """Stage vectors of another encoder for every document."""

    def stage(store=store):
        as_of = store.change_counter()
        vectors = {
            card.doc_id: [
                replace(v, key=f"new {v.key}", vector=make.unit_vector(v.key, WIDE))
                for v in store.bundle(card.doc_id).vectors
            ]
            for card in store.document_cards()
        }
        store.staged.begin(META)
        store.staged.put(vectors, meta=META, as_of=as_of)

    return stage


def schema(folder):
    """Return what the database is made of, however its statements are quoted."""
    with closing(sqlite3.connect(folder / "kgrag.db")) as connection:
        rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
        return sorted((*row, (sql or "").replace('"', "")) for *row, sql in rows)


def numbers(store):
    with store._database.read() as connection:
        return [n for (n,) in connection.execute("SELECT number FROM node_vectors")]


def test_switch_leaves_the_schema_of_a_new_file(store, folder, tmp_path, renew):
    """Tables, indexes and references by name: `verify` finds what it expects."""
    before = numbers(store)
    for _ in range(2):
        renew()
        assert store.staged.switch(META)
    SQLiteStore.open(tmp_path / "fresh").close()

    assert schema(folder) == schema(tmp_path / "fresh")
    assert min(numbers(store)) > max(before)
    assert store.verify() == []


def test_references_hold_after_a_switch(store, renew, damage, make):
    """A document takes its vectors with it, and no vector is left without numbers."""
    renew()
    assert store.staged.switch(META)
    renew()
    assert store.delete_document("d-00")
    assert store.staged.doc_ids() == {"d-01", "d-02", "d-03"}
    left = {v.key for n in range(1, 4) for v in store.bundle(f"d-0{n}").vectors}

    with pytest.raises(sqlite3.IntegrityError):
        damage("PRAGMA foreign_keys = ON", "DELETE FROM embeddings")
    assert store.counts().vectors == len(left)
    assert store.verify() == []


def test_switch_writes_no_vector_again(store, folder, make):
    """The log gets rows of nodes only: of a million chunks, vectors are gigabytes."""
    vectors = [
        NodeVector(f"n{i}", "chunk", f"k{i}", make.unit_vector(f"k{i}", WIDE))
        for i in range(N_NODES)
    ]
    for _ in range(2):  # into few vectors, and in place of many
        store.staged.begin(META)
        given: dict[Any, Any] = {card.doc_id: [] for card in store.document_cards()} | {
            "d-00": vectors
        }
        store.staged.put(given, meta=META, as_of=store.change_counter())
        with store._database.write() as connection:
            connection.execute("PRAGMA secure_delete = ON")  # as some builds of SQLite have it
        with closing(sqlite3.connect(folder / "kgrag.db")) as other:
            other.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert store.staged.switch(META)

        assert store.counts().vectors == N_NODES
        assert (folder / "kgrag.db-wal").stat().st_size < N_NODES * WIDE * 4 / 4
    with store._database.write() as connection:
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)


def test_who_reads_meanwhile_sees_the_old_vectors_to_the_end(store, renew):
    """One state throughout; the next question gets the new ones."""
    renew()
    records = store.export()
    read = [next(records)]
    before = store.counts().vectors
    assert store.staged.switch(META)
    read += records

    embeddings = [r for r in read if r["record"] == "embedding"]
    assert len(embeddings) == before
    assert not any(str(r["key"]).startswith("new") for r in embeddings)
    assert {r["key"][:3] for r in store.export() if r["record"] == "embedding"} == {"new"}
