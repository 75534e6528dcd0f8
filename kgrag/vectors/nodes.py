"""Node ids of vectors, stored beside them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgrag.vectors.codes import Numbers


@dataclass(frozen=True, slots=True)
class NodeIds:
    """Concatenated ids: a search finds them without asking the database.

    Attributes:
        bounds: `int64[n + 1]`: id `i` is `text[bounds[i]:bounds[i + 1]]`.
        text: `uint8`, UTF-8.
    """

    bounds: Numbers
    text: NDArray[np.uint8]

    def __post_init__(self) -> None:
        """Validate the bounds.

        Raises:
            ValueError: If they do not start at 0, decrease, or do not end at the text's end.
        """
        bounds = self.bounds
        if bounds.ndim != 1 or not len(bounds) or bounds[0] != 0 or bounds[-1] != len(self.text):
            raise ValueError("no bounds of the ids of nodes")
        if bool((np.diff(bounds) < 0).any()) or bounds.dtype != np.int64:
            raise ValueError("no bounds of the ids of nodes")
        if self.text.ndim != 1 or self.text.dtype != np.uint8:
            raise ValueError("no ids of nodes")

    @classmethod
    def of(cls, ids: Iterable[str]) -> "NodeIds":
        """Encode ids in order."""
        encoded = [node_id.encode() for node_id in ids]
        bounds: Numbers = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
        return cls(bounds, np.frombuffer(b"".join(encoded), np.uint8))

    @classmethod
    def joined(cls, parts: Sequence["NodeIds"]) -> "NodeIds":
        """Concatenate ids."""
        lengths = [np.diff(part.bounds) for part in parts]
        bounds: Numbers = np.cumsum(np.concatenate([[0], *lengths]), dtype=np.int64)
        return cls(bounds, np.concatenate([np.empty(0, np.uint8), *(p.text for p in parts)]))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def at(self, rows: Numbers) -> list[str]:
        """Return the ids of rows; invalid UTF-8, as after damage, becomes U+FFFD."""
        text = self.text.data
        starts, ends = self.bounds[rows].tolist(), self.bounds[rows + 1].tolist()
        return [str(text[a:b], "utf-8", "replace") for a, b in zip(starts, ends, strict=True)]
