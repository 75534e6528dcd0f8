import faiss
import numpy as np
import pytest

from kgrag.vectors.codes import Codes, products
from tests.fixtures.dense_vectors import unit


def codes_of(matrix):
    return Codes.of(lambda rows: matrix[rows], *matrix.shape, sharing=2)


@pytest.mark.parametrize("dimension", [7, 32])
def test_a_scan_finds_the_nearest_rows_among_some(dimension):
    """Whether two numbers share a code or each has its own."""
    rng = np.random.default_rng(0)
    matrix, queries = unit(rng, 3000, dimension), unit(rng, 20, dimension)
    codes = codes_of(matrix)
    found = []
    for query in queries:
        rows, estimates = codes.scan(query, 300)
        best = np.argsort(-(matrix @ query))[:10]
        found.append(np.isin(best, rows).mean())
        assert len(rows) == len(set(rows.tolist())) == 300
        assert np.corrcoef(estimates, matrix[rows] @ query)[0, 1] > 0.5

    assert np.mean(found) > 0.97


def test_codes_outlive_their_process():
    """The bytes scan as the codes did."""
    matrix = unit(np.random.default_rng(0), 200)
    codes = codes_of(matrix)
    again = Codes.from_bytes(codes.to_bytes(), n_rows=200, dimension=8)

    for ours, theirs in zip(again.scan(matrix[0], 20), codes.scan(matrix[0], 20), strict=True):
        assert np.array_equal(np.asarray(ours), np.asarray(theirs))


@pytest.mark.parametrize("damage", [lambda b: b"", lambda b: b"garbage", lambda b: b[:-9]])
def test_damaged_codes_are_refused(damage):
    """Before anything is searched in them."""
    data = codes_of(unit(np.random.default_rng(0), 64)).to_bytes()
    with pytest.raises(ValueError, match="no codes"):
        Codes.from_bytes(damage(data), n_rows=64, dimension=8)


def test_codes_agree_with_their_rows_alone():
    """One row replaced is seen."""
    matrix = unit(np.random.default_rng(0), 300)
    codes = codes_of(matrix)
    assert codes.agree(lambda rows: matrix[rows], 300)
    matrix[7] = -matrix[7]
    assert not codes.agree(lambda rows: matrix[rows], 300)


@pytest.mark.parametrize("rows", [[3, 49, 7, 7], [], range(50)])
def test_products_are_those_of_the_rows(rows, tmp_path):
    """In their order, of a mapped file that may not be written, too."""
    matrix = unit(np.random.default_rng(1), 50, 33)
    np.save(tmp_path / "matrix.npy", matrix)
    mapped = np.load(tmp_path / "matrix.npy", mmap_mode="r")
    chosen = np.array(rows, np.int64)

    found = products(mapped, matrix[0], chosen)
    assert found == pytest.approx(matrix[chosen] @ matrix[0], abs=1e-6)


@pytest.mark.parametrize("rows", [[-1], [0, 50]])
def test_products_with_rows_that_are_not_there_are_refused(rows):
    """They would be read from anywhere in memory."""
    matrix = unit(np.random.default_rng(1), 50)
    with pytest.raises(IndexError, match="of 50"):
        products(matrix, matrix[0], np.array(rows))


def test_faiss_has_one_thread_while_it_multiplies_and_then_as_many_as_before(monkeypatch):
    """Also when it fails: what the program does with faiss elsewhere is as fast as it was."""
    matrix = unit(np.random.default_rng(1), 50)
    before, during = faiss.omp_get_max_threads(), []

    def fails(*_):
        during.append(faiss.omp_get_max_threads())
        raise RuntimeError("x")

    faiss.omp_set_num_threads(3)
    try:
        products(matrix, matrix[0], np.array([0]))
        assert faiss.omp_get_max_threads() == 3
        monkeypatch.setattr(faiss, "fvec_inner_products_by_idx", fails)
        with pytest.raises(RuntimeError, match="x"):
            products(matrix, matrix[0], np.array([0]))
        assert (during, faiss.omp_get_max_threads()) == ([1], 3)
    finally:
        faiss.omp_set_num_threads(before)
