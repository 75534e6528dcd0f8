"""Tokenisation for encoders: token ids with offsets, and windows over long texts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from kgrag.embedding.embedder import Spans, Vectors
from kgrag.embedding.model_folder import TOKENIZER_FILE
from kgrag.errors import ModelError

# Neighbouring windows share an eighth of their tokens, so that every token has at least a
# sixteenth of a window as context on either side, at 8/7 of the cost.
_OVERLAP = 8


class TextTokenizer:
    """A tokenizer without truncation and padding; thread-safe.

    Attributes:
        limit: Maximum tokens between the special ones.
    """

    def __init__(self, tokenizer: Tokenizer, *, max_tokens: int) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        probe = tokenizer.encode("a")
        own = [i for i, is_special in enumerate(probe.special_tokens_mask) if not is_special]
        if not own:
            raise ModelError("the tokenizer gives no tokens for the letter a")
        self._before = probe.ids[: own[0]]
        self._after = probe.ids[own[-1] + 1 :]
        self.limit = max_tokens - len(self._before) - len(self._after)
        if self.limit < 1:
            raise ModelError(
                f"max_tokens is {max_tokens}, and the special tokens alone are "
                f"{max_tokens - self.limit}. Remedy: a higher max_tokens"
            )

    @classmethod
    def from_folder(cls, folder: Path, *, max_tokens: int) -> "TextTokenizer":
        """Load the tokenizer in a folder; ModelError if it cannot be loaded."""
        what, todo = f"the tokenizer in {folder}", "download it again, then kgrag models add"
        return cls(open_tokenizer(folder / TOKENIZER_FILE, what, todo), max_tokens=max_tokens)

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Return all tokens of each text, without special ones."""
        return self._tokenizer.encode_batch(list(map(clean, texts)), add_special_tokens=False)

    def framed(self, ids: Sequence[int]) -> list[int]:
        """Return ids with the special tokens around them."""
        return [*self._before, *ids, *self._after]

    @property
    def n_before(self) -> int:
        """Return the number of special tokens before a text."""
        return len(self._before)


def open_tokenizer(file: Path, what: str, remedy: str) -> Tokenizer:
    """Load a tokenizer from a file.

    Raises:
        ModelError: If it cannot be loaded; its text contains `what` and `remedy`.
    """
    try:
        return Tokenizer.from_file(str(file))
    except BaseException as exc:  # the library raises bare Exceptions and Rust panics
        if isinstance(exc, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        raise ModelError(f"cannot load {what}: {exc}. Remedy: {remedy}") from exc


def clean(text: str) -> str:
    """Return a text without lone surrogates of damaged files, which no tokenizer accepts."""
    return text.encode("utf-8", "replace").decode("utf-8")


class Window(NamedTuple):
    """A range of a text's tokens that a model reads, and the part whose states are used."""

    start: int
    end: int  # exclusive
    keep_from: int
    keep_to: int  # exclusive


def windows(n_tokens: int, size: int) -> list[Window]:
    """Return windows of at most `size` tokens; each token is kept in exactly one of them.

    Overlapping windows follow the macro chunks of Günther et al., 2024 (arXiv 2409.04701). An
    overlap is split between its two windows, so that each token has context on both sides.

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
    """Return `int64[len(spans), 2]`: the range of tokens that each span overlaps.

    `offsets` of tokens and spans are (start, end) in characters; an empty span has no tokens.
    """
    places = np.array(offsets, np.int64).reshape(-1, 2)
    wanted = np.array(spans, np.int64).reshape(-1, 2)
    first = np.searchsorted(places[:, 1], wanted[:, 0], side="right")
    behind = np.searchsorted(places[:, 0], wanted[:, 1], side="left")
    behind = np.where(wanted[:, 0] < wanted[:, 1], behind, first)
    return np.stack([first, np.maximum(first, behind)], axis=1)


@dataclass(frozen=True, slots=True)
class Piece:
    """One window over a text, and the states that belong to its spans.

    Attributes:
        text: Position of the text.
        feed: Token ids: special ones, instruction, window, special ones.
        kept: For each span of the text, the range of the feed whose states it takes.
    """

    text: int
    feed: list[int]
    kept: NDArray[np.int64]

    def sums(self, states: Vectors) -> Vectors:
        """Return for each span the sum of its kept states, given those of the feed."""
        sums = np.zeros((len(self.kept), states.shape[1]), np.float32)
        for row, (first, behind) in enumerate(self.kept):
            if first < behind:
                sums[row] = states[first:behind].sum(axis=0)
        return sums


def pieces(
    tokenizer: TextTokenizer, texts: Sequence[str], spans: Spans, *, instruction: str
) -> Iterator[Piece]:
    """Yield the windows over each text that has spans; spans of blanks alone have no tokens.

    The instruction is read before each window, and is in no span.

    Raises:
        ModelError: If the instruction alone reaches the model's limit.
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
            kept = np.clip(of_spans, window.keep_from, window.keep_to) - window.start
            feed = tokenizer.framed([*tokens.ids[:n_prompt], *ids])
            yield Piece(row, feed, kept + tokenizer.n_before + n_prompt)


def lowered(text: str) -> str:
    """Return a text in lower case with unchanged offsets.

    >>> lowered("PUE"), len(lowered("İ"))
    ('pue', 1)
    """
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    # the lower case of some letters is two characters
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
