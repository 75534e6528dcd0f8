"""Candidates from blocks of vectors: exact scores, or rows to be scored exactly."""

import math
from collections.abc import Collection, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from kgrag.types import DocIds
from kgrag.vectors.blocks import Block, Mask
from kgrag.vectors.codes import Numbers, Scanned
from kgrag.vectors.rows import CodedRows
from kgrag.vectors.vector import Hit, Vector, cosines

# So many of the best rows by code hold the best 50 (200) rows; figures: benchmarks/decisions.md.
_DEPTH = 6000
_DEPTH_OF_EACH = 40
_DIRECT = 32_768  # rows of a filter whose 8 bits are read sooner than all codes
# The same where every number has a code of its own.
_FINE_DEPTH = 1600
_FINE_DEPTH_OF_EACH = 8
_FINE_ROWS = 75_000  # of fewer, fewer: their fourth root
# What it costs, counted in rows of codes scanned: to multiply a row; to find one by code and to
# multiply it.
_ROW = 15
_CANDIDATE = 25
_MORE, _OF_EACH = 50, 1.5  # rows scored exactly; in 8 bits a score is right to some 0.001
_NONE: Numbers = np.empty(0, np.int64)
_MARGIN = 2e-6  # cosines closer than that are put in order after rounding


@dataclass(frozen=True, slots=True)
class VectorQuery:
    """A vector search.

    Attributes:
        query: The vector.
        n_rows: Number of rows to find.
        doc_ids: Documents to search; None for all.
        without: Numbers of rows to exclude.
    """

    query: Vector
    n_rows: int
    doc_ids: DocIds = None
    without: Numbers = field(default_factory=lambda: np.empty(0, np.int64))


class Scans:
    """Scans of the codes of blocks, started in threads or made on demand."""

    def __init__(self, wanted: VectorQuery) -> None:
        self.wanted = wanted
        self._begun: dict[int, Future[Scanned]] = {}

    def begin(self, threads: ThreadPoolExecutor, blocks: Iterable[Block]) -> None:
        """Start to scan blocks in threads.

        Threads do little Python: at every step they would wait for the caller to release the GIL.
        """
        for block in blocks:
            reach = _reach(block, _allowed(block, self.wanted), self.wanted)
            if reach:
                scan = block.segment.rows.scan
                self._begun[id(block)] = threads.submit(scan, self.wanted.query, reach)

    def of(self, block: Block, reach: int) -> Scanned:
        """Return the scan of a block; one that was not started is made here."""
        future = self._begun.pop(id(block), None)
        if future is None or future.cancel():
            return block.segment.rows.scan(self.wanted.query, reach)
        return future.result()


def exact_candidates(blocks: Iterable[Block], scans: Scans) -> dict[int, Hit]:
    """Return nodes and cosines by number: the best rows of each exact block, with possible ties."""
    found: dict[int, Hit] = {}
    wanted = scans.wanted
    for block in blocks:
        if isinstance(block.segment.rows, CodedRows) or not block.n_rows:
            continue
        rows, products = _scan(block, scans)
        best = rows[_best(products, wanted.n_rows)]
        numbers = block.segment.numbers[best].tolist()
        nodes = block.segment.node_ids.at(best)
        exact = cosines(block.segment.rows.matrix[best], wanted.query).tolist()
        found.update(zip(numbers, zip(nodes, exact, strict=True), strict=True))
    return found


def coded_candidates(blocks: Iterable[Block], scans: Scans) -> Numbers:
    """Return the numbers of rows that include the best of all coded blocks.

    A scan of codes finds some thousands, of which 8-bit vectors select `1.5 * n_rows + 50`.
    """
    coded = [(b, b.segment.rows) for b in blocks if isinstance(b.segment.rows, CodedRows)]
    if not coded:
        return _NONE
    wanted = scans.wanted
    # The last first: other threads begin with the first.
    found = [_scan(block, scans) for block, _ in reversed(coded)][::-1]
    estimated = np.concatenate([estimates for _, estimates in found])
    least = _least(estimated[np.isfinite(estimated)], _depth(coded[0][0], wanted.n_rows))
    numbers, scores = [], []
    for (block, vectors), (rows, estimates) in zip(coded, found, strict=True):
        chosen = np.sort(rows[estimates >= least])
        numbers.append(block.segment.numbers[chosen])
        scores.append(vectors.scores(wanted.query, chosen))
    best = _best(np.concatenate(scores), int(_OF_EACH * wanted.n_rows) + _MORE)
    return np.concatenate(numbers)[best]


def similarities_of(
    blocks: Iterable[Block], query: Vector, node_ids: Collection[str]
) -> dict[str, float]:
    """Return the cosines of nodes that have a row in an exact block."""
    found: dict[str, float] = {}
    for block in blocks:
        if isinstance(block.segment.rows, CodedRows) or not block.n_rows:
            continue
        matrix = np.asarray(block.segment.rows.matrix)
        rows = {n: row for n in node_ids if (row := block.segment.row_of.get(n)) is not None}
        rows = {n: row for n, row in rows.items() if block.alive[row]}
        if rows:
            exact = cosines(matrix[list(rows.values())], query).tolist()
            found.update(zip(rows, exact, strict=True))
    return found


def _depth(block: Block, n_rows: int) -> int:
    """Return the number of rows to take by code in order to find the best `n_rows`."""
    if isinstance(block.segment.rows, CodedRows):
        return max(_DEPTH, _DEPTH_OF_EACH * n_rows)
    share = min(1.0, math.sqrt(math.sqrt(block.n_rows / _FINE_ROWS)))
    return math.ceil(share * max(_FINE_DEPTH, _FINE_DEPTH_OF_EACH * n_rows))


def _allowed(block: Block, wanted: VectorQuery) -> Mask:
    allowed = block.alive
    if wanted.doc_ids is not None:
        allowed = np.zeros(block.n_rows, np.bool_)
        allowed[block.rows_of(wanted.doc_ids)] = True
    if not len(wanted.without):
        return allowed
    return allowed & ~np.isin(block.segment.numbers, wanted.without)


def _reach(block: Block, allowed: Mask, wanted: VectorQuery) -> int:
    """Return the depth of a code scan; 0 if all matching rows are scored."""
    n_allowed = int(np.count_nonzero(allowed))
    depth = _depth(block, wanted.n_rows)
    if block.segment.rows.codes is None or n_allowed <= depth:
        return 0
    reach = min(math.ceil(1.1 * depth * block.n_rows / n_allowed), block.n_rows)
    if isinstance(block.segment.rows, CodedRows):
        return reach if n_allowed > _DIRECT else 0
    return reach if _ROW * n_allowed > block.n_rows + _CANDIDATE * reach else 0


def _scan(block: Block, scans: Scans) -> Scanned:
    """Return the matching rows that seem best with their products; all, if they are few.

    For 8-bit rows products are estimates; all rows with larger estimates are included.
    """
    wanted, rows = scans.wanted, block.segment.rows
    allowed = _allowed(block, wanted)
    reach = _reach(block, allowed, wanted)
    if not reach:
        chosen = np.flatnonzero(allowed)
        if isinstance(rows, CodedRows):
            return chosen, np.full(len(chosen), np.inf, np.float32)
        if 2 * len(chosen) > block.n_rows:
            return chosen, rows.scores(wanted.query)[chosen]
        return chosen, rows.scores(wanted.query, chosen)
    depth = _depth(block, wanted.n_rows)
    found, scores = scans.of(block, reach)
    while np.count_nonzero(allowed[found]) < depth and reach < block.n_rows:
        reach = min(4 * reach, block.n_rows)  # what is not wanted lies where the query is
        found, scores = rows.scan(wanted.query, reach)
    good = allowed[found]
    return found[good], scores[good]


def _best(scores: Vector, n: int) -> Numbers:
    return np.flatnonzero(scores >= _least(scores, n) - _MARGIN)


def _least(scores: Vector, n: int) -> float:
    return float(np.partition(scores, -n)[-n]) if len(scores) > n else -math.inf
