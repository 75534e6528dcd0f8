"""Experiments: systems on sets of questions, and comparison of two runs."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.runs import Run, run_of
from kgrag.evaluation.scores import MEASURES, Report, cuts_of, evaluate
from kgrag.evaluation.significance import Difference, differences, intervals
from kgrag.results import ScoredChunk

BUDGETS = (1000, 2000, 4000, 8000)  # characters of context that quality is drawn against


@dataclass(frozen=True, slots=True)
class Trial:
    """One system on one set of questions.

    Attributes:
        system: Its name.
        run: Its results.
        report: Its scores.
        intervals: (low, high) of the mean of each measure over all questions.
        seconds: Per question.
    """

    system: str
    run: Run
    report: Report
    intervals: Mapping[str, tuple[float, float]]
    seconds: tuple[float, ...]

    @property
    def means(self) -> Mapping[str, float]:
        """Return the mean of each measure over all questions."""
        return self.report.groups[0].means

    @property
    def latency_ms(self) -> tuple[float, float]:
        """Return milliseconds per question: p50, p99."""
        p50, p99 = np.percentile(self.seconds, [50, 99]) * 1000
        return float(p50), float(p99)

    @property
    def characters(self) -> float:
        """Return the mean number of result characters per question."""
        return sum(len(r.text) for of in self.run.values() for r in of) / len(self.run)

    def to_dict(self) -> dict[str, object]:
        """Return the report as a JSON-ready mapping, with intervals, latency and size."""
        p50, p99 = self.latency_ms
        return {
            **self.report.to_dict(),
            "intervals": {name: list(ends) for name, ends in self.intervals.items()},
            "latency_ms": {"p50": p50, "p99": p99},
            "characters": self.characters,
        }


def try_system(
    system: str,
    search: Callable[[str], Sequence[ScoredChunk]],
    queries: Sequence[GoldQuery],
    *,
    measures: Sequence[str] = MEASURES,
    progress: Callable[[int, int], None] | None = None,
) -> Trial:
    """Return the scores and latency of a system on a set of questions.

    The first question is asked once before, to exclude the time for opening files.

    Args:
        system: Its name.
        search: Returns the ranking for a question.
        queries: With gold; at least one.
        measures: Required measures.
        progress: Called with (questions done, total).

    Raises:
        EvaluationError: If one of the measures is unknown.
    """
    ks, budgets = cuts_of(measures)
    seconds: list[float] = []

    def timed(question: str) -> Sequence[ScoredChunk]:
        begun = time.perf_counter()
        found = search(question)
        seconds.append(time.perf_counter() - begun)
        return found

    search(queries[0].question)
    run = run_of({query.query_id: query.question for query in queries}, timed, progress=progress)
    report = evaluate(run, queries, ks=ks, budgets=sorted({*budgets, *BUDGETS}))
    ends = intervals([query.scores for query in report.queries])
    return Trial(system, run, report, ends, tuple(seconds))


def compare(
    a: Run, b: Run, queries: Sequence[GoldQuery], *, measures: Sequence[str] = MEASURES
) -> dict[str, Difference]:
    """Return the differences of two runs in measures that all questions have.

    Args:
        a: A run; missing questions score 0.
        b: Another.
        queries: With gold.
        measures: In the order of the result.

    Raises:
        EvaluationError: If one of the measures is unknown.
    """
    ks, budgets = cuts_of(measures)
    scores = [
        [
            {name: query.scores[name] for name in measures if name in query.scores}
            for query in evaluate(run, queries, ks=ks, budgets=budgets).queries
        ]
        for run in (a, b)
    ]
    found = differences(*scores)
    return {name: found[name] for name in measures if name in found}
