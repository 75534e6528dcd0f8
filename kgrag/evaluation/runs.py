"""Run files: what a system returned for each question, one line a question."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kgrag.errors import EvaluationError
from kgrag.evaluation.jsonl import Row, read_rows, span_of, text_of, texts_of
from kgrag.files.whole_file import write_whole
from kgrag.language.visible import json_line
from kgrag.results import ScoredChunk


@dataclass(frozen=True, slots=True)
class RunResult:
    """One result of a question.

    Attributes:
        doc_id: The document.
        chunk_id: The chunk; empty where a foreign system has none.
        file: The document's file as ingested (a path, or `corpus.jsonl#id`); may be empty.
        start: First character in the document; None where the system gives whole documents.
        end: Offset after the last character; None together with `start`.
        score: Higher is better.
        text: The characters themselves.
        via: How it came.
    """

    doc_id: str
    chunk_id: str = ""
    file: str = ""
    start: int | None = None
    end: int | None = None
    score: float = 0.0
    text: str = ""
    via: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping with the keys of a run file."""
        return {key: getattr(self, key) for key in _KEYS} | {"via": list(self.via)}


Run = Mapping[str, Sequence[RunResult]]

_KEYS = ("chunk_id", "doc_id", "file", "start", "end", "score", "text", "via")


def run_of(
    questions: Mapping[str, str],
    search: Callable[[str], Sequence[ScoredChunk]],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Run:
    """Return the results of a search for each question, by the questions' ids.

    Args:
        questions: By id.
        search: Gives a ranking for a question.
        progress: Called with (questions done, questions in all): before each, and at the end.
    """
    results = {}
    for number, (query_id, question) in enumerate(questions.items()):
        if progress:
            progress(number, len(questions))
        results[query_id] = from_ranking(search(question))
    if progress:
        progress(len(questions), len(questions))
    return results


def from_ranking(ranking: Sequence[ScoredChunk]) -> list[RunResult]:
    """Return a ranking as run results, in the same order."""
    return [
        RunResult(
            doc_id=hit.chunk.doc_id,
            chunk_id=hit.chunk.chunk_id,
            file=hit.file,
            start=hit.chunk.start,
            end=hit.chunk.end,
            score=hit.score,
            text=hit.chunk.text,
            via=hit.via,
        )
        for hit in ranking
    ]


def run_line(query_id: str, results: Sequence[RunResult]) -> str:
    """Return the line of a run file for one question, without line break."""
    return json_line({"id": query_id, "results": [r.to_dict() for r in results]})


def write_run(path: Path, run: Run) -> None:
    """Write a run file, in the order of the mapping; an old file stays until all is written.

    Raises:
        EvaluationError: If the file cannot be written.
    """
    try:
        write_whole(path, (run_line(query_id, results) for query_id, results in run.items()))
    except OSError as exc:
        raise EvaluationError(f"cannot write {path}: {exc}. Remedy: choose another place") from exc


def read_run(path: Path) -> dict[str, list[RunResult]]:
    """Return the results of each question in a run file, best first.

    Raises:
        EvaluationError: If the file cannot be read or a line is malformed; names file and line.
    """
    run: dict[str, list[RunResult]] = {}
    for place, row in read_rows(path):
        query_id = text_of(row, "id", place)
        results = row.get("results")
        if query_id in run:
            raise EvaluationError(f"{place}: the id {query_id!r} is used twice")
        if not isinstance(results, list) or not all(isinstance(item, dict) for item in results):
            raise EvaluationError(f"{place}: 'results' must be a list of objects")
        run[query_id] = [_result(item, place) for item in results]
    return run


def _result(row: Row, place: str) -> RunResult:
    score = row.get("score", 0.0)
    if isinstance(score, bool) or not isinstance(score, int | float):
        raise EvaluationError(f"{place}: 'score' must be a number, got {score!r}")
    result = RunResult(
        doc_id=text_of(row, "doc_id", place),
        chunk_id=_optional(row, "chunk_id", place),
        file=_optional(row, "file", place),
        score=float(score),
        text=_optional(row, "text", place),
        via=texts_of(row, "via", place),
    )
    if row.get("start") is None:
        return result
    start, end = span_of(row.get("start"), row.get("end"), place)
    return dataclasses.replace(result, start=start, end=end)


def _optional(row: Row, key: str, place: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise EvaluationError(f"{place}: {key!r} must be a text, got {value!r}")
    return value
