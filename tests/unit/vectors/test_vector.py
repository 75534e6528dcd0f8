"""What every store asks of a vector."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import StoreError
from kgrag.vectors.vector import UNIT_TOLERANCE, check_vector, cosine_of, other_dimension


def scaled(factor):
    """Return a vector of length `factor`."""
    return (np.array([3.0, 4.0]) / 5 * factor).astype(np.float32)


@pytest.mark.parametrize(
    "factor",
    [1 + UNIT_TOLERANCE * 1.1, 1 - UNIT_TOLERANCE * 1.1, 2, 1e-6, np.nan, np.inf, -np.inf],
)
def test_other_lengths_are_refused(factor):
    """With the vector's name, the length seen and what to do."""
    with pytest.raises(ValueError, match=r"vector v has length .*: normalise it to 1"):
        check_vector(scaled(factor), "v")


@pytest.mark.parametrize("place", [0, 1])
def test_one_number_that_is_none_is_refused(place):
    """NaN compares false with everything, which must not let it pass."""
    vector = scaled(1)
    vector[place] = np.nan
    with pytest.raises(ValueError, match="nan"):
        check_vector(vector, "v")


@given(st.floats(-1.001, 1.001))
def test_a_cosine_is_one_of_six_decimals(score):
    """Between -1 and 1, whatever the sum's last bits say."""
    cosine = cosine_of(score)
    assert -1 <= cosine <= 1
    assert cosine == round(cosine, 6)
    assert abs(cosine - min(1, max(-1, score))) <= 5.1e-7


def test_another_dimension_is_told_with_both():
    """Seen and wanted, and the remedy."""
    error = other_dimension("the query", np.zeros(3, np.float32), 8)
    assert isinstance(error, StoreError)
    assert str(error).startswith("the query has shape (3,), the knowledge base has vectors of 8")
    assert "use the model that it was built with" in str(error)
