import numpy as np
import pytest

from kgrag.vectors import rows as rows_module
from kgrag.vectors.codes import Codes
from kgrag.vectors.rows import CodedRows, ExactRows, dequantized, quantized
from tests.fixtures.dense_vectors import unit

MATRIX = unit(np.random.default_rng(0), 50)


@pytest.mark.parametrize("at_once", [1, 40, 262_144])
@pytest.mark.parametrize("rows", [None, np.array([3, 49, 7]), np.empty(0, np.int64)])
def test_exact_scores_are_products(rows, at_once, monkeypatch):
    """Of the rows asked for, in their order, however many are multiplied at a time."""
    monkeypatch.setattr(rows_module, "_AT_ONCE", at_once)
    expected = MATRIX @ MATRIX[0]
    found = ExactRows(MATRIX).scores(MATRIX[0], rows)

    assert found == pytest.approx(expected if rows is None else expected[rows], abs=1e-6)


def test_eight_bits_keep_a_number_to_half_a_step():
    """A zero vector stays one."""
    matrix = np.vstack([MATRIX, np.zeros((1, 8), np.float32)])
    rows, scales = quantized(matrix)
    error = np.abs(dequantized(rows, scales)(np.arange(51)) - matrix)

    assert rows.dtype == np.int8
    assert (np.abs(rows[:-1]).max(axis=1) == 127).all()
    assert (error <= scales[:, None] * 0.5001).all()
    assert not rows[-1].any()


def test_scores_of_eight_bits_are_close(tmp_path):
    """Also when the pages of their file were given back before."""
    rows, scales = quantized(MATRIX)
    np.save(tmp_path / "rows.npy", rows)
    codes = Codes.of(dequantized(rows, scales), 50, 8, sharing=2)
    coded = CodedRows(np.load(tmp_path / "rows.npy", mmap_mode="r"), scales, codes)
    chosen = np.array([0, 9, 30])

    assert coded.shape == (50, 8)
    for _ in range(2):
        assert coded.scores(MATRIX[0], chosen) == pytest.approx(
            MATRIX[chosen] @ MATRIX[0], abs=0.02
        )
