"""Filling schemas in."""

import pytest

from kgrag.testing.filler import Filler

TEXT = {"type": "string"}
SENTENCES = ("甲负责建设乙。", "丙是丁。")


def fill(schema, keys=(), sentences=SENTENCES):
    return Filler(schema, sentences=sentences, keys=keys).fill()


def an_object(**properties):
    return {"type": "object", "properties": properties}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (TEXT, "甲负责建设乙。"),
        ({"type": ["string", "null"], "maxLength": 3}, "甲负责"),
        ({"type": "boolean"}, True),
        ({"type": "null"}, None),
        ({"const": 7}, 7),
        ({"enum": ["true", "false"]}, "true"),
        ({"type": "integer", "minimum": 0, "maximum": 10}, 10),
        ({"type": "number"}, 1),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 4}, list("abca")),
        ({"type": "array", "items": TEXT, "maxItems": 1}, ["甲负责建设乙。"]),
        ({"anyOf": [{"type": "boolean"}, TEXT]}, True),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"const": 3}}}, 3),
        (an_object(bias={"type": "number"}, fluency={"type": "number"}), {"bias": 0, "fluency": 1}),
        ({"properties": {"a": {"items": TEXT}}}, {"a": list(SENTENCES)}),
        ({}, "甲负责建设乙。"),
    ],
)
def test_fill_follows_the_schema(schema, value):
    """Types, choices, bounds, lengths and references."""
    assert fill(schema) == value


def test_a_triple_is_made_of_pieces_of_its_quote():
    """Beside the quote or below it, with long names or short ones; each quote is another."""
    triple = an_object(s=TEXT, p=TEXT, o=TEXT)
    fact = an_object(quote=TEXT, triples={"type": "array", "items": triple})
    assert fill({"type": "array", "items": fact}) == [
        {"quote": "甲负责建设乙。", "triples": [{"s": "甲", "p": "负责", "o": "建设乙"}]},
        {"quote": "丙是丁。", "triples": [{"s": "丙", "p": "是", "o": "丁"}]},
    ]
    beside = an_object(object=TEXT, predicate=TEXT, subject=TEXT)
    assert fill({"type": "array", "items": beside})[1] == {
        "subject": "丙", "predicate": "是", "object": "丁",
    }  # fmt: skip


def test_items_that_are_asked_for_by_key_come_all_and_in_order():
    """Numbers of passages, or names of parts."""
    rating = an_object(n={"type": "integer"}, score={"type": "integer", "maximum": 10})
    assert fill({"type": "array", "items": rating}, keys=("2", "5", "6")) == [
        {"n": 2, "score": 10}, {"n": 5, "score": 10}, {"n": 6, "score": 10},
    ]  # fmt: skip
    part = an_object(part=TEXT)
    assert fill({"type": "array", "items": part}, keys=("1-3",)) == [{"part": "1-3"}]


def test_a_question_comes_back_in_other_words():
    """It differs, so that what is made of it can be seen."""
    question = fill(an_object(question=TEXT), sentences=["目标是什么？"])["question"]
    assert question != "目标是什么？"
    assert "目标是什么？" in question
