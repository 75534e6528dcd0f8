"""What a model reads for late chunking: windows over texts, with the spans that they touch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgrag.embedding.embedder import Vectors
from kgrag.embedding.tokens import TextTokenizer
from kgrag.errors import ModelError

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


@dataclass(frozen=True, slots=True)
class Piece:
    """One window over a text: what the model reads, and where its states belong.

    Attributes:
        text: Place of the text.
        spans: `int64[number of its spans, 2]`, as `tokens_of_spans` gives them.
        window: Over the tokens of the text.
        feed: Token ids: special ones, instruction, window, special ones.
        skip: How many of them come before the window.
    """

    text: int
    spans: NDArray[np.int64]
    window: Window
    feed: list[int]
    skip: int

    def add_to(self, sums: Vectors, states: Vectors) -> None:
        """Add to each span's sum the states of its tokens here.

        Args:
            sums: `float32[number of spans, dimension]`, changed.
            states: Of all that the model read, `float32[len(feed), dimension]`.
        """
        add_states(sums, self.spans, self.window, states[self.skip :])


def pieces(
    tokenizer: TextTokenizer,
    texts: Sequence[str],
    spans: Sequence[Sequence[tuple[int, int]]],
    *,
    instruction: str,
) -> Iterator[Piece]:
    """Yield what the model reads: each window over each text that has spans.

    Args:
        tokenizer: Of the model.
        texts: In the case that the model reads.
        spans: Of each text, (start, end) in characters; one of blanks alone has no tokens.
        instruction: Read before each window, and in no span.

    Raises:
        ModelError: If the instruction alone is as long as the model reads.
    """
    rows = [row for row, of_text in enumerate(spans) if of_text]
    read = tokenizer.encode([instruction + texts[row] for row in rows])
    for row, tokens in zip(rows, read, strict=True):
        n_prompt = sum(end <= len(instruction) for _, end in tokens.offsets)
        size = tokenizer.limit - n_prompt
        if size < 1:
            raise ModelError(
                f"the passage instruction has {n_prompt} tokens, as many as the model reads. "
                "Remedy: a shorter one"
            )
        shift = len(instruction)
        own = [(start - shift, end - shift) for start, end in tokens.offsets[n_prompt:]]
        full = [(a, b if texts[row][a:b].strip() else a) for a, b in spans[row]]
        of_spans = tokens_of_spans(own, full)
        for window in windows(len(own), size):
            ids = tokens.ids[n_prompt + window.start : n_prompt + window.end]
            feed = tokenizer.framed([*tokens.ids[:n_prompt], *ids])
            yield Piece(row, of_spans, window, feed, tokenizer.n_before + n_prompt)


def lowered(text: str) -> str:
    """Return a text in lower case with every character in its place.

    >>> lowered("PUE"), len(lowered("İ"))
    ('pue', 1)
    """
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    # a few capitals have two small letters
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
