"""Dense search: the vector indexes, and cosines of chosen nodes."""

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from kgrag.store.neo4j.connection import Database, Row
from kgrag.store.neo4j.embeddings import to_vector
from kgrag.store.store import Hit, Vector
from kgrag.store.vectors import cosine_of, other_dimension
from kgrag.types import NodeKind

_SPARE = 32  # embeddings fetched beyond those asked for: ties, and what the index overlooks
_LEAST = 100  # an index looks at as many as it is asked for; fewer make it careless


class VectorIndexes:
    """The vector indexes of a knowledge base, one for each kind of node."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._dimension: int | None = None

    def search(
        self,
        vector: Vector,
        *,
        kind: NodeKind,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return the nodes with the largest cosine, rounded to 6 decimals, ties by node id.

        Over all documents by the index, which may overlook one of the last; within documents
        exact.

        Raises:
            StoreError: If the vector's dimension is not the stored one.
        """
        if not self._comparable(vector) or top_k < 1:
            return []
        numbers = vector.astype(np.float32).tolist()
        if doc_ids is not None:
            rows = self._database.read(
                f"{kind}_vectors_within", ids=sorted(doc_ids), vector=numbers
            )
            return _best(rows, top_k)
        if not vector.any():  # equally far from everything
            rows = self._database.read(f"some_{kind}_with_embedding", limit=top_k)
            return [(row["id"], 0.0) for row in rows]
        k = max(top_k + _SPARE, _LEAST)
        while True:
            rows = self._database.read(f"search_{kind}_vectors", k=k, vector=numbers)
            hits = _best(rows, len(rows))
            # Equal vectors are one embedding; nearly equal ones may tie when they are rounded.
            if len(rows) < k or hits[-1][1] < hits[top_k - 1][1]:
                return hits[:top_k]
            k *= 4

    def similarities(self, vector: Vector, node_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine of each node that has a vector.

        Raises:
            StoreError: If the vector's dimension is not the stored one.
        """
        if not self._comparable(vector) or not node_ids:
            return {}
        numbers = vector.astype(np.float32).tolist()
        rows = self._database.read("similarities", ids=sorted(node_ids), vector=numbers)
        return dict(_best(rows, len(rows)))

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return stored vectors by key."""
        rows = self._database.read("vectors", keys=sorted(keys)) if keys else []
        return {row["key"]: to_vector(row["vector"]) for row in rows}

    def _comparable(self, vector: Vector) -> bool:
        """Return whether there is anything to compare with."""
        if self._dimension != vector.size:
            self._dimension = self._database.read("base")[0]["dimension"]
        if self._dimension is None:
            return False
        if vector.shape != (self._dimension,):
            raise other_dimension("the query", vector, self._dimension)
        return True


def _best(rows: Iterable[Mapping[str, object] | Row], top_k: int) -> list[Hit]:
    hits = [(str(row["id"]), _cosine(row["score"])) for row in rows]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:top_k]


def _cosine(score: object) -> float:
    """Return the cosine behind a score of Neo4j's, (1 + cosine) / 2; 0 with a zero vector."""
    assert score is None or isinstance(score, float)
    return 0.0 if score is None or score != score else cosine_of(2 * score - 1)
