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
        tokenizer = _loaded(
            folder / TOKENIZER_FILE,
            f"the tokenizer in {folder}",
            "download it again, then kgrag models add",
        )
        return cls(tokenizer, max_tokens=max_tokens)

    def encode(self, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of each text, however long it is."""
        clean = [_clean(text) for text in texts]
        encodings = self._tokenizer.encode_batch(clean, add_special_tokens=False)
        return [Tokens(encoding.ids, encoding.offsets) for encoding in encodings]

    def framed(self, ids: Sequence[int]) -> list[int]:
        """Return ids with the special tokens around them, as the model reads them."""
        return [*self._before, *ids, *self._after]

    @property
    def n_before(self) -> int:
        """Return how many special tokens come first."""
        return len(self._before)


class PairTokenizer:
    """A tokenizer of questions with passages, for a cross-encoder; any thread may use it."""

    def __init__(self, tokenizer: Tokenizer, *, max_tokens: int) -> None:
        tokenizer.enable_truncation(max_tokens)  # the longer of the two is cut first
        tokenizer.no_padding()
        self._tokenizer = tokenizer

    @classmethod
    def from_file(cls, file: Path, *, max_tokens: int) -> "PairTokenizer":
        """Return the tokenizer in a file.

        Raises:
            ModelError: If it cannot be loaded.
        """
        tokenizer = _loaded(file, f"the tokenizer {file}", "download it again")
        return cls(tokenizer, max_tokens=max_tokens)

    def encode(self, question: str, passages: Sequence[str]) -> list[tuple[list[int], list[int]]]:
        """Return (ids, types) of the question with each passage, special tokens included.

        A token's type is 0 or 1, as the tokenizer's template for pairs has it.
        """
        pairs = [(_clean(question), _clean(passage)) for passage in passages]
        return [(e.ids, e.type_ids) for e in self._tokenizer.encode_batch(pairs)]


def _loaded(file: Path, what: str, todo: str) -> Tokenizer:
    try:
        return Tokenizer.from_file(str(file))
    except BaseException as exc:  # the library raises bare Exceptions, and panics of Rust
        if isinstance(exc, KeyboardInterrupt | SystemExit | GeneratorExit):
            raise
        raise ModelError(f"cannot load {what}: {exc}. Remedy: {todo}") from exc


def _clean(text: str) -> str:
    """Return a text without lone surrogates, which broken files bring: no tokenizer reads them."""
    return text.encode("utf-8", "replace").decode("utf-8")
