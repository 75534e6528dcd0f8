"""The protocol of encoders: texts in, unit vectors out."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

Task = Literal["query", "passage"]
TASKS: tuple[Task, ...] = ("query", "passage")
Vectors = NDArray[np.float32]
Spans = Sequence[Sequence[tuple[int, int]]]  # of each text, (start, end) in characters

# Ends error messages for searches whose encoder is unavailable.
WITHOUT_ENCODER = "Searches that need no encoder: --system bm25."


class PlainEmbedder(Protocol):
    """The minimal interface of third-party encoders.

    The optional members `is_stand_in`, `languages`, `settings`, `answered` and `embed_spans` are
    those of `Embedder` and `ContextualEmbedder`.
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

        `task` is `query` for a question, `passage` for a text to be searched; there may be no
        texts.
        """
        ...


class Embedder(PlainEmbedder, Protocol):
    """Turns texts into vectors.

    Attributes are read-only: an endpoint is called for name and dimension, once, when needed.
    """

    @property
    def is_stand_in(self) -> bool:
        """Return whether there is no model behind it; users are told."""
        ...

    @property
    def languages(self) -> str:
        """Return codes of the languages that it supports well, comma-separated; empty for any."""
        ...

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the settings of vectors, for display, e.g. `model`, `pooling`, `query`."""
        ...

    @property
    def answered(self) -> float | None:
        """Return the least cosine of a question and the sentence that answers it, behind its title.

        Where none reaches it, an answer says that no clause tells it directly; 0 never. None if it
        was not measured, and users are told. `benchmarks/not_held.py` counts.
        """
        ...

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`, rows L2-normalised (zero for empty texts).

        Texts are truncated to the model's limit; `task` selects its query or passage instruction.
        """
        ...


class ContextualEmbedder(Embedder, Protocol):
    """An encoder that can also encode passages in the context of the surrounding text."""

    def embed_spans(self, texts: Sequence[str], spans: Spans) -> list[Vectors]:
        """Return for each text `float32[number of its spans, dimension]`, rows L2-normalised.

        Late chunking (Günther et al., 2024, arXiv 2409.04701, section 3): the complete text is
        encoded as a passage, and the token states of each span are averaged. Texts above the
        model's limit are read in overlapping windows. Spans are (start, end) in characters; the row
        of an empty one is zero.
        """
        ...


def is_contextual(embedder: Embedder) -> TypeGuard[ContextualEmbedder]:
    """Return whether an encoder can encode passages in their context."""
    return hasattr(embedder, "embed_spans")
