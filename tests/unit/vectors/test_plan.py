from typing import Any

import numpy as np
import pytest

from kgrag.vectors.files import Limits, parts, rewritten

LIMITS = Limits(few=10, exact=100, small=20, floats=400, segment=1000, dead=0.25)


@pytest.mark.parametrize(
    ("sizes", "n_new", "again"),
    [
        ([], 10, []),
        ([(400, 400)], 10, []),
        ([(74, 100)], 0, [0]),
        ([(75, 100)], 0, []),
        ([(10, 10)], 10, [0]),
        ([(20, 20), (10, 10)], 10, [0, 1]),
        ([(21, 21), (10, 10)], 10, [1]),
        ([(499, 499)], 600, [0]),
        ([(500, 500)], 600, []),
        ([(700, 1000), (500, 500), (300, 300)], 1, [0, 2]),
    ],
)
def test_segments_are_written_again_when_dead_or_outgrown(sizes, n_new, again):
    """More than a quarter dead; or no larger than what is written, and not half full."""
    assert rewritten(sizes, n_new, LIMITS) == again


def test_a_vector_is_written_few_times_however_many_are_added():
    """As often as its segment can double, and the segments stay few."""
    limits = Limits(few=10, segment=100_000)
    n_written = 0
    sizes: list[Any] = []
    for _ in range(4000):
        again = rewritten(sizes, 10, limits)
        total = 10 + sum(sizes[i][0] for i in again)
        sizes = [size for i, size in enumerate(sizes) if i not in again] + [(total, total)]
        n_written += total

    assert n_written / 40_000 <= np.log2(4000) + 1
    assert len(sizes) <= 12


@pytest.mark.parametrize("most", [1, 2, 5, 7, 100])
def test_parts_hold_all_documents_in_order(most):
    """Each at most so many vectors and less than its last document besides."""
    lengths = {f"d-{i}": 1 + i % 4 for i in range(20)}
    found = parts(lengths, most)

    assert {d: n for part in found for d, n in part.items()} == lengths
    assert [d for part in found for d in part] == list(lengths)
    assert all(sum(part.values()) - list(part.values())[-1] < most for part in found)
    assert len(found) <= -(-sum(lengths.values()) // most)


@pytest.mark.parametrize(
    ("n_rows", "n_all", "form"),
    [
        (50, 100, "plain"),
        (20, 101, "plain"),
        (21, 101, "scanned"),
        (400, 400, "scanned"),
        (21, 401, "bytes"),
        (20, 401, "plain"),
    ],
)
def test_codes_are_for_large_segments_of_large_indexes(n_rows, n_all, form):
    """Everything else is searched exactly; 8 bits are for the largest alone."""
    assert LIMITS.form(n_rows, n_all) == form
