import numpy as np
import pytest

from kgrag.embedding.choose import truncated
from kgrag.embedding.embedder import is_contextual
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelError


class Contextual(HashEmbedder):
    """The stand-in with spans: each is encoded as it stands."""

    def embed_spans(self, texts, spans):
        """Return the vectors of the spans' own texts."""
        return [
            self.embed([text[a:b] for a, b in own], "passage")
            for text, own in zip(texts, spans, strict=True)
        ]


def test_truncated_rows_are_the_first_components_made_unit_again():
    """A row keeps its direction within the components that are left."""
    whole = HashEmbedder(64)
    cut = truncated(whole, 16)
    rows, full = (
        cut.embed(["推进节能减排和资源循环利用", "有序实现碳达峰碳中和目标"], "passage"),
        whole.embed(["推进节能减排和资源循环利用", "有序实现碳达峰碳中和目标"], "query"),
    )
    assert rows.shape == (2, 16)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for row, long in zip(rows, full[:, :16], strict=True):
        np.testing.assert_allclose(row, long / np.linalg.norm(long), atol=1e-6)


def test_truncated_empty_text_is_the_zero_vector():
    """Nothing is divided by zero."""
    assert not truncated(HashEmbedder(64), 16).embed([""], "passage").any()


def test_truncated_to_its_own_dimension_is_the_encoder_itself():
    """A knowledge base that was built without a cut goes on with the same identity."""
    whole = HashEmbedder(64)
    assert truncated(whole, 64) is whole


def test_truncated_has_another_identity():
    """Vectors of different lengths are never taken for each other."""
    cut = truncated(HashEmbedder(64), 16)
    assert cut.name == "hash-64@16"
    assert cut.settings["cut to"] == "16"


@pytest.mark.parametrize("dimension", [0, -1, 65])
def test_truncated_beyond_the_model_is_an_error(dimension):
    """The text names the setting and what is possible."""
    with pytest.raises(ModelError, match=r"embedding\.dimension is .* choose 1 to 64"):
        truncated(HashEmbedder(64), dimension)


def test_truncated_spans_are_cut_as_well():
    """An encoder that reads in context still does."""
    cut = truncated(Contextual(64), 16)
    assert is_contextual(cut)
    rows = cut.embed_spans(["推进节能减排和资源循环利用，实现碳达峰碳中和"], [[(0, 13), (14, 22)]])
    assert [r.shape for r in rows] == [(2, 16)]
    np.testing.assert_allclose(np.linalg.norm(rows[0], axis=1), 1, atol=1e-6)


def test_truncated_of_a_plain_encoder_knows_no_spans():
    """What cannot be done is not pretended."""
    assert not hasattr(truncated(HashEmbedder(64), 16), "embed_spans")
