"""Local encoders: models in ONNX format or for transformers."""

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding, Tokenizer

from kgrag.embedding.catalog import ModelCard, remedy
from kgrag.embedding.embedder import Task, Vectors
from kgrag.embedding.model_folder import TOKENIZER_FILE, ModelFolder
from kgrag.errors import ModelError

# A word of more than 100 characters is one unknown token, so that this much text is enough for the
# tokens that count.
_CHARACTERS_PER_TOKEN = 100


class Network(Protocol):
    """A loaded model: token ids in, vectors out.

    Attributes:
        batch_tokens: At most in a batch, padding included.
        pads: Whether a batch may have texts of different lengths.
    """

    batch_tokens: int  # maximum tokens of a batch, padding included
    pads: bool  # whether a batch may have texts of different lengths

    def pooled(self, batch: Sequence[Sequence[int]], task: Task) -> Vectors:
        """Return `float32[len(batch), dimension]`, not normalised."""
        ...


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
        try:
            tokenizer = Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        except BaseException as exc:  # the library raises bare Exceptions and Rust panics
            if isinstance(exc, KeyboardInterrupt | SystemExit | GeneratorExit):
                raise
            raise ModelError(
                f"cannot load the tokenizer in {folder}: {exc}. Remedy: download it again, then "
                "kgrag models add"
            ) from exc
        return cls(tokenizer, max_tokens=max_tokens)

    def encode(self, texts: Sequence[str]) -> list[Encoding]:
        """Return all tokens of each text, without special ones.

        Lone surrogates of damaged files, which no tokenizer accepts, are replaced.
        """
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        return self._tokenizer.encode_batch(clean, add_special_tokens=False)

    def framed(self, ids: Sequence[int]) -> list[int]:
        """Return ids with the special tokens around them."""
        return [*self._before, *ids, *self._after]


class LocalEmbedder:
    """An encoder from a model's folder, named by its card's identity; thread-safe.

    Batches start with the longest texts, so that threads finish together, and a lack of memory
    shows at once; ONNX models encode as many batches concurrently as there are threads.
    """

    is_stand_in = False

    def __init__(
        self, network: Network, tokenizer: TextTokenizer, card: ModelCard, *, threads: int
    ) -> None:
        self.name = card.identity
        self.dimension = card.dimension
        self.languages = card.languages
        self.settings = card.settings
        self.answered = card.answered
        self.card = card
        self._network = network
        self._tokenizer = tokenizer
        self._threads = threads

    @classmethod
    def from_folder(cls, folder: Path, *, threads: int | None = None) -> Self:
        """Return the encoder in a model's folder, after checking its files.

        `threads` are the texts encoded at once, by default the available cores; for a transformers
        model the threads of torch in this process, by default unchanged.

        Raises:
            ModelNotFoundError: If a file is missing.
            MissingDependencyError: If `kgrag[jina]` is needed, and not installed.
            ModelError: If a file is damaged or does not match the card.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        return cls.from_card(folder, ModelFolder(folder).check(), threads=threads)

    @classmethod
    def from_card(cls, folder: Path, card: ModelCard, *, threads: int | None = None) -> Self:
        """Return the encoder in a folder with the settings of a card; its files are not checked."""
        network: Network
        if card.format == "transformers":
            from kgrag.embedding.transformers_model import TransformersNetwork

            network = TransformersNetwork.from_folder(folder, card, threads=threads)
            threads = 1
        else:
            from kgrag.embedding.onnx import OnnxNetwork

            network = OnnxNetwork.from_folder(folder, card)
        tokenizer = TextTokenizer.from_folder(folder, max_tokens=card.max_tokens)
        return cls(network, tokenizer, card, threads=threads or cores())

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`; rows have unit length, or zero if empty.

        Equal texts are encoded once; texts above the model's limit are truncated.

        Raises:
            ModelError: If the model fails or returns vectors of another length.
        """
        distinct = list(dict.fromkeys(texts))
        feeds = self._feeds(distinct, task)
        table = np.zeros((len(distinct), self.dimension), np.float32)
        for row, vector in self._encoded(feeds, task):
            table[row] = self._unit(vector, distinct[row])
        place = {text: row for row, text in enumerate(distinct)}
        return table[[place[text] for text in texts]]

    def probe(self, n_tokens: int) -> int:
        """Return the dimension of a vector; encodes a text of so many tokens, up to the limit."""
        (tokens,) = self._tokenizer.encode(["绿色 green " * n_tokens])
        ids = tokens.ids[: min(self._tokenizer.limit, n_tokens)]
        return int(self._network.pooled([self._tokenizer.framed(ids)], "passage").shape[1])

    def _feeds(self, texts: Sequence[str], task: Task) -> list[list[int]]:
        """Return the token ids of each text; empty for an empty text."""
        instruction = self.card.instruction(task)
        most = _CHARACTERS_PER_TOKEN * self.card.max_tokens
        # lower, not NFKC, which would convert Chinese punctuation to ASCII
        cased = [text.lower() for text in texts] if self.card.lower_case else texts
        tokens = self._tokenizer.encode([(instruction + text)[:most] for text in cased])
        limit = self._tokenizer.limit
        return [
            self._tokenizer.framed(of_text.ids[:limit]) if text.strip() else []
            for text, of_text in zip(texts, tokens, strict=True)
        ]

    def _encoded(self, feeds: Sequence[list[int]], task: Task) -> Iterable[tuple[int, Vectors]]:
        """Yield (position, vector) of each feed that is not empty."""
        groups = batches(list(map(len, feeds)), self._network.batch_tokens, pads=self._network.pads)

        def pooled(group: list[int]) -> Vectors:
            return self._network.pooled([feeds[place] for place in group], task)

        with ThreadPoolExecutor(self._threads) as pool:
            each = map if len(groups) < 2 or self._threads == 1 else pool.map
            for group, rows in zip(groups, each(pooled, groups), strict=True):
                yield from zip(group, rows, strict=True)

    def _unit(self, vector: NDArray[np.float32], text: str) -> NDArray[np.float32]:
        self._check_dimension(vector)
        norm = float(np.linalg.norm(vector))
        if not 0 < norm < float("inf"):
            raise ModelError(
                f"the model {self.name} gives a vector of length {norm} for {text[:40]!r}. "
                f"{remedy(self.card.name)}"
            )
        return vector / np.float32(norm)

    def _check_dimension(self, vector: NDArray[np.float32]) -> None:
        if vector.shape != (self.dimension,):
            raise ModelError(
                f"the model {self.name} gives vectors of shape {vector.shape}, its card says "
                f"{self.dimension}. {remedy(self.card.name)}"
            )


def batches(lengths: Sequence[int], tokens: int, *, pads: bool) -> list[list[int]]:
    """Return the positions of texts in batches, longest first.

    Batches have at most so many tokens, padding included, and without `pads` texts of equal length
    only; a longer text is alone, an empty one in none.

    >>> batches([2, 9, 2, 0, 3, 2], 4, pads=False)
    [[1], [4], [0, 2], [5]]
    >>> batches([2, 9, 3, 2], 6, pads=True)
    [[1], [2, 0], [3]]
    """
    found: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        longest = lengths[found[-1][0]] if found else 0
        fits = longest * (len(found[-1]) + 1) <= tokens if found else False
        if lengths[place] and fits and (pads or lengths[place] == longest):
            found[-1].append(place)
        elif lengths[place]:
            found.append([place])
    return found


def cores() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
