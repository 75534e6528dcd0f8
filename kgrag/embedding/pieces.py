"""What a model reads for late chunking: windows over texts, with the spans that they touch."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgrag.embedding.embedder import Vectors
from kgrag.embedding.spans import Window, add_states, tokens_of_spans, windows
from kgrag.embedding.tokens import TextTokenizer
from kgrag.errors import ModelError


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
