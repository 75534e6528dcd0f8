"""Each invariant, broken on purpose behind the store's back, is reported by name."""

import json
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from kgrag.store.sqlite import vectors
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.store.sqlite.verify import _CHECKS
from kgrag.vectors.codes import Codes
from kgrag.vectors.files import Limits
from kgrag.vectors.rows import dequantized

DAMAGE = [
    ("schema-version", "PRAGMA user_version = 99"),
    ("references", "DELETE FROM entities WHERE name = '标准'"),
    ("document-has-source", "DELETE FROM sources WHERE doc_id = 'd-01'"),
    ("references", "INSERT INTO sources VALUES ('/archive/x.txt', 'd-99')"),
    ("document-characters", "UPDATE documents SET characters = 7 WHERE doc_id = 'd-01'"),
    ("document-title", "UPDATE documents SET normalized_title = 'x' WHERE doc_id = 'd-01'"),
    ("document-places", "UPDATE headings SET \"end\" = 999 WHERE doc_id = 'd-01'"),
    ("chunk-text", "UPDATE chunks SET text = 'other' WHERE chunk_id = 'd-01:8:2'"),
    ("parents-cover-document", "DELETE FROM chunks WHERE chunk_id = 'd-01:24:1'"),
    ("child-has-parent", "UPDATE chunks SET parent_id = 'd-01:24:9' WHERE chunk_id = 'd-01:8:0'"),
    ("summary-span", "UPDATE summaries SET \"end\" = 999 WHERE doc_id = 'd-01'"),
    ("summary-targets", "UPDATE summaries SET target_ids = '[\"d-01:24:9\"]'"),
    ("summary-targets", "UPDATE summaries SET target_ids = '[\"d-02:24:0\"]'"),
    ("fact-has-evidence", "DELETE FROM evidence"),
    ("fact-wording", "UPDATE facts SET predicate = 'x'"),
    ("entity-supported", "INSERT INTO entities VALUES (99, 'e-x', 'x', 'x', 'entity')"),
    ("entity-wording", "UPDATE entities SET name = '绿 色' WHERE name = '绿色'"),
    ("entity-wording", "UPDATE entities SET type = 'law' WHERE name = '绿色'"),
    ("entity-name", "UPDATE entities SET normalized = 'x' WHERE name = '绿色'"),
    ("evidence-span", "UPDATE evidence SET \"end\" = 999 WHERE doc_id = 'd-01'"),
    ("evidence-span", "UPDATE evidence SET \"end\" = start - 1 WHERE doc_id = 'd-01'"),
    ("evidence-chunk", "UPDATE evidence SET chunk_id = 'd-01:8:99' WHERE doc_id = 'd-01'"),
    ("evidence-chunk", "UPDATE evidence SET chunk_id = 'd-02:8:0' WHERE doc_id = 'd-01'"),
    ("evidence-chunk", "UPDATE evidence SET chunk_id = 'd-01:8:4', start = 0, \"end\" = 2"),
    ("evidence-confidence", "UPDATE evidence SET confidence = 0"),
    ("mentions-span", "UPDATE mentions SET start = -1"),
    ("mentions-chunk", "UPDATE mentions SET chunk_id = 'x'"),
    ("mentions-confidence", "UPDATE mentions SET confidence = 1.5"),
    ("vector-has-node", "UPDATE node_vectors SET node_id = 'd-01:8:99' WHERE number = 1"),
    ("vector-has-node", "UPDATE node_vectors SET kind = 'summary' WHERE number = 1"),
    ("vector-has-node", "UPDATE node_vectors SET doc_id = 'd-02' WHERE node_id = 'd-01'"),
    ("vector-has-node", "DELETE FROM evidence WHERE doc_id = 'd-01'"),
    (
        "vector-has-node",
        "UPDATE node_vectors SET node_id = 'f-x' WHERE kind = 'fact' AND doc_id = 'd-01'"
        " AND number = (SELECT max(number) FROM node_vectors WHERE doc_id = 'd-01')",
    ),
    ("references", "DELETE FROM embeddings"),
    ("embedding-has-node", "INSERT INTO embeddings VALUES ('lost', zeroblob(32), 0)"),
    ("vector-dimension", "UPDATE embeddings SET vector = zeroblob(8)"),
    ("vector-dimension", "DELETE FROM state WHERE key = 'dimension'"),
    ("change-log", "DELETE FROM changes WHERE doc_id = 'd-01' AND part = 'vectors'"),
    ("change-log", "DELETE FROM commits"),
    ("name-index", "INSERT INTO entity_search (entity_search) VALUES ('delete-all')"),
]  # fmt: skip

PLAIN = Limits(few=1, exact=99)
SCANNED = Limits(few=1, exact=0, small=16)
BYTES = Limits(few=1, exact=0, small=16, floats=0)


def broken(store):
    return {p.invariant: p for p in store.verify()}


def test_an_undamaged_store_has_no_problems(store):
    """Nor has an empty one."""
    assert store.verify() == []
    for i in range(4):
        store.delete_document(f"d-{i:02}")
    assert store.verify() == []


@pytest.mark.parametrize(("invariant", "statement"), DAMAGE)
def test_damage_is_named(store, damage, invariant, statement):
    """With the invariant, what breaks it, what was seen and the remedy."""
    damage(statement)
    problem = broken(store)[invariant]

    assert problem.subject
    assert any(word in problem.detail for word in ("ingest", "delete", "restore")), problem.detail
    assert "{" not in problem.detail


def test_every_check_is_tried(store):
    """A new check comes with damage that it sees."""
    assert {c.invariant for c in _CHECKS} <= {invariant for invariant, _ in DAMAGE}


@pytest.mark.parametrize("value", [2.0, np.nan, np.inf])
def test_a_vector_that_is_no_unit_vector_is_named(store, folder, value):
    """Neither of length 1 nor zero."""
    blob = np.full(8, value, "<f4").tobytes()
    with closing(sqlite3.connect(folder / "kgrag.db", isolation_level=None)) as connection:
        connection.execute("UPDATE embeddings SET vector = ?", (blob,))

    assert "vector-length" in broken(store)


def test_a_damaged_file_is_named_and_nothing_is_concluded_from_it(store, folder):
    """Its rows may say anything."""
    store.close()
    path = folder / "kgrag.db"
    with closing(sqlite3.connect(path)) as connection:
        page = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'chunks_place'"
        ).fetchone()[0]
        page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((page - 1) * page_bytes)
        file.write(b"\xff" * 512)
    with closing(SQLiteStore.open(folder)) as again:
        problems = again.verify()

    assert {p.invariant for p in problems} == {"file"}
    assert "backup" in problems[0].detail


def note(folder, name):
    path = folder / "cache" / f"{name}.json"
    return path, json.loads(path.read_text("utf-8"))


def test_a_lexical_cache_with_other_chunks_is_named(store, folder, put):
    """It says that it reflects the last change, and does not."""
    path, old = note(folder, "lexical-24")
    shutil.copytree(folder / "cache" / old["content"], folder / "cache" / "saved")
    put(store, 7)
    store.refresh()
    _, new = note(folder, "lexical-24")
    assert store.verify() == []
    path.write_text(json.dumps(new | {"content": "saved"}), "utf-8")

    assert broken(store)["cache-agrees"].subject == "lexical-24"


def other_row(file, value):
    """Return what puts another value into the fourth row of a file."""

    def damage(path):
        rows = np.load(path / file)
        rows[3] = value(rows)
        np.save(path / file, rows)

    return damage


lose_a_vector = other_row("matrix.npy", lambda rows: rows[4])


def lose_a_code(path):
    rng = np.random.default_rng(0)
    rows, scales = np.load(path / "matrix.npy"), np.load(path / "scales.npy")
    other = dequantized(rng.permuted(rows, axis=0), scales)
    codes = Codes.of(other, *rows.shape, sharing=2).to_bytes()
    (path / "codes.bin").write_bytes(codes)


def lose_a_fine_code(path):
    matrix = np.load(path / "matrix.npy")
    other = np.random.default_rng(0).permuted(matrix, axis=0)
    codes = Codes.of(other.__getitem__, *matrix.shape, sharing=1).to_bytes()
    (path / "codes.bin").write_bytes(codes)


def lose_a_document(path):
    doc_ids = json.loads((path / "documents.json").read_text("utf-8"))
    doc_ids[0] = "d-99"
    (path / "documents.json").write_text(json.dumps(doc_ids), "utf-8")


@pytest.mark.parametrize(
    ("limits", "damage"),
    [
        (PLAIN, lose_a_vector),
        (PLAIN, other_row("numbers.npy", lambda _: 999)),
        (PLAIN, other_row("ids.npy", lambda ids: ids[3] + 1)),
        (PLAIN, other_row("ids.npy", lambda _: 0xFF)),
        (PLAIN, lose_a_document),
        (SCANNED, lose_a_vector),
        (SCANNED, lose_a_fine_code),
        (BYTES, lose_a_vector),
        (BYTES, other_row("scales.npy", lambda scales: 2 * scales[3])),
        (BYTES, lose_a_code),
    ],
)
def test_a_vector_cache_with_other_numbers_is_named(
    store, folder, put, monkeypatch, limits, damage
):
    """One row of it is enough, in float32, in 8 bits and in codes."""
    monkeypatch.setattr(vectors, "LIMITS", limits)
    store.close()
    with closing(SQLiteStore.open(folder)) as again:
        put(again, 7)
        again.refresh()
        assert again.verify() == []
        _, now = note(folder, "vectors-chunk")
        damage(folder / "cache" / now["content"] / now["details"]["segments"][0][0])

        assert broken(again)["cache-agrees"].subject == "vectors-chunk"


def test_a_cache_that_lags_behind_or_cannot_be_read_is_no_problem(store, folder, put):
    """It catches up, or is rebuilt, when it is next searched."""
    put(store, 7)
    assert store.verify() == []
    path, old = note(folder, "lexical-24")
    (folder / "cache" / old["content"] / "meta.json").write_text("garbage")
    assert store.verify() == []
    path.write_text("garbage")
    assert store.verify() == []


def test_a_changed_file_of_the_index_of_words_is_named(store, folder):
    """Though it can be opened: what it finds may be wrong."""
    _, now = note(folder, "lexical-24")
    postings = next((folder / "cache" / now["content"]).glob("*.idx"))
    data = bytearray(postings.read_bytes())
    data[len(data) // 2] ^= 1
    postings.write_bytes(data)

    assert broken(store)["cache-agrees"].subject == "lexical-24"
