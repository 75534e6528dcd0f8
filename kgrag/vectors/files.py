"""Segments of vectors on disk, written once and mapped, and when they are; see docs/vectors.md."""

import json
import os
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kgrag.vectors.blocks import NodeIds, Segment
from kgrag.vectors.codes import Codes, Numbers
from kgrag.vectors.rows import CodedRows, ExactRows, dequantized, quantized
from kgrag.vectors.vector import Vector

# As they were given, without or with codes to scan, one for each number; or in 8 bits, with
# codes that two numbers share.
Form = Literal["plain", "scanned", "bytes"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Thresholds of an index, in vectors.

    Attributes:
        few: Up to so many unwritten vectors are kept in memory.
        exact: Up to so many in all are searched by one exact product.
        small: Segments up to this size are searched exactly in a larger index, too.
        floats: Up to so many in all are kept in float32, preselected by codes.
        segment: Maximum of a segment, except for a larger single document.
        dead: Share of dead rows above which a segment is rewritten.
    """

    few: int = 4096
    exact: int = 8192
    small: int = 8192
    floats: int = 131_072
    segment: int = 524_288
    dead: float = 0.25

    def form(self, n_rows: int, n_all: int) -> Form:
        """Return the format of a new segment of `n_rows` of `n_all` vectors."""
        if n_all <= self.exact or n_rows <= self.small:
            return "plain"
        return "scanned" if n_all <= self.floats else "bytes"


LIMITS = Limits()


def rewritten(sizes: Sequence[tuple[int, int]], n_new: int, limits: Limits) -> list[int]:
    """Return the indexes of segments to rewrite when vectors are added.

    Those with many dead rows; and each that is not larger than all that is written already, if
    it is less than half full. So a vector is rewritten only when its segment doubles: a number of
    times that is logarithmic in that of vectors (Bentley and Saxe, 1980, "Decomposable searching
    problems I", Journal of Algorithms 1(4), section 2).

    Args:
        sizes: Living rows and all rows of each segment.
        n_new: Vectors to be added.
        limits: Maximum share of dead rows, and size of a segment.

    >>> rewritten([(400, 400), (100, 100), (9, 10), (5, 10)], 4, Limits(segment=1000))
    [2, 3]
    """
    again = {i for i, (alive, rows) in enumerate(sizes) if rows - alive > limits.dead * rows}
    n_written = n_new + sum(sizes[i][0] for i in again)
    for alive, i in sorted((alive, i) for i, (alive, _) in enumerate(sizes) if i not in again):
        if alive > n_written or 2 * alive >= limits.segment:
            break
        again.add(i)
        n_written += alive
    return sorted(again)


def parts(lengths: Mapping[str, int], most: int) -> list[dict[str, int]]:
    """Split documents in order into the fewest parts of about equal size with `most` vectors each.

    A part exceeds this by less than its last document.

    >>> parts({"a": 3, "b": 1, "c": 2, "d": 2}, 5)
    [{'a': 3, 'b': 1}, {'c': 2, 'd': 2}]
    """
    n = sum(lengths.values())
    n_parts = -(-n // most)
    found: list[dict[str, int]] = [{} for _ in range(n_parts)]
    before = 0
    for doc_id, length in lengths.items():
        found[before * n_parts // n][doc_id] = length
        before += length
    return [part for part in found if part]


FORMAT = "3"  # raise it when the files change
Streamed = tuple[Numbers, NodeIds, Vector]


def fill_segment(
    rows_of_documents: Iterable[Streamed],
    lengths: Mapping[str, int],
    dimension: int,
    *,
    form: Form,
    folder: Path | None,
) -> Segment:
    """Write the vectors of documents to a folder, or keep them in memory.

    Args:
        rows_of_documents: Numbers, nodes and vectors of the documents' rows in order, some
            thousands at a time; streamed.
        lengths: Number of vectors of each document; at least one vector in all.
        dimension: Of the vectors.
        form: Row format.
        folder: Parent of the segments' folders; None for memory.

    Raises:
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
        for found, nodes, vectors in rows_of_documents:
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
    """Map a segment of `fill_segment`.

    Raises:
        OSError, EOFError, ValueError or TypeError: If it is damaged.
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


def _matrix(
    path: Path | None,
    parts: Iterable[NDArray[Any]],
    shape: tuple[int, int],
    dtype: np.dtype[Any],
) -> NDArray[Any]:
    """Concatenate parts, in a mapped file of a folder, or in memory for None."""
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
    """Write a segment except its matrix, which exists; the metadata last."""
    save_array(path / "numbers.npy", segment.numbers)
    save_array(path / "bounds.npy", segment.bounds)
    save_array(path / "nodes.npy", segment.node_ids.bounds)
    save_array(path / "ids.npy", segment.node_ids.text)
    _sync(path / "documents.json", json.dumps(list(segment.documents)).encode())
    if isinstance(segment.rows, CodedRows):
        save_array(path / "scales.npy", segment.rows.scales)
    if segment.rows.codes is not None:
        _sync(path / "codes.bin", segment.rows.codes.to_bytes())


def save_array(path: Path, array: NDArray[np.generic]) -> None:
    """Write an array to a file and sync it to disk."""
    with path.open("wb") as file:
        np.save(file, array)
        file.flush()
        os.fsync(file.fileno())


def _sync(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
