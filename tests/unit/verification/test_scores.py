import pytest

from kgrag.verification.scores import as_object, read_scores, scores_schema


def test_scores_are_read_by_name_and_others_left():
    """Numbers written as texts and whole numbers are read, too."""
    assert read_scores({"a": 0.5, "b": "1", "c": 7}, ("a", "b")) == {"a": 0.5, "b": 1.0}


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ((95, 80, 0), (0.95, 0.8, 0.0)),
        (("90%", "9/10", "85 / 100"), (0.9, 0.9, 0.85)),
        ((100, 1, "55"), (1.0, 0.01, 0.55)),
        ((1, 0, 0.5), (1.0, 0.0, 0.5)),
    ],
)
def test_scores_of_0_to_100_are_read(given, wanted):
    """One above 10 tells that all are; a share may be written out."""
    read = read_scores(dict(zip("abc", given, strict=True)), ("a", "b", "c"))
    assert tuple(read.values()) == pytest.approx(wanted)


@pytest.mark.parametrize(
    "value", [None, True, "高", 1.01, -0.01, 8.5, 101, "9/0", [], float("nan")]
)
def test_scores_out_of_form_or_range_are_refused(value):
    """A score that is no number in [0, 1] is an error that names it."""
    with pytest.raises(ValueError, match=r"a must be|could not convert"):
        read_scores({"a": value}, ("a",))


def test_anything_but_an_object_is_refused():
    """A list has no names."""
    with pytest.raises(ValueError, match="list"):
        as_object([0.5])


def test_schema_wants_every_score_and_nothing_else():
    """So that endpoints with strict schemas take it."""
    schema = scores_schema(("a",), b={"type": "string"})
    assert schema["required"] == ["a", "b"]
    assert schema["additionalProperties"] is False
    assert schema["properties"] == {"a": {"type": "number"}, "b": {"type": "string"}}
