"""Answers of no more quotes than asked for."""

import pytest

from kgrag.asking.ask import shortened
from kgrag.results import Answer, Citation


def answer(text, n):
    """Return an answer of quotes with n citations."""
    cited = tuple(
        Citation(i, f"d{i}", "甲", "a.txt", (), None, 0, 1, "问", f"d{i}:256:0")
        for i in range(1, n + 1)
    )
    return Answer("目标？", text, cited, True, "extractive")


ROWS = "江苏省：18%[1]\n福建省：27%[2]\n福建省：26%[3]\n河南省：16%[4]"
NONE = "丙市：未找到有关规定。检索到的是其他内容：《丁》"
SIDES = f"甲市：\n一。[1]\n二。[2]\n乙市：\n三。[3]\n{NONE}[4]"


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [
        ("一。[1]\n二。[2]\n三。[3]\n四。[4]", 2, "一。[1]\n二。[2]"),
        (ROWS, 3, "江苏省：18%[1]\n福建省：27%[2]\n河南省：16%[3]"),
        (ROWS, 1, "江苏省：18%[1]"),
        (SIDES, 2, "甲市：\n一。[1]\n乙市：\n三。[2]"),
        (SIDES, 3, f"甲市：\n一。[1]\n乙市：\n三。[2]\n{NONE}[3]"),
    ],
)
def test_an_answer_is_held_to_so_many_quotes(text, most, expected):
    """Sides and places in turn, numbers counted anew; a note tells how many there are."""
    told = shortened(answer(text, 4), most)
    assert told.text == expected
    assert [c.number for c in told.citations] == list(range(1, most + 1))
    assert told.notes == (f"列出前{most}条，共4条",)


def test_citations_stay_with_their_lines():
    """Whatever their new numbers."""
    assert [c.doc_id for c in shortened(answer(ROWS, 4), 3).citations] == ["d1", "d2", "d4"]


@pytest.mark.parametrize("most", [None, 4, 9])
def test_a_short_answer_stays_as_it_is(most):
    """No note."""
    assert shortened(answer(ROWS, 4), most) == answer(ROWS, 4)
