"""Vectors as nodes: each distinct text's once, however many nodes share it."""

import zlib
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from kgrag.errors import StoreError
from kgrag.store.checks import check_vectors
from kgrag.store.contents import NodeVector
from kgrag.store.neo4j.base import Base
from kgrag.store.neo4j.connection import Transaction
from kgrag.store.neo4j.statements import of_base
from kgrag.types import NodeKind
from kgrag.vectors.vector import KINDS, Vector

_NODES: Mapping[NodeKind, str] = {
    "chunk": "embed_chunks",
    "summary": "embed_summaries",
    "document": "embed_document",
    "fact": "embed_facts",
}
Keys = Mapping[str, tuple[NodeKind, str]]  # kind and key by node
_ROWS = 250  # of vectors in a statement: about 1 MB


def create_embeddings(
    tx: Transaction, vectors: Sequence[NodeVector], dimension: int | None
) -> set[str]:
    """Create the embeddings that are missing, each under the kinds of node that have it.

    Without the writers' lock, too: in the order of their keys, so that no two writers wait for each
    other. Those that another writer has made, or deletes, are the matter of `add_embeddings`.

    Args:
        tx: The transaction.
        vectors: Of nodes.
        dimension: Of the stored vectors; None before the first.

    Returns:
        The keys of those that were made.

    Raises:
        ValueError: If a vector is not finite or neither of unit length nor zero.
        StoreError: If a dimension is not the stored one, or a vector is neither given nor stored.
    """
    given = {v.key: v.vector for v in vectors if v.vector is not None}
    check_vectors(given, dimension)
    labels: defaultdict[str, set[str]] = defaultdict(set)
    for v in vectors:
        labels[v.key].add(of_base(f"Kgrag{v.kind.title()}Embedding", tx.base))
    held = {row["key"] for row in tx.run("embeddings_held", keys=sorted(labels))}
    missing = sorted(labels.keys() - held)
    for key in missing:
        if key not in given:
            raise StoreError(f"vector {key} is not stored: give it with its numbers")
    rows = embedding_rows({key: given[key] for key in missing})
    for key, row in zip(missing, rows, strict=True):
        zero = [of_base("KgragZeroEmbedding", tx.base)] if row["zero"] else []
        row["labels"] = [*sorted(labels[key]), *zero]
    return {row["key"] for row in tx.run_rows("create_embeddings", rows, size=_ROWS)}


def add_embeddings(
    tx: Transaction,
    vectors: Sequence[NodeVector],
    dimension: int | None,
    made: Collection[str] = (),
) -> int | None:
    """Ensure the embeddings of nodes, each under the kinds of node that have it.

    Args:
        tx: The transaction, with the lock.
        vectors: Of nodes.
        dimension: Of the stored vectors; None before the first.
        made: Keys of those that the transaction made before the lock.

    Returns:
        The dimension afterwards.

    Raises:
        ValueError: If a vector is not finite or neither of unit length nor zero.
        StoreError: If a dimension is not the stored one, or a vector is neither given nor stored.
    """
    given = {v.key: v.vector for v in vectors if v.vector is not None}
    dimension = check_vectors(given, dimension)
    others = [v for v in vectors if v.key not in made]
    new = create_embeddings(tx, others, dimension) if others else set()
    for kind in KINDS:
        of_kind = sorted({v.key for v in others if v.kind == kind} - new)
        if of_kind:
            tx.run(f"mark_{kind}_embeddings", keys=of_kind)
    return dimension


def embedding_rows(vectors: Mapping[str, Vector]) -> list[dict[str, object]]:
    """Return the rows from which embeddings are stored.

    Args:
        vectors: By key.
    """
    return [
        {
            "key": key,
            "vector": vector.astype(np.float32).tolist(),
            "zero": not vector.any(),
            "checksum": checksum(key, vector),
        }
        for key, vector in vectors.items()
    ]


def checksum(key: str, vector: Vector) -> int:
    """Return a checksum of 32 bits of the vector stored under a key.

    >>> checksum("a", np.zeros(2, np.float32)) == checksum("b", np.zeros(2, np.float32))
    False
    """
    return zlib.crc32(vector.astype("<f4").tobytes(), zlib.crc32(key.encode()))


def embed_nodes(
    tx: Transaction, doc_id: str, nodes: Sequence[tuple[NodeKind, str, str | None]]
) -> None:
    """Let nodes of a document name their embedding.

    Args:
        tx: The transaction.
        doc_id: The document.
        nodes: (kind, node id, key); None for a node that has no embedding any more.
    """
    for kind, name in _NODES.items():
        pairs = sorted((node, key) for k, node, key in nodes if k == kind)
        rows = [{"id": node, "doc_id": doc_id, "key": key} for node, key in pairs]
        tx.run_rows(name, rows)


def unembed(
    tx: Transaction, base: Base, doc_id: str, keys: Keys, wanted: Mapping[str, str]
) -> None:
    """Let nodes of a document name no embedding any more, and note which embeddings lost a node.

    Args:
        tx: The transaction.
        base: State of the knowledge base.
        doc_id: The document.
        keys: (kind, key) of its nodes before.
        wanted: Keys of the nodes that go on having one, which may be another.
    """
    base.keys |= {key for node, (_, key) in keys.items() if wanted.get(node) != key}
    lost = [(kind, node, None) for node, (kind, _) in keys.items() if node not in wanted]
    embed_nodes(tx, doc_id, lost)


def keys_of(tx: Transaction, doc_id: str) -> Keys:
    """Return (kind, key) of each node of a document that has an embedding."""
    rows = tx.run("embedding_keys_of", id=doc_id)
    return {row["id"]: (row["kind"], row["key"]) for row in rows}


def prune_embeddings(tx: Transaction, keys: Sequence[str]) -> None:
    """Delete embeddings that no node has any more, and take them out of kinds that lost them."""
    if not keys:
        return
    rows = tx.run("embeddings_used", keys=sorted(keys))
    unused = [row["key"] for row in rows if not any(row[kind] for kind in KINDS)]
    for kind in KINDS:
        lost = [row["key"] for row in rows if row[f"is_{kind}"] and not row[kind]]
        if lost:
            tx.run(f"unmark_{kind}_embeddings", keys=lost)
    if unused:
        tx.run("delete_embeddings", keys=unused)


def to_vector(numbers: Sequence[float]) -> Vector:
    """Return a stored vector, as it was given."""
    return np.asarray(numbers, dtype=np.float32)
