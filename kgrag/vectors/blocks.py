"""Immutable vectors of documents, with masks of those that are still valid."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kgrag.vectors.codes import Numbers
from kgrag.vectors.rows import CodedRows, ExactRows
from kgrag.vectors.vector import Vector


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


Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Segment:
    """Vectors, grouped by document.

    Attributes:
        name: Of its folder; empty in memory.
        documents: Position of each document.
        bounds: `int64[documents + 1]`: the rows of document `i` are `bounds[i]:bounds[i + 1]`.
        numbers: `int64[n]`, rows of `node_vectors`.
        node_ids: The node of each.
        rows: The vectors.
    """

    name: str
    documents: dict[str, int]
    bounds: Numbers
    numbers: Numbers
    node_ids: NodeIds
    rows: ExactRows | CodedRows

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Last row of each node; computed on first access."""
        every = self.node_ids.at(np.arange(len(self.node_ids)))
        return {node_id: row for row, node_id in enumerate(every)}


@dataclass(frozen=True, slots=True)
class Block:
    """A segment with masks of its valid rows.

    Attributes:
        segment: The vectors.
        documents: `bool[documents]`: unchanged since the segment was written.
        alive: `bool[n]`: the same for each row.
    """

    segment: Segment
    documents: Mask
    alive: Mask

    @classmethod
    def of(cls, segment: Segment, dead: Iterable[int] = ()) -> "Block":
        """Return a segment's block without the documents at the positions `dead`."""
        documents = np.ones(len(segment.documents), np.bool_)
        documents[np.fromiter(dead, np.int64)] = False
        return cls(segment, documents, np.repeat(documents, np.diff(segment.bounds)))

    @property
    def n_rows(self) -> int:
        """Number of rows, dead ones too."""
        return len(self.alive)

    @property
    def n_alive(self) -> int:
        """Number of valid rows."""
        return int(np.count_nonzero(self.alive))

    def standing(self) -> list[str]:
        """Return the unchanged documents, in order."""
        return [d for d, i in self.segment.documents.items() if self.documents[i]]

    def without(self, doc_ids: Iterable[str]) -> "Block":
        """Return the block without the rows of some documents."""
        places = self._places(doc_ids)
        if not len(places):
            return self
        dead = np.flatnonzero(~self.documents)
        return Block.of(self.segment, np.concatenate([dead, places]))

    def rows_of(self, doc_ids: Iterable[str]) -> Numbers:
        """Return the valid rows of documents, in order."""
        places = self._places(doc_ids)
        starts = self.segment.bounds[places]
        lengths = self.segment.bounds[places + 1] - starts
        before: Numbers = np.cumsum(lengths) - lengths
        return np.arange(lengths.sum()) + np.repeat(starts - before, lengths)

    def _places(self, doc_ids: Iterable[str]) -> Numbers:
        known = self.segment.documents
        places = np.unique(np.fromiter((known[d] for d in doc_ids if d in known), np.int64))
        return places[self.documents[places]]


def in_memory(
    documents: Iterable[str],
    lengths: Iterable[int],
    numbers: Numbers,
    node_ids: NodeIds,
    matrix: Vector,
) -> Block:
    """Return a block of exact rows in memory."""
    bounds = np.concatenate([[0], np.cumsum(np.fromiter(lengths, np.int64))])
    names = {d: i for i, d in enumerate(documents)}
    return Block.of(Segment("", names, bounds, numbers, node_ids, ExactRows(matrix)))


def empty(dimension: int) -> Block:
    """Return a block without rows."""
    none = np.empty(0, np.int64)
    return in_memory((), (), none, NodeIds.of(()), np.empty((0, dimension), np.float32))


def joined(first: Block, second: Block) -> Block:
    """Concatenate the valid rows of two blocks of exact rows."""
    names: list[str] = []
    lengths: list[Numbers] = []
    numbers: list[Numbers] = []
    node_ids: list[str] = []
    matrices: list[Vector] = []
    for block in (first, second):
        names += block.standing()
        lengths.append(np.diff(block.segment.bounds)[block.documents])
        numbers.append(block.segment.numbers[block.alive])
        node_ids += block.segment.node_ids.at(np.flatnonzero(block.alive))
        matrices.append(np.asarray(block.segment.rows.matrix[block.alive], np.float32))
    return in_memory(
        names,
        np.concatenate(lengths),
        np.concatenate(numbers),
        NodeIds.of(node_ids),
        np.concatenate(matrices),
    )
