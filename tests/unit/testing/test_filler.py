"""Filling schemas in."""

import pytest

from kgrag.testing.reply import Filler

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
        ({"type": "boolean"}, True),
        ({"enum": ["true", "false"]}, "true"),
        ({"type": "number"}, 1),
        ({"type": "array", "items": {"enum": ["a", "b", "c"]}}, ["a", "b"]),
        ({"type": "array", "items": TEXT}, list(SENTENCES)),
        (an_object(bias={"type": "number"}, fluency={"type": "number"}), {"bias": 0, "fluency": 1}),
        ({}, "甲负责建设乙。"),
    ],
)
def test_fill_follows_the_schema(schema, value):
    """Types, choices and lists."""
    assert fill(schema) == value


def test_a_triple_is_made_of_pieces_of_its_quote():
    """Below it; each quote is another."""
    row = {"type": "array", "items": TEXT}
    fact = an_object(quote=TEXT, triples={"type": "array", "items": row})
    assert fill({"type": "array", "items": fact}) == [
        {"quote": "甲负责建设乙。", "triples": [["甲", "负责", "建设乙"]]},
        {"quote": "丙是丁。", "triples": [["丙", "是", "丁"]]},
    ]


def test_items_that_are_asked_for_by_key_come_all_and_in_order():
    """Numbers of passages, or names of parts."""
    rating = an_object(n={"type": "integer"}, score={"type": "integer"})
    assert fill({"type": "array", "items": rating}, keys=("2", "5", "6")) == [
        {"n": 2, "score": 1}, {"n": 5, "score": 1}, {"n": 6, "score": 1},
    ]  # fmt: skip
    part = an_object(part=TEXT)
    assert fill({"type": "array", "items": part}, keys=("1-3",)) == [{"part": "1-3"}]


def test_a_question_comes_back_in_other_words():
    """It differs, so that what is made of it can be seen."""
    question = fill(an_object(question=TEXT), sentences=["目标是什么？"])["question"]
    assert question != "目标是什么？"
    assert "目标是什么？" in question
