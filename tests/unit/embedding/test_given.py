"""Encoders of others: what they are and give is checked at the border."""

from typing import Any

import numpy as np
import pytest

from kgrag.embedding.embedder import is_contextual
from kgrag.embedding.given import checked
from kgrag.embedding.hashing import HashEmbedder
from kgrag.embedding.late import late
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


class Contextual(Plain):
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
    with pytest.raises(ModelError, match=rf"test_given\.Plain .*{told}"):
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
    embedder = late(checked(Contextual()))
    (rows,) = embedder.embed_spans(["abcd"], [[(0, 2), (2, 4)]])
    np.testing.assert_array_equal(rows, [[0.0, 1.0]] * 2)
    with pytest.raises(ModelError, match="wanted are 2"):
        embedder.embed_spans(["a", "b"], [[(0, 1)]])
