"""Chain of verification (CoV-RAG): score an answer, judge it, and do what its problem calls for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

from kgrag.answer.answer import Problem, ProblemKind, Step
from kgrag.answer.notes import note
from kgrag.errors import ModelError
from kgrag.llm.chat import Request, Schema
from kgrag.llm.middleware import Counted
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask, one_question
from kgrag.types import Language
from kgrag.verification.attempt import Attempt, material
from kgrag.verification.indicator import FOOTNOTE_2, MEASURES, Judgement, Verification, sigma, unmet
from kgrag.verification.loop import Assessment, Case, Failed, Method, Revision
from kgrag.verification.scores import as_object, in_words, read_scores, scores_schema

_ORDER: Mapping[str, float] = {"true": 3.0, "unclear": 2.0, "false": 0.0}
_UNJUDGED = 1.0
_SAID: Mapping[str, Judgement] = {
    **{name: name for name in get_args(Judgement)},
    **dict.fromkeys(("正确", "对", "是", "准确", "correct", "yes"), "true"),
    **dict.fromkeys(("错误", "错", "不正确", "否", "不准确", "incorrect", "wrong", "no"), "false"),
    **dict.fromkeys(
        ("不清楚", "不明确", "不确定", "部分正确", "partially correct", "uncertain"), "unclear"
    ),
}
_JUDGEMENT: Schema = {"type": "string", "enum": list(get_args(Judgement))}
_QUESTION: Schema = {"type": "string"}
_PROBLEM: Schema = {
    "type": ["object", "null"],
    "properties": {
        "kind": {"type": "string", "enum": list(get_args(ProblemKind))},
        "sentence": {"type": "string"},
        "why": {"type": "string"},
    },
    "required": ["kind", "sentence", "why"],
    "additionalProperties": False,
}
_LONGEST_WHY = 400  # characters that are told to the model and the reader
_SUFFICE = 0.5  # reference correctness from which the references can carry an answer


def _read_scores(data: Json) -> Verification:
    """Return a verification without a revised question.

    Raises:
        ValueError: If the form is wrong.
    """
    said = str(as_object(data).get("judgement")).strip(" 。.“”\"'").lower()  # true, not "true"
    if said not in _SAID:
        raise ValueError(f"judgement must be one of {get_args(Judgement)}, got {said!r}")
    return Verification(read_scores(data, MEASURES), _SAID[said])


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


def _read_cov_with_problem(data: Json) -> Verification:
    """Return a verification with its problem; one that is not of the form counts as none."""
    verification = _read_cov(data)
    if verification.judgement == "true":
        return verification
    return replace(verification, problem=_read_problem(as_object(data).get("problem")))


def _read_problem(data: Json) -> Problem | None:
    if not isinstance(data, dict):
        return None
    kind = str(data.get("kind")).strip().lower()
    known: dict[str, ProblemKind] = {name: name for name in get_args(ProblemKind)}
    why = data.get("why")
    if kind not in known or not isinstance(why, str) or not why.strip():
        return None
    sentence = data.get("sentence")
    said = sentence.strip() if isinstance(sentence, str) else ""
    return Problem(known[kind], said, why.strip()[:_LONGEST_WHY])


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
    scores_schema(MEASURES, judgement=_JUDGEMENT, problem=_PROBLEM, revised_question=_QUESTION),
    _read_cov_with_problem,
)
_COV_PAPER = _Form(
    "cov_paper",
    scores_schema(MEASURES, judgement=_JUDGEMENT, revised_question=_QUESTION),
    _read_cov,
)
_COV_SCORES = _Form("cov_scores", scores_schema(MEASURES, judgement=_JUDGEMENT), _read_scores)
_REVISION_SCHEMA = scores_schema((), revised_question=_QUESTION)


def _asked(form: _Form, case: Case, attempt: Attempt) -> Verification:
    messages = prompt(form.name, case.language).fill(**material(case.question, attempt))
    request = Request(messages, "verify", schema=form.schema, schema_name=form.name)
    return ask(case.model, request, form.read)


def score(case: Case, attempt: Attempt) -> Verification:
    """Return the scores and the judgement of CoV-RAG, Table 1, in one call; no question.

    Args:
        case: The question, and the model that checks.
        attempt: The answer, and the references that it is held against.

    Raises:
        ModelError: If it gives none.
    """
    return _asked(_COV_SCORES, case, attempt)


def _by_problem(case: Case, failed: Failed[Verification]) -> Revision:
    """Return what the problem of an answer calls for."""
    verification, language = failed.scored, case.language
    revised, problem = verification.revised_question, verification.problem
    if not failed.attempt.answer.found and verification.judgement != "false":
        return Revision(revised)  # nothing is there: other words may find something
    if verification.judgement == "unclear" and problem is None:
        return Revision("", note("no-problem", language))
    named = problem or Problem("wrong", "", note(f"judged-{verification.judgement}", language))
    poor = verification.scores["reference_correctness"] < _SUFFICE
    if named.kind == "missing" or poor:
        no_question = note("no-question", language)
        return Revision(revised, no_question, act="more", problem=named)
    return Revision("", act="again", problem=named)


def _by_sigma(case: Case, failed: Failed[Verification]) -> Revision:
    """Return the check's own question where σ holds."""
    return _where_sigma(case, failed, Revision(failed.scored.revised_question))


def _by_second_call(case: Case, failed: Failed[Verification]) -> Revision:
    """Return the question of a second call where σ holds but for that there is one."""
    verification, found = failed.scored, failed.attempt.answer.found
    if unmet(verification, found=found):
        return Revision("", _why_not_again(verification, case.language) if found else "")
    revision = _rewritten(case, failed)
    revised = replace(verification, revised_question=revision.question)
    return _where_sigma(case, replace(failed, scored=revised), revision)


def _where_sigma(case: Case, failed: Failed[Verification], revision: Revision) -> Revision:
    """Return a revision where σ holds, and why there is none elsewhere."""
    verification, found = failed.scored, failed.attempt.answer.found
    if unmet(verification, found=found):
        return Revision("", _why_not_again(verification, case.language) if found else "")
    if sigma(verification, found=found):
        return revision
    return replace(revision, reason=revision.reason or note("no-question", case.language))


def _why_not_again(verification: Verification, language: Language) -> str:
    """Return, for a reader, why σ does not hold of an answer: see `unmet`."""
    if verification.judgement != "false":
        return note("not-false", language)
    if verification.scores["reference_correctness"] > FOOTNOTE_2.reference_correctness:
        return note("references-bear", language)
    return note("not-all-bad", language)


def _judged(verification: Verification, language: Language) -> str:
    problem = verification.problem
    told = f": {problem.why}" if problem else ""
    where = f" ({problem.sentence})" if problem and problem.sentence else ""
    judged = note(f"judged-{verification.judgement}", language)
    return f"{judged}{told}{where}"


def _judge(verification: Verification, attempt: Attempt, language: Language) -> Assessment:
    """Return what scores and judgement mean: a true answer passes.

    Answers are ranked by their judgement, then by the mean of their scores (without conciseness,
    bias reversed).
    """
    scores = verification.scores
    good = [s for name, s in scores.items() if name not in ("bias", "conciseness")]
    detail = f"judged {verification.judgement}: {in_words(scores)}"
    if verification.revised_question:
        detail += f"\nrevised question: {verification.revised_question}"
    nothing = not attempt.answer.found and verification.judgement != "false"
    return Assessment(
        status="passed" if verification.judgement == "true" else "failed",
        rank=(_ORDER[verification.judgement], (sum(good) + 1 - scores["bias"]) / (len(good) + 1)),
        scores=scores,
        reason=note("no-answer", language) if nothing else _judged(verification, language),
        step=Step("verify", detail),
        revised=verification.revised_question,
        problem=verification.problem,
        may_stand=nothing,  # within the loop it does not pass: another wording may find something
    )


def _rewritten(case: Case, failed: Failed[Verification]) -> Revision:
    """Return the revised question of a call of its own, told the verdict."""
    attempt, verification = failed.attempt, failed.scored
    shown = material(case.question, attempt)
    titles = dict.fromkeys(f"《{passage.title}》" for passage in attempt.context.passages)
    messages = prompt("revision", case.language).fill(
        question=shown["question"],
        answer=shown["answer"],
        verdict=f"{verification.judgement}; {in_words(verification.scores)}",
        titles=fence("\n".join(titles), label="titles"),
        tried=fence("\n".join(failed.tried), label="tried"),
    )
    request = Request(messages, "verify", schema=_REVISION_SCHEMA, schema_name="revision")
    counted = Counted(case.model)
    try:
        revised = ask(counted, request, _read_revised)
    except ModelError as exc:
        told = note("not-rewritten", case.language, error=exc)
        return Revision("", told, Step("rewrite", told, counted.calls))
    return Revision(revised, step=Step("rewrite", f"revised question: {revised}", counted.calls))


# An answer that nobody judged may be better than one that was found false, and worse than others.
_method: Callable[..., Method[Verification]] = partial(
    Method, judge=_judge, max_rounds=2, unjudged=(_UNJUDGED, 0.0)
)

# CoV-RAG, section 2.3: scores, judgement and revised question come in one chain. Beside them the
# check names the problem: which sentence, and why. What follows is ours, as σ asks for five bad
# scores at once, which answers with any content hardly have:
# - references that suffice: the question is answered again from the same ones, told the problem;
# - a part is missing, or the references are poor: the gaps between the passages are filled, the
#   revised question is searched for, and the question answered from all of it;
# - nothing was found, and the references hold nothing: the revised question is searched for.
COV = _method("cov", score=partial(_asked, _COV), act=_by_problem)

# CoV-RAG, section 2.3 and Algorithm 1: where σ holds, references are retrieved with the revised
# question and the original one is answered anew. The paper does this once and takes the second
# answer unseen, naming further rounds as future work (Limitations). Here every answer is checked
# while the budget lasts, and the best one stands. Where the budget forbids to check the second
# answer, it replaces one that was found false, as in the paper.
COV_PAPER = _method("cov-paper", score=partial(_asked, _COV_PAPER), act=_by_sigma)

# The first call gives scores and judgement; only where they call for retrieving anew does a second
# one word the question, told the verdict but not the references again: cheaper as long as most
# answers pass. CoV-RAG has no such form: its model gives all in one chain (section 2.3, Table 13),
# and its stages are those of training (section 2.2). What carries over is its Table 4: revised
# questions are better after scores and judgement than without them (win rate 54.2 to 45.8), so the
# second call is told both.
COV_TWO_STAGE = _method("cov-two-stage", score=score, act=_by_second_call)
