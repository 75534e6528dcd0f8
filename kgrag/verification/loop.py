"""Ways to verify an answer and their loop: score, judge, act; the best answer stands."""

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
    """What is tried next.

    Attributes:
        question: To retrieve with; empty where there is none.
        reason: Why there is none.
        step: What was done to get it; None where the check gave it.
        act: `retrieve` anew with the question, answer `again` from the same references, or
            retrieve `more` to what was found.
        problem: What is wrong, for `again` and `more`.
    """

    question: str
    reason: str = ""
    step: Step | None = None
    act: Act = "retrieve"
    problem: Problem | None = None


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a check says of an attempt.

    Attributes:
        status: Whether the answer may stand, as in a verdict.
        rank: Attempts with higher ranks are better; the offline checks decide between equals,
            then the earlier one is kept.
        scores: By measure, each in [0, 1].
        reason: Why, in words.
        step: What was done.
        revise: Gives another wording, told the wordings that were tried; called only where the
            answer did not pass and another one may be tried.
        revised: The wording that the check itself gave, for the reader.
        may_stand: Whether an answer that did not pass does once no other one is tried, for the
            same reason.
        problem: What is wrong, where the check names it.
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
    """What every step of a method is told.

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
        attempt: It.
        scored: What `Method.score` gave of it.
        tried: Wordings that were retrieved with.
        silent: How many answers found nothing, and may stand for that, this one included.
    """

    attempt: Attempt
    scored: Scored
    tried: Sequence[str]
    silent: int


@dataclass(frozen=True, slots=True)
class Method(Generic[Scored]):
    """A way to verify an answer, as functions.

    Attributes:
        name: For the verdict.
        score: Has a model score an attempt; raises ModelError.
        judge: Says what the scores mean: its assessment, of which `revise` is not yet set.
        act: Says what is tried next, where an answer did not pass.
        max_rounds: Answers at most by default, the first included.
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
        """Return the best answer within a budget, and what is known of it.

        Raises nothing that a model could cause: an answer that cannot be checked stands.

        Args:
            question: As asked.
            first: The first answer.
            try_: Gives further ones.
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

    It ends, too, where there is no other wording, or only one that was tried before, and where
    answering again fails: the first answer is never lost. An answer that the checks without a model
    speak against does not pass, whatever a model says of it: it is answered again from the same
    references, told what they found. One that passes is better than all that do not.

    Args:
        method: Its name, for the verdict.
        question: As asked.
        first: The first answer.
        try_: Gives further ones.
        check: Judges one; raises nothing that a model could cause.
        budget: Holds the loop back.
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
    """Return an assessment that knows what the checks without a model speak against."""
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
    """Return the next attempt, or None and why there is none, and the steps to it.

    Its wording is added to `wordings`, also where it cannot be tried any more.
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
    """Return the assessment of an answer that could not be checked: it stands, not passed.

    Args:
        error: Why; shown to the asker.
        rank: Among answers that could be checked.
        calls: That the check took.
    """
    told = f"{NOT_VERIFIED}{error}"
    return Assessment("unverified", rank, {}, told, Step("verify", told, calls))
