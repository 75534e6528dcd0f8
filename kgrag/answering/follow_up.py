"""Completing follow-up questions: by a model, or by rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.answering import carry_over_en, carry_over_zh
from kgrag.errors import ModelError
from kgrag.llm.chat import ChatModel, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import ask_text, one_question
from kgrag.text.words import question_language

_TURNS = 3  # of the conversation that a model is shown
_ANSWER = 400  # characters of each answer
_LONGEST = 300  # characters of a question


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation and its answer.

    Attributes:
        question: As asked, or as completed.
        answer: The answer's text.
    """

    question: str
    answer: str


def rewrite_follow_up(question: str, history: Sequence[Turn], *, model: ChatModel) -> str:
    """Return a self-contained form of a question.

    One call; none without a history, or if the rules are certain (`is_sure`). If the model gives
    nothing usable, or changes the language, `carry_over` decides.

    Args:
        question: The last one.
        history: The turns before it, oldest first; the last 3 are sent, answers shortened.
        model: Of the stage `analyse`.
    """
    if not history or not question.strip():
        return question
    if is_sure(question, history):
        return carry_over(question, history)
    shown = "\n".join(
        f"Q: {turn.question[:_LONGEST]}\nA: {_cut(turn.answer)}" for turn in history[-_TURNS:]
    )
    messages = prompt("follow_up", question_language(question)).fill(
        history=fence(shown, label="history"), question=fence(question, label="question")
    )
    try:
        completion = ask_text(model, Request(messages, "analyse"), one_question)
    except ModelError:
        return carry_over(question, history)
    rewritten = one_question(completion.text)
    same_language = question_language(rewritten) == question_language(question)
    return rewritten if same_language else carry_over(question, history)


def is_sure(question: str, history: Sequence[Turn]) -> bool:
    """Return whether the rules of `carry_over` are certain about a follow-up.

    It asks for another place or year (那浙江呢？ 换成2030年), and the question before it, as the
    rules complete it, has one.

    Args:
        question: The last one.
        history: The turns before it, oldest first.

    >>> is_sure("那浙江呢？", [Turn("吉林省绿色工厂的目标是多少？", "500家[1]。")])
    True
    >>> is_sure("那浙江呢？", [Turn("吉林和江苏哪个高？", "吉林[1]。")])
    False
    """
    if not history:
        return False
    before = carry_over(history[-1].question, history[:-1])
    if question_language(question) != question_language(before):
        return False
    if question_language(question) == "en":
        return carry_over_en.is_sure(question, before)
    return carry_over_zh.is_sure(question, before)


def carry_over(question: str, history: Sequence[Turn]) -> str:
    """Return a question completed by rules from the ones before it.

    The offline counterpart of `rewrite_follow_up`, for three forms: another place, year or article
    (那浙江呢？), a pronoun (它的目标是什么？), and a question without subject (由哪个部门负责？).
    Other questions, and those that would exceed 300 characters, are unchanged, as are
    self-contained ones (benchmarks/decisions.md).

    Args:
        question: The last one.
        history: The turns before it, oldest first, as asked or as completed.

    >>> carry_over("那浙江呢？", [Turn("吉林省绿色工厂的目标是多少？", "500家[1]。")])
    '浙江绿色工厂的目标是多少？'
    """
    before, answer = "", ""
    for turn in history:
        before, answer = _complete(turn.question, before, answer), turn.answer
    return _complete(question, before, answer)


def _complete(question: str, before: str, answer: str) -> str:
    if not before or not question.strip():
        return question
    rules = carry_over_en if question_language(question) == "en" else carry_over_zh
    completed = rules.complete(question, before, answer)
    return completed if len(completed) <= _LONGEST else question


def _cut(text: str) -> str:
    return text if len(text) <= _ANSWER else text[:_ANSWER] + "…"
