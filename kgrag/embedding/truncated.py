"""Shorter vectors of a model that was trained to bear it."""

from collections.abc import Sequence

import numpy as np

from kgrag.embedding.embedder import ContextualEmbedder, Embedder, Task, Vectors, is_contextual
from kgrag.errors import ModelError


class TruncatedEmbedder:
    """The first components of another encoder's vectors, made unit vectors again.

    Matryoshka representation learning (Kusupati et al., 2022, arXiv 2205.13147, section 3) puts
    most of what a vector says into its first components. Models that were not trained so lose
    more by it.

    Attributes:
        name: The encoder's, `@` and the dimension.
        dimension: Length of a vector.
        is_stand_in: As the encoder says.
        languages: As the encoder says.
        settings: The encoder's, and the cut.
    """

    def __init__(self, embedder: Embedder, dimension: int) -> None:
        if not 1 <= dimension <= embedder.dimension:
            raise ModelError(
                f"embedding.dimension is {dimension}, but {embedder.name} gives vectors of "
                f"{embedder.dimension}: choose 1 to {embedder.dimension}"
            )
        self._embedder = embedder
        self.name = f"{embedder.name}@{dimension}"
        self.dimension = dimension
        self.is_stand_in = embedder.is_stand_in
        self.languages = embedder.languages
        self.settings = {**embedder.settings, "cut to": str(dimension)}

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`; rows have unit length, or zero if empty."""
        return self._cut(self._embedder.embed(texts, task))

    def _cut(self, vectors: Vectors) -> Vectors:
        cut = vectors[:, : self.dimension]
        lengths = np.linalg.norm(cut, axis=1, keepdims=True)
        lengths[lengths == 0] = 1  # the zero vectors of empty texts stay as they are
        return np.asarray(cut / lengths, np.float32)


class TruncatedContextualEmbedder(TruncatedEmbedder):
    """The same of an encoder that reads passages in their context."""

    def __init__(self, embedder: ContextualEmbedder, dimension: int) -> None:
        super().__init__(embedder, dimension)
        self._contextual = embedder

    def embed_spans(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[Vectors]:
        """Return for each text `float32[number of its spans, dimension]`."""
        return [self._cut(rows) for rows in self._contextual.embed_spans(texts, spans)]


def truncated(embedder: Embedder, dimension: int) -> Embedder:
    """Return an encoder with vectors of a dimension; itself where it has that one.

    Raises:
        ModelError: If the encoder gives shorter ones.
    """
    if dimension == embedder.dimension:
        return embedder
    if is_contextual(embedder):
        return TruncatedContextualEmbedder(embedder, dimension)
    return TruncatedEmbedder(embedder, dimension)
