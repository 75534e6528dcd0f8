"""What every store refuses to stage."""

from dataclasses import replace

import pytest

from kgrag.errors import StoreError
from kgrag.store.staged import all_given, check_staging, kept_of


def test_all_given_is_each_vector_once(make):
    """By key, of all documents."""
    a, b = make.node_vector("d-a:8:0", "chunk", "a"), make.node_vector("d-b:8:0", "chunk", "b")
    given = all_given({"d-a": [a], "d-b": [replace(a, node_id="d-b:8:1"), b], "d-c": []})

    assert given.keys() == {a.key, b.key}
    assert given[a.key] is a.vector


def test_all_given_refuses_a_vector_without_numbers(make):
    """They cannot be looked up: the store has those of another encoder."""
    lost = make.node_vector("d-a:8:0", "chunk", "a", given=False)
    with pytest.raises(ValueError, match=f"{lost.key} comes without its numbers"):
        all_given({"d-a": [lost]})


@pytest.mark.parametrize(
    ("begun", "told"),
    [(None, "no vectors are being staged"), ({"embedder": "m", "x": "2"}, "to m has begun")],
)
def test_check_staging_refuses_vectors_among_those_of_others(begun, told):
    """Or among none."""
    check_staging({"embedder": "m", "x": "1"}, {"x": "1", "embedder": "m"})
    with pytest.raises(StoreError, match=told):
        check_staging({"embedder": "m", "x": "1"}, begun)


def test_check_staging_lets_the_caller_tell_more():
    """What decides the vectors must be the same; the rest is for people."""
    check_staging({"embedder": "m", "languages": "zh"}, {"embedder": "m"})
    with pytest.raises(StoreError, match="to m has begun"):
        check_staging({"embedder": "m"}, {"embedder": "m", "embedded_sizes": "256"})


@pytest.mark.parametrize(
    ("begun", "kept"),
    [
        (None, "nothing"),
        ({"embedder": "m", "sizes": "1"}, "all"),
        ({"embedder": "m", "sizes": "1", "stand_in": "no"}, "all"),
        ({"embedder": "m", "sizes": "2"}, "vectors"),
        ({"embedder": "m"}, "vectors"),
        ({"embedder": "n", "sizes": "1"}, "nothing"),
        ({}, "nothing"),
    ],
)
def test_kept_of_goes_by_what_decides_the_vectors(begun, kept):
    """The encoder decides what a text's vector is, the rest which nodes are staged."""
    assert kept_of(begun, {"embedder": "m", "sizes": "1"}) == kept
