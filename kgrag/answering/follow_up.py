"""Completing follow-up questions: by a model, or by rules."""

from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.answer.answer import Answer
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
        cited: Titles of the documents that it cites, in order.
        places: Addresses of what it quotes of them, in order.
    """

    question: str
    answer: str
    cited: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


def turn_of(answer: Answer) -> Turn:
    """Return an answer as a turn."""
    places = tuple(cited.address for cited in answer.citations)
    return Turn(answer.question, answer.text, answer.cited_titles, places)


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
    rules complete it, has one; or about the document that was cited (这个办法还有效吗).

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
    before = _completed(history)
    if question_language(question) != question_language(before.question):
        return False
    rules = carry_over_en if question_language(question) == "en" else carry_over_zh
    return bool(rules.is_sure(question, before.question, before.cited))


def places_meant(question: str, history: Sequence[Turn]) -> tuple[str, ...]:
    """Return the addresses cited last if a question asks which articles these are; else none.

    Args:
        question: The last one: 第几条规定的.
        history: The turns before it, oldest first.
    """
    before = _completed(history)
    asks = carry_over_zh.asks_article(question, before.cited)
    return before.places if asks else ()


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
    return _complete(question, _completed(history))


def _completed(history: Sequence[Turn]) -> Turn:
    """Return the last turn, its question completed, with the titles that were cited last."""
    last = Turn("", "")
    for turn in history:
        cites = turn if turn.cited else last
        question = _complete(turn.question, last)
        last = Turn(question, turn.answer, cites.cited, cites.places)
    return last


def _complete(question: str, before: Turn) -> str:
    if not before.question or not question.strip():
        return question
    rules = carry_over_en if question_language(question) == "en" else carry_over_zh
    completed = rules.complete(question, before.question, before.answer, before.cited)
    return completed if len(completed) <= _LONGEST else question


def _cut(text: str) -> str:
    return text if len(text) <= _ANSWER else text[:_ANSWER] + "…"
