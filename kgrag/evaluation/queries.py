"""Query sets: questions with the documents and passages that answer them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from kgrag.errors import EvaluationError, GarbledTextError, OutOfRangeError
from kgrag.evaluation.lines import Row, Text, check_span, checked, read_rows
from kgrag.limits import checked_text


@dataclass(frozen=True, slots=True)
class GoldQuery:
    """A question with its gold.

    Attributes:
        query_id: Unique in its file.
        question: As asked.
        gold_docs: Ids of the documents (or passages) that answer it, a citing one before the cited;
            empty for an unanswerable question.
        gold_spans: (start, end) character offsets by document; may be empty.
        kind: Group for averages, e.g. `goal`; may be empty.
        answers: Alternative reference answers; may be empty.
    """

    query_id: Text
    question: Text
    gold_docs: tuple[str, ...]
    gold_spans: Mapping[str, tuple[tuple[int, int], ...]] = field(default_factory=dict)
    kind: str = ""
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuerySet:
    """The questions of a file for measuring retrieval.

    Attributes:
        queries: In file order.
        n_without_gold: Unanswerable questions, left out.
    """

    queries: tuple[GoldQuery, ...]
    n_without_gold: int


def read_queries(path: Path) -> QuerySet:
    """Return the questions of a `.jsonl` file.

    A line is {"id", "question", "gold_ids": [...]} or {"id", "question", "gold_docs": [...],
    "gold_spans": {doc: [[start, end], ...]}}, either with `kind` or `type`; other keys are ignored.

    Raises:
        EvaluationError: If the file cannot be read or a line is malformed; names file and line.
    """
    queries = read_all_queries(path)
    with_gold = tuple(query for query in queries if query.gold_docs)
    return QuerySet(with_gold, len(queries) - len(with_gold))


def read_all_queries(path: Path) -> tuple[GoldQuery, ...]:
    """Return every question of a file, as `read_queries`, with unanswerable ones.

    A line may have `answers`, a list of texts.

    Raises:
        EvaluationError: As `read_queries`.
    """
    queries: dict[str, GoldQuery] = {}
    for place, row in read_rows(path):
        query = _query(row, place)
        if query.query_id in queries:
            raise EvaluationError(f"{place}: the id {query.query_id!r} is used twice")
        queries[query.query_id] = query
    return tuple(queries.values())


def _query(row: Row, place: str) -> GoldQuery:
    query = checked(
        GoldQuery,
        {
            "query_id": row.get("id"),
            "question": row.get("question"),
            "gold_docs": row.get("gold_docs") or row.get("gold_ids") or (),
            "gold_spans": {} if row.get("gold_spans") is None else row["gold_spans"],
            "kind": row.get("kind") or row.get("type") or "",
            "answers": row.get("answers") or (),
        },
        place,
    )
    for start, end in chain.from_iterable(query.gold_spans.values()):
        check_span(start, end, place)
    try:
        checked_text("question", query.question)
    except (OutOfRangeError, GarbledTextError) as exc:
        raise EvaluationError(f"{place}: {exc}") from exc
    return replace(query, gold_docs=tuple(dict.fromkeys(query.gold_docs)))
