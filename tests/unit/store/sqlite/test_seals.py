"""What is stored carries checksums: whatever changes behind the store's back is seen."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from kgrag.errors import StoreError
from kgrag.store.decisions import Decision
from kgrag.store.sqlite.seals import PARTS, broken_seals, broken_settings, broken_vectors

MERGE = Decision("merge", "省林业局", "云岭省林业局")
META = {"embedder": "hash-8", "chunk_sizes": "24,8"}
# A statement that no other invariant minds, and what of whom is said to be broken.
CHANGES = [
    ("UPDATE documents SET properties = '{\"year\":\"1999\"}' WHERE doc_id = 'd-01'", "text"),
    ("UPDATE documents SET metadata = '{\"kind\":\"规划\"}' WHERE doc_id = 'd-01'", "text"),
    ("UPDATE documents SET node_id = 'e-x' WHERE doc_id = 'd-01'", "text"),
    ("UPDATE documents SET fingerprint = 'x' WHERE doc_id = 'd-01'", "text"),
    ("UPDATE headings SET text = '章' WHERE doc_id = 'd-01'", "text"),
    ("UPDATE headings SET level = 9 WHERE doc_id = 'd-01'", "text"),
    ("UPDATE chunks SET heading_path = '[\"x\"]' WHERE chunk_id = 'd-01:8:1'", "chunks"),
    ("UPDATE summaries SET text = 'x' WHERE doc_id = 'd-01'", "summaries"),
    ("UPDATE evidence SET confidence = 0.25 WHERE doc_id = 'd-01'", "knowledge"),
    ("UPDATE evidence SET qualifiers = '{\"year\":\"2025\"}' WHERE doc_id = 'd-01'", "knowledge"),
    ("UPDATE mentions SET qualifiers = '{\"year\":\"2025\"}' WHERE doc_id = 'd-01'", "knowledge"),
    ("UPDATE mentions SET extractor = 'x' WHERE doc_id = 'd-01'", "knowledge"),
    ("DELETE FROM node_vectors WHERE node_id = 'd-01:8:1'", "vectors"),
    ("UPDATE sources SET source = '/archive/x.txt' WHERE doc_id = 'd-01'", "sources"),
    ("UPDATE changes SET seq = 1 WHERE doc_id = 'd-01'", "log"),
]


def seen(folder):
    """Return what is broken in the database of a folder."""
    with closing(sqlite3.connect(folder / "kgrag.db")) as connection:
        return [(b.subject, b.part, b.only_seal) for b in broken_seals(connection)]


@pytest.mark.parametrize(("statement", "part"), CHANGES)
def test_a_change_behind_the_stores_back_is_seen(store, folder, damage, statement, part):
    """Of this part of this document alone."""
    damage(statement)

    assert seen(folder) == [("d-01", part, False)]
    assert [p.subject for p in store.verify() if p.invariant == "checksum"] == ["d-01"]


def test_every_part_is_tried():
    """A new part comes with a change that it sees."""
    assert {part for _, part in CHANGES} == set(PARTS)


@pytest.mark.parametrize(
    ("statement", "part"),
    [
        ("UPDATE seals SET seal = zeroblob(16) WHERE subject = 'd-01' AND part = 'log'", "log"),
        ("DELETE FROM seals WHERE subject = 'd-01' AND part = 'text'", "text"),
    ],
)
def test_a_seal_that_is_damaged_itself_is_told_apart(store, folder, damage, statement, part):
    """What it seals is probably whole."""
    damage(statement)

    assert seen(folder) == [("d-01", part, True)]


def test_a_document_that_is_gone_is_missed(store, folder, damage):
    """And one that was never stored by us is not taken for ours."""
    damage("UPDATE documents SET doc_id = 'd-77' WHERE doc_id = 'd-01'")

    assert {(subject, part) for subject, part, _ in seen(folder)} >= {
        ("d-01", "text"),
        ("d-77", "text"),
    }


@pytest.mark.parametrize(
    "value",
    ["vector", "CAST(substr(vector, 1, 28) || x'0000803f' AS BLOB)", "x'80' || substr(vector, 2)"],
)
def test_a_changed_vector_is_seen(store, folder, damage, value):
    """Of any length; one under another's key, too."""
    damage(f"UPDATE embeddings SET vector = {value}, key = key || 'x' WHERE rowid = 1")

    with closing(sqlite3.connect(folder / "kgrag.db")) as connection:
        (key,) = broken_vectors(connection)
    assert key in {p.subject for p in store.verify() if p.invariant == "checksum"}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE meta SET value = 'hash-9' WHERE key = 'embedder'",
        "UPDATE meta SET value = CAST(value AS BLOB) WHERE key = 'embedder'",
        "DELETE FROM meta WHERE key = 'embedder'",
        "UPDATE meta SET key = 'embeddor' WHERE key = 'embedder'",
    ],
)
def test_a_changed_setting_is_seen_before_it_is_gone_by(store, damage, statement):
    """Reading any setting says which one is wrong, and what to do."""
    store.set_meta(META)
    assert store.verify() == []
    damage(statement)

    with pytest.raises(StoreError, match=r"embedd[eo]r.*kgrag repair"):
        store.get_meta("chunk_sizes")
    assert {p.subject for p in store.verify() if p.invariant == "checksum"} == {"meta"}


def test_a_changed_setting_is_not_sealed_by_the_next_writer(store, damage):
    """Who deletes reads no setting, but seals all of them."""
    store.set_meta(META)
    damage("UPDATE meta SET value = CAST('hash-9' AS BLOB) WHERE key = 'embedder'")

    with pytest.raises(StoreError, match=r"embedder.*kgrag repair"):
        store.delete_document("d-01")
    assert {p.subject for p in store.verify() if p.invariant == "checksum"} == {"meta"}


def test_seals_follow_every_way_to_write(store, folder, put, make):
    """Documents that come, change, lend and lose files, go; and settings."""
    store.set_meta(META)
    store.attach_source("/archive/more.txt", "d-01")
    store.attach_source("/archive/more.txt", "d-02")
    put(store, 1)
    store.attach_source("/archive/3.txt", "d-02")
    store.delete_document("d-00")
    store.set_meta({"stand_in": "yes"})

    assert store.verify() == []
    with closing(sqlite3.connect(folder / "kgrag.db")) as connection:
        assert list(broken_settings(connection)) == []
        left = {s for (s,) in connection.execute("SELECT subject FROM seals WHERE part = 'log'")}
    assert left == {"d-00", "d-01", "d-02", "d-03"}  # what is gone is known to be


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("UPDATE corrections SET value = '云岭' WHERE field = 'region'", "corrections"),
        ("UPDATE corrections SET field = 'regiom' WHERE field = 'region'", "corrections"),
        ("DELETE FROM corrections", "corrections"),
        ("UPDATE decisions SET kind = 'split'", "decisions"),
        ("DELETE FROM decisions", "decisions"),
    ],
)
def test_a_changed_decision_is_seen_before_it_is_gone_by(store, damage, statement, table):
    """Neither reading nor the next writer takes it for what a person said."""
    store.decide(corrections=[("d-01", "region", "云岭省")])
    store.decide(decisions=[MERGE])
    assert store.verify() == []
    damage(statement)

    assert {p.subject for p in store.verify() if p.invariant == "checksum"} == {table}
    calls = {
        "corrections": (
            store.corrections,
            lambda: store.decide(corrections=[("d-02", "title", "题")]),
        ),
        "decisions": (
            store.decisions,
            lambda: store.decide(decisions=[replace(MERGE, kind="split")]),
        ),
    }
    for call in calls[table]:
        with pytest.raises(StoreError, match="kgrag repair"):
            call()
