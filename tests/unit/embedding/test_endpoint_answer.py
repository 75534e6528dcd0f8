"""Reading an endpoint's answer, and parting texts into batches."""

import numpy as np
import pytest

from kgrag.embedding.endpoint import estimate_tokens, in_batches, read_vectors
from kgrag.errors import ModelOutputError
from kgrag.llm.address import Place

PLACE = Place("http://h/v1", "m", key="sk-1234567890")


def data(*embeddings, **more):
    return {"data": [{"index": i, "embedding": e} | more for i, e in enumerate(embeddings)]}


def test_estimate_tokens_counts_chinese_by_the_character():
    """One token each at most, a Latin letter a third of one, and two around the text."""
    assert estimate_tokens("绿色工厂") == 6
    assert estimate_tokens("a" * 100) == 32


def test_in_batches_parts_by_texts_and_tokens():
    """A text that is too large by itself stands alone; empty ones stand nowhere."""
    texts = ["长" * 8, "长" * 8, "", "长" * 50, "短", "短", "短"]
    assert in_batches(texts, most_texts=2, most_tokens=20) == [[0, 1], [3], [4, 5], [6]]


def test_in_batches_of_nothing_is_none():
    """Neither is it of empty texts."""
    assert in_batches(["", " "], most_texts=2, most_tokens=20) == []


def test_read_vectors_follows_the_index():
    """And the order of entries where none has an index."""
    answer = {"data": [{"index": 1, "embedding": [2.0]}, {"index": 0, "embedding": [1.0]}]}
    np.testing.assert_array_equal(read_vectors(answer, 2, PLACE), [[1], [2]])
    answer = {"data": [{"embedding": [2]}, {"embedding": [1]}]}
    np.testing.assert_array_equal(read_vectors(answer, 2, PLACE), [[2], [1]])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("<html>sk-1234567890", r"no vectors, but '<html>\*\*\*'"),
        (None, "no vectors, but 'None'"),
        ({"object": "chat.completion"}, "no vectors, but .*chat.completion"),
        (data([1.0]), "1 vectors for 2 texts"),
        ({"data": [{"index": 0, "embedding": [1]}] * 2}, r"numbers the vectors of 2 texts \[0\]"),
        ({"data": [{"index": i + 1, "embedding": [1]} for i in range(2)]}, r"\[1, 2\]"),
        ({"data": [{"index": 0, "embedding": [1]}, 7]}, r"an entry without a vector \(7\)"),
        (data([1.0], [1.0, 2.0]), "a row that is no vector"),
        (data("aGVsbG8=", "aGVsbG8="), r"a row that is no vector \(aGVsbG8=\)"),
        (data([], []), r"vectors of shape \(2, 0\)"),
        (data(1.0, 2.0), r"vectors of shape \(2,\)"),
        (data([1.0], [None]), "NaN"),
        (data([1.0], [float("inf")]), "NaN"),
    ],
)
def test_read_vectors_refuses_what_is_no_answer(answer, said):
    """With the endpoint's name, without the key."""
    with pytest.raises(ModelOutputError, match=said) as caught:
        read_vectors(answer, 2, PLACE)
    assert "m at http://h/v1" in str(caught.value)
    assert "sk-1234567890" not in str(caught.value)
