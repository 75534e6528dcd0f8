"""Experiments: systems on sets of questions, intervals of means, and paired tests of two runs."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.runs import Run, RunResult, from_ranking
from kgrag.evaluation.scores import MEASURES, Report, cuts_of, evaluate
from kgrag.results import ScoredChunk

RESAMPLES = 10_000
LEVEL = 0.95
_CELLS = 1 << 22  # of a batch of resamples: 32 MB
_EQUAL = 1e-12  # sums of the same numbers in another order differ by less

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Difference:
    """Comparison of two systems, A and B, by a measure, over the questions that have it.

    Attributes:
        n: Questions.
        mean_a: Mean of A.
        mean_b: Mean of B.
        low: Lower end of the interval of B - A.
        high: Upper end.
        p: Of the paired test, two-sided.
        wins: Questions that B does better on.
        ties: Questions with equal scores.
        losses: Questions that A does better on.
    """

    n: int
    mean_a: float
    mean_b: float
    low: float
    high: float
    p: float
    wins: int
    ties: int
    losses: int

    @property
    def difference(self) -> float:
        """Return mean B - mean A."""
        return self.mean_b - self.mean_a


def mean_intervals(values: Values, *, resamples: int = RESAMPLES) -> Values:
    """Return the 95 % percentile bootstrap intervals of means, shape (2, m): low, high.

    Efron and Tibshirani 1993, "An Introduction to the Bootstrap", section 13.3: questions are drawn
    with replacement, the same for every column.

    Args:
        values: A row per question, a column per measure, shape (n, m); n at least 1.
        resamples: Number of draws.

    Raises:
        ValueError: If the shape is another.

    >>> mean_intervals(np.array([[1.0], [0.0]])).tolist()
    [[0.0], [1.0]]
    """
    means = []
    rng = np.random.default_rng(0)
    n = len(values)
    for batch in _batches(values, resamples):
        drawn = rng.integers(n, size=(batch, n)) + n * np.arange(batch)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=batch * n).reshape(batch, n)
        means.append(counts @ values / n)
    tail = 50 * (1 - LEVEL)
    return np.percentile(np.concatenate(means), [tail, 100 - tail], axis=0)


def sign_flip_p(differences: Values, *, resamples: int = RESAMPLES) -> Values:
    """Return two-sided p-values of Fisher's paired randomization test on means, shape (m,).

    Smucker, Allan and Carterette 2007, "A Comparison of Statistical Significance Tests for
    Information Retrieval Evaluation", section 3.1: under the null hypothesis, the sign of each
    question's difference is random. The observation counts as one of the draws, so that p > 0.

    Args:
        differences: A row per question, a column per measure, shape (n, m); n at least 1.
        resamples: Number of draws.

    Raises:
        ValueError: If the shape is another.
    """
    observed = np.abs(differences.sum(axis=0)) - _EQUAL
    reached = np.zeros(differences.shape[1:], np.int64)
    rng = np.random.default_rng(0)
    for batch in _batches(differences, resamples):
        signs = rng.integers(2, size=(batch, len(differences))) * 2 - 1
        reached += (np.abs(signs @ differences) >= observed).sum(axis=0)
    return np.asarray((1 + reached) / (1 + resamples), np.float64)


def intervals(scores: Sequence[Mapping[str, float]]) -> dict[str, tuple[float, float]]:
    """Return (low, high) of the mean of each measure, over the questions that have it.

    Args:
        scores: Of each question, by measure.
    """
    found: dict[str, tuple[float, float]] = {}
    for names, _, values in _tables(scores):
        low, high = mean_intervals(values)
        found |= dict(zip(names, zip(low.tolist(), high.tolist(), strict=True), strict=True))
    return found


def differences(
    a: Sequence[Mapping[str, float]], b: Sequence[Mapping[str, float]]
) -> dict[str, Difference]:
    """Return the comparison of two systems by each measure.

    Args:
        a: Scores per question, by measure.
        b: Scores of the other on the same questions and measures.
    """
    found = {}
    apart = [{name: two[name] - one[name] for name in one} for one, two in zip(a, b, strict=True)]
    for names, rows, values in _tables(apart):
        (low, high), p = mean_intervals(values), sign_flip_p(values)
        for i, name in enumerate(names):
            column = values[:, i]
            wins, losses = int((column > _EQUAL).sum()), int((column < -_EQUAL).sum())
            found[name] = Difference(
                len(rows),
                float(np.mean([a[row][name] for row in rows])),
                float(np.mean([b[row][name] for row in rows])),
                float(low[i]),
                float(high[i]),
                float(p[i]),
                wins,
                len(rows) - wins - losses,
                losses,
            )
    return found


def _tables(
    scores: Sequence[Mapping[str, float]],
) -> Iterator[tuple[list[str], tuple[int, ...], Values]]:
    """Yield (measures, rows, values), grouping the measures that the same questions have."""
    held: dict[str, list[int]] = defaultdict(list)
    for row, of in enumerate(scores):
        for name in of:
            held[name].append(row)
    alike: dict[tuple[int, ...], list[str]] = defaultdict(list)
    for name, having in held.items():
        alike[tuple(having)].append(name)
    for rows, names in alike.items():
        yield names, rows, np.array([[scores[row][name] for name in names] for row in rows])


def _batches(values: Values, resamples: int) -> Iterator[int]:
    """Yield the numbers of resamples per batch."""
    if values.ndim != 2 or not len(values):
        raise ValueError(f"values must have shape (n, m) with n at least 1, got {values.shape}")
    most = max(1, _CELLS // len(values))
    for done in range(0, resamples, most):
        yield min(most, resamples - done)


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
    run: dict[str, list[RunResult]] = {}
    search(queries[0].question)
    for query in queries:
        if progress:
            progress(len(run), len(queries))
        begun = time.perf_counter()
        found = search(query.question)
        seconds.append(time.perf_counter() - begun)
        run[query.query_id] = from_ranking(found)
    if progress:
        progress(len(run), len(queries))
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
