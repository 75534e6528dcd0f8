"""Segments of vectors on the disk: filled from the database, mapped, and listed with their dead."""

import json
import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgrag.errors import StoreError
from kgrag.store.sqlite.cache import CacheFolder, Note, remove
from kgrag.store.sqlite.changes import Mark
from kgrag.store.sqlite.settle import id_list
from kgrag.store.sqlite.vector_blocks import Block, Segment, in_memory
from kgrag.store.sqlite.vector_codes import Codes, Numbers
from kgrag.store.sqlite.vector_nodes import NodeIds
from kgrag.store.sqlite.vector_plan import Form
from kgrag.store.sqlite.vector_rows import CodedRows, ExactRows, dequantized, quantized
from kgrag.types import NodeKind
from kgrag.vectors.vector import Vector

FORMAT = "3"  # raise it when the files change
_BATCH = 8192  # rows read at a time, more only if one document has more


def lengths_of(
    connection: sqlite3.Connection, kind: NodeKind, doc_ids: Sequence[str]
) -> dict[str, int]:
    """Return the number of vectors of each document that has any, the first stored first."""
    rows = connection.execute(
        "SELECT n.doc_id, count(*) FROM json_each(?) j"
        " CROSS JOIN node_vectors n ON n.doc_id = j.value AND n.kind = ?"
        " GROUP BY n.doc_id ORDER BY min(n.number)",
        (id_list(doc_ids), kind),
    )
    return dict(rows.fetchall())


def stream(
    connection: sqlite3.Connection, kind: NodeKind, lengths: Mapping[str, int], dimension: int
) -> Iterator[tuple[Numbers, NodeIds, Vector]]:
    """Yield numbers, nodes and vectors of documents' rows, in their order, some thousands a time.

    Raises:
        StoreError: If the database does not hold them whole.
    """
    for batch in _batches(lengths):
        rows = connection.execute(
            "SELECT n.number, n.node_id, e.vector FROM json_each(?) j"
            " CROSS JOIN node_vectors n ON n.doc_id = j.value AND n.kind = ?"
            " CROSS JOIN embeddings e ON e.key = n.key ORDER BY j.key, n.number",
            (json.dumps(batch), kind),
        ).fetchall()
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


def fill_segment(
    connection: sqlite3.Connection,
    kind: NodeKind,
    lengths: Mapping[str, int],
    dimension: int,
    *,
    form: Form,
    folder: Path | None,
) -> Segment:
    """Return the vectors of documents, written below a folder; in memory for None.

    Args:
        connection: What they are read from, and never held whole in memory.
        kind: Of node.
        lengths: Number of vectors of each document, at least one vector in all.
        dimension: Of the vectors.
        form: How they are kept.
        folder: Holds a folder for each segment.

    Raises:
        StoreError: If the database does not hold the vectors.
        OSError: If they cannot be written.
    """
    n, name = sum(lengths.values()), secrets.token_hex(8) if folder else ""
    path = folder / name if folder else None
    if path:
        path.mkdir(parents=True)
    numbers, scales = np.empty(n, np.int64), np.empty(n, np.float32)
    node_ids: list[NodeIds] = []

    def parts() -> Iterator[NDArray[Any]]:
        at = 0
        for found, nodes, vectors in stream(connection, kind, lengths, dimension):
            part = slice(at, at := at + len(found))
            numbers[part] = found
            node_ids.append(nodes)
            if form == "bytes":
                in_8_bits, scales[part] = quantized(vectors)
                yield in_8_bits
            else:
                yield vectors

    matrix = _matrix(path, parts(), (n, dimension), np.dtype("<i1" if form == "bytes" else "<f4"))
    rows: ExactRows | CodedRows = ExactRows(matrix)
    if form == "scanned":
        rows = ExactRows(matrix, Codes.of(matrix.__getitem__, n, dimension, sharing=1))
    elif form == "bytes":
        read = dequantized(matrix, scales)
        rows = CodedRows(matrix, scales, Codes.of(read, n, dimension, sharing=2))
    bounds = np.concatenate([[0], np.cumsum(np.fromiter(lengths.values(), np.int64))])
    documents = {d: i for i, d in enumerate(lengths)}
    segment = Segment(name, documents, bounds, numbers, NodeIds.joined(node_ids), rows)
    if path is None:
        return segment
    _write(path, segment)
    return open_segment(path)


def open_segment(path: Path) -> Segment:
    """Map what `fill_segment` wrote.

    Raises:
        OSError, EOFError, ValueError or TypeError: If it is not as it was written.
    """
    matrix = np.load(path / "matrix.npy", mmap_mode="r")
    numbers, bounds = np.load(path / "numbers.npy"), np.load(path / "bounds.npy")
    node_ids = NodeIds(np.load(path / "nodes.npy"), np.load(path / "ids.npy", mmap_mode="r"))
    doc_ids = json.loads((path / "documents.json").read_text(encoding="utf-8"))
    if not isinstance(doc_ids, list) or matrix.ndim != 2:
        raise ValueError(f"no segment of vectors in {path}")
    n, dimension = matrix.shape
    rows: ExactRows | CodedRows = ExactRows(matrix)
    scales = np.empty(n, np.float32)
    if (path / "codes.bin").exists():
        codes = Codes.from_bytes((path / "codes.bin").read_bytes(), n_rows=n, dimension=dimension)
        rows = ExactRows(matrix, codes)
        if matrix.dtype == np.int8:
            scales = np.load(path / "scales.npy")
            rows = CodedRows(matrix, scales, codes)
    elif matrix.dtype == np.int8:
        raise ValueError(f"no codes in {path}")
    fits = numbers.shape == scales.shape == (n,) and len(node_ids) == n
    fits = fits and bounds.shape == (len(doc_ids) + 1,)
    if not fits or bounds[0] != 0 or bounds[-1] != n or bool((np.diff(bounds) < 1).any()):
        raise ValueError(f"{len(numbers)} numbers of {len(doc_ids)} documents for {n} vectors")
    documents = {str(d): i for i, d in enumerate(doc_ids)}
    return Segment(path.name, documents, bounds, numbers, node_ids, rows)


def segments_folder(cache: CacheFolder, name: str) -> Path:
    """Return the folder of a cache's segments."""
    return cache.folder / f"{name}.segments"


def write_list(cache: CacheFolder, name: str, mark: Mark, blocks: Sequence[Block]) -> None:
    """Let the cache be these blocks as of a commit, and remove what was before.

    Raises:
        OSError: If it cannot be written.
    """
    folder = segments_folder(cache, name)
    folder.mkdir(parents=True, exist_ok=True)
    dead = [np.flatnonzero(~block.documents) for block in blocks]
    file = folder / f"dead-{secrets.token_hex(8)}.npy"
    _save(file, np.concatenate([np.empty(0, np.int64), *dead]))
    listed = [[b.segment.name, len(d)] for b, d in zip(blocks, dead, strict=True)]
    cache.write(name, FORMAT, Note(mark, folder, {"segments": listed, "dead": file.name}))
    remove_unlisted(folder, blocks)
    for old in folder.glob("dead-*"):
        if old != file:
            remove(old)


def remove_unlisted(folder: Path, blocks: Sequence[Block]) -> None:
    """Remove segments of no list, as a crash or a full disk leaves them; under the cache's lock."""
    names = {block.segment.name for block in blocks}
    for path in folder.iterdir() if folder.exists() else ():
        if path.is_dir() and path.name not in names:
            remove(path)


def read_list(note: Note, known: Mapping[str, Segment]) -> list[Block]:
    """Return the blocks that `write_list` listed.

    Args:
        note: Of the cache.
        known: Segments that are open already, by name.

    Raises:
        OSError, EOFError, ValueError, KeyError or TypeError: If they are not as written.
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


def _matrix(
    path: Path | None,
    parts: Iterable[NDArray[Any]],
    shape: tuple[int, int],
    dtype: np.dtype[Any],
) -> NDArray[Any]:
    """Return the parts one below the other: a mapped file of a folder, or in memory for None."""
    if path is None:
        matrix = np.empty(shape, dtype)
        at = 0
        for part in parts:
            matrix[at : (at := at + len(part))] = part
        return matrix
    file = path / "matrix.npy"
    with file.open("wb") as out:  # not through a map: on a full disk that kills the process
        header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(out, header)
        for part in parts:
            out.write(np.ascontiguousarray(part).data)
        out.flush()
        os.fsync(out.fileno())
    mapped: NDArray[Any] = np.load(file, mmap_mode="r")
    return mapped


def _write(path: Path, segment: Segment) -> None:
    """Write all of a segment but its matrix, which is there; all before the note names it."""
    _save(path / "numbers.npy", segment.numbers)
    _save(path / "bounds.npy", segment.bounds)
    _save(path / "nodes.npy", segment.node_ids.bounds)
    _save(path / "ids.npy", segment.node_ids.text)
    _sync(path / "documents.json", json.dumps(list(segment.documents)).encode())
    if isinstance(segment.rows, CodedRows):
        _save(path / "scales.npy", segment.rows.scales)
    if segment.rows.codes is not None:
        _sync(path / "codes.bin", segment.rows.codes.to_bytes())


def _save(path: Path, array: NDArray[np.generic]) -> None:
    with path.open("wb") as file:
        np.save(file, array)
        file.flush()
        os.fsync(file.fileno())


def _sync(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
