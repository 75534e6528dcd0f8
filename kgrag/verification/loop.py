"""The verification loop: score, judge, revise; the best answer is returned."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar

from kgrag.answer.answer import Problem, Step, Verdict, VerdictStatus
from kgrag.answer.notes import note
from kgrag.errors import KgragError, ModelError
from kgrag.llm.chat import ChatModel
from kgrag.llm.middleware import Counted
from kgrag.text.words import normalize_name, question_language
from kgrag.types import Language
from kgrag.verification.attempt import NOT_VERIFIED, Attempt, Try, Verified, supported_share
from kgrag.verification.budget import Budget
from kgrag.verification.checks import problem_of

Scored = TypeVar("Scored")
Act = Literal["retrieve", "again", "more"]


@dataclass(frozen=True, slots=True)
class Revision:
    """The next step.

    Attributes:
        question: Query for retrieval; empty if there is none.
        reason: Why there is none.
        step: Trace of its generation; None if the check returned it.
        act: `retrieve` with the question, answer `again` from the same references, or retrieve
            `more` references.
        problem: What is wrong, for `again` and `more`.
    """

    question: str
    reason: str = ""
    step: Step | None = None
    act: Act = "retrieve"
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """Result of checking an attempt.

    Attributes:
        status: Of the verdict.
        rank: Higher is better; ties are decided by the offline checks, then by order.
        scores: By measure, each in [0, 1].
        reason: In words.
        step: Trace of the check.
        revise: Returns another query, given those tried; called only if the answer did not pass
            and another attempt is allowed.
        revised: The query that the check returned, for display.
        may_stand: Whether an answer that did not pass is accepted if no further one is tried.
        problem: What is wrong, if the check names it.
    """

    status: VerdictStatus
    rank: tuple[float, ...]
    scores: Mapping[str, float]
    reason: str
    step: Step
    revise: Callable[[Sequence[str]], Revision] = lambda _: Revision("")
    revised: str = ""
    may_stand: bool = False
    problem: Problem | None = None


Check = Callable[[Attempt], Assessment]


@dataclass(frozen=True, slots=True)
class Case:
    """Context of every step of a method.

    Attributes:
        question: As asked.
        language: Of the question.
        model: Checks and rewrites, within the budget; stage `verify`.
    """

    question: str
    language: Language
    model: ChatModel


@dataclass(frozen=True, slots=True)
class Failed(Generic[Scored]):
    """An answer that did not pass.

    Attributes:
        attempt: The answer.
        scored: Result of `Method.score`.
        tried: Queries used so far.
        silent: Number of answers that found nothing and may be accepted, including this one.
    """

    attempt: Attempt
    scored: Scored
    tried: Sequence[str]
    silent: int


@dataclass(frozen=True, slots=True)
class Method(Generic[Scored]):
    """A verification method, as functions.

    Attributes:
        name: For the verdict.
        score: Has a model score an attempt; raises ModelError.
        judge: Assesses the scores; `revise` is set later.
        act: Decides the next step for an answer that did not pass.
        max_rounds: Default number of answers, including the first.
        unjudged: Rank of an answer that could not be scored.
    """

    name: str
    score: Callable[[Case, Attempt], Scored]
    judge: Callable[[Scored, Attempt, Language], Assessment]
    act: Callable[[Case, Failed[Scored]], Revision]
    max_rounds: int
    unjudged: tuple[float, ...]

    def verify(
        self,
        question: str,
        first: Attempt,
        try_: Try,
        *,
        language: Language,
        model: ChatModel,
        budget: Budget,
    ) -> Verified:
        """Return the best answer within a budget, with its verdict.

        Model errors are handled: an answer that cannot be checked is kept.

        Args:
            question: As asked.
            first: The first answer.
            try_: Generates further ones.
            language: Of the question.
            model: Checks and rewrites.
            budget: Answers, calls and seconds.
        """
        case = Case(question, language, budget.bound(model))
        silent: list[Attempt] = []

        def check(attempt: Attempt) -> Assessment:
            counted = Counted(case.model)
            try:
                scored = self.score(replace(case, model=counted), attempt)
            except ModelError as exc:
                return unverified(exc, rank=self.unjudged, calls=counted.calls)
            judged = self.judge(scored, attempt, language)
            silent.extend([attempt] * judged.may_stand)
            return replace(
                judged,
                step=replace(judged.step, calls=counted.calls),
                revise=lambda tried: self.act(case, Failed(attempt, scored, tried, len(silent))),
            )

        return improve(self.name, question, first, try_, check=check, budget=budget)


def improve(
    method: str, question: str, first: Attempt, try_: Try, *, check: Check, budget: Budget
) -> Verified:
    """Return the best of the answers that were tried until one passed or the budget ended.

    The loop also ends without a new query, or if answering again fails; the first answer is never
    lost. An answer with offline findings does not pass, whatever a model says: it is answered again
    from the same references with these findings. One that passes is better than all that do not.

    Args:
        method: Its name, for the verdict.
        question: As asked.
        first: The first answer.
        try_: Generates further ones.
        check: Assesses an answer; handles model errors itself.
        budget: Limits the loop.
    """
    language = question_language(question)
    wordings = list(dict.fromkeys([question, first.question]))
    seen: list[tuple[Attempt, Assessment]] = []
    steps: list[Step] = []
    attempt: Attempt | None = first
    stop = ""
    while attempt is not None:
        assessment = _with_rules(check(attempt), attempt, language)
        seen.append((attempt, assessment))
        steps.append(assessment.step)
        if assessment.status == "passed":
            break
        attempt, stop, more = _another(
            attempt,
            assessment,
            try_,
            wordings=wordings,
            rounds=len(seen),
            budget=budget,
            language=language,
        )
        steps += more
    best, found = max(
        seen, key=lambda s: (s[1].status == "passed", s[1].rank, supported_share(s[0].answer))
    )
    if stop:
        steps.append(Step("stop", stop))
    return Verified(
        best.answer,
        Verdict(
            method,
            status="passed" if found.may_stand else found.status,
            scores=found.scores,
            reason=found.reason
            if found.may_stand
            else "; ".join(filter(None, (found.reason, stop))),
            revised_question=found.revised or (wordings[-1] if len(wordings) > 1 else ""),
            rounds=len(seen),
            problem=found.problem,
        ),
        tuple(steps),
    )


def _with_rules(assessment: Assessment, attempt: Attempt, language: Language) -> Assessment:
    """Return an assessment that accounts for the offline findings."""
    checks = attempt.answer.checks
    bad = sum(not check.supported for check in checks)
    if not bad or assessment.status == "unverified":
        return assessment
    found = problem_of(attempt.answer)

    def revise(tried: Sequence[str]) -> Revision:
        passed = assessment.status == "passed"
        asked = Revision("") if passed else assessment.revise(tried)
        if found is None:
            return asked
        if asked.problem:  # what a model found comes first
            why = "\n".join((asked.problem.why, found.sentence, found.why))
            return replace(asked, problem=replace(asked.problem, why=why))
        return asked if asked.question else replace(asked, act="again", problem=found)

    if assessment.status != "passed":
        return replace(assessment, revise=revise)
    told = note("not-supported", language, bad=bad, n=len(checks))
    problem = assessment.problem or found
    return replace(assessment, status="failed", reason=told, revise=revise, problem=problem)


def _another(
    last: Attempt,
    assessment: Assessment,
    try_: Try,
    *,
    wordings: list[str],
    rounds: int,
    budget: Budget,
    language: Language,
) -> tuple[Attempt | None, str, list[Step]]:
    """Return the next attempt, or None and the reason, and the steps to it.

    Its query is added to `wordings` even if it cannot be tried any more.
    """
    stopped = budget.why_no_round(rounds)
    if stopped:
        return None, stopped, []
    revision = assessment.revise(tuple(wordings))
    steps = [revision.step] if revision.step else []
    problem = revision.problem
    if revision.act == "again" and problem:
        steps.append(Step("answer again", problem.why))
        return _tried(lambda: try_.again(last, problem), steps, language)
    if not revision.question:
        return None, revision.reason, steps
    if normalize_name(revision.question) in map(normalize_name, wordings):
        return None, note("tried", language), steps
    wordings.append(revision.question)
    steps.append(Step("revise", revision.question))
    if revision.act == "more" and problem:
        return _tried(lambda: try_.with_more(last, problem, revision.question), steps, language)
    return _tried(lambda: try_(revision.question), steps, language)


def _tried(
    answered: Callable[[], Attempt], steps: list[Step], language: Language
) -> tuple[Attempt | None, str, list[Step]]:
    """Return an attempt, or None and why it failed, and the steps to it."""
    try:
        attempt = answered()
    except KgragError as exc:
        return None, note("failed", language, error=exc), steps
    return attempt, "", [*steps, *attempt.answer.steps]


def unverified(error: ModelError, *, rank: tuple[float, ...], calls: int) -> Assessment:
    """Return the assessment of an answer that could not be checked: kept, not passed.

    Args:
        error: Shown to the user.
        rank: Among answers that could be checked.
        calls: Model calls of the check.
    """
    told = f"{NOT_VERIFIED}{error}"
    return Assessment("unverified", rank, {}, told, Step("verify", told, calls))
