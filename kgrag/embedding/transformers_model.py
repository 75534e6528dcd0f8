"""Encoders run by transformers: jina-embeddings-v3, and any sentence encoder of its kinds."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kgrag.embedding.card import ModelCard
from kgrag.embedding.catalog import remedy
from kgrag.embedding.embedder import Task, Vectors
from kgrag.embedding.installed import CARD_FILE, read_card
from kgrag.embedding.pieces import lowered, pieces
from kgrag.embedding.tokens import TextTokenizer
from kgrag.embedding.transformers_files import check_files
from kgrag.embedding.transformers_network import Network
from kgrag.errors import ModelError, ModelNotFoundError


class TransformersEmbedder:
    """An encoder from a folder of `config.json`, safetensors, `tokenizer.json`, `card.json`.

    Texts of like length are encoded together. On the processor a text's vector is the same in
    any company to 1e-5 in each component. The half precision of a graphics processor is some
    1e-3 off (cosine 0.9999; measured with a random model of 12 layers in bfloat16), which does
    not count as another model. May be called from several threads at once; batches wait for
    each other.

    Attributes:
        name: The card's identity: name, hash of the files, hash of the settings.
        dimension: Length of a vector.
        is_stand_in: False.
        languages: As the card says.
        settings: What the vectors depend on, for people.
        card: How the model is used.
    """

    is_stand_in = False

    def __init__(self, network: Network, tokenizer: TextTokenizer, card: ModelCard) -> None:
        self.name = card.identity
        self.dimension = card.dimension
        self.languages = card.languages
        self.settings = card.settings
        self.card = card
        self._network = network
        self._tokenizer = tokenizer

    @classmethod
    def from_folder(cls, folder: Path, *, threads: int | None = None) -> "TransformersEmbedder":
        """Return the encoder in an installed folder.

        Args:
            folder: As `add_transformers` leaves it.
            threads: Processor threads of torch, in all of this process; None leaves them.

        Raises:
            ModelNotFoundError: If a file is missing.
            MissingDependencyError: If `kgrag[jina]` is not installed.
            ModelError: If a file is damaged.
        """
        if threads is not None and threads < 1:
            raise ValueError(f"threads must be at least 1, got {threads}")
        if not (folder / CARD_FILE).is_file():
            raise ModelNotFoundError(f"{folder / CARD_FILE} is missing. {remedy(folder.name)}")
        card = read_card(folder)
        check_files(folder, card)
        return cls.from_card(folder, card, threads=threads)

    @classmethod
    def from_card(
        cls, folder: Path, card: ModelCard, *, threads: int | None = None
    ) -> "TransformersEmbedder":
        """Return the encoder in a folder, used as a card says; its files are not checked.

        Raises:
            ModelError: As above.
        """
        tokenizer = TextTokenizer.from_folder(folder, max_tokens=card.max_tokens)
        return cls(Network.from_folder(folder, card, threads=threads), tokenizer, card)

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`; rows have unit length, or zero if empty.

        Equal texts are encoded once; longer ones than the model reads are cut.

        Raises:
            ModelError: If the model fails or gives vectors of another length.
        """
        distinct = list(dict.fromkeys(texts))
        full = [text for text in distinct if text.strip()]
        instruction = self.card.instruction(task)
        tokens = self._tokenizer.encode([instruction + self._cased(text) for text in full])
        feeds = [self._tokenizer.framed(text.ids[: self._tokenizer.limit]) for text in tokens]
        table = np.zeros((len(distinct), self.dimension), np.float32)
        place = {text: row for row, text in enumerate(distinct)}
        for batch in batches(list(map(len, feeds)), self._network.batch_tokens):
            rows = self._network.pooled([feeds[i] for i in batch], task)
            table[[place[full[i]] for i in batch]] = self._unit(rows)
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
            ModelError: If the model fails or gives vectors of another length.
        """
        sums = [np.zeros((len(of_text), self.dimension), np.float32) for of_text in spans]
        cased = [self._cased(text) for text in texts]
        instruction = self.card.instruction("passage")
        found = list(pieces(self._tokenizer, cased, spans, instruction=instruction))
        for batch in batches([len(piece.feed) for piece in found], self._network.batch_tokens):
            states = self._network.states([found[i].feed for i in batch], "passage")
            for i, rows in zip(batch, states, strict=True):
                self._check_dimension(rows)
                found[i].add_to(sums[found[i].text], rows)
        for rows in sums:
            has_tokens = rows.any(axis=1)
            rows[has_tokens] = self._unit(rows[has_tokens])  # a mean points where its sum does
        return sums

    def _cased(self, text: str) -> str:
        return lowered(text) if self.card.lower_case else text

    def _check_dimension(self, rows: Vectors) -> None:
        if rows.shape[1] != self.dimension:
            raise ModelError(
                f"the model {self.name} gives vectors of {rows.shape[1]}, its card says "
                f"{self.dimension}. {remedy(self.card.name)}"
            )

    def _unit(self, rows: Vectors) -> Vectors:
        self._check_dimension(rows)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        wrong = ~(np.isfinite(lengths) & (lengths > 0))
        if wrong.any():
            raise ModelError(
                f"the model {self.name} gives a vector of length {lengths[wrong][0]}. "
                f"{remedy(self.card.name)}"
            )
        unit: Vectors = rows / lengths
        return unit


def batches(lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    """Yield the places of texts of like length, longest first, so that memory runs out at once.

    Args:
        lengths: Tokens of each text.
        tokens: Most tokens of a batch, padding included; a longer text goes alone.

    >>> list(batches([2, 9, 3, 2], 6))
    [[1], [2, 0], [3]]
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda place: -lengths[place]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch
