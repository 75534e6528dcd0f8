"""Encoders around others: checked, cut, in context."""

from typing import Any

import numpy as np
import pytest

from kgrag.embedding.embedder import is_contextual
from kgrag.embedding.hashing import HashEmbedder
from kgrag.embedding.wrapped import LATE, checked, late, truncated
from kgrag.errors import BudgetExceededError, ModelError


class Plain:
    """The least that an encoder has; gives what it is told to."""

    name: Any = "plain-1"
    dimension: Any = 2

    def __init__(self, rows=None):
        self.rows = rows

    def embed(self, texts, task):
        """Give the rows, or fail."""
        if isinstance(self.rows, Exception):
            raise self.rows
        return [[3, 4]] * len(texts) if self.rows is None else self.rows


class PlainInContext(Plain):
    """One that can also encode passages in their context."""

    def embed_spans(self, texts, spans):
        """Give the same row for each span."""
        return [[[0.0, 2.0] for _ in own] for own in spans]


def test_lists_become_unit_vectors():
    embedder = checked(Plain())
    vectors = embedder.embed(["a", "b"], "passage")
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, [[0.6, 0.8]] * 2, rtol=1e-6)
    assert embedder.embed([], "query").shape == (0, 2)
    np.testing.assert_array_equal(checked(Plain([[0, 0]])).embed(["a"], "query"), [[0, 0]])


@pytest.mark.parametrize("rows", [[(0.6, 0.8)], ((0.6, 0.8),), np.array([[0.6, 0.8]]), "generator"])
def test_rows_of_any_kind_are_taken(rows):
    given = (row for row in [[0.6, 0.8]]) if isinstance(rows, str) else rows
    vectors = checked(Plain(given)).embed(["a"], "query")
    np.testing.assert_allclose(vectors, [[0.6, 0.8]], rtol=1e-6)


def test_rows_that_have_unit_length_stay_as_they_are():
    row = np.array([[0.6000001, 0.8]], np.float32)
    np.testing.assert_array_equal(checked(Plain(row)).embed(["a"], "query"), row)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([[1.0, 2.0, 3.0]], r"shape \(1, 3\); wanted are \(1, 2\)"),
        ([[1.0, 2.0]] * 2, r"shape \(2, 2\)"),
        ([], r"shape \(0,\)"),
        ([[1.0], [1.0, 2.0]], "no rows of numbers"),
        ([["a", "b"]], "no rows of numbers"),
        (5, "no rows of numbers"),
        ([[float("nan"), 1.0]], "not finite"),
        ([[1e300, 1.0]], "not finite"),
        (ValueError("out of paper"), "failed: ValueError: out of paper"),
    ],
)
def test_what_is_no_vector_of_each_text_is_an_error_that_names_the_class(rows, told):
    with pytest.raises(ModelError, match=rf"test_wrapped\.Plain .*{told}"):
        checked(Plain(rows)).embed(["a"], "query")


def test_errors_that_kgrag_knows_pass():
    with pytest.raises(BudgetExceededError, match=r"^spent$"):
        checked(Plain(BudgetExceededError("spent"))).embed(["a"], "query")


@pytest.mark.parametrize(
    ("attribute", "value", "told"),
    [
        ("name", None, "has no name of type str"),
        ("name", "", "a name of one line"),
        ("name", "a\nb", "a name of one line"),
        ("dimension", "2", "has no dimension of type int"),
        ("dimension", 0, "a dimension of at least 1"),
        ("embed", 5, r"no method embed\(texts, task\)"),
    ],
)
def test_what_is_no_encoder_is_refused_at_once(attribute, value, told):
    embedder = Plain()
    setattr(embedder, attribute, value)
    with pytest.raises(ModelError, match=told):
        checked(embedder)


def test_what_is_not_said_is_assumed():
    embedder = checked(Plain())
    assert (embedder.is_stand_in, embedder.languages) == (False, "")
    assert embedder.settings == {"model": "plain-1", "class": f"{__name__}.Plain"}
    told = Plain()
    told.is_stand_in, told.languages, told.settings = True, "zh", {"pooling": "mean"}  # type: ignore[attr-defined]
    embedder = checked(told, plugin="kgrag-plain")
    assert (embedder.is_stand_in, embedder.languages) == (True, "zh")
    assert embedder.settings["pooling"] == "mean"
    assert embedder.settings["plugin"] == "kgrag-plain"


def test_kgrags_own_stay_as_they_are():
    embedder = HashEmbedder()
    assert checked(embedder) is embedder


def test_passages_in_their_context_are_checked_too():
    assert not is_contextual(checked(Plain()))
    embedder = late(checked(PlainInContext()))
    (rows,) = embedder.embed_spans(["abcd"], [[(0, 2), (2, 4)]])
    np.testing.assert_array_equal(rows, [[0.0, 1.0]] * 2)
    with pytest.raises(ModelError, match="wanted are 2"):
        embedder.embed_spans(["a", "b"], [[(0, 1)]])


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
    assert (cut.name, cut.settings["cut to"]) == ("hash-64@16", "16")
    rows, full = (
        cut.embed(["推进节能减排和资源循环利用", "有序实现碳达峰碳中和目标"], "passage"),
        whole.embed(["推进节能减排和资源循环利用", "有序实现碳达峰碳中和目标"], "query"),
    )
    assert rows.shape == (2, 16)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    for row, long in zip(rows, full[:, :16], strict=True):
        np.testing.assert_allclose(row, long / np.linalg.norm(long), atol=1e-6)


def test_truncated_to_its_own_dimension_is_the_encoder_itself():
    """A knowledge base that was built without a cut goes on with the same identity."""
    whole = HashEmbedder(64)
    assert truncated(whole, 64) is whole


@pytest.mark.parametrize("dimension", [0, -1, 65])
def test_truncated_beyond_the_model_is_an_error(dimension):
    """The text names the setting and what is possible."""
    with pytest.raises(ModelError, match=r"embedding\.dimension is .* choose 1 to 64"):
        truncated(HashEmbedder(64), dimension)


def test_truncated_spans_are_cut_as_well():
    """An encoder that reads in context still does."""
    assert not is_contextual(truncated(HashEmbedder(64), 16))
    cut = truncated(Contextual(64), 16)
    assert is_contextual(cut)
    rows = cut.embed_spans(["推进节能减排和资源循环利用，实现碳达峰碳中和"], [[(0, 13), (14, 22)]])
    assert [r.shape for r in rows] == [(2, 16)]
    np.testing.assert_allclose(np.linalg.norm(rows[0], axis=1), 1, atol=1e-6)


def test_its_name_is_another_and_the_rest_is_the_encoders():
    """So that a knowledge base refuses vectors with context beside those without."""
    inner = Contextual(8)
    outer = late(inner)
    assert outer.name == f"hash-8{LATE}"
    assert (outer.dimension, outer.is_stand_in, outer.languages) == (8, True, "")
    assert outer.settings == {**inner.settings, "late chunking": "on"}
    assert late(outer) is outer


def test_it_encodes_as_the_encoder_does():
    """Texts without context and spans within one."""
    inner = Contextual(8)
    outer = late(inner)
    assert is_contextual(outer)
    assert np.array_equal(outer.embed(["节能"], "query"), inner.embed(["节能"], "query"))
    (rows,) = outer.embed_spans(["节能减排"], [[(0, 2), (2, 4)]])
    assert np.array_equal(rows, inner.embed(["节能", "减排"], "passage"))


def test_an_encoder_without_token_states_is_refused():
    """With what to do instead."""
    with pytest.raises(ModelError, match=r"hash-8 does not: choose .* late_chunking out of"):
        late(HashEmbedder(8))
