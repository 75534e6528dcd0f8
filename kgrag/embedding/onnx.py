"""Encoders in ONNX format, run by onnxruntime on the processor."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kgrag.embedding.card import ModelCard
from kgrag.embedding.catalog import remedy
from kgrag.embedding.embedder import Task, Vectors
from kgrag.embedding.installed import MODEL_FILE, TOKENIZER_FILE, file_sha256, read_card
from kgrag.embedding.onnx_graph import OnnxGraph
from kgrag.embedding.pieces import Piece, lowered, pieces
from kgrag.embedding.tokens import TextTokenizer
from kgrag.errors import ModelError, ModelNotFoundError

_A = TypeVar("_A")
_B = TypeVar("_B")

# Only the first tokens count, and a word of more than 100 characters is one unknown token, so
# that much text is enough; the rest need not be tokenised.
_CHARACTERS_PER_TOKEN = 100
# Short texts of equal length are encoded together, up to so many tokens (benchmarks/decisions.md).
_BATCH_TOKENS = 256


class OnnxEmbedder:
    """An encoder from a folder of `model.onnx`, `tokenizer.json` and `card.json`.

    As many texts are encoded at once as there are threads, the longest first, so that no thread
    has a long one left at the end. Texts of a quantised model go one by one: a batch would scale
    all its rows together, so that a text's vector would depend on its neighbours (cosine down to
    0.99); alone, the same text gives the same bytes in every call. Texts of a float32 model that
    have equally many tokens go together while they are short; their vectors are the same in any
    company to 1e-6 in each component. May be called from several threads at once.

    Attributes:
        name: The card's identity: name, hash of the model, hash of the settings.
        dimension: Length of a vector.
        is_stand_in: False.
        languages: As the card says.
        settings: What the vectors depend on, for people.
        card: How the model is used.
    """

    is_stand_in = False

    def __init__(
        self, graph: OnnxGraph, tokenizer: TextTokenizer, card: ModelCard, *, threads: int
    ) -> None:
        self.name = card.identity
        self.dimension = card.dimension
        self.languages = card.languages
        self.settings = card.settings
        self.card = card
        self._graph = graph
        self._tokenizer = tokenizer
        self._threads = threads

    @classmethod
    def from_folder(cls, folder: Path, *, threads: int | None = None) -> "OnnxEmbedder":
        """Return the encoder in a folder.

        Weights beside the model file may be many gigabytes and are not hashed again.

        Args:
            folder: With the three files, and the weights that the model file names.
            threads: Texts encoded at once; the cores that this process may use for None.

        Raises:
            ModelNotFoundError: If a file is missing.
            ModelError: If a file is damaged or is not the one that the card describes.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        for name in (MODEL_FILE, TOKENIZER_FILE):
            if not (folder / name).is_file():
                raise ModelNotFoundError(
                    f"the model file {folder / name} is missing. {remedy(folder.name)}"
                )
        card = read_card(folder)
        _check_hash(folder / MODEL_FILE, card.model_sha256, card.name)
        _check_hash(folder / TOKENIZER_FILE, card.tokenizer_sha256, card.name)
        return cls.from_card(folder, card, threads=threads)

    @classmethod
    def from_card(
        cls, folder: Path, card: ModelCard, *, threads: int | None = None
    ) -> "OnnxEmbedder":
        """Return the encoder in a folder, used as a card says; its files are not checked."""
        graph = OnnxGraph.from_folder(folder, pooling=card.pooling)
        tokenizer = TextTokenizer.from_folder(folder, max_tokens=card.max_tokens)
        return cls(graph, tokenizer, card, threads=threads or cores())

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`; rows have unit length, or zero if empty.

        Equal texts are encoded once.

        Raises:
            ModelError: If the model fails or gives vectors of another length.
        """
        distinct = list(dict.fromkeys(texts))
        ids = self._ids(distinct, task)
        most = _BATCH_TOKENS if self.card.precision == "float32" else 1
        groups = batches([len(of_text) for of_text in ids], most)
        table = np.zeros((len(distinct), self.dimension), np.float32)
        encoded = self._each(lambda rows: self._graph.vectors([ids[row] for row in rows]), groups)
        for rows, vectors in zip(groups, encoded, strict=True):
            for row, vector in zip(rows, vectors, strict=True):
                table[row] = self._unit(vector, distinct[row])
        place = {text: row for row, text in enumerate(distinct)}
        return table[[place[text] for text in texts]]

    def embed_spans(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[Vectors]:
        """Return for each text `float32[number of its spans, dimension]`.

        Late chunking (Günther et al., 2024, arXiv 2409.04701, section 3): the text is encoded
        whole, as a passage, and the states of the tokens that a span touches are averaged. The
        passage instruction is read before each window and is in no span.

        Args:
            texts: Longer than the model reads, they are read in overlapping windows.
            spans: Of each text, (start, end) in characters; the row of one without tokens is
                zero.

        Raises:
            ModelError: If the model fails, gives vectors of whole texts only, or vectors of
                another length.
        """
        sums = [np.zeros((len(of_text), self.dimension), np.float32) for of_text in spans]
        cased = [lowered(text) for text in texts] if self.card.lower_case else texts
        instruction = self.card.instruction("passage")
        read = list(pieces(self._tokenizer, cased, spans, instruction=instruction))

        for piece, found in zip(read, self._each(self._sums, read), strict=True):
            sums[piece.text] += found
        for text, rows in zip(texts, sums, strict=True):
            for row in np.flatnonzero(rows.any(axis=1)):
                rows[row] = self._unit(rows[row], text)  # a mean points where its sum does
        return sums

    def _sums(self, piece: Piece) -> Vectors:
        """Return for each span of a piece's text the sum of its tokens' states in the piece."""
        states = self._graph.states(piece.feed)
        self._check_dimension(states[0])
        sums = np.zeros((len(piece.spans), self.dimension), np.float32)
        piece.add_to(sums, states)
        return sums

    def _ids(self, texts: Sequence[str], task: Task) -> list[list[int]]:
        """Return what the model reads of each text; nothing of an empty one."""
        instruction = self.card.instruction(task)
        most = _CHARACTERS_PER_TOKEN * self.card.max_tokens
        # lower, not NFKC: that would turn Chinese marks into ASCII ones
        cased = [text.lower() for text in texts] if self.card.lower_case else texts
        tokens = self._tokenizer.encode([(instruction + text)[:most] for text in cased])
        limit = self._tokenizer.limit
        return [
            self._tokenizer.framed(of_text.ids[:limit]) if text.strip() else []
            for text, of_text in zip(texts, tokens, strict=True)
        ]

    def _each(self, work: Callable[[_A], _B], items: Sequence[_A]) -> Iterable[_B]:
        """Return what comes of each item, in order."""
        if len(items) < 2 or self._threads == 1:
            return map(work, items)
        with ThreadPoolExecutor(min(self._threads, len(items))) as pool:
            return list(pool.map(work, items))

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


def batches(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Return the places of texts in batches of equal length, longest first.

    No padding: graphs need not know a mask, and no token's state depends on one.

    Args:
        lengths: Tokens of each text; those of 0 are in no batch.
        tokens: Most tokens of a batch; a longer text goes alone.

    >>> batches([2, 9, 2, 0, 3, 2], 4)
    [[1], [4], [0, 2], [5]]
    """
    found: list[list[int]] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        length = lengths[place]
        alike = found and lengths[found[-1][0]] == length
        if alike and length * (len(found[-1]) + 1) <= tokens:
            found[-1].append(place)
        elif length:
            found.append([place])
    return found


def _check_hash(path: Path, expected: str, name: str) -> None:
    seen = file_sha256(path)
    if seen != expected:
        raise ModelError(
            f"{path} is damaged: its sha256 begins {seen[:12]}, the card says {expected[:12]}. "
            f"{remedy(name)}"
        )


def cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
