import numpy as np
import pytest

from kgrag.errors import StoreError
from kgrag.store.sqlite import vectors
from kgrag.store.sqlite.vectors import lengths_of, read_block, stream
from tests.fixtures.dense_vectors import unit

RNG = np.random.default_rng(0)
MATRICES = {"d-b": unit(RNG, 20), "d-a": unit(RNG, 3), "d-c": unit(RNG, 9)}
ALL = np.concatenate(list(MATRICES.values()))
LENGTHS = {"d-b": 20, "d-a": 3, "d-c": 9}
NODES = [f"{d}:{i}" for d, n in LENGTHS.items() for i in range(n)]


@pytest.fixture
def connection(dense):
    """A connection to a knowledge base of three documents, and one without vectors."""
    base = dense()
    for doc_id, matrix in {**MATRICES, "d-empty": np.empty((0, 8), np.float32)}.items():
        base.put(doc_id, matrix)
    with base.database.read() as connection:
        yield connection


def test_documents_with_vectors_come_as_they_were_stored(connection):
    """The first stored first, those without vectors not at all."""
    found = lengths_of(connection, "chunk", ["d-a", "d-b", "d-c", "d-empty", "d-x"])

    assert list(found.items()) == list(LENGTHS.items())
    assert lengths_of(connection, "fact", ["d-a"]) == {}


@pytest.mark.parametrize("batch", [1, 12, 8192])
def test_vectors_are_read_a_few_documents_at_a_time(connection, monkeypatch, batch):
    """In the order asked for; a document is never cut."""
    monkeypatch.setattr(vectors, "_BATCH", batch)
    parts = list(stream(connection, "chunk", LENGTHS, 8))

    assert len(parts) == {1: 3, 12: 2, 8192: 1}[batch]
    assert np.array_equal(np.concatenate([m for _, _, m in parts]), ALL)
    assert np.concatenate([n for n, _, _ in parts]).tolist() == list(range(1, 33))
    assert [node for _, ids, _ in parts for node in ids.at(np.arange(len(ids)))] == NODES


@pytest.mark.parametrize(("lengths", "dimension"), [({"d-a": 4}, 8), ({"d-a": 3}, 7)])
def test_missing_vectors_are_an_error(connection, lengths, dimension):
    """Never rows that nobody wrote."""
    with pytest.raises(StoreError, match=r"d-a.*kgrag verify"):
        read_block(connection, "chunk", lengths, dimension)
