"""The seam to encoders: texts in, unit vectors out."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

Task = Literal["query", "passage"]
TASKS: tuple[Task, ...] = ("query", "passage")
Vectors = NDArray[np.float32]
Spans = Sequence[Sequence[tuple[int, int]]]  # of each text, (start, end) in characters

# Ends the errors of an encoder that cannot be had while somebody wants to search.
WITHOUT_ENCODER = "Searches that need no encoder: --system bm25."


class PlainEmbedder(Protocol):
    """The least that an encoder of another package or program has.

    Where it has `is_stand_in`, `languages`, `settings` or `embed_spans`, too, they count as
    `Embedder` and `ContextualEmbedder` say.
    """

    @property
    def name(self) -> str:
        """Return model and variant; a knowledge base records it and refuses another."""
        ...

    @property
    def dimension(self) -> int:
        """Return the length of a vector."""
        ...

    def embed(self, texts: Sequence[str], task: Task) -> Sequence[Sequence[float]] | Vectors:
        """Return a vector of finite numbers for each text; of any length, zero for empty texts.

        Args:
            texts: May be empty.
            task: `query` for a question, `passage` for what is searched.
        """
        ...


class Embedder(PlainEmbedder, Protocol):
    """Turns texts into vectors.

    Its attributes are read only: an endpoint is asked for its name and dimension, once, when
    somebody wants to know them.
    """

    @property
    def is_stand_in(self) -> bool:
        """Return whether no model is behind it; users are told."""
        ...

    @property
    def languages(self) -> str:
        """Return codes of the languages that it reads well, comma-separated; empty for any."""
        ...

    @property
    def settings(self) -> Mapping[str, str]:
        """Return what its vectors depend on, for people, e.g. `model`, `pooling`, `query`."""
        ...

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`, rows L2-normalised (zero for empty texts).

        Args:
            texts: May be empty; longer than the model reads is cut at its limit.
            task: `query` adds the model's query instruction, `passage` its passage one.
        """
        ...


class ContextualEmbedder(Embedder, Protocol):
    """An encoder that can also encode passages in the context of the text that they stand in."""

    def embed_spans(self, texts: Sequence[str], spans: Spans) -> list[Vectors]:
        """Return for each text `float32[number of its spans, dimension]`, rows L2-normalised.

        Late chunking (Günther et al., 2024, arXiv 2409.04701, section 3): the text is encoded
        whole, as a passage, and the token states of each span are averaged.

        Args:
            texts: Longer than the model reads, they are read in overlapping windows.
            spans: Of each text, (start, end) in characters; the row of an empty one is zero.
        """
        ...


def is_contextual(embedder: Embedder) -> TypeGuard[ContextualEmbedder]:
    """Return whether an encoder can encode passages in their context."""
    return hasattr(embedder, "embed_spans")
