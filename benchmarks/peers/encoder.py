"""The encoder of every system: bge-small-zh as kgrag installed it, counting what it encodes."""

import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from kgrag.embedding.embedder import Task, Vectors
from kgrag.embedding.local import LocalEmbedder


class CountingEncoder(LocalEmbedder):
    """An encoder that counts.

    Attributes:
        n_texts: Texts encoded so far; of equal ones in a call one counts, as one is encoded.
        seconds: What that took.
    """

    n_texts = 0
    seconds = 0.0
    _guard = threading.Lock()

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Return the encoder in a model's folder."""
        encoder = cls.from_folder(folder)
        assert isinstance(encoder, cls)
        return encoder

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return the vectors, a row a text; questions get the model's instruction."""
        begun = time.perf_counter()
        vectors = super().embed(texts, task)
        with self._guard:
            self.n_texts += len(set(texts))
            self.seconds += time.perf_counter() - begun
        return vectors

    def passages(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of passages as lists."""
        return [list(map(float, row)) for row in self.embed(texts, "passage")]

    def question(self, text: str) -> list[float]:
        """Return the vector of a question as a list."""
        return list(map(float, self.embed([text], "query")[0]))
