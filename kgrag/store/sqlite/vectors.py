"""Exact dense search: one matrix product over all vectors of a kind of node."""

import json
import logging
import sqlite3
import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.store.sqlite.cache import CacheFolder, CacheUnwritableError, Note
from kgrag.store.sqlite.changes import Mark, changed_since, current_mark, is_known
from kgrag.store.sqlite.connection import renew
from kgrag.store.sqlite.embeddings import check_query, stored_dimension
from kgrag.store.sqlite.settle import id_list
from kgrag.store.store import Hit, Vector
from kgrag.store.vectors import best_of_each, cosine_of
from kgrag.types import NodeKind

logger = logging.getLogger(__name__)

_FORMAT = "1"  # raise it when the files change
_MOST_CHANGED = 0.2  # share of changed rows above which the matrix is written anew
_FEW = 2000  # as many rows are read from the database in no time: no file for them
_MARGIN = 2e-6  # cosines closer than that are put in order after rounding

Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Block:
    """Vectors as a matrix, documents one after the other.

    Attributes:
        matrix: `float32[n, dim]`.
        numbers: `int64[n]`, rows of `node_vectors`.
        spans: First and last + 1 row of each document.
        dead: Rows of documents that changed since, in order.
    """

    matrix: Vector
    numbers: Numbers
    spans: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    dead: Numbers = field(default_factory=lambda: np.empty(0, np.int64))

    def without(self, doc_ids: Iterable[str]) -> "Block":
        """Return the block with these documents' rows dead."""
        gone = [np.arange(*self.spans[d]) for d in doc_ids if d in self.spans]
        if not gone:
            return self
        spans = {d: span for d, span in self.spans.items() if d not in set(doc_ids)}
        dead = np.unique(np.concatenate([self.dead, *gone]))
        return Block(self.matrix, self.numbers, spans, dead)

    def living(self) -> "Block":
        """Return the block without its dead rows."""
        if not len(self.dead):
            return self
        rows = np.delete(np.arange(len(self.numbers)), self.dead)
        spans = {
            d: (int(np.searchsorted(rows, a)), int(np.searchsorted(rows, b)))
            for d, (a, b) in self.spans.items()
        }
        return Block(self.matrix[rows], self.numbers[rows], spans)

    def joined(self, other: "Block") -> "Block":
        """Return the rows of two blocks without dead ones, this one's first."""
        n = len(self.numbers)
        if not n or not len(other.numbers):
            return self if n else other
        spans = {d: (a + n, b + n) for d, (a, b) in other.spans.items()}
        return Block(
            np.concatenate([self.matrix, other.matrix]),
            np.concatenate([self.numbers, other.numbers]),
            {**self.spans, **spans},
        )

    def candidates(
        self, vector: Vector, top_k: int, doc_ids: Collection[str] | None
    ) -> list[tuple[int, float]]:
        """Return (number, cosine) of the best rows, and of those that may tie with them."""
        if not len(self.numbers):
            return []
        if doc_ids is None:
            numbers, scores = self.numbers, self.matrix @ vector
            scores[self.dead] = -np.inf
        else:
            spans = [self.spans[d] for d in sorted(doc_ids) if d in self.spans]
            rows = np.concatenate([np.empty(0, np.int64), *(np.arange(*span) for span in spans)])
            numbers, scores = self.numbers[rows], self.matrix[rows] @ vector
        least = -np.inf
        if len(scores) > top_k:
            least = float(np.partition(scores, -top_k)[-top_k]) - _MARGIN
        best = np.flatnonzero((scores >= least) & np.isfinite(scores))
        return list(zip(numbers[best].tolist(), scores[best].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class State:
    """What an index knows at one commit: a large block, and what changed after it."""

    mark: Mark
    base: Block
    recent: Block


class VectorIndex:
    """The vectors of one kind of node; brought up to date when it is asked.

    On the disk stands a matrix that is written now and then, and mapped into memory; documents
    that changed since are read from the database.

    Attributes:
        kind: Chunks, summaries, documents or facts.
        name: Of the cache.
    """

    def __init__(self, kind: NodeKind, cache: CacheFolder) -> None:
        self.kind = kind
        self.name = f"vectors-{kind}"
        self._cache = cache
        self._state: State | None = None
        self._lock = threading.Lock()

    def search(
        self,
        connection: sqlite3.Connection,
        vector: Vector,
        *,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return the nodes with the largest cosine, rounded to 6 decimals, ties by node id.

        Raises:
            StoreError: If the vector's dimension is not the stored one.
        """
        state = self.state(connection)
        check_query(connection, vector)
        if top_k < 1:
            return []
        query = np.ascontiguousarray(vector, dtype=np.float32)
        n_rows = top_k
        while True:
            found: dict[int, float] = {}
            for block in (state.base, state.recent):
                found.update(block.candidates(query, n_rows, doc_ids))
            nodes = _nodes(connection, found)
            # Below the best n_rows a row may have been left out; the best of all nodes above it
            # are known. A fact may have many rows.
            best = sorted(found, key=lambda number: -found[number])[:n_rows]
            if len(best) < n_rows or len({nodes.get(number) for number in best}) >= top_k:
                hits = ((node_id, cosine_of(found[number])) for number, node_id in nodes.items())
                return best_of_each(hits)[:top_k]
            n_rows *= 4

    def state(self, connection: sqlite3.Connection) -> State:
        """Return the vectors in the state that the connection sees from now on.

        The connection is moved to the latest state of the database, so that nodes found are
        nodes that it sees.
        """
        with self._lock:
            renew(connection)
            mark = current_mark(connection)
            if self._state is None or self._state.mark != mark:
                self._state = self._refreshed(connection, mark)
            return self._state

    def load(self, connection: sqlite3.Connection) -> tuple[Mark, Block] | None:
        """Return the matrix on the disk and its commit; None where there is none that fits."""
        note = self._cache.read(self.name, _FORMAT)
        if note is None or not is_known(connection, note.mark):
            return None
        try:
            block = _map(note)
        except (OSError, EOFError, ValueError, KeyError, TypeError) as exc:
            logger.info("%s cannot be read and will be rebuilt: %s", self.name, exc)
            return None
        if block.matrix.shape[1] != stored_dimension(connection):
            return None
        return note.mark, block

    def _refreshed(self, connection: sqlite3.Connection, mark: Mark) -> State:
        state = self._state or self._start(connection)
        changed = changed_since(connection, state.mark, "vectors")
        dimension = stored_dimension(connection) or 0
        base, recent = state.base.without(changed), state.recent.without(changed).living()
        n_changed = len(base.dead) + len(recent.numbers) + _count(connection, self.kind, changed)
        few = n_changed <= max(_FEW, _MOST_CHANGED * len(base.numbers))
        fits = all(b.matrix.shape[1] == dimension or not len(b.numbers) for b in (base, recent))
        if few and fits:
            new = _read(connection, self.kind, changed, dimension)
            return State(mark, base, recent.joined(new))
        return State(mark, self._written(connection, mark, dimension), _empty(dimension))

    def _start(self, connection: sqlite3.Connection) -> State:
        mark, block = self.load(connection) or (Mark(), _empty(0))
        return State(mark, block, _empty(0))

    def _written(self, connection: sqlite3.Connection, mark: Mark, dimension: int) -> Block:
        """Write all vectors to the disk and return them; only return them if that fails."""
        try:
            with self._cache.exclusive(self.name):
                path = self._cache.fresh(self.name, mark)
                path.mkdir()
                block = _read(connection, self.kind, None, dimension, folder=path)
                details = {"docs": dict(block.spans)}
                self._cache.write(self.name, _FORMAT, Note(mark, path, details))
                return block
        except (CacheUnwritableError, OSError) as exc:
            logger.info("%s is kept in memory: %s", self.name, exc)
            return _read(connection, self.kind, None, dimension)


def _empty(dimension: int) -> Block:
    return Block(np.empty((0, dimension), np.float32), np.empty(0, np.int64))


def _nodes(connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, str]:
    """Return node ids by row number."""
    rows = connection.execute(
        "SELECT n.number, n.node_id FROM json_each(?) j"
        " CROSS JOIN node_vectors n ON n.number = j.value",
        (json.dumps(list(numbers)),),
    )
    return dict(rows.fetchall())


def _count(connection: sqlite3.Connection, kind: NodeKind, doc_ids: Iterable[str]) -> int:
    row = connection.execute(
        "SELECT count(*) FROM json_each(?) j"
        " CROSS JOIN node_vectors n ON n.doc_id = j.value AND n.kind = ?",
        (id_list(doc_ids), kind),
    )
    return int(row.fetchone()[0])


def _read(
    connection: sqlite3.Connection,
    kind: NodeKind,
    doc_ids: Iterable[str] | None,
    dimension: int,
    *,
    folder: Path | None = None,
) -> Block:
    """Return the vectors of documents (all for None), in memory or in files of a folder."""
    if doc_ids is None:
        doc_ids = [d for (d,) in connection.execute("SELECT doc_id FROM documents")]
    doc_ids = sorted(doc_ids)
    n = _count(connection, kind, doc_ids)
    matrix = _array(folder and folder / "matrix.npy", (n, dimension), "<f4")
    numbers = _array(folder and folder / "numbers.npy", (n,), "<i8")
    spans: dict[str, tuple[int, int]] = {}
    for row, (doc_id, number, blob) in enumerate(
        connection.execute(
            "SELECT n.doc_id, n.number, e.vector FROM json_each(?) j"
            " CROSS JOIN node_vectors n ON n.doc_id = j.value AND n.kind = ?"
            " CROSS JOIN embeddings e ON e.key = n.key ORDER BY j.key, n.number",
            (id_list(doc_ids), kind),
        )
    ):
        matrix[row] = np.frombuffer(blob, "<f4")
        numbers[row] = number
        spans[doc_id] = (spans.get(doc_id, (row, row))[0], row + 1)
    for array in (matrix, numbers):
        if isinstance(array, np.memmap):
            array.flush()  # before the note that names it
    return Block(matrix, numbers, spans)


def _array(path: Path | None, shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    if path is not None and 0 not in shape:  # nothing can be mapped of an empty file
        return np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=shape)
    array = np.empty(shape, dtype)
    if path is not None:
        np.save(path, array)
    return array


def _map(note: Note) -> Block:
    """Open what `_written` wrote.

    Raises:
        OSError, EOFError, ValueError, KeyError or TypeError: If it is not as it was written.
    """
    matrix = np.load(note.content / "matrix.npy", mmap_mode="r")
    numbers = np.load(note.content / "numbers.npy")
    docs = note.details["docs"]
    if not isinstance(docs, dict) or matrix.ndim != 2 or matrix.dtype != np.dtype("<f4"):
        raise ValueError("not a matrix of float32")
    spans = {str(doc_id): (int(a), int(b)) for doc_id, (a, b) in docs.items()}
    if numbers.shape != matrix.shape[:1] or max((b for _, b in spans.values()), default=0) != len(
        numbers
    ):
        raise ValueError(f"{len(numbers)} numbers for {matrix.shape[0]} vectors")
    return Block(matrix, numbers, spans)
