"""Windows over long texts, and the tokens of spans."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.embedding.pieces import Window, add_states, tokens_of_spans, windows


@given(n_tokens=st.integers(0, 400), size=st.integers(1, 90))
def test_windows_keep_each_token_once_and_read_what_they_keep(n_tokens, size):
    """No token is lost or counted twice; no window is longer than the model reads."""
    found = windows(n_tokens, size)
    kept = [token for window in found for token in range(window.keep_from, window.keep_to)]

    assert kept == list(range(n_tokens))
    for window in found:
        assert window.start <= window.keep_from <= window.keep_to <= window.end
        assert window.end - window.start == min(size, n_tokens)


def test_windows_give_context_on_both_sides_of_a_cut():
    """In the middle of a text each kept token has a sixteenth of a window before and behind it."""
    found = windows(1000, 160)

    for window in found[:-1]:
        assert window.end - window.keep_to >= 10
    for window in found[1:]:
        assert window.keep_from - window.start >= 10


def test_windows_are_one_where_the_text_is_short():
    """A text that the model reads whole is read once."""
    assert windows(8, 8) == [Window(0, 8, 0, 8)]
    assert len(windows(9, 8)) == 2


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((0, 2), (0, 1)),
        ((2, 5), (1, 2)),  # the blank at 2 belongs to no token
        ((3, 6), (1, 3)),
        ((4, 4), (1, 1)),  # no characters
        ((2, 3), (1, 1)),  # no tokens
        ((0, 99), (0, 4)),
        ((6, 9), (2, 4)),  # a token that a span cuts belongs to it
        ((9, 12), (4, 4)),
    ],
)
def test_tokens_of_spans_are_those_that_a_span_touches(span, expected):
    """Tokens at (0, 2), (3, 5), (5, 7) and (7, 8)."""
    found = tokens_of_spans([(0, 2), (3, 5), (5, 7), (7, 8)], [span])

    assert found.shape == (1, 2)
    first, behind = found[0]
    if expected[0] == expected[1]:
        assert first == behind
    else:
        assert (first, behind) == expected


def test_tokens_of_spans_takes_texts_and_spans_that_are_empty():
    """No tokens, or no spans: shapes hold."""
    assert tokens_of_spans([], [(0, 3)]).tolist() == [[0, 0]]
    assert tokens_of_spans([(0, 1)], []).shape == (0, 2)


def test_add_states_sums_the_kept_states_of_each_span():
    """States outside of what a window keeps are left to its neighbours."""
    states = np.arange(8, dtype=np.float32).reshape(4, 2)  # of tokens 2 to 5
    sums = np.ones((3, 2), np.float32)

    add_states(sums, np.array([[0, 4], [3, 9], [9, 9]]), Window(2, 6, 3, 5), states)

    assert sums.tolist() == [[3, 4], [7, 9], [1, 1]]
