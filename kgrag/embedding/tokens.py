"""Texts to token ids for models run by transformers, with the place of each token."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

from kgrag.embedding.installed import TOKENIZER_FILE
from kgrag.errors import ModelError

_Offsets = list[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text, without special ones.

    Attributes:
        ids: In reading order.
        offsets: Of each, (start, end) in characters of the text.
    """

    ids: list[int]
    offsets: _Offsets


class TextTokenizer:
    """A tokenizer that leaves cutting and padding to its caller; any thread may use it.

    Attributes:
        limit: Most tokens that go between the special ones.
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
        """Return the tokenizer in a folder.

        Raises:
            ModelError: If it cannot be loaded.
        """
        try:
            tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        except BaseException as exc:  # the library raises bare Exceptions, and panics of Rust
            if isinstance(exc, KeyboardInterrupt | SystemExit | GeneratorExit):
                raise
            raise ModelError(
                f"cannot load the tokenizer in {folder}: {exc}. Remedy: download it again, then "
                "kgrag models add"
            ) from exc
        return cls(tokenizer, max_tokens=max_tokens)

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of each text, however long it is."""
        # Lone surrogates, which broken files bring, cannot be tokenised.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encodings = self._tokenizer.encode_batch(clean, add_special_tokens=False)
        return [Tokens(encoding.ids, encoding.offsets) for encoding in encodings]

    def framed(self, ids: Sequence[int]) -> list[int]:
        """Return ids with the special tokens around them, as the model reads them."""
        return [*self._before, *ids, *self._after]

    @property
    def n_before(self) -> int:
        """Return how many special tokens come first."""
        return len(self._before)
