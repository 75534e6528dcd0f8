"""Vectors of documents as the database holds them, read in the order in which they were stored."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kgrag.errors import StoreError
from kgrag.store.sqlite.reconcile import id_list
from kgrag.store.sqlite.statements import json_list, run
from kgrag.types import NodeKind
from kgrag.vectors.blocks import Block, in_memory
from kgrag.vectors.files import Streamed
from kgrag.vectors.nodes import NodeIds

_BATCH = 8192  # rows read at a time, more only if one document has more


def lengths_of(
    connection: sqlite3.Connection, kind: NodeKind, doc_ids: Sequence[str]
) -> dict[str, int]:
    """Return the number of vectors of each document that has any, the first stored first."""
    return dict(run(connection, "vector_counts", id_list(doc_ids), kind).fetchall())


def stream(
    connection: sqlite3.Connection, kind: NodeKind, lengths: Mapping[str, int], dimension: int
) -> Iterator[Streamed]:
    """Yield numbers, nodes and vectors of documents' rows, in their order, some thousands a time.

    Raises:
        StoreError: If the database does not hold them whole.
    """
    for batch in _batches(lengths):
        rows = run(connection, "indexed_vectors", json_list(batch), kind).fetchall()
        data = b"".join(blob for _, _, blob in rows)
        if len(rows) != sum(lengths[d] for d in batch) or len(data) != 4 * dimension * len(rows):
            raise StoreError(
                f"vectors of {batch[0]} and other documents are missing or not of dimension "
                f"{dimension}: see `kgrag verify`"
            )
        numbers = np.fromiter((number for number, _, _ in rows), np.int64, len(rows))
        node_ids = NodeIds.of(node_id for _, node_id, _ in rows)
        yield numbers, node_ids, np.frombuffer(data, "<f4").reshape(-1, dimension)


def read_block(
    connection: sqlite3.Connection, kind: NodeKind, lengths: Mapping[str, int], dimension: int
) -> Block:
    """Return the vectors of a few documents, in memory."""
    parts = list(stream(connection, kind, lengths, dimension))
    numbers = np.concatenate([np.empty(0, np.int64), *(n for n, _, _ in parts)])
    node_ids = NodeIds.joined([ids for _, ids, _ in parts])
    matrix = np.concatenate([np.empty((0, dimension), np.float32), *(m for _, _, m in parts)])
    return in_memory(lengths, lengths.values(), numbers, node_ids, matrix)


def _batches(lengths: Mapping[str, int]) -> Iterator[list[str]]:
    batch: list[str] = []
    n_rows = 0
    for doc_id, length in lengths.items():
        if batch and n_rows + length > _BATCH:
            yield batch
            batch, n_rows = [], 0
        batch.append(doc_id)
        n_rows += length
    if batch:
        yield batch
