"""Vectors as rows, one for each distinct text."""

import re
import sqlite3
from collections.abc import Sequence

import numpy as np

from kgrag.errors import StoreError
from kgrag.store.checks import check_vectors, damaged_setting
from kgrag.store.contents import NodeVector
from kgrag.store.sqlite.reconcile import Affected
from kgrag.store.sqlite.seals import seal_of_vector
from kgrag.store.sqlite.statements import json_list, run, run_each
from kgrag.vectors.vector import Vector, other_dimension

_DIMENSION = re.compile("[1-9][0-9]{0,5}")
_STORED = np.dtype("<f4")


def add_vectors(
    connection: sqlite3.Connection,
    doc_id: str,
    vectors: Sequence[NodeVector],
    affected: Affected,
) -> bool:
    """Insert a document's missing vectors; return whether there were any.

    Raises:
        ValueError: If a vector is not finite or neither of unit length nor zero.
        StoreError: If its dimension differs from the stored one, or it is neither given nor stored.
    """
    if not vectors:
        return False
    given = {v.key: v.vector for v in vectors if v.vector is not None}
    stored = stored_dimension(connection)
    dimension = check_vectors(given, stored)
    if dimension != stored:
        run(connection, "set_dimension", str(dimension))
    run_each(connection, "add_embedding", [sealed_row(key, v) for key, v in given.items()])
    keys = {v.key for v in vectors}
    affected.keys.update(keys)
    missing = run(connection, "missing_key", json_list(sorted(keys))).fetchone()
    if missing:
        raise StoreError(f"vector {missing[0]} is not stored: give it with its numbers")
    before = connection.total_changes
    rows = [(v.node_id, v.kind, doc_id, v.key) for v in vectors]
    run_each(connection, "add_node_vector", rows)
    return connection.total_changes > before


def stored_dimension(connection: sqlite3.Connection) -> int | None:
    """Return the dimension of the stored vectors, None before the first.

    Raises:
        StoreError: If the recorded value is no dimension.
    """
    row = run(connection, "dimension").fetchone()
    if row is None:
        return None
    if not _DIMENSION.fullmatch(str(row[0])):
        raise damaged_setting("dimension", row[0])
    return int(row[0])


def check_query(connection: sqlite3.Connection, vector: Vector) -> None:
    """Raise StoreError if the dimension differs from that of stored vectors."""
    dimension = stored_dimension(connection)
    if dimension is not None and vector.shape != (dimension,):
        raise other_dimension("the query", vector, dimension)


def sealed_row(key: str, vector: Vector) -> tuple[str, bytes, int]:
    """Return the row of a vector, with its checksum."""
    blob = np.ascontiguousarray(vector, dtype=_STORED).tobytes()
    return key, blob, seal_of_vector(key, blob)


def from_blob(blob: bytes) -> Vector:
    """Return a stored vector, read-only."""
    return np.frombuffer(blob, dtype=_STORED)


def read_vectors(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Vector]:
    """Return stored vectors by key."""
    rows = run(connection, "vectors", json_list(keys))
    return {key: from_blob(blob) for key, blob in rows}
