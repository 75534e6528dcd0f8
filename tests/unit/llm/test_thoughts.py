"""Thoughts at the start of an answer."""

import pytest

from kgrag.llm.thoughts import Thoughts, without_thoughts


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("是。[1]", "是。[1]"),
        ("<think>嗯</think>\n\n是。", "是。"),
        (" \n<think></think>是。", "是。"),
        ("<think>没有说完", ""),
        ("先说<think>不是开头</think>", "先说<think>不是开头</think>"),
        ("<thinking>别的标签", "<thinking>别的标签"),
        ("<thi", "<thi"),
        ("  \n", "  \n"),
        ("", ""),
        ("<think>a</think><think>b</think>c", "<think>b</think>c"),
    ],
)
def test_thoughts_are_left_out_whatever_the_pieces_when_they_come_first(answer, shown):
    """Only a `<think>` at the very start goes, and cutting the answer up changes nothing."""
    assert without_thoughts(answer) == shown
    for size in (1, 2, 3, 7):
        thoughts = Thoughts()
        pieces = [thoughts.feed(answer[i : i + size]) for i in range(0, len(answer), size)]
        assert "".join(pieces) + thoughts.end() == shown


def test_feed_gives_words_at_once_when_no_thought_can_come():
    """Nothing is held back longer than it must be."""
    thoughts = Thoughts()
    assert thoughts.feed("<t") == ""
    assert thoughts.feed("able>") == "<table>"
    assert thoughts.feed("<think>") == "<think>"
