import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.vectors.blocks import NodeIds

IDS = st.lists(st.text(max_size=5))


@given(IDS, IDS, st.data())
def test_ids_come_back_as_they_went_in(first, second, data):
    """Any text, those of several parts in order, chosen by row."""
    both = NodeIds.joined([NodeIds.of(first), NodeIds.of(second)])
    rows = data.draw(st.lists(st.integers(0, len(both) - 1))) if len(both) else []

    assert len(both) == len(first) + len(second)
    assert both.at(np.array(rows, np.int64)) == [[*first, *second][row] for row in rows]
    assert NodeIds.joined([]).at(np.empty(0, np.int64)) == []


@pytest.mark.parametrize("bounds", [[], [1, 3], [0, 2], [0, 2, 1, 3], [[0, 3]]])
def test_bounds_of_another_text_are_refused(bounds):
    """As a damaged file may hold them."""
    with pytest.raises(ValueError, match="ids of"):
        NodeIds(np.array(bounds, np.int64), np.frombuffer(b"abc", np.uint8))
