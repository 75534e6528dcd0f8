"""Chain of verification (CoV-RAG): score an answer, judge it, and retrieve anew where σ says so."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from kgrag.errors import ModelError
from kgrag.llm.chat import ChatModel, Request, Schema
from kgrag.llm.checks import one_question
from kgrag.llm.counting import Counted
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask
from kgrag.results import Step
from kgrag.types import Language
from kgrag.verification.attempt import Attempt, Try, Verified, material
from kgrag.verification.budget import Budget
from kgrag.verification.indicator import FOOTNOTE_2, MEASURES, Judgement, Verification, sigma, unmet
from kgrag.verification.loop import Assessment, Revision, improve, unverified
from kgrag.verification.scores import as_object, in_words, read_scores, scores_schema

# An answer that nobody judged may be better than one that was found false, and worse than others.
_ORDER: Mapping[str, float] = {"true": 3.0, "unclear": 2.0, "false": 0.0}
_UNJUDGED = 1.0
_JUDGEMENT: Schema = {"type": "string", "enum": list(get_args(Judgement))}
_QUESTION: Schema = {"type": "string"}
_NOTHING = "nothing in the documents answers it, as far as was looked"


def cov(
    question: str,
    first: Attempt,
    try_: Try,
    *,
    language: Language,
    model: ChatModel,
    budget: Budget,
) -> Verified:
    """Return the answer that a chain of verification leaves, in one call a check.

    CoV-RAG, section 2.3 and Algorithm 1: scores, judgement and revised question come in one
    chain; where σ holds, references are retrieved with the revised question and the original
    one is answered anew. The paper does this once and takes the second answer unseen, naming
    further rounds as future work (Limitations). Here every answer is checked while the budget
    lasts, and the best one stands: by its judgement, then by the mean of its scores (without
    conciseness, bias reversed). Where the budget forbids to check the second answer, it replaces
    one that was found false, as in the paper.

    Args:
        question: As asked.
        first: The first answer.
        try_: Gives further ones.
        language: Of the question.
        model: Checks; stage `verify`.
        budget: Answers, calls and seconds; the paper's form has 2 answers.
    """

    def revise(_: Attempt, verification: Verification, __: Sequence[str]) -> Revision:
        return Revision(verification.revised_question)

    check = _check(question, _COV, revise, language=language, model=budget.bound(model))
    return improve("cov", question, first, try_, check=check, budget=budget)


def cov_two_stage(
    question: str,
    first: Attempt,
    try_: Try,
    *,
    language: Language,
    model: ChatModel,
    budget: Budget,
) -> Verified:
    """Return the answer that a chain of verification leaves, rewriting in a call of its own.

    The first call gives scores and judgement; only where they call for retrieving anew does a
    second one word the question, told the verdict but not the references again: cheaper as long
    as most answers pass. CoV-RAG has no such form: its model gives all in one chain (section
    2.3, Table 13), and its stages are those of training (section 2.2). What carries over is its
    Table 4: revised questions are better after scores and judgement than without them (win rate
    54.2 to 45.8), so the second call is told both.

    Args:
        question: As asked.
        first: The first answer.
        try_: Gives further ones.
        language: Of the question.
        model: Checks and rewrites; stage `verify`.
        budget: Answers, calls and seconds.
    """
    examiner = budget.bound(model)

    def revise(attempt: Attempt, verification: Verification, tried: Sequence[str]) -> Revision:
        return _revision(
            question, attempt, verification, tried=tried, language=language, model=examiner
        )

    check = _check(question, _COV_SCORES, revise, language=language, model=examiner)
    return improve("cov-two-stage", question, first, try_, check=check, budget=budget)


def _read_scores(data: Json) -> Verification:
    """Return a verification without a revised question.

    Raises:
        ValueError: If the form is wrong.
    """
    said = str(as_object(data).get("judgement")).strip().lower()  # some give true, not "true"
    known: dict[str, Judgement] = {name: name for name in get_args(Judgement)}
    if said not in known:
        raise ValueError(f"judgement must be one of {sorted(known)}, got {said!r}")
    return Verification(read_scores(data, MEASURES), known[said])


def _read_cov(data: Json) -> Verification:
    """Return a verification with the revised question of an answer that is not true.

    A text that is no question counts as none: the scores are worth keeping.
    """
    verification = _read_scores(data)
    if verification.judgement == "true":
        return verification
    try:
        return replace(verification, revised_question=_read_revised(data))
    except ValueError:
        return verification


def _read_revised(data: Json) -> str:
    """Return the revised question.

    Raises:
        ValueError: If there is none.
    """
    revised = as_object(data).get("revised_question")
    return one_question(revised if isinstance(revised, str) else "")


@dataclass(frozen=True, slots=True)
class _Form:
    """A prompt for checking, and what comes back."""

    name: str
    schema: Schema
    read: Callable[[Json], Verification]


_COV = _Form(
    "cov",
    scores_schema(MEASURES, judgement=_JUDGEMENT, revised_question=_QUESTION),
    _read_cov,
)
_COV_SCORES = _Form("cov_scores", scores_schema(MEASURES, judgement=_JUDGEMENT), _read_scores)
_REVISION_SCHEMA = scores_schema((), revised_question=_QUESTION)

_Revise = Callable[[Attempt, Verification, Sequence[str]], Revision]


def _check(
    question: str, form: _Form, revise: _Revise, *, language: Language, model: ChatModel
) -> Callable[[Attempt], Assessment]:
    """Return a check of attempts by a form; `revise` is called where only a question lacks."""

    def check(attempt: Attempt) -> Assessment:
        counted = Counted(model)
        messages = prompt(form.name, language).fill(**material(question, attempt))
        request = Request(messages, "verify", schema=form.schema, schema_name=form.name)
        try:
            verification = ask(counted, request, form.read)
        except ModelError as exc:
            return unverified(exc, rank=(_UNJUDGED, 0.0), calls=counted.calls)

        def reword(tried: Sequence[str]) -> Revision:
            found = attempt.answer.found
            if unmet(verification, found=found):
                return Revision("", _why_not_again(verification) if found else "")
            revision = revise(attempt, verification, tried)
            revised = replace(verification, revised_question=revision.question)
            if sigma(revised, found=found):
                return revision
            return replace(revision, reason=revision.reason or "no revised question was given")

        return _assessment(verification, reword, found=attempt.answer.found, calls=counted.calls)

    return check


def _why_not_again(verification: Verification) -> str:
    """Return, for a reader, why σ does not hold of an answer: see `unmet`."""
    if verification.judgement != "false":
        return "not found false, so no other passages were looked for"
    if verification.scores["reference_correctness"] > FOOTNOTE_2.reference_correctness:
        return "the passages bear on the question, so no others were looked for"
    return "only some of its scores are bad, so no other passages were looked for"


def _assessment(
    verification: Verification,
    revise: Callable[[Sequence[str]], Revision],
    *,
    found: bool,
    calls: int,
) -> Assessment:
    scores = verification.scores
    good = [s for name, s in scores.items() if name not in ("bias", "conciseness")]
    detail = f"judged {verification.judgement}: {in_words(scores)}"
    if verification.revised_question:
        detail += f"\nrevised question: {verification.revised_question}"
    nothing = not found and verification.judgement != "false"
    return Assessment(
        status="passed" if verification.judgement == "true" else "failed",
        rank=(_ORDER[verification.judgement], (sum(good) + 1 - scores["bias"]) / (len(good) + 1)),
        scores=scores,
        reason=_NOTHING if nothing else f"judged {verification.judgement}",
        step=Step("verify", detail, calls),
        revise=revise,
        revised=verification.revised_question,
        may_stand=nothing,  # within the loop it does not pass: another wording may find something
    )


def _revision(
    question: str,
    attempt: Attempt,
    verification: Verification,
    *,
    tried: Sequence[str],
    language: Language,
    model: ChatModel,
) -> Revision:
    """Return the revised question of a call of its own, told the verdict."""
    shown = material(question, attempt)
    titles = dict.fromkeys(f"《{passage.title}》" for passage in attempt.context.passages)
    messages = prompt("revision", language).fill(
        question=shown["question"],
        answer=shown["answer"],
        verdict=f"{verification.judgement}; {in_words(verification.scores)}",
        titles=fence("\n".join(titles), label="titles"),
        tried=fence("\n".join(tried), label="tried"),
    )
    request = Request(messages, "verify", schema=_REVISION_SCHEMA, schema_name="revision")
    counted = Counted(model)
    try:
        revised = ask(counted, request, _read_revised)
    except ModelError as exc:
        reason = f"no revised question: {exc}"
        return Revision("", reason, Step("rewrite", reason, counted.calls))
    return Revision(revised, step=Step("rewrite", f"revised question: {revised}", counted.calls))
