"""Chain of verification (CoV-RAG): score an answer, judge it, and revise it by its problem."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

from kgrag.answer.answer import Problem, ProblemKind, Step
from kgrag.answer.notes import note
from kgrag.errors import ModelError
from kgrag.llm.chat import Request, Schema
from kgrag.llm.middleware import Counted
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask, one_question
from kgrag.types import Language
from kgrag.verification.attempt import Attempt, cited_material, material
from kgrag.verification.loop import Assessment, Case, Failed, Method, Revision
from kgrag.verification.rating import as_object, in_words, read_scores, scores_schema

Judgement = Literal["true", "false", "unclear"]

# CoV-RAG, Table 1; bias is the one that is better when low.
MEASURES = (
    "reference_correctness",
    "correctness",
    "citation_accuracy",
    "truthfulness",
    "bias",
    "conciseness",
)


@dataclass(frozen=True, slots=True)
class Verification:
    """A model's verification of an answer: (s_k, s_y, n, x') in CoV-RAG, section 2.3.

    Attributes:
        scores: By measure of `MEASURES`, each in [0, 1].
        judgement: Whether the answer is accurate, factual and clear.
        revised_question: A question that is easier to retrieve and answer; empty if the answer is
            true, or none was given.
        problem: What is wrong with an answer that is not true; not part of the paper.
    """

    scores: Mapping[str, float]
    judgement: Judgement
    revised_question: str = ""
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Scores for another retrieval: CoV-RAG, footnote 2.

    Attributes:
        reference_correctness: At most this.
        correctness: Less than this.
        bias: More than this.
        truthfulness: At most this.
    """

    reference_correctness: float = 0.27
    correctness: float = 0.26
    bias: float = 0.7
    truthfulness: float = 0.92


FOOTNOTE_2 = Thresholds()


def unmet(
    verification: Verification, thresholds: Thresholds = FOOTNOTE_2, *, found: bool = True
) -> list[str]:
    """Return the conditions of σ on scores and judgement that do not hold, in words.

    Args:
        verification: Of an answer.
        thresholds: Those of the paper by default.
        found: False for an answer that nothing was found: without content to score, only the
            references must be bad and the judgement not true. Answers in the paper always answer.
    """
    scores, least = verification.scores, thresholds
    conditions = {
        f"reference correctness at most {least.reference_correctness}": (
            scores["reference_correctness"] <= least.reference_correctness
        )
    }
    if found:
        conditions |= {
            "judged false": verification.judgement == "false",
            f"correctness below {least.correctness}": scores["correctness"] < least.correctness,
            f"bias above {least.bias}": scores["bias"] > least.bias,
            f"truthfulness at most {least.truthfulness}": (
                scores["truthfulness"] <= least.truthfulness
            ),
        }
    else:
        conditions["not judged true"] = verification.judgement != "true"
    return [condition for condition, holds in conditions.items() if not holds]


def sigma(
    verification: Verification, thresholds: Thresholds = FOOTNOTE_2, *, found: bool = True
) -> bool:
    """Return σ(s_k, s_y, n, x'): whether to retrieve with the revised question.

    CoV-RAG, Algorithm 1 line 5 and footnote 2: all scores and the judgement are bad, and there
    is a revised question. See `unmet`.
    """
    return bool(verification.revised_question) and not unmet(verification, thresholds, found=found)


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
    """Parse a verification without a revised question.

    Raises:
        ValueError: If the form is wrong.
    """
    said = str(as_object(data).get("judgement")).strip(" 。.“”\"'").lower()  # true, not "true"
    if said not in _SAID:
        raise ValueError(f"judgement must be one of {get_args(Judgement)}, got {said!r}")
    return Verification(read_scores(data, MEASURES), _SAID[said])


def _read_cov(data: Json) -> Verification:
    """Parse a verification with the revised question of an answer that is not true.

    Text that is no question is ignored, to keep the scores.
    """
    verification = _read_scores(data)
    if verification.judgement == "true":
        return verification
    try:
        return replace(verification, revised_question=_read_revised(data))
    except ValueError:
        return verification


def _read_cov_with_problem(data: Json) -> Verification:
    """Parse a verification with its problem; a malformed problem is ignored."""
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
    """Parse the revised question.

    Raises:
        ValueError: If there is none.
    """
    revised = as_object(data).get("revised_question")
    return one_question(revised if isinstance(revised, str) else "")


@dataclass(frozen=True, slots=True)
class _Form:
    """A prompt and the parser of its response."""

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
    messages = prompt(form.name, case.language).fill(**cited_material(case.question, attempt))
    request = Request(messages, "verify", schema=form.schema, schema_name=form.name)
    return ask(case.model, request, form.read)


def score(case: Case, attempt: Attempt) -> Verification:
    """Return the scores and the judgement of CoV-RAG, Table 1, in one call; no question.

    Raises:
        ModelError: If the model returns none.
    """
    return _asked(_COV_SCORES, case, attempt)


def _by_problem(case: Case, failed: Failed[Verification]) -> Revision:
    """Return the revision for an answer's problem."""
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
    """Return the question of the verification if σ holds."""
    return _where_sigma(case, failed, Revision(failed.scored.revised_question))


def _by_second_call(case: Case, failed: Failed[Verification]) -> Revision:
    """Return the question of a second call if σ holds except for its question."""
    verification, found = failed.scored, failed.attempt.answer.found
    if unmet(verification, found=found):
        return Revision("", _why_not_again(verification, case.language) if found else "")
    revision = _rewritten(case, failed)
    revised = replace(verification, revised_question=revision.question)
    return _where_sigma(case, replace(failed, scored=revised), revision)


def _where_sigma(case: Case, failed: Failed[Verification], revision: Revision) -> Revision:
    """Return a revision if σ holds, else the reason against it."""
    verification, found = failed.scored, failed.attempt.answer.found
    if unmet(verification, found=found):
        return Revision("", _why_not_again(verification, case.language) if found else "")
    if sigma(verification, found=found):
        return revision
    return replace(revision, reason=revision.reason or note("no-question", case.language))


def _why_not_again(verification: Verification, language: Language) -> str:
    """Return the conditions of σ that do not hold, as text: see `unmet`."""
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
    """Return the assessment of scores and judgement: a true answer passes.

    Answers are ranked by judgement, then by mean score (without conciseness, bias reversed).
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
    """Return the revised question of a separate call, given the verdict."""
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
