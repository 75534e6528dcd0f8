"""The loop of Chats-Grid: an answer checks itself; where it fails, the question is rewritten."""

from collections.abc import Sequence
from statistics import fmean

from kgrag.errors import ModelError
from kgrag.llm.chat import ChatModel, Request
from kgrag.llm.middleware import Counted
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask, ask_text, one_question
from kgrag.results import Step
from kgrag.types import Language
from kgrag.verification.attempt import Attempt, Try, Verified, material
from kgrag.verification.budget import Budget
from kgrag.verification.loop import Assessment, Revision, improve, unverified
from kgrag.verification.reasons import reason
from kgrag.verification.scores import in_words, read_scores, scores_schema

# Chats-Grid, section III.C: the first four of its five criteria; the fifth, tokens, is counted.
MEASURES = ("faithfulness", "context_recall", "answer_relevance", "answer_accuracy")
PASS_ABOVE = 0.85  # mean of the four, section III.C, "AI Self-Check Mechanism"

_HOLDS = 0.5  # context recall below which an answer that found nothing is right
_SILENT = 2  # such answers, to different wordings, after which no other wording is tried

_SCHEMA = scores_schema(MEASURES)


def chats_grid(
    question: str,
    first: Attempt,
    try_: Try,
    *,
    language: Language,
    model: ChatModel,
    budget: Budget,
) -> Verified:
    """Return the first answer that passes its self-check, or the best one.

    Chats-Grid, section III.C and Algorithm 3: the answer is scored against its context; where
    the mean does not exceed 0.85, the question is rewritten from the answer so far (Figure 8),
    expanded, retrieved and answered again. The paper bounds this at five iterations and goes on
    with the last answer; here the one with the best mean stands, not passed. Its text counts
    iterations, its Algorithm 3 rewritings: the budget counts answers, the first included. Ours:
    an answer that says that nothing was found, from references that hold nothing (context recall
    below 0.5), stands where a second wording finds nothing either: relevance and accuracy are 0.

    Args:
        question: As asked.
        first: The first answer.
        try_: Gives further ones; expands, retrieves, rates and answers.
        language: Of the question.
        model: Checks and rewrites; stage `verify`.
        budget: Answers, calls and seconds; the paper's form has 5 answers.
    """
    examiner = budget.bound(model)
    silent: list[Attempt] = []  # attempts that found nothing, with references that hold nothing

    def check(attempt: Attempt) -> Assessment:
        counted = Counted(examiner)
        try:
            scores = self_check(question, attempt, language=language, model=counted)
        except ModelError as exc:
            return unverified(exc, rank=(-1.0,), calls=counted.calls)
        mean = fmean(scores.values())
        told = reason("self-check", language, mean, PASS_ABOVE)
        nothing = not attempt.answer.found and scores["context_recall"] < _HOLDS
        if nothing:
            silent.append(attempt)

        def revise(tried: Sequence[str]) -> Revision:
            if len(silent) >= _SILENT:
                return Revision("", reason("silent", language))
            return _rewrite(question, attempt, tried=tried, model=examiner, language=language)

        return Assessment(
            status="passed" if mean > PASS_ABOVE else "failed",
            rank=(mean,),
            scores=scores,
            reason=reason("nothing", language) if nothing else told,
            step=Step("verify", f"{told}: {in_words(scores)}", counted.calls),
            revise=revise,
            may_stand=nothing,
        )

    return improve("chats-grid", question, first, try_, check=check, budget=budget)


def self_check(
    question: str, attempt: Attempt, *, language: Language, model: ChatModel
) -> dict[str, float]:
    """Return the measures of `MEASURES`, each in [0, 1], in one call.

    Chats-Grid, section III.C, criteria 1 to 4.

    Args:
        question: As asked.
        attempt: The answer, and the context that it is held against.
        language: Of the question.
        model: Checks.

    Raises:
        ModelError: If it gives no scores.
    """
    messages = prompt("self_check", language).fill(**material(question, attempt))
    request = Request(messages, "verify", schema=_SCHEMA, schema_name="self_check")
    return ask(model, request, _read)


def _read(data: Json) -> dict[str, float]:
    return read_scores(data, MEASURES)


def _rewrite(
    question: str,
    attempt: Attempt,
    *,
    tried: Sequence[str],
    model: ChatModel,
    language: Language,
) -> Revision:
    """Return the question in other words, in view of the answer that failed."""
    shown = material(question, attempt)
    messages = prompt("rewrite", language).fill(
        question=shown["question"],
        answer=shown["answer"],
        tried=fence("\n".join(tried), label="tried"),
    )
    counted = Counted(model)
    try:
        completion = ask_text(counted, Request(messages, "verify"), one_question)
    except ModelError as exc:
        told = reason("not rewritten", language, exc)
        return Revision("", told, Step("rewrite", told, counted.calls))
    rewritten = one_question(completion.text)
    return Revision(rewritten, step=Step("rewrite", rewritten, counted.calls))
