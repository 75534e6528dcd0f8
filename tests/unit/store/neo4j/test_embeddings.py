"""Vectors as nodes: what is created, marked and let go, by the statements run."""

from typing import Any

import numpy as np
import pytest

from kgrag.errors import StoreError
from kgrag.store.contents import NodeVector
from kgrag.store.neo4j.embeddings import (
    add_embeddings,
    checksum,
    embed_nodes,
    prune_embeddings,
    to_vector,
)
from kgrag.vectors.vector import KINDS
from tests.fixtures.double import Double


class Transaction(Double):
    """Notes the statements run; answers are given by name."""

    base = ""

    def __init__(self, **answers):
        self.ran, self.answers = [], answers

    def run(self, name, /, **parameters):
        """Note it."""
        self.ran.append((name, parameters))
        return self.answers.get(name, [])

    def run_rows(self, name, rows, /, **parameters):
        """Note it, unless there is nothing to do."""
        if rows:
            self.ran.append((name, [*rows]))
        return rows

    def asked(self, name):
        """Return what a statement was given, each time."""
        return [parameters for ran, parameters in self.ran if ran == name]


def node(node_id, key, *, kind="chunk", vector=(1, 0), given=True):
    return NodeVector(node_id, kind, key, np.array(vector, np.float32) if given else None)


def used(key, **which):
    """Return a row of `embeddings_used`: a label and whether a node has it, by kind."""
    row = {"key": key}
    for kind in KINDS:
        row[f"is_{kind}"], row[kind] = which.get(kind, (False, False))
    return row


def test_equal_texts_share_one_embedding():
    """It is created once, under the label of every kind of node that has it."""
    tx = Transaction()
    add_embeddings(tx, [node("c1", "k1"), node("c2", "k1"), node("s1", "k1", kind="summary")], None)
    ((row,),) = tx.asked("create_embeddings")
    assert (row["key"], row["vector"]) == ("k1", [1.0, 0.0])
    assert row["labels"] == ["KgragChunkEmbedding", "KgragSummaryEmbedding"]
    assert row["checksum"] == checksum("k1", np.array([1, 0], np.float32)) == 3456530671
    assert tx.asked("mark_chunk_embeddings") == []


def test_what_was_made_before_the_lock_is_left_alone():
    """Only what another writer had made, or made meanwhile, is looked at again."""
    tx = Transaction(embeddings_held=[{"key": "k2"}])
    add_embeddings(tx, [node("c1", "k1"), node("c2", "k2"), node("c3", "k3")], 2, {"k1"})
    assert tx.asked("embeddings_held") == [{"keys": ["k2", "k3"]}]
    assert [row["key"] for row in tx.asked("create_embeddings")[0]] == ["k3"]
    assert tx.asked("mark_chunk_embeddings") == [{"keys": ["k2"]}]


def test_what_is_held_is_not_created_again():
    """Whether its numbers are given or not."""
    tx = Transaction(embeddings_held=[{"key": "k1"}, {"key": "k2"}])
    add_embeddings(tx, [node("c1", "k1"), node("c2", "k2", given=False)], 2)
    assert tx.asked("create_embeddings") == []
    assert tx.asked("mark_chunk_embeddings") == [{"keys": ["k1", "k2"]}]


def test_a_vector_that_is_neither_given_nor_held_is_refused():
    """Before anything is created."""
    tx = Transaction()
    with pytest.raises(StoreError, match="vector k1 is not stored"):
        add_embeddings(tx, [node("c0", "k0"), node("c1", "k1", given=False)], 2)
    assert tx.asked("create_embeddings") == []


def test_a_vector_of_other_than_the_stored_dimension_is_refused():
    """With both dimensions."""
    with pytest.raises(StoreError, match=r"shape \(2,\), the knowledge base has vectors of 8"):
        add_embeddings(Transaction(), [node("c1", "k1")], 8)


def test_a_zero_vector_is_known_as_such():
    """An index over cosines leaves it out."""
    tx = Transaction()
    add_embeddings(tx, [node("c1", "k1", vector=(0, 0))], 2)
    ((row,),) = tx.asked("create_embeddings")
    assert row["labels"] == ["KgragChunkEmbedding", "KgragZeroEmbedding"]


def test_nodes_name_their_embedding_by_kind():
    """None takes it away."""
    tx = Transaction()
    nodes: list[Any] = [("document", "d1", "k2"), ("chunk", "c2", None), ("chunk", "c1", "k1")]
    embed_nodes(tx, "d1", [*nodes, ("fact", "f1", "k3")])
    assert tx.ran == [
        (
            "embed_chunks",
            [
                {"id": "c1", "doc_id": "d1", "key": "k1"},
                {"id": "c2", "doc_id": "d1", "key": None},
            ],
        ),
        ("embed_document", [{"id": "d1", "doc_id": "d1", "key": "k2"}]),
        ("embed_facts", [{"id": "f1", "doc_id": "d1", "key": "k3"}]),
    ]


def test_embeddings_go_with_their_last_node():
    """One that another kind of node still has leaves the index of the kind that lost it."""
    rows = [
        used("gone", chunk=(True, False)),
        used("shared", chunk=(True, False), summary=(True, True)),
        used("kept", chunk=(True, True)),
    ]
    tx = Transaction(embeddings_used=rows)
    prune_embeddings(tx, ["shared", "kept", "gone"])

    assert tx.asked("embeddings_used") == [{"keys": ["gone", "kept", "shared"]}]
    assert "shared" in tx.asked("unmark_chunk_embeddings")[0]["keys"]
    assert "kept" not in tx.asked("unmark_chunk_embeddings")[0]["keys"]
    assert tx.asked("unmark_summary_embeddings") == []
    assert tx.asked("delete_embeddings") == [{"keys": ["gone"]}]


def test_nothing_lost_asks_nothing():
    """Most writes lose no vector."""
    tx = Transaction()
    prune_embeddings(tx, [])
    assert tx.ran == []


def test_numbers_come_back_as_given():
    """Neo4j keeps float64, which holds every float32."""
    vector = np.array([0.1, -1 / 3, 1e-30], np.float32)
    assert to_vector(vector.astype(np.float64).tolist()).tobytes() == vector.tobytes()
