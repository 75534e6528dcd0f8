"""Scores of one run over a query set, per question and averaged."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from kgrag.errors import EvaluationError
from kgrag.evaluation.measures import (
    all_at,
    coverage,
    f1_at,
    hit_at,
    ndcg_at,
    pair_at,
    precision_at,
    recall_at,
    reciprocal_rank_at,
    span_reciprocal_rank,
)
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.runs import Run, RunResult, document_name

ALL = "all"

_AT_K: Mapping[str, Callable[[Sequence[str], Collection[str], int], float]] = {
    "P": precision_at,
    "R": recall_at,
    "F1": f1_at,
    "hit": hit_at,
    "all": all_at,
    "nDCG": ndcg_at,
    "MRR": reciprocal_rank_at,
}
_OF_ALL = ("P", "R", "F1")  # also of everything that was returned: GRIM, equations 8 to 10
_OF_PAIRS = ("both", "source-only", "target-only")
_OF_SPANS = ("span", "prec")
# What is compared unless it is told otherwise; a measure that no question has is left out.
MEASURES = (
    *_OF_ALL,
    *("hit@1", "R@5", "all@5", "both@5", "nDCG@10", "MRR@10", "span@2000", "prec@2000", "MRR"),
)


@dataclass(frozen=True, slots=True)
class QueryScores:
    """The scores of one question.

    Attributes:
        query_id: The question.
        kind: Its group; may be empty.
        n_results: Number of results; without any, all scores are 0.
        scores: By measure, in [0, 1].
    """

    query_id: str
    kind: str
    n_results: int
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class GroupScores:
    """The mean scores of a group of questions.

    Attributes:
        kind: The group; `all` for every question.
        n_queries: Its size.
        means: By measure, over the questions that have it (spans need gold spans).
    """

    kind: str
    n_queries: int
    means: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Report:
    """Result of `evaluate`.

    Attributes:
        queries: Every question, in the order given.
        groups: `all` first, then the kinds in order of appearance.
        n_unanswered: Questions without results; they count as 0 in the averages.
    """

    queries: tuple[QueryScores, ...]
    groups: tuple[GroupScores, ...]
    n_unanswered: int

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, for a system."""
        return {
            "n_unanswered": self.n_unanswered,
            "groups": {
                group.kind: {"n_queries": group.n_queries, "scores": dict(group.means)}
                for group in self.groups
            },
            "queries": [
                {
                    "id": query.query_id,
                    "kind": query.kind,
                    "n_results": query.n_results,
                    "scores": dict(query.scores),
                }
                for query in self.queries
            ],
        }


def document_key(result: RunResult, gold: Collection[str]) -> str:
    """Return the gold id of a result, or its own document id.

    The gold id equals its `doc_id`, or the `document_name` of its file.

    >>> document_key(RunResult(doc_id="d-1", file="a/dc001.txt"), {"dc001"})
    'dc001'
    """
    name = document_name(result)
    return name if name in gold and result.doc_id not in gold else result.doc_id


def cuts_of(measures: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the ranks and budgets of measures, as arguments for `evaluate`.

    Raises:
        EvaluationError: If one is unknown; lists the known ones.

    >>> cuts_of(["P", "R@5", "span@2000"])
    ([5], [2000])
    """
    ks: list[int] = []
    budgets: list[int] = []
    for measure in measures:
        name, at, cut = measure.partition("@")
        is_cut = cut.isdecimal() and int(cut) > 0
        if is_cut and (name in _AT_K or name in _OF_PAIRS):
            ks.append(int(cut))
        elif is_cut and name in _OF_SPANS:
            budgets.append(int(cut))
        elif at or name not in (*_OF_ALL, "MRR"):
            raise EvaluationError(
                f"there is no measure {measure!r}. Remedy: {', '.join(_OF_ALL)}, MRR; with @k "
                f"{', '.join((*_AT_K, *_OF_PAIRS))}; with @characters {', '.join(_OF_SPANS)}"
            )
    return ks, budgets


def evaluate(
    run: Run,
    queries: Sequence[GoldQuery],
    *,
    ks: Sequence[int] = (1, 2, 5, 10),
    budgets: Sequence[int] = (1000, 2000, 4000, 8000),
) -> Report:
    """Return the scores of a run.

    Measures over distinct documents in result order: `P@k R@k F1@k hit@k all@k nDCG@k MRR@k`, and
    `P R F1` of all results (GRIM, equations 8 to 10; its tables 5 and 6 average each over
    questions). For two gold documents, the source and the target of a reference, also `both@k
    source-only@k target-only@k`. With gold spans also `span@B` and `prec@B` within the first B
    characters of results, and `MRR` over results that overlap a gold span.

    Args:
        run: Results by question; missing or empty ones score 0.
        queries: With gold.
        ks: Ranks to cut at, at least 1.
        budgets: Characters of context, at least 1.
    """
    if min((*ks, *budgets, 1)) < 1:
        raise ValueError(f"ks and budgets must be at least 1, got {list(ks)} and {list(budgets)}")
    scored = []
    for query in queries:
        results = run.get(query.query_id, ())
        scores = _score(query, results, ks=ks, budgets=budgets)
        scored.append(QueryScores(query.query_id, query.kind, len(results), scores))
    kinds = dict.fromkeys(query.kind for query in scored if query.kind not in ("", ALL))
    groups = [_group(ALL, scored)]
    groups += [_group(kind, [q for q in scored if q.kind == kind]) for kind in kinds]
    return Report(tuple(scored), tuple(groups), sum(not query.n_results for query in scored))


def _score(
    query: GoldQuery,
    results: Sequence[RunResult],
    *,
    ks: Sequence[int],
    budgets: Sequence[int],
) -> dict[str, float]:
    gold = frozenset(query.gold_docs)
    ids = gold.union(query.gold_spans)
    keyed = [(document_key(result, ids), result) for result in results]
    docs = list(dict.fromkeys(doc for doc, _ in keyed))
    scores = {f"{name}@{k}": at(docs, gold, k) for name, at in _AT_K.items() for k in ks}
    scores |= {name: _AT_K[name](docs, gold, max(1, len(docs))) for name in _OF_ALL}
    if len(query.gold_docs) == 2:
        source, target = query.gold_docs
        for k in ks:
            pair = zip(_OF_PAIRS, pair_at(docs, source, target, k), strict=True)
            scores |= {f"{name}@{k}": value for name, value in pair}
    if query.gold_spans:
        passages = [
            (doc, result.start, result.end)
            for doc, result in keyed
            if result.start is not None and result.end is not None
        ]
        for budget in budgets:
            held = coverage(passages, query.gold_spans, budget)
            scores[f"span@{budget}"] = held.span_recall
            scores[f"prec@{budget}"] = held.span_precision
        scores["MRR"] = span_reciprocal_rank(passages, query.gold_spans)
    return scores


def _group(kind: str, queries: Sequence[QueryScores]) -> GroupScores:
    values: dict[str, list[float]] = defaultdict(list)
    for query in queries:
        for name, value in query.scores.items():
            values[name].append(value)
    means = {name: sum(column) / len(column) for name, column in values.items()}
    return GroupScores(kind, len(queries), means)
