"""Rows of vectors: in float32, or in 8 bits with codes."""

import mmap
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgrag.vectors.codes import Codes, Numbers, Reader, Scanned, products
from kgrag.vectors.vector import Vector

# Numbers multiplied at a time: what is copied stays in the processor's cache, and OpenBLAS starts
# no threads (benchmarks/decisions.md).
_AT_ONCE = 262_144


@dataclass(frozen=True, slots=True)
class ExactRows:
    """Vectors in float32.

    Attributes:
        matrix: `float32[n, dimension]`.
        codes: Of all rows, if a scan has to preselect them.
    """

    matrix: Vector
    codes: Codes | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and dimension."""
        return self.matrix.shape[0], self.matrix.shape[1]

    def scores(self, query: Vector, rows: Numbers | None = None) -> Vector:
        """Return the dot products of rows (all for None) with a vector."""
        if rows is None or self.codes is None:
            return _products(self.matrix, query, rows)
        return products(np.asarray(self.matrix), query, rows)

    def scan(self, query: Vector, depth: int) -> Scanned:
        """Return the `depth` rows nearest by code, in order, and their products.

        Raises:
            ValueError: If there are no codes.
        """
        if self.codes is None:
            raise ValueError("there are no codes to scan")
        rows = np.sort(self.codes.scan(query, depth)[0])
        return rows, self.scores(query, rows)


@dataclass(frozen=True, slots=True)
class CodedRows:
    """Vectors in 8 bits, with codes.

    Attributes:
        matrix: `int8[n, dimension]`.
        scales: `float32[n]`, the value of 1 in each row.
        codes: Of all rows.
    """

    matrix: NDArray[np.int8]
    scales: Vector
    codes: Codes

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and dimension."""
        return self.matrix.shape[0], self.matrix.shape[1]

    def scan(self, query: Vector, depth: int) -> Scanned:
        """Return the `depth` rows nearest by code, and estimates of their products."""
        return self.codes.scan(query, depth)

    def scores(self, query: Vector, rows: Numbers) -> Vector:
        """Return the dot products of rows with a vector, to about 0.001."""
        found = _products(self.matrix, query, rows) * self.scales[rows]
        forget_pages(self.matrix)
        return found


def dequantized(matrix: NDArray[np.int8], scales: Vector) -> Reader:
    """Return a function that dequantizes rows."""
    return lambda rows: matrix[rows] * scales[rows, None]


def quantized(matrix: Vector) -> tuple[NDArray[np.int8], Vector]:
    """Quantize vectors to 8 bits; return them and scales: each row's largest number becomes 127.

    >>> quantized(np.array([[0.5, -1.0]], np.float32))[0].tolist()
    [[64, -127]]
    """
    scales = np.abs(matrix).max(axis=1).astype(np.float32) / np.float32(127)
    scales[scales == 0] = 1
    return np.rint(matrix / scales[:, None]).astype(np.int8), scales


def forget_pages(array: NDArray[np.generic]) -> None:
    """Advise the system that a mapped file's pages are not needed."""
    if isinstance(array.base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        array.base.madvise(mmap.MADV_DONTNEED)


def _products(matrix: Vector | NDArray[np.int8], query: Vector, rows: Numbers | None) -> Vector:
    plain = np.asarray(matrix)  # each part of a mapped array is another map, ten times as dear
    n = len(matrix) if rows is None else len(rows)
    scores = np.empty(n, np.float32)
    step = max(1, _AT_ONCE // len(query))
    for a in range(0, n, step):
        part = slice(a, min(a + step, n))
        chosen = plain[part if rows is None else rows[part]]
        scores[part] = chosen.astype(np.float32, copy=False) @ query
    return scores
