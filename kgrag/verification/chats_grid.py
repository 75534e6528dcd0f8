"""Chats-Grid: an answer is scored by the model; if it fails, the question is rewritten."""

from statistics import fmean

from kgrag.answer.answer import Step
from kgrag.answer.notes import note
from kgrag.errors import ModelError
from kgrag.llm.chat import Request
from kgrag.llm.middleware import Counted
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask, ask_text, one_question
from kgrag.types import Language
from kgrag.verification.attempt import Attempt, material
from kgrag.verification.loop import Assessment, Case, Failed, Method, Revision
from kgrag.verification.rating import in_words, read_scores, scores_schema

# Chats-Grid, section III.C: the first four of its five criteria; the fifth, tokens, is counted.
MEASURES = ("faithfulness", "context_recall", "answer_relevance", "answer_accuracy")
PASS_ABOVE = 0.85  # mean of the four, section III.C, "AI Self-Check Mechanism"

_HOLDS = 0.5  # context recall below which an answer that found nothing is right
_SILENT = 2  # such answers, to different wordings, after which no other wording is tried

_SCHEMA = scores_schema(MEASURES)


def self_check(case: Case, attempt: Attempt) -> dict[str, float]:
    """Return the measures of `MEASURES`, each in [0, 1], in one call.

    Chats-Grid, section III.C, criteria 1 to 4.

    Raises:
        ModelError: If the model returns no scores.
    """
    messages = prompt("self_check", case.language).fill(**material(case.question, attempt))
    request = Request(messages, "verify", schema=_SCHEMA, schema_name="self_check")
    return ask(case.model, request, _read)


def _read(data: Json) -> dict[str, float]:
    return read_scores(data, MEASURES)


def _judge(scores: dict[str, float], attempt: Attempt, language: Language) -> Assessment:
    """Return the assessment of scores: their mean must exceed 0.85."""
    mean = fmean(scores.values())
    told = note("self-check", language, mean=mean, least=PASS_ABOVE)
    nothing = not attempt.answer.found and scores["context_recall"] < _HOLDS
    return Assessment(
        status="passed" if mean > PASS_ABOVE else "failed",
        rank=(mean,),
        scores=scores,
        reason=note("no-answer", language) if nothing else told,
        step=Step("verify", f"{told}: {in_words(scores)}"),
        may_stand=nothing,
    )


def _rewrite(case: Case, failed: Failed[dict[str, float]]) -> Revision:
    """Return a rewritten question, given the failed answer."""
    if failed.silent >= _SILENT:
        return Revision("", note("silent", case.language))
    shown = material(case.question, failed.attempt)
    messages = prompt("rewrite", case.language).fill(
        question=shown["question"],
        answer=shown["answer"],
        tried=fence("\n".join(failed.tried), label="tried"),
    )
    counted = Counted(case.model)
    try:
        completion = ask_text(counted, Request(messages, "verify"), one_question)
    except ModelError as exc:
        told = note("not-rewritten", case.language, error=exc)
        return Revision("", told, Step("rewrite", told, counted.calls))
    rewritten = one_question(completion.text)
    return Revision(rewritten, step=Step("rewrite", rewritten, counted.calls))


# Chats-Grid, section III.C and Algorithm 3: the answer is scored against its context; where the
# mean does not exceed 0.85, the question is rewritten from the answer so far (Figure 8), expanded,
# retrieved and answered again. The paper bounds this at five iterations and goes on with the last
# answer; here the one with the best mean stands, not passed. Its text counts iterations, its
# Algorithm 3 rewritings: the budget counts answers, the first included. Ours: an answer that says
# that nothing was found, from references that hold nothing (context recall below 0.5), stands where
# a second wording finds nothing either: relevance and accuracy are 0.
CHATS_GRID = Method("chats-grid", self_check, _judge, _rewrite, max_rounds=5, unjudged=(-1.0,))
