"""Chain of verification (CoV-RAG): score an answer, judge it, and revise it by its problem."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

from kgrag.answer.answer import Problem, ProblemKind, Step
from kgrag.answer.notes import note
from kgrag.llm.chat import Request, Schema
from kgrag.llm.prompts import prompt
from kgrag.llm.structured import Json, ask, one_question
from kgrag.types import Language
from kgrag.verification.attempt import Attempt, cited_material
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


# Scores for another retrieval: CoV-RAG, footnote 2.
_REFERENCES, _CORRECT, _BIASED, _TRUE = 0.27, 0.26, 0.7, 0.92


def unmet(verification: Verification, *, found: bool = True) -> list[str]:
    """Return the conditions of σ on scores and judgement that do not hold, in words.

    Args:
        verification: Of an answer.
        found: False for an answer that nothing was found: without content to score, only the
            references must be bad and the judgement not true. Answers in the paper always answer.
    """
    scores, judgement = verification.scores, verification.judgement
    bad = scores["reference_correctness"] <= _REFERENCES
    conditions = {f"reference correctness at most {_REFERENCES}": bad}
    if found:
        conditions |= {
            "judged false": judgement == "false",
            f"correctness below {_CORRECT}": scores["correctness"] < _CORRECT,
            f"bias above {_BIASED}": scores["bias"] > _BIASED,
            f"truthfulness at most {_TRUE}": scores["truthfulness"] <= _TRUE,
        }
    else:
        conditions["not judged true"] = judgement != "true"
    return [condition for condition, holds in conditions.items() if not holds]


def sigma(verification: Verification, *, found: bool = True) -> bool:
    """Return σ(s_k, s_y, n, x'): whether to retrieve with the revised question.

    CoV-RAG, Algorithm 1 line 5 and footnote 2: all scores and the judgement are bad, and there
    is a revised question. See `unmet`.
    """
    return bool(verification.revised_question) and not unmet(verification, found=found)


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
    """Return the question of the verification if σ holds, else the reason against it."""
    verification, found = failed.scored, failed.attempt.answer.found
    if unmet(verification, found=found):
        return Revision("", _why_not_again(verification, case.language) if found else "")
    if sigma(verification, found=found):
        return Revision(verification.revised_question)
    return Revision("", note("no-question", case.language))


def _why_not_again(verification: Verification, language: Language) -> str:
    """Return the conditions of σ that do not hold, as text: see `unmet`."""
    if verification.judgement != "false":
        return note("not-false", language)
    if verification.scores["reference_correctness"] > _REFERENCES:
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
