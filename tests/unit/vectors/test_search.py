from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event, get_ident

import numpy as np
import pytest

from kgrag.vectors import search
from kgrag.vectors.blocks import Block, NodeIds, Segment, in_memory
from kgrag.vectors.codes import Codes
from kgrag.vectors.rows import CodedRows, ExactRows, dequantized, quantized
from kgrag.vectors.search import (
    Scans,
    VectorQuery,
    coded_candidates,
    exact_candidates,
    similarities_of,
)
from tests.fixtures.dense_vectors import unit

QUERY = np.array([1.0, 0.0], np.float32)


def scans(*wanted):
    return Scans(VectorQuery(*wanted))


def exact(matrix, *, per_document=1):
    n = len(matrix) // per_document
    return in_memory(
        [f"d-{i}" for i in range(n)],
        [per_document] * n,
        np.arange(len(matrix)),
        node_ids(np.arange(len(matrix))),
        matrix,
    )


def node_ids(numbers):
    return NodeIds.of(f"c-{n}" for n in numbers)


def coded(matrix, *, per_document=10, first=0):
    """Return a coded block; the numbers of its rows begin at `first`."""
    rows, scales = quantized(matrix)
    vectors = CodedRows(rows, scales, Codes.of(dequantized(rows, scales), *matrix.shape, sharing=2))
    bounds = np.arange(0, len(matrix) + 1, per_document)
    names = {f"d-{(first + start) // per_document}": i for i, start in enumerate(bounds[:-1])}
    numbers = np.arange(first, first + len(matrix))
    return Block.of(Segment("x", names, bounds, numbers, node_ids(numbers), vectors))


def test_exact_candidates_are_the_best_and_those_that_may_tie():
    """No tie is cut before it is put in order."""
    tied = exact(np.ones((5, 2), np.float32) / np.float32(np.sqrt(2)))
    steps = exact(np.array([[0.1, 0], [0.2, 0], [0.3, 0]], np.float32))

    assert len(exact_candidates([tied], scans(QUERY, 2))) == 5
    assert exact_candidates([steps], scans(QUERY, 2)) == {1: ("c-1", 0.2), 2: ("c-2", 0.3)}


@pytest.mark.parametrize("doc_ids", [["d-0", "d-2"], ["d-0", "d-1", "d-2", "d-9"]])
def test_exact_candidates_are_of_documents_that_stand_and_are_asked_for(doc_ids):
    """Whether they are most of the block or few of it."""
    steps = exact(np.array([[0.1, 0], [0.2, 0], [0.3, 0], [0.4, 0], [0.5, 0]], np.float32))

    found = exact_candidates([steps.without(["d-1"])], scans(QUERY, 9, doc_ids))
    assert found == {0: ("c-0", 0.1), 2: ("c-2", 0.3)}


def test_few_allowed_rows_of_a_coded_block_are_all_looked_at():
    """Codes are not asked, so nothing can be missed."""
    matrix = unit(np.random.default_rng(1), 4000)
    blocks = [coded(matrix[:2000]), coded(matrix[2000:], first=2000)]
    for query in unit(np.random.default_rng(2), 5):
        best = np.argsort(-(matrix @ query))[:50]
        assert set(best) <= set(coded_candidates(blocks, scans(query, 50)))


@pytest.fixture
def shallow(monkeypatch):
    """Let blocks of a few thousand rows be scanned."""
    monkeypatch.setattr(search, "_DIRECT", 100)
    monkeypatch.setattr(search, "_DEPTH", 300)
    monkeypatch.setattr(search, "_DEPTH_OF_EACH", 1)


def recall(blocks, matrix, queries, allowed, doc_ids=None):
    shares = []
    for query in queries:
        best = [i for i in np.argsort(-(matrix @ query)) if allowed[i]][:10]
        found = coded_candidates(blocks, scans(query, 10, doc_ids))
        assert len(found) >= 10
        assert allowed[found].all()
        shares.append(np.isin(best, found).mean())
    return np.mean(shares)


def test_scans_of_several_blocks_find_the_best(shallow):
    """Together as deep as one."""
    rng = np.random.default_rng(3)
    matrix = unit(rng, 4000)
    blocks = [coded(matrix[:2000]), coded(matrix[2000:], first=2000)]

    assert recall(blocks, matrix, unit(rng, 20), np.ones(4000, bool)) > 0.99


def test_a_scan_goes_deeper_where_the_dead_are_the_nearest(shallow):
    """However many of the best there are: results are neither short nor worse."""
    rng = np.random.default_rng(4)
    matrix, queries = unit(rng, 3000), unit(rng, 8)
    nearest = np.unique(np.argsort(-(matrix @ queries.T), axis=0)[:200])
    allowed = ~np.isin(np.arange(3000), nearest)
    block = coded(matrix, per_document=1).without([f"d-{i}" for i in nearest])
    assert 300 < block.n_alive == np.count_nonzero(allowed)

    assert recall([block], matrix, queries, allowed) > 0.99


@pytest.mark.parametrize("share", [2, 5])
def test_documents_are_chosen_before_the_ranking(shallow, share):
    """A filter never makes results short, whether few or many documents pass it."""
    rng = np.random.default_rng(5)
    matrix = unit(rng, 3000)
    allowed = np.arange(3000) // 10 % share == 0
    doc_ids = {f"d-{i}" for i in range(0, 300, share)}

    assert recall([coded(matrix)], matrix, unit(rng, 20), allowed, doc_ids) > 0.99


def scanned(matrix, *, per_document=10):
    """Return a block of float32 with codes."""
    plain = exact(matrix, per_document=per_document)
    codes = Codes.of(matrix.__getitem__, *matrix.shape, sharing=1)
    return Block.of(replace(plain.segment, rows=ExactRows(matrix, codes)))


@pytest.fixture
def finely_shallow(monkeypatch):
    """Let blocks of a few thousand rows be scanned, not very deep."""
    monkeypatch.setattr(search, "_CANDIDATE", 0)
    monkeypatch.setattr(search, "_FINE_DEPTH", 150)
    monkeypatch.setattr(search, "_FINE_DEPTH_OF_EACH", 1)


@pytest.mark.parametrize("doc_ids", [None, {f"d-{i}" for i in range(0, 300, 2)}])
def test_a_scan_of_exact_rows_finds_what_the_product_finds(finely_shallow, doc_ids):
    """With the same cosines, among all that stand, are asked for and not known; never short."""
    rng = np.random.default_rng(8)
    matrix = unit(rng, 3000)
    dead, known = [f"d-{i}" for i in range(0, 300, 10)], np.arange(25, 60)
    plain, block = exact(matrix, per_document=10).without(dead), scanned(matrix).without(dead)
    shares = []
    for query in unit(rng, 20):
        expected = exact_candidates([plain], scans(query, 10, doc_ids, known))
        found = exact_candidates([block], scans(query, 10, doc_ids, known))
        assert len(found) >= 10
        best = sorted(expected, key=lambda row: -expected[row][1])[:10]
        shares.append(np.mean([found.get(row) == expected[row] for row in best]))

    assert np.mean(shares) > 0.99


@pytest.mark.parametrize(("share", "scans_codes"), [(1, True), (2, True), (10, False)])
def test_rows_of_a_filter_are_multiplied_where_that_is_sooner(share, scans_codes, monkeypatch):
    """A scan would have to go deep to find enough of them."""
    scanned_to = []
    scan = Codes.scan

    def watched(codes, query, depth):
        scanned_to.append(depth)
        return scan(codes, query, depth)

    monkeypatch.setattr(Codes, "scan", watched)
    matrix = unit(np.random.default_rng(14), 20_000)
    doc_ids = [f"d-{i}" for i in range(0, 2000, share)]
    exact_candidates([scanned(matrix)], scans(matrix[0], 10, doc_ids))
    assert bool(scanned_to) == scans_codes


@pytest.mark.parametrize(("n_all", "depth"), [(75_000, 1600), (120_000, 1600), (15_000, 1070)])
def test_fewer_rows_need_fewer_candidates(n_all, depth):
    """Their fourth root; never more than at the size at which they were measured."""
    block = scanned(unit(np.random.default_rng(10), 20))
    block = replace(block, alive=np.ones(n_all, bool))

    assert search._depth(block, 50) == depth
    assert search._depth(block, 400) == pytest.approx(2 * depth, abs=1)


class Threads:
    """Threads that are kept busy until they may begin."""

    def __enter__(self):
        self.pool = ThreadPoolExecutor(1)
        self.may_begin = Event()
        self.pool.submit(self.may_begin.wait)
        return self

    def __exit__(self, *exc):
        self.may_begin.set()
        self.pool.shutdown()


@pytest.mark.parametrize("in_time", [True, False], ids=["other thread", "this thread"])
@pytest.mark.parametrize("doc_ids", [None, {f"d-{i}" for i in range(0, 300, 2)}])
def test_scans_begun_in_other_threads_find_the_same(
    shallow, finely_shallow, monkeypatch, doc_ids, in_time
):
    """What no thread has begun is scanned where it is needed."""
    rng = np.random.default_rng(11)
    matrix, query = unit(rng, 3000), unit(rng, 1)[0]
    blocks = [scanned(matrix), coded(matrix), exact(matrix[:9])]
    ahead, here = scans(query, 10, doc_ids), get_ident()
    asked = []

    def watched(codes, query, depth):
        asked.append(get_ident())
        return scan(codes, query, depth)

    scan = Codes.scan
    monkeypatch.setattr(Codes, "scan", watched)
    with Threads() as threads:
        ahead.begin(threads.pool, blocks)
        if in_time:
            threads.may_begin.set()
            threads.pool.submit(int).result()
        found = exact_candidates(blocks, ahead), set(coded_candidates(blocks, ahead))

    assert [thread == here for thread in asked] == [not in_time] * 2
    once_more = scans(query, 10, doc_ids)
    assert found == (exact_candidates(blocks, once_more), set(coded_candidates(blocks, once_more)))
    assert len(asked) == 4


def test_a_scan_that_fails_in_another_thread_fails_where_it_is_needed(finely_shallow, monkeypatch):
    """As if it had been made there."""
    monkeypatch.setattr(Codes, "scan", lambda *_: 1 / 0)
    block = scanned(unit(np.random.default_rng(12), 3000))
    ahead = scans(block.segment.rows.matrix[0], 10)
    with ThreadPoolExecutor(1) as pool:
        ahead.begin(pool, [block])
    with pytest.raises(ZeroDivisionError):
        exact_candidates([block], ahead)


def test_similarities_are_those_of_rows_that_stand():
    """Of plain and scanned rows; what is in 8 bits is not exact."""
    matrix = unit(np.random.default_rng(13), 60)
    blocks = [exact(matrix, per_document=10).without(["d-0"]), coded(matrix, first=60)]
    found = similarities_of(blocks, matrix[0], ["c-3", "c-60", "c-17", "c-59", "x"])

    assert found == {
        f"c-{i}": round(float(matrix[i].astype(float) @ matrix[0].astype(float)), 6)
        for i in (17, 59)
    }
    assert similarities_of([scanned(matrix)], matrix[0], ["c-3"]) == {
        "c-3": round(float(matrix[3].astype(float) @ matrix[0].astype(float)), 6)
    }
