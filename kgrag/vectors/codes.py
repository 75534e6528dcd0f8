"""Product quantisation of vectors, 4 bits per one or two numbers, for preselection."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kgrag.vectors.vector import Vector

if TYPE_CHECKING:
    from types import ModuleType

    import faiss

_SAMPLE = 16_384  # rows to train on; k-means looks at 4,096 of them
_BATCH = 16_384  # rows in float32 at a time

Numbers = NDArray[np.int64]
Scanned = tuple[Numbers, Vector]  # rows, and a score of each
# Returns rows by their numbers, in float32.
Reader = Callable[[Numbers], Vector]


class Codes:
    """Product-quantised vectors, scanned with the processor's shuffle instructions.

    A scan estimates every inner product, so unlike a graph's or inverted lists' its time does not
    depend on the data; its results must be scored again. At 512 dimensions, a vector takes 128
    bytes if two numbers share a code; 256 if each has its own, where the scan takes twice as long,
    and a quarter of the rows contains the nearest.

    Source: product quantisation with tables in registers, André et al., 2017, "Accelerated
    Nearest Neighbor Search with Quick ADC" (arXiv 1704.07355), as faiss implements it.
    """

    def __init__(self, index: "faiss.IndexPQFastScan") -> None:
        self._index = index

    @classmethod
    def of(cls, read: Reader, n_rows: int, dimension: int, *, sharing: int) -> "Codes":
        """Train codes on a sample of the rows, and encode all of them.

        Args:
            read: Returns rows by number.
            n_rows: At least 16, one for each code.
            dimension: Of the vectors.
            sharing: Numbers per code, if the dimension is a multiple of it.
        """
        faiss = _faiss()
        n_codes = dimension // sharing if dimension % sharing == 0 else dimension
        index = faiss.IndexPQFastScan(dimension, n_codes, 4, faiss.METRIC_INNER_PRODUCT)
        index.pq.cp.min_points_per_centroid = 1  # no warning on standard error for few rows
        index.pq.cp.niter = 10  # of 25, which take twice as long: recall@100 is the same to 0.001
        sample = read(np.linspace(0, n_rows - 1, min(n_rows, _SAMPLE)).astype(np.int64))
        with _one_thread():  # of thousands of small steps
            index.train(sample)
        for rows in _batches(n_rows):
            index.add(read(rows))
        return cls(index)

    @classmethod
    def from_bytes(cls, data: bytes, *, n_rows: int, dimension: int) -> "Codes":
        """Parse the result of `to_bytes`.

        Raises:
            ValueError: If the bytes are not codes, or those of other vectors.
        """
        faiss = _faiss()
        try:
            index = faiss.deserialize_index(np.frombuffer(data, np.uint8))
        except RuntimeError as exc:
            raise ValueError(f"no codes: {exc}") from exc
        if not isinstance(index, faiss.IndexPQFastScan) or (index.ntotal, index.d) != (
            n_rows,
            dimension,
        ):
            raise ValueError(f"not the codes of {n_rows} vectors of {dimension}")
        return cls(index)

    def to_bytes(self) -> bytes:
        """Serialise to bytes (faiss cannot write to every path on every system)."""
        return bytes(_faiss().serialize_index(self._index).data)

    def scan(self, query: Vector, depth: int) -> Scanned:
        """Return the `depth` rows that seem nearest, and estimates of their products.

        Runs in one thread and releases the GIL.
        """
        estimates, rows = self._index.search(query[None], depth)
        found = rows[0] >= 0
        return rows[0][found], estimates[0][found]

    def agree(self, read: Reader, n_rows: int) -> bool:
        """Return whether these are the codes of the rows, dead ones too."""
        faiss = _faiss()
        again = faiss.clone_index(self._index)
        again.reset()
        for rows in _batches(n_rows):
            again.add(read(rows))
        return bool(
            np.array_equal(faiss.serialize_index(again), faiss.serialize_index(self._index))
        )


def products(matrix: Vector, query: Vector, rows: Numbers) -> Vector:
    """Return the dot products of rows with a vector, without copying; releases the GIL.

    The matrix is float32 in C order; rows are read fastest in ascending order.
    """
    faiss = _faiss()
    n_rows, dimension = matrix.shape
    if len(rows) and not (int(rows.min()) >= 0 and int(rows.max()) < n_rows):
        raise IndexError(f"rows {rows.min()} to {rows.max()} of {n_rows}")
    if query.shape != (dimension,):
        raise ValueError(f"a vector of shape {query.shape} for rows of {dimension}")
    arrays = (
        np.empty(len(rows), np.float32),
        np.ascontiguousarray(query, np.float32),
        np.ascontiguousarray(matrix, np.float32),
        np.ascontiguousarray(rows, np.int64),
    )
    pointers = map(faiss.swig_ptr, arrays)
    with _one_thread():  # faiss shares vectors among threads, but there is one
        faiss.fvec_inner_products_by_idx(*pointers, dimension, 1, len(rows))
    return arrays[0]


@contextmanager
def _one_thread() -> Iterator[None]:
    """Limit faiss to this thread.

    Its threads busy-wait for each other after every step; with busy processors that takes twenty
    times as long as the work.
    """
    faiss = _faiss()
    n_threads = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(n_threads)


def _batches(n_rows: int) -> Iterator[Numbers]:
    return (np.arange(a, min(a + _BATCH, n_rows)) for a in range(0, n_rows, _BATCH))


def _faiss() -> "ModuleType":
    import faiss

    return faiss
