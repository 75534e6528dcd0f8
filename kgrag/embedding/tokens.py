"""Tokenisation for encoders."""

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Encoding, Tokenizer

from kgrag.embedding.model_folder import TOKENIZER_FILE
from kgrag.errors import ModelError


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
