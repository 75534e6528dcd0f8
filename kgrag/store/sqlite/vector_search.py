"""Candidates from blocks of vectors: exact scores where rows are exact, else rows to score."""

import math
import os
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kgrag.store.sqlite.embeddings import cosines
from kgrag.store.sqlite.vector_blocks import Block, Mask
from kgrag.store.sqlite.vector_codes import Numbers
from kgrag.store.sqlite.vector_rows import CodedRows
from kgrag.store.store import Hit, Vector

# So many rows are the best by code that the best 50 (200) are among them: all, also of random
# vectors (of the best 50 of a million 99.97 %; benchmarks/vectors.py).
_DEPTH = 6000
_DEPTH_OF_EACH = 40
_DIRECT = 32_768  # rows of a filter whose 8 bits are read sooner than all codes
# The same where every number has a code of its own: 99.87 % of the best 100 of 75,000 vectors
# whose variance falls along the axes, which is harder for codes than chance; of random ones all.
_FINE_DEPTH = 1600
_FINE_DEPTH_OF_EACH = 8
_FINE_ROWS = 75_000  # of fewer, fewer: their fourth root
_FINE_DIRECT = 8192
_MORE, _OF_EACH = 50, 1.5  # rows scored exactly; in 8 bits a score is right to some 0.001
_NONE: Numbers = np.empty(0, np.int64)
_MARGIN = 2e-6  # cosines closer than that are put in order after rounding


def exact_candidates(
    blocks: Iterable[Block],
    query: Vector,
    n_rows: int,
    doc_ids: Collection[str] | None,
    without: Numbers = _NONE,
) -> dict[int, Hit]:
    """Return nodes and cosines by number: the best rows of each block, and what may tie with them.

    Args:
        blocks: Those that are not exact are left out.
        query: The vector.
        n_rows: How many rows are wanted.
        doc_ids: Only rows of these documents; of all for None.
        without: Numbers of rows that are not wanted.
    """
    found: dict[int, Hit] = {}
    for block in blocks:
        if isinstance(block.segment.rows, CodedRows) or not block.n_rows:
            continue
        rows, scores = np.flatnonzero(block.alive), block.segment.rows.scores
        if block.segment.rows.codes is not None:
            depth = _fine_depth(block.n_rows, n_rows)
            allowed = _allowed(block, doc_ids, without)
            rows, _ = _scan(block, query, depth, allowed, direct=_FINE_DIRECT)
        elif doc_ids is not None:
            rows = block.rows_of(doc_ids)
        if len(without):
            rows = rows[~np.isin(block.segment.numbers[rows], without)]
        products = scores(query)[rows] if 2 * len(rows) > block.n_rows else scores(query, rows)
        best = rows[_best(products, n_rows)]
        numbers = block.segment.numbers[best].tolist()
        nodes = block.segment.node_ids.at(best)
        exact = cosines(block.segment.rows.matrix[best], query).tolist()
        found.update(zip(numbers, zip(nodes, exact, strict=True), strict=True))
    return found


def coded_candidates(
    blocks: Iterable[Block],
    query: Vector,
    n_rows: int,
    doc_ids: Collection[str] | None,
    without: Numbers = _NONE,
) -> Numbers:
    """Return the numbers of rows among which the best of all coded blocks are.

    A scan of codes finds some thousands, their 8 bits choose `1.5 * n_rows + 50` of them.
    Arguments are those of `exact_candidates`.
    """
    coded = [(b, b.segment.rows) for b in blocks if isinstance(b.segment.rows, CodedRows)]
    if not coded:
        return _NONE
    depth = max(_DEPTH, _DEPTH_OF_EACH * n_rows)

    def scan(block: Block) -> tuple[Numbers, Vector]:
        return _scan(block, query, depth, _allowed(block, doc_ids, without), direct=_DIRECT)

    if len(coded) == 1:
        found = [scan(coded[0][0])]
    else:
        with ThreadPoolExecutor(min(len(coded), os.cpu_count() or 1)) as threads:
            found = list(threads.map(scan, (block for block, _ in coded)))
    estimated = np.concatenate([estimates for _, estimates in found])
    least = _least(estimated[np.isfinite(estimated)], depth)
    numbers, scores = [], []
    for (block, vectors), (rows, estimates) in zip(coded, found, strict=True):
        chosen = np.sort(rows[estimates >= least])
        numbers.append(block.segment.numbers[chosen])
        scores.append(vectors.scores(query, chosen))
    best = _best(np.concatenate(scores), int(_OF_EACH * n_rows) + _MORE)
    return np.concatenate(numbers)[best]


def _fine_depth(n_all: int, n_rows: int) -> int:
    """Return how many of the best by code are multiplied, for the best `n_rows` of `n_all`."""
    share = min(1.0, math.sqrt(math.sqrt(n_all / _FINE_ROWS)))
    return math.ceil(share * max(_FINE_DEPTH, _FINE_DEPTH_OF_EACH * n_rows))


def _allowed(block: Block, doc_ids: Collection[str] | None, without: Numbers) -> Mask:
    """Return which rows are wanted."""
    allowed = block.alive
    if doc_ids is not None:
        allowed = np.zeros(block.n_rows, np.bool_)
        allowed[block.rows_of(doc_ids)] = True
    return allowed & ~np.isin(block.segment.numbers, without) if len(without) else allowed


def _scan(
    block: Block, query: Vector, depth: int, allowed: Mask, *, direct: int
) -> tuple[Numbers, Vector]:
    """Return rows that are allowed and seem the best, and estimates of their products.

    Where few are allowed, up to `direct`, they are returned all, with estimates above every other.
    """
    n_allowed = int(np.count_nonzero(allowed))
    codes = block.segment.rows.codes
    if codes is None or n_allowed <= max(direct, depth):
        return np.flatnonzero(allowed), np.full(n_allowed, np.inf, np.float32)
    reach = math.ceil(1.1 * depth * block.n_rows / n_allowed)
    while True:
        reach = min(reach, block.n_rows)
        rows, estimates = codes.scan(query, reach)
        good = allowed[rows]
        if np.count_nonzero(good) >= depth or reach == block.n_rows:
            return rows[good], estimates[good]
        reach *= 4  # what is not allowed lies where the query is


def _best(scores: Vector, n: int) -> Numbers:
    """Return the places of the best `n` scores, and of those that may tie with them."""
    return np.flatnonzero(scores >= _least(scores, n) - _MARGIN)


def _least(scores: Vector, n: int) -> float:
    """Return the `n`-th best score."""
    return float(np.partition(scores, -n)[-n]) if len(scores) > n else -math.inf
