"""Answers of no more quotes than asked for."""

import pytest

from kgrag.answer.answer import Answer
from kgrag.answer.blocks import Missing, Quote, Row, Side
from kgrag.answer.citation import Citation
from kgrag.answering.ask import shortened


def cited(number, quote):
    return Citation(0, f"d{number}", "甲", "a.txt", (), None, 0, 1, quote, f"d{number}:256:0")


def quotes(*said, begin=1):
    return tuple(Quote(cited(n, quote)) for n, quote in enumerate(said, begin))


QUOTES = quotes("一。", "二。", "三。", "四。")
ROWS = tuple(
    Row(cited(n, quote), label, f"{label}：")
    for n, (label, quote) in enumerate(
        (("江苏省", "18%"), ("福建省", "27%"), ("福建省", "26%"), ("河南省", "16%")), 1
    )
)
NONE = Missing("丙市", (cited(4, "四。"),))
SIDES = (Side("甲市", quotes("一。", "二。")), Side("乙市", quotes("三。", begin=3)), NONE)
NOTHING = "丙市：未找到有关规定。检索到的是其他内容：《甲》"


@pytest.mark.parametrize(
    ("blocks", "most", "expected"),
    [
        (QUOTES, 2, "一。[1]\n二。[2]"),
        (ROWS, 3, "江苏省：《甲》：18%[1]\n福建省：《甲》：27%[2]\n河南省：《甲》：16%[3]"),
        (ROWS, 1, "江苏省：《甲》：18%[1]"),
        (SIDES, 2, "甲市：\n一。[1]\n乙市：\n三。[2]"),
        (SIDES, 3, f"甲市：\n一。[1]\n乙市：\n三。[2]\n{NOTHING}[3]"),
    ],
)
def test_an_answer_is_held_to_so_many_quotes(blocks, most, expected):
    """Sides and places in turn, numbers counted anew; a note tells how many there are."""
    told = shortened(Answer("目标？", blocks, "extractive"), most)
    assert told.text == expected
    assert [c.number for c in told.citations] == list(range(1, most + 1))
    assert told.notes == (f"列出前{most}条，共4条",)


def test_citations_stay_with_their_lines():
    """Whatever their new numbers."""
    assert [c.doc_id for c in shortened(Answer("目标？", ROWS, "extractive"), 3).citations] == [
        "d1",
        "d2",
        "d4",
    ]


@pytest.mark.parametrize("most", [None, 4, 9])
def test_a_short_answer_stays_as_it_is(most):
    """No note."""
    assert shortened(Answer("目标？", ROWS, "extractive"), most) == Answer(
        "目标？", ROWS, "extractive"
    )
