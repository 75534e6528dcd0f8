"""Dense search: exact, or for many vectors by quantised codes with exact reranking."""

import logging
import math
import os
import secrets
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from kgrag.errors import StoreError
from kgrag.store.sqlite.cache import CacheFolder, CacheUnwritableError, Note, remove
from kgrag.store.sqlite.changes import Mark, changed_since, current_mark, is_known
from kgrag.store.sqlite.connection import renew
from kgrag.store.sqlite.embeddings import check_query, read_vectors, stored_dimension
from kgrag.store.sqlite.reconcile import id_list
from kgrag.store.sqlite.statements import json_list, run
from kgrag.types import DocIds, NodeKind
from kgrag.vectors.blocks import Block, NodeIds, Segment, empty, in_memory, joined
from kgrag.vectors.codes import Numbers
from kgrag.vectors.files import (
    FORMAT,
    LIMITS,
    Limits,
    Streamed,
    fill_segment,
    open_segment,
    parts,
    rewritten,
    save_array,
)
from kgrag.vectors.search import (
    Scans,
    VectorQuery,
    coded_candidates,
    exact_candidates,
    similarities_of,
)
from kgrag.vectors.vector import Hit, Vector, best_of_each, cosines

_BATCH = 8192  # rows read at a time, unless one document has more


def lengths_of(
    connection: sqlite3.Connection, kind: NodeKind, doc_ids: Sequence[str]
) -> dict[str, int]:
    """Return the number of vectors of each document that has any, in the order stored."""
    return dict(run(connection, "vector_counts", id_list(doc_ids), kind).fetchall())


def stream(
    connection: sqlite3.Connection, kind: NodeKind, lengths: Mapping[str, int], dimension: int
) -> Iterator[Streamed]:
    """Yield numbers, nodes and vectors of documents in order, in batches.

    Raises:
        StoreError: If vectors are missing or of another dimension.
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


logger = logging.getLogger(__name__)

_WORTH_SAYING = 100_000  # vectors from which building is logged
_SPARE = 1.25  # rows for each node wanted: a fact stated in several documents has several


@dataclass(frozen=True, slots=True)
class State:
    """An index at one commit."""

    mark: Mark = field(default_factory=Mark)  # the commit
    blocks: tuple[Block, ...] = ()  # segments without changed documents
    recent: Block = field(default_factory=lambda: empty(0))  # changed documents, in memory
    n_died: int = 0  # rows of the blocks that died since their list was written

    @property
    def all_blocks(self) -> tuple[Block, ...]:
        """The blocks on disk and in memory."""
        return (*self.blocks, self.recent)

    def without(self, doc_ids: Sequence[str], mark: Mark) -> "State":
        """Return the state at a later commit, without these documents' rows."""
        blocks = tuple(block.without(doc_ids) for block in self.blocks)
        died = sum(b.n_alive for b in self.blocks) - sum(b.n_alive for b in blocks)
        return State(mark, blocks, self.recent.without(doc_ids), self.n_died + died)


@dataclass(frozen=True, slots=True)
class Due:
    """A state at the latest commit, without the documents that changed until then."""

    state: State  # all other documents
    lengths: Mapping[str, int]  # number of vectors of changed documents that have any
    dimension: int  # of the vectors, 0 if there are none

    @property
    def n_changed(self) -> int:
        """Rows that are not in the files."""
        return sum(self.lengths.values()) + self.state.recent.n_alive + self.state.n_died


class VectorIndex:
    """The vectors of one kind of node, updated before each search.

    Segments on disk never change. Rows of documents that changed are marked dead in them, and the
    new vectors are kept in memory until they are worth a segment; see `kgrag.vectors.files` for
    when segments are merged.
    """

    def __init__(
        self,
        kind: NodeKind,
        cache: CacheFolder,
        *,
        limits: Limits | None = None,
        threads: ThreadPoolExecutor | None = None,
    ) -> None:
        self.kind = kind
        self._threads = threads or scanning_threads()
        self.name = f"vectors-{kind}"
        self._cache = cache
        self._limits = limits or LIMITS
        self._state: State | None = None
        self._lock = threading.Lock()

    def search(
        self, connection: sqlite3.Connection, vector: Vector, *, top_k: int, doc_ids: DocIds = None
    ) -> list[Hit]:
        """Return the nodes with the largest cosine, rounded to 6 decimals, ties by node id.

        Raises:
            StoreError: If the vector's dimension is not the stored one.
        """
        state, wanted = self._asked(connection, vector, top_k, doc_ids)
        several = sum(b.segment.rows.codes is not None for b in state.blocks) > 1
        scans = Scans(wanted)
        if several:
            scans.begin(self._threads, state.blocks)
        return _found(connection, state, scans, top_k)

    def begin(
        self, connection: sqlite3.Connection, vector: Vector, *, top_k: int, doc_ids: DocIds = None
    ) -> Callable[[sqlite3.Connection], list[Hit]]:
        """Start `search` in other threads; call the result for the hits.

        Raises:
            StoreError: If the vector's dimension is not the stored one.
        """
        state, wanted = self._asked(connection, vector, top_k, doc_ids)
        scans = Scans(wanted)
        scans.begin(self._threads, state.blocks)

        def end(connection: sqlite3.Connection) -> list[Hit]:
            if self.state(connection) is not state:  # the database changed meanwhile
                return self.search(connection, vector, top_k=top_k, doc_ids=doc_ids)
            return _found(connection, state, scans, top_k)

        return end

    def similarities(
        self, connection: sqlite3.Connection, vector: Vector, node_ids: Collection[str]
    ) -> dict[str, float]:
        """Return the cosines of nodes with a single vector that is in the index.

        This is much faster than reading the database; other nodes are left out.

        Raises:
            StoreError: If the vector's dimension is not the stored one.
        """
        state = self.state(connection)
        check_query(connection, vector)
        return similarities_of(state.all_blocks, vector, node_ids)

    def _asked(
        self, connection: sqlite3.Connection, vector: Vector, top_k: int, doc_ids: DocIds
    ) -> tuple[State, VectorQuery]:
        state = self.state(connection)
        check_query(connection, vector)
        n_rows = math.ceil(_SPARE * top_k) if self.kind == "fact" else top_k
        query = np.ascontiguousarray(vector, dtype=np.float32)
        return state, VectorQuery(query, max(n_rows, 1), doc_ids)

    def state(self, connection: sqlite3.Connection) -> State:
        """Return the index at the latest state of the database; move the connection there."""
        with self._lock:
            renew(connection)
            if self._state is None or self._state.mark != current_mark(connection):
                self._state = self._refreshed(connection)
            return self._state

    def load(self, connection: sqlite3.Connection) -> State | None:
        """Return the index on disk; None where it is missing or invalid.

        The connection is moved to the latest state of the database, which is not older.
        """
        note = self._cache.read(self.name, FORMAT)
        renew(connection)
        if note is None or not is_known(connection, note.mark):
            return None
        try:
            blocks = tuple(read_list(note, self._open_segments()))
        except (OSError, EOFError, ValueError, KeyError, TypeError) as exc:
            again = self._cache.read(self.name, FORMAT)
            if again is not None and again != note:  # replaced by another process
                return self.load(connection)
            logger.info("%s cannot be read and will be rebuilt: %s", self.name, exc)
            return None
        return State(note.mark, blocks)

    def _open_segments(self) -> dict[str, Segment]:
        blocks = self._state.blocks if self._state else ()
        return {b.segment.name: b.segment for b in blocks if b.segment.name}

    def _refreshed(self, connection: sqlite3.Connection) -> State:
        due = None
        if self._state is not None:
            due = self._due(connection, self._state)
        if due is None or due.n_changed > self._limits.few:
            due = self._due(connection, self.load(connection) or State())
        if due.n_changed <= self._limits.few:
            return self._with_few(connection, due)
        try:
            with self._cache.exclusive(self.name):
                due = self._due(connection, self.load(connection) or State())
                if due.n_changed <= self._limits.few:  # another process was faster
                    return self._with_few(connection, due)
                folder = segments_folder(self._cache, self.name)
                _remove_unlisted(folder, due.state.blocks)
                try:
                    state = self._written(connection, due, folder)
                    write_list(self._cache, self.name, state.mark, state.blocks)
                except OSError:
                    _remove_unlisted(folder, due.state.blocks)  # they may fill the disk
                    raise
                return state
        except (CacheUnwritableError, OSError) as exc:
            logger.info("%s is kept in memory: %s", self.name, exc)
            start = self._state or self.load(connection) or State()
            due = self._due(connection, start)
            return self._written(connection, due, None)

    def _due(self, connection: sqlite3.Connection, state: State) -> Due:
        dimension = stored_dimension(connection) or 0
        if any(b.n_rows and b.segment.rows.shape[1] != dimension for b in state.all_blocks):
            state = State()
        changed = changed_since(connection, state.mark, "vectors")
        lengths = lengths_of(connection, self.kind, changed)
        return Due(state.without(changed, current_mark(connection)), lengths, dimension)

    def _with_few(self, connection: sqlite3.Connection, due: Due) -> State:
        """Return the state with changed documents in memory."""
        state = due.state
        new = read_block(connection, self.kind, due.lengths, due.dimension)
        recent = joined(state.recent, new) if state.recent.n_rows else new
        return State(state.mark, state.blocks, recent, state.n_died)

    def _written(self, connection: sqlite3.Connection, due: Due, folder: Path | None) -> State:
        """Return the state with changed documents in new segments, merged with small ones."""
        state = due.state
        n_new = sum(due.lengths.values()) + state.recent.n_alive
        again = rewritten([(b.n_alive, b.n_rows) for b in state.blocks], n_new, self._limits)
        kept = [block for i, block in enumerate(state.blocks) if i not in again]
        doc_ids = [*due.lengths, *state.recent.standing()]
        doc_ids += [d for i in again for d in state.blocks[i].standing()]
        lengths = lengths_of(connection, self.kind, doc_ids)
        n_written = sum(lengths.values())
        if n_written > _WORTH_SAYING:
            logger.info("%s: writing %d vectors for searching", self.name, n_written)
        n_all = n_written + sum(block.n_alive for block in kept)
        new = [
            fill_segment(
                stream(connection, self.kind, part, due.dimension),
                part,
                due.dimension,
                form=self._limits.form(sum(part.values()), n_all),
                folder=folder,
            )
            for part in parts(lengths, self._limits.segment)
        ]
        return State(state.mark, (*kept, *map(Block.of, new)), empty(due.dimension))


def scanning_threads() -> ThreadPoolExecutor:
    """Return a pool of threads, which start when needed."""
    return ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), "kgrag-vectors")


def _found(
    connection: sqlite3.Connection,
    state: State,
    scans: Scans,
    top_k: int,
) -> list[Hit]:
    """Return the nodes with the largest cosine; see `VectorIndex.search`."""
    if top_k < 1:
        return []
    known = dict[str, float]()
    while True:
        wanted = scans.wanted
        found = exact_candidates(state.all_blocks, scans)
        coded = coded_candidates(state.blocks, scans).tolist()
        found.update(_hits(connection, coded, wanted.query) if coded else {})
        # Only the best n_rows are complete: nodes in them have their best row.
        best = sorted(found.values(), key=lambda hit: -hit[1])[: wanted.n_rows]
        whole = {node_id for node_id, _ in best}
        if len(best) < wanted.n_rows or len(known) + len(whole) >= top_k:
            return best_of_each([*known.items(), *found.values()])[:top_k]
        # A fact may have many rows: search again without those of known facts.
        known.update(best_of_each(best))
        without = _numbers(connection, known)
        scans = Scans(replace(wanted, n_rows=4 * wanted.n_rows, without=without))


def _numbers(connection: sqlite3.Connection, node_ids: Iterable[str]) -> Numbers:
    """Return the row numbers of nodes."""
    rows = run(connection, "vector_numbers", json_list(node_ids))
    return np.fromiter((number for (number,) in rows), np.int64)


def _hits(connection: sqlite3.Connection, numbers: Sequence[int], query: Vector) -> dict[int, Hit]:
    """Return nodes and cosines of rows by number, from the stored vectors.

    A vector is read once, however many rows share it.
    """
    rows = run(connection, "vector_nodes", json_list(numbers)).fetchall()
    stored = read_vectors(connection, list({key for _, _, key in rows}))
    scores = cosines(np.array(list(stored.values())), query).tolist()
    by_key = dict(zip(stored, scores, strict=True))
    return {number: (node_id, by_key[key]) for number, node_id, key in rows}


def segments_folder(cache: CacheFolder, name: str) -> Path:
    """Return the folder of a cache's segments."""
    return cache.folder / f"{name}.segments"


def write_list(cache: CacheFolder, name: str, mark: Mark, blocks: Sequence[Block]) -> None:
    """Make these blocks the cache at a commit, and remove the previous files.

    Raises:
        OSError: If it cannot be written.
    """
    folder = segments_folder(cache, name)
    folder.mkdir(parents=True, exist_ok=True)
    dead = [np.flatnonzero(~block.documents) for block in blocks]
    file = folder / f"dead-{secrets.token_hex(8)}.npy"
    save_array(file, np.concatenate([np.empty(0, np.int64), *dead]))
    listed = [[b.segment.name, len(d)] for b, d in zip(blocks, dead, strict=True)]
    cache.write(name, FORMAT, Note(mark, folder, {"segments": listed, "dead": file.name}))
    _remove_unlisted(folder, blocks)
    for old in folder.glob("dead-*"):
        if old != file:
            remove(old)


def _remove_unlisted(folder: Path, blocks: Sequence[Block]) -> None:
    """Remove segments that a crash or a full disk left; requires the cache's lock."""
    names = {block.segment.name for block in blocks}
    for path in folder.iterdir() if folder.exists() else ():
        if path.is_dir() and path.name not in names:
            remove(path)


def read_list(note: Note, known: Mapping[str, Segment]) -> list[Block]:
    """Return the blocks that `write_list` listed, reusing open segments by name.

    Raises:
        OSError, EOFError, ValueError, KeyError or TypeError: If they are damaged.
    """
    listed = note.details["segments"]
    if not isinstance(listed, list):
        raise TypeError("no list of segments")
    dead = np.load(note.content / str(note.details["dead"]))
    if len(dead) != sum(n_dead for _, n_dead in listed):
        raise ValueError(f"{len(dead)} dead documents for {listed}")
    blocks: list[Block] = []
    at = 0
    for name, n_dead in listed:
        segment = known.get(name) or open_segment(note.content / str(name))
        blocks.append(Block.of(segment, dead[at : (at := at + n_dead)]))
    return blocks
