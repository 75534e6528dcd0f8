"""The protocol of encoders: texts in, unit vectors out."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Task = Literal["query", "passage"]
TASKS: tuple[Task, ...] = ("query", "passage")
Vectors = NDArray[np.float32]

# Ends error messages for searches whose encoder is unavailable.
WITHOUT_ENCODER = "Searches that need no encoder: --system bm25."


class PlainEmbedder(Protocol):
    """The minimal interface of third-party encoders.

    The optional members `is_stand_in`, `languages`, `settings` and `answered` are those of
    `Embedder`.
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
