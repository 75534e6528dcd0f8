"""Make a follow-up question stand by itself: by a model, or by rules."""

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
        question: As asked, or as it was understood.
        answer: The answer's text.
    """

    question: str
    answer: str


def rewrite_follow_up(question: str, history: Sequence[Turn], *, model: ChatModel) -> str:
    """Return a question that can be understood without the conversation before it.

    One call, none without a history, none where the rules are sure (`is_sure`). Where the model
    gives nothing that can be used, or changes the language, the rules of `carry_over` decide.

    Args:
        question: The last one.
        history: The turns before it, oldest first; the last 3 are shown, answers cut short.
        model: Rewrites; stage `analyse`.
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
    """Return whether the rules of `carry_over` surely say what a follow-up asks.

    It asks for another place or another year (那浙江呢？ 换成2030年), and the question before it,
    as the rules complete it, names one.

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

    The offline counterpart of `rewrite_follow_up`. It knows three forms: another place, year or
    article for that of the question before (那浙江呢？), a pronoun for its title or subject
    (它的目标是什么？), and a question without a subject of its own (由哪个部门负责？). A question
    in no such form comes back unchanged; so does one that would grow beyond 300
    characters. Questions that stand by themselves stay as they are (benchmarks/decisions.md).

    Args:
        question: The last one.
        history: The turns before it, oldest first, as asked or as understood.

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
