"""An encoder that is to encode chunks in their context."""

import numpy as np
import pytest

from kgrag.embedding.embedder import is_contextual
from kgrag.embedding.hashing import HashEmbedder
from kgrag.embedding.late import LATE, late
from kgrag.errors import ModelError


class InContext(HashEmbedder):
    """Encodes a span as the text that it is."""

    def embed_spans(self, texts, spans):
        """Return for each text the vectors of its spans."""
        pieces = zip(texts, spans, strict=True)
        return [self.embed([text[a:b] for a, b in of], "passage") for text, of in pieces]


def test_its_name_is_another_and_the_rest_is_the_encoders():
    """So that a knowledge base refuses vectors with context beside those without."""
    inner = InContext(8)
    outer = late(inner)
    assert outer.name == f"hash-8{LATE}"
    assert (outer.dimension, outer.is_stand_in, outer.languages) == (8, True, "")
    assert outer.settings == {**inner.settings, "late chunking": "on"}
    assert late(outer) is outer


def test_it_encodes_as_the_encoder_does():
    """Texts without context and spans within one."""
    inner = InContext(8)
    outer = late(inner)
    assert is_contextual(outer)
    assert np.array_equal(outer.embed(["节能"], "query"), inner.embed(["节能"], "query"))
    (rows,) = outer.embed_spans(["节能减排"], [[(0, 2), (2, 4)]])
    assert np.array_equal(rows, inner.embed(["节能", "减排"], "passage"))


def test_an_encoder_without_token_states_is_refused():
    """With what to do instead."""
    with pytest.raises(ModelError, match=r"hash-8 does not: choose .* late_chunking out of"):
        late(HashEmbedder(8))
