"""The seam to encoders: texts in, unit vectors out."""

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Task = Literal["query", "passage"]
Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        name: Model and variant; a knowledge base records it and refuses another.
        dimension: Length of a vector.
        is_stand_in: True where no model is behind it; users are told.
        languages: Codes of the languages that it reads well, comma-separated; empty for any.
    """

    name: str
    dimension: int
    is_stand_in: bool
    languages: str

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`, rows L2-normalised (zero for empty texts).

        Args:
            texts: May be empty; longer than the model reads is cut at its limit.
            task: `query` adds the model's query instruction, `passage` its passage one.
        """
        ...
