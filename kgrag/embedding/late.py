"""Late chunking: passages are encoded in the context of the text that they stand in."""

from collections.abc import Sequence

from kgrag.embedding.embedder import ContextualEmbedder, Embedder, Task, Vectors, is_contextual
from kgrag.errors import ModelError

LATE = "+late"  # ends the name of such an encoder


class LateEmbedder:
    """An encoder that is to encode chunks in the context of their parent.

    Late chunking (Günther et al., 2024, arXiv 2409.04701, section 3). What has no context, such
    as questions and summaries, is encoded as ever. A class of its own, so that a knowledge base
    that was built with it refuses vectors without context, and the other way round.

    Attributes:
        name: The encoder's, `+late` after it.
        dimension: Length of a vector.
        is_stand_in: As the encoder says.
        languages: As the encoder says.
        settings: The encoder's, and that it does so.
    """

    def __init__(self, embedder: ContextualEmbedder) -> None:
        self._embedder = embedder
        self.name = f"{embedder.name}{LATE}"
        self.dimension = embedder.dimension
        self.is_stand_in = embedder.is_stand_in
        self.languages = embedder.languages
        self.settings = {**embedder.settings, "late chunking": "on"}

    def embed(self, texts: Sequence[str], task: Task) -> Vectors:
        """Return `float32[len(texts), dimension]`, rows L2-normalised (zero for empty texts)."""
        return self._embedder.embed(texts, task)

    def embed_spans(
        self, texts: Sequence[str], spans: Sequence[Sequence[tuple[int, int]]]
    ) -> list[Vectors]:
        """Return for each text `float32[number of its spans, dimension]`, rows L2-normalised."""
        return self._embedder.embed_spans(texts, spans)


def late(embedder: Embedder) -> LateEmbedder:
    """Return the encoder, to encode chunks in the context of their parent; itself if it does.

    Raises:
        ModelError: If it cannot; says which can.
    """
    if isinstance(embedder, LateEmbedder):
        return embedder
    if not is_contextual(embedder):
        raise ModelError(
            f"late chunking needs an encoder that gives the states of single tokens, "
            f"{embedder.name} does not: choose an installed model (kgrag models list), or take "
            "late_chunking out of [embedding]"
        )
    return LateEmbedder(embedder)
