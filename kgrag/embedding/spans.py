"""Late chunking: which tokens a span has, and which window of a long text gives their states."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgrag.embedding.embedder import Vectors

# Neighbouring windows share an eighth of their tokens, so that every state has seen at least a
# sixteenth of a window on either side, at 8/7 of the cost.
_OVERLAP = 8


@dataclass(frozen=True, slots=True)
class Window:
    """A run of a text's tokens that a model reads at once.

    Attributes:
        start: First token read.
        end: Behind the last token read.
        keep_from: First token whose state is taken from this window.
        keep_to: Behind the last such token.
    """

    start: int
    end: int
    keep_from: int
    keep_to: int


def windows(n_tokens: int, size: int) -> list[Window]:
    """Return the windows over a text; each token is kept in exactly one of them.

    Overlapping windows follow Günther et al., 2024 (arXiv 2409.04701), who read texts longer
    than the model in such macro chunks. An overlap is shared between its two windows, so that
    each token is kept where it has context on both sides.

    Args:
        n_tokens: Of the text.
        size: Most tokens of a window, at least 1.

    >>> [(w.start, w.end, w.keep_from, w.keep_to) for w in windows(20, 8)]
    [(0, 8, 0, 7), (7, 15, 7, 13), (12, 20, 13, 20)]
    """
    last = max(n_tokens - size, 0)
    starts = [*range(0, last, size - size // _OVERLAP), last]
    ends = [min(start + size, n_tokens) for start in starts]
    cuts = [(end + start) // 2 for end, start in zip(ends, starts[1:], strict=False)]
    return [Window(*row) for row in zip(starts, ends, [0, *cuts], [*cuts, n_tokens], strict=True)]


def tokens_of_spans(
    offsets: Sequence[tuple[int, int]], spans: Sequence[tuple[int, int]]
) -> NDArray[np.int64]:
    """Return `int64[len(spans), 2]`: the first token that a span touches, and behind the last.

    Args:
        offsets: Of each token, (start, end) in characters, in reading order.
        spans: (start, end) in characters; one without characters has no tokens.
    """
    places = np.array(offsets, np.int64).reshape(-1, 2)
    wanted = np.array(spans, np.int64).reshape(-1, 2)
    first = np.searchsorted(places[:, 1], wanted[:, 0], side="right")
    behind = np.searchsorted(places[:, 0], wanted[:, 1], side="left")
    behind = np.where(wanted[:, 0] < wanted[:, 1], behind, first)
    return np.stack([first, np.maximum(first, behind)], axis=1)


def add_states(sums: Vectors, tokens: NDArray[np.int64], window: Window, states: Vectors) -> None:
    """Add to each span's sum the states that a window keeps of its tokens.

    Args:
        sums: `float32[number of spans, dimension]`, changed.
        tokens: As `tokens_of_spans` gives them.
        window: Where the states come from.
        states: `float32[tokens of the window, dimension]`.
    """
    kept = np.clip(tokens, window.keep_from, window.keep_to) - window.start
    for row, (first, behind) in enumerate(kept):
        if first < behind:
            sums[row] += states[first:behind].sum(axis=0)
