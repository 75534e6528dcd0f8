"""Scores of answers by question and by kind of question, with abstention."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from kgrag.evaluation.citations import QUOTED
from kgrag.evaluation.lines import write_lines
from kgrag.evaluation.report import aligned
from kgrag.evaluation.scores import ALL
from kgrag.evaluation.wording import OVERLAP
from kgrag.json_ready import as_dict
from kgrag.text.visible import json_line

COSTS = ("calls", "prompt", "completion", "seconds", "judge-calls", "judge-tokens")  # no shares
# Titles of tables, and the measures in each.
TABLES: Mapping[str, tuple[str, ...]] = {
    "wording": OVERLAP,
    "citations": (*QUOTED, "supported"),
    "cost": ("refused", *COSTS),
}


@dataclass(frozen=True, slots=True)
class AnswerScores:
    """One question with its answer and scores.

    Attributes:
        query_id: The question.
        kind: Its group; may be empty.
        question: As asked.
        answerable: Whether the searched documents answer it, according to the gold.
        refused: Whether the answer is that nothing was found.
        text: The answer.
        citations: As in `kgrag ask --json`.
        scores: By measure: shares in [0, 1], and `COSTS` in calls, tokens and seconds. Wording,
            citations and numbers only for answerable questions; refusing one of these scores 0.
        notes: Of the answer.
    """

    query_id: str
    kind: str
    question: str
    answerable: bool
    refused: bool
    text: str
    citations: tuple[Mapping[str, object], ...]
    scores: Mapping[str, float]
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping: a line of the file `--out`."""
        without = ("query_id", "text")
        return {"id": self.query_id, "answer": self.text} | as_dict(self, without=without)


@dataclass(frozen=True, slots=True)
class Abstention:
    """Confusion counts of refusals.

    Attributes:
        unanswerable: Questions without an answer in the documents.
        refused: Refused ones among these.
        answerable: The other questions.
        wrongly_refused: Refused ones among these.
    """

    unanswerable: int
    refused: int
    answerable: int
    wrongly_refused: int

    @property
    def precision(self) -> float | None:
        """Return the share of refusals that are right; None without refusals."""
        n = self.refused + self.wrongly_refused
        return self.refused / n if n else None

    @property
    def recall(self) -> float | None:
        """Return the share of unanswerable questions that are refused; None without any."""
        return self.refused / self.unanswerable if self.unanswerable else None

    @property
    def wrongly_refused_share(self) -> float | None:
        """Return the share of answerable questions that are refused; None without any."""
        return self.wrongly_refused / self.answerable if self.answerable else None

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping of counts and shares."""
        return as_dict(self) | {
            "precision": self.precision,
            "recall": self.recall,
            "wrongly_refused_share": self.wrongly_refused_share,
        }


@dataclass(frozen=True, slots=True)
class AnswerReport:
    """Scores of a system's answers.

    Attributes:
        system: Its name.
        rows: Every question, in the order given.
        notes: For the reader: gold documents that are missing, answers that fell back.
    """

    system: str
    rows: tuple[AnswerScores, ...]
    notes: tuple[str, ...] = ()

    @property
    def kinds(self) -> list[str]:
        """Return `all`, then the kinds of question in order of appearance."""
        return [ALL, *dict.fromkeys(row.kind for row in self.rows if row.kind not in ("", ALL))]

    def of_kind(self, kind: str) -> list[AnswerScores]:
        """Return the questions of a kind, or `all`."""
        return [row for row in self.rows if kind in (ALL, row.kind)]

    def means(self, kind: str = ALL) -> dict[str, float]:
        """Return the mean of each measure over the questions of a kind that have it."""
        columns: dict[str, list[float]] = {}
        for row in self.of_kind(kind):
            for name, value in row.scores.items():
                columns.setdefault(name, []).append(value)
        return {name: fmean(column) for name, column in columns.items()}

    @property
    def abstention(self) -> Abstention:
        """Return the confusion counts of refusals."""
        other = [row.refused for row in self.rows if row.answerable]
        none = [row.refused for row in self.rows if not row.answerable]
        return Abstention(len(none), sum(none), len(other), sum(other))

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping: means by kind, abstention, questions."""
        return {
            "system": self.system,
            "groups": {
                kind: {"n_queries": len(self.of_kind(kind)), "scores": self.means(kind)}
                for kind in self.kinds
            },
            "abstention": self.abstention.to_dict(),
            "notes": list(self.notes),
            "queries": [row.to_dict() for row in self.rows],
        }


def answer_tables(report: AnswerReport) -> str:
    """Return aligned tables, a row for each kind of question: shares in percent, costs unscaled.

    Measures without values are left out; a missing value is `-`.
    """
    means = {kind: report.means(kind) for kind in report.kinds}
    known = [name for columns in TABLES.values() for name in columns]
    judged = [name for name in means[ALL] if name not in known]
    tables = []
    for title, columns in {**TABLES, "judged": tuple(judged)}.items():
        shown = [name for name in columns if name in means[ALL]]
        if shown:
            rows = [
                [kind, str(len(report.of_kind(kind))), *(_cell(name, of) for name in shown)]
                for kind, of in means.items()
            ]
            tables.append(aligned([[title, "n", *shown], *rows]))
    return "\n\n".join([*tables, _in_words(report)])


def _cell(name: str, means: Mapping[str, float]) -> str:
    if name not in means:
        return "-"
    if name in COSTS:
        return f"{means[name]:.2f}" if name in ("seconds", "calls") else f"{means[name]:.0f}"
    return f"{100 * means[name]:.1f}"


def _in_words(report: AnswerReport) -> str:
    """Return abstention as text."""
    told = report.abstention
    return (
        f"refused: {told.refused} of {told.unanswerable} unanswerable "
        f"(recall {_share(told.recall)}, precision {_share(told.precision)}), "
        f"{told.wrongly_refused} of {told.answerable} others "
        f"(wrongly: {_share(told.wrongly_refused_share)})"
    )


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"


def write_answers(path: Path, report: AnswerReport) -> None:
    """Write a line for each question to a `.jsonl` file, or the full report to any other.

    Raises:
        EvaluationError: If the file cannot be written.
    """
    rows = [row.to_dict() for row in report.rows] if path.suffix == ".jsonl" else [report.to_dict()]
    write_lines(path, map(json_line, rows))
