import numpy as np

from kgrag.vectors.blocks import NodeIds, empty, in_memory, joined


def block(**lengths):
    """Return a block of documents with these many rows; each row's number is 10 and its place."""
    n = sum(lengths.values())
    matrix = np.repeat(np.arange(n, dtype=np.float32)[:, None], 2, axis=1)
    nodes = NodeIds.of(f"c-{10 + i}" for i in range(n))
    return in_memory(lengths, lengths.values(), np.arange(10, 10 + n), nodes, matrix)


def test_rows_of_a_document_die_with_it():
    """Documents that are not there change nothing, and the block itself stays as it was."""
    whole = block(a=2, b=3, c=1)
    dead = whole.without(["b", "x"])

    assert dead.standing() == ["a", "c"]
    assert dead.alive.tolist() == [True, True, False, False, False, True]
    assert (dead.n_rows, dead.n_alive, whole.n_alive) == (6, 3, 6)
    assert dead.without(["c"]).standing() == ["a"]
    assert dead.without(["b"]) is dead


def test_rows_of_documents_are_found_without_dead_ones():
    """In the order of the block, each once."""
    dead = block(a=2, b=3, c=1).without(["b"])

    assert dead.rows_of(["c", "b", "a", "c"]).tolist() == [0, 1, 5]
    assert block(a=2, b=3).rows_of(["b"]).tolist() == [2, 3, 4]
    assert dead.rows_of([]).tolist() == []
    assert empty(2).rows_of(["a"]).tolist() == []


def test_joined_blocks_hold_what_stands_of_both():
    """With numbers and vectors, under new rows."""
    both = joined(block(a=2, b=3).without(["a"]), block(c=1, d=2).without(["c"]))

    assert both.standing() == ["b", "d"]
    assert both.segment.numbers.tolist() == [12, 13, 14, 11, 12]
    assert both.segment.node_ids.at(np.arange(5)) == ["c-12", "c-13", "c-14", "c-11", "c-12"]
    assert both.segment.rows.matrix[:, 0].tolist() == [2.0, 3.0, 4.0, 1.0, 2.0]
    assert both.rows_of(["d"]).tolist() == [3, 4]
    assert joined(empty(2), block(a=1)).standing() == ["a"]
