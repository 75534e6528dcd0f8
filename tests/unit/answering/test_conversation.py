"""What is said to a line, and what of it is asked."""

from typing import Any

import pytest

from kgrag.answer.answer import Answer
from kgrag.answering.conversation import Conversation
from kgrag.store.store import Store


def talking():
    """Return a conversation whose answers are written down, and what was asked of it."""
    asked = []

    def ask(line, turns):
        asked.append((line, [turn.question for turn in turns]))
        return Answer.of_text(line, "500家。", (), "m")

    return Conversation(ask, no_store, leaf=lambda: 256), asked


def no_store() -> Store:
    """Fail: nothing is to be looked up."""
    pytest.fail("the knowledge base was asked")


def test_only_questions_are_asked():
    """Courtesy, help and originals call nobody, and are no turns."""
    talk, asked = talking()
    lines = ("你好", "甲市建多少家？", "谢谢", "/help", "给我原文", "乙市建多少家？")
    replies = [talk.reply(line) for line in lines]
    assert [line for line, _ in asked] == ["甲市建多少家？", "乙市建多少家？"]
    assert asked[1][1] == ["甲市建多少家？"]
    assert [reply.answer is None for reply in replies] == [True, False, True, True, True, False]
    assert all(reply.text or reply.answer for reply in replies)


def test_a_comparison_without_answers_before_is_a_question():
    """There is nothing to compare."""
    talk, asked = talking()
    assert talk.reply("哪个更高？").answer is not None
    assert asked == [("哪个更高？", [])]


@pytest.mark.parametrize(("method", "asks"), [("m", True), ("extractive", False)])
def test_a_comparison_that_rules_cannot_make_goes_to_the_model(monkeypatch, method, asks):
    """Where one wrote the last answer; else what is missing is said."""
    monkeypatch.setattr("kgrag.answering.conversation.compared", lambda *_, **__: None)
    asked = []

    def ask(line, turns):
        asked.append((line, len(turns)))
        return Answer.of_text(line, "500家。", (), method)

    store: Any = None
    talk = Conversation(ask, lambda: store, leaf=lambda: 256)
    talk.reply("甲市建多少家？")
    reply = talk.reply("哪个城市的目标更高？")
    assert asked[1:] == ([("哪个城市的目标更高？", 1)] if asks else [])
    assert (reply.answer is None) != asks


def test_a_new_conversation_has_no_turns():
    """And an end is told."""
    talk, asked = talking()
    talk.reply("甲市建多少家？")
    talk.reply("/new")
    talk.reply("乙市建多少家？")
    assert asked[1][1] == []
    assert talk.reply("exit").ends


def test_help_is_in_the_language_of_the_conversation():
    """In both before it."""
    talk, _ = talking()
    first = talk.reply("/help").text
    assert "每行一个问题" in first
    assert "A question a line" in first
    talk.reply("甲市建多少家？")
    assert "A question a line" not in talk.reply("/help").text
