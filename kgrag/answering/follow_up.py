"""Completing follow-up questions: by a model, or by their fields."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kgrag.answer.answer import Answer, Step
from kgrag.answering.models import QuestionModels
from kgrag.errors import ModelError
from kgrag.llm.chat import Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import ask_text, one_question
from kgrag.question.follow_up import completed
from kgrag.text.visible import shortened
from kgrag.text.words import question_language

_TURNS = 3  # of the conversation that a model is shown
_ANSWER = 400  # characters of each answer
_CHAIN = 20  # questions that may lean on one another
_LONGEST = 300  # characters of a question


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation and its answer.

    Attributes:
        question: As asked, or as completed.
        answer: The answer's text.
        cited: Titles of the documents that it cites, in order.
    """

    question: str
    answer: str
    cited: tuple[str, ...] = ()


def turn_of(answer: Answer) -> Turn:
    """Return an answer as a turn."""
    return Turn(answer.question, answer.text, answer.cited_titles)


def rewrite_follow_up(
    question: str,
    history: Sequence[Turn],
    *,
    models: QuestionModels,
    known: Collection[str] = (),
) -> tuple[str, Step]:
    """Return a self-contained form of a question, and the step to it.

    One call of a model; none where `carry_over` is certain. If the model gives nothing usable, or
    changes the language, `carry_over` decides.

    Args:
        question: The last one.
        history: The turns before it, oldest first; the last 3 are sent, answers shortened.
        models: Of the question; that of the stage `analyse` is asked.
        known: Places of the knowledge base.
    """
    by_fields, certain = carry_over(question, history, known=known)
    if certain:
        return by_fields, Step("understand", by_fields)
    shown = "\n".join(
        f"Q: {turn.question[:_LONGEST]}\nA: {shortened(turn.answer, _ANSWER)}"
        for turn in history[-_TURNS:]
    )
    language, before = question_language(question), models.calls
    messages = prompt("follow_up", language).fill(
        history=fence(shown, label="history"), question=fence(question, label="question")
    )
    try:
        asked = Request(messages, "analyse")
        told = one_question(ask_text(models.of("analyse"), asked, one_question).text)
    except ModelError as exc:
        detail = f"left out: {exc}\nby rule: {by_fields}"
        return by_fields, Step("understand", detail, models.calls - before, failed=True)
    understood = told if question_language(told) == language else by_fields
    return understood, Step("understand", understood, models.calls - before)


def carry_over(
    question: str, history: Sequence[Turn], *, known: Collection[str] = ()
) -> tuple[str, bool]:
    """Complete a question from the ones before it, as `kgrag.question.follow_up.completed` does.

    Args:
        question: The last one.
        history: The turns before it, oldest first, as asked or as completed.
        known: Places of the knowledge base.

    Returns:
        (question, certain): unchanged if it stands by itself, or would exceed 300 characters.
    """
    if not history or not question.strip():
        return question, True
    last, _ = carry_over(history[-1].question, history[-_CHAIN:-1], known=known)
    cited = next((turn.cited for turn in reversed(history) if turn.cited), ())
    told, certain = completed(question, last, cited, known=known)
    return (told, certain) if len(told) <= _LONGEST else (question, False)
