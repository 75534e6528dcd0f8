"""Vectors of all stores: unit length, float32, compared by cosine."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from kgrag.errors import StoreError
from kgrag.types import NodeKind

Vector = NDArray[np.float32]
Hit = tuple[str, float]  # the id of a node, and its score

KINDS: tuple[NodeKind, ...] = ("chunk", "summary", "document", "fact")
# Encoders normalise in float32 (or float16): rounding, not a mistake, below this.
UNIT_TOLERANCE = 1e-3


def check_vector(vector: Vector, name: str) -> None:
    """Validate a unit vector; zero vectors are allowed, for empty texts.

    Raises:
        ValueError: If it is not `(dim,)`, not finite, or neither of unit length nor zero.
    """
    if vector.ndim != 1 or not vector.size:
        raise ValueError(f"vector {name} has shape {vector.shape}: give (dim,)")
    norm = float(np.linalg.norm(vector))
    if not (norm == 0.0 or abs(norm - 1.0) <= UNIT_TOLERANCE):  # NaN compares false
        raise ValueError(f"vector {name} has length {norm:.4f}: normalise it to 1")


def other_dimension(name: str, vector: Vector, dimension: int | None) -> StoreError:
    """Return the error for a vector of another dimension."""
    return StoreError(
        f"{name} has shape {vector.shape}, the knowledge base has vectors of {dimension}: "
        "use the model that it was built with, or change it with `kgrag reembed`"
    )


def cosine_of(score: float) -> float:
    """Round a cosine to 6 decimals: the last bits of a sum depend on the machine."""
    return min(1.0, max(-1.0, round(score, 6)))


def cosines(matrix: Vector, vector: Vector) -> NDArray[np.float64]:
    """Return the cosine of each row with a vector, all of unit length (or zero).

    Rounded to 6 decimals. Each row is summed alone: in a product of matrices the last bits depend
    on the row's position, and with them, rarely, the sixth decimal. (`einsum` does not multiply
    matrices, and takes a tenth of the time of a product that is summed by rows.)
    """
    scores: NDArray[np.float64] = np.einsum("ij,j->i", matrix, vector, dtype=np.float64)
    return np.clip(np.round(scores, 6), -1.0, 1.0)


def best_of_each(hits: Iterable[Hit]) -> list[Hit]:
    """Return nodes with their largest cosine, best first, ties by node id.

    A fact has a vector for each document that states it, so it may occur repeatedly.

    >>> best_of_each([("f-1", 0.25), ("f-2", 0.5), ("f-1", 0.75)])
    [('f-1', 0.75), ('f-2', 0.5)]
    """
    best: dict[str, float] = {}
    for node_id, cosine in hits:
        best[node_id] = max(cosine, best.get(node_id, cosine))
    return sorted(best.items(), key=lambda hit: (-hit[1], hit[0]))
