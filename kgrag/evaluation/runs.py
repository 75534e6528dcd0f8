"""Run files: the results of a system for each question, as JSON lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from kgrag.errors import EvaluationError
from kgrag.evaluation.lines import Text, check_span, checked, read_rows, write_lines
from kgrag.results import ScoredChunk
from kgrag.text.visible import json_line


@dataclass(frozen=True, slots=True)
class RunResult:
    """One result of a question.

    Attributes:
        doc_id: The document.
        chunk_id: The chunk; empty for a foreign system without chunks.
        file: The document's file as ingested (a path, or `corpus.jsonl#id`); may be empty.
        start: Offset in the document; None for whole documents.
        end: Offset after the last character; None together with `start`.
        score: Higher is better.
        text: The characters themselves.
        via: Retrieval path.
    """

    doc_id: Text
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


@dataclass(frozen=True, slots=True)
class _Row:
    """A line of a run file."""

    id: Text
    results: list[RunResult]


Run = Mapping[str, Sequence[RunResult]]

_KEYS = ("chunk_id", "doc_id", "file", "start", "end", "score", "text", "via")


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
    """Write a run file atomically, in the order of the mapping.

    Raises:
        EvaluationError: If the file cannot be written.
    """
    write_lines(path, (run_line(*of) for of in run.items()))


def read_run(path: Path) -> dict[str, list[RunResult]]:
    """Return the results of each question in a run file, best first.

    Raises:
        EvaluationError: If the file cannot be read or a line is malformed; names file and line.
    """
    run: dict[str, list[RunResult]] = {}
    for place, row in read_rows(path):
        of = checked(_Row, row, place)
        if of.id in run:
            raise EvaluationError(f"{place}: the id {of.id!r} is used twice")
        for result in of.results:
            check_span(result.start, result.end, place)
        run[of.id] = of.results
    return run


def document_name(result: RunResult) -> str:
    """Return the name of a result's file without folder and suffix, or of its record.

    Without a file it is the document's id.

    >>> document_name(RunResult(doc_id="d-1", file="a/dc001.txt"))
    'dc001'
    >>> document_name(RunResult(doc_id="d-1", file="corpus.jsonl#p7"))
    'p7'
    """
    _, mark, record = result.file.rpartition(".jsonl#")
    return (record if mark else PurePath(result.file.replace("\\", "/")).stem) or result.doc_id
