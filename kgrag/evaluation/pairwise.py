"""Pairwise comparison of the answers of two systems by a model, in both orders."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kgrag.errors import EvaluationError, ModelError
from kgrag.evaluation.answer_report import AnswerReport, AnswerScores
from kgrag.evaluation.chat_models import CountingModel, Tape
from kgrag.evaluation.lines import read_rows, text_of
from kgrag.evaluation.queries import GoldQuery
from kgrag.llm.chat import ChatModel, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask
from kgrag.text.words import question_language

CRITERIA = ("correctness", "citation", "truthfulness", "conciseness")
TIE = "tie"
_CHOICES = ("1", "2", TIE)
_SCHEMA = {
    "type": "object",
    "properties": {name: {"type": "string", "enum": list(_CHOICES)} for name in CRITERIA},
    "required": list(CRITERIA),
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class ComparedAnswer:
    """An answer for comparison.

    Attributes:
        text: With its [n].
        quotes: Its citations, a line each: number, title, quote.
    """

    text: str
    quotes: str

    @classmethod
    def of(cls, text: str, citations: Sequence[Mapping[str, object]]) -> "ComparedAnswer":
        """Return an answer from its text and the citations of `kgrag ask --json`."""
        lines = (f"[{c.get('number')}] 《{c.get('title')}》{c.get('quote')}" for c in citations)
        return cls(text, "\n".join(lines))


def read_answers(path: Path) -> dict[str, ComparedAnswer]:
    """Return the answers in a file of `kgrag eval answers --out FILE.jsonl`, by question.

    Raises:
        EvaluationError: If it cannot be read or a line is malformed; names file and line.
    """
    told: dict[str, ComparedAnswer] = {}
    for place, row in read_rows(path):
        citations, text = row.get("citations"), row.get("answer")
        if not isinstance(text, str) or not isinstance(citations, list):
            raise EvaluationError(
                f"{place}: 'answer' must be a text and 'citations' a list. Remedy: name a file "
                "that `kgrag eval answers --out FILE.jsonl` wrote"
            )
        told[text_of(row, "id", place)] = ComparedAnswer.of(
            text, [c for c in citations if isinstance(c, dict)]
        )
    return told


def answers_of(report: AnswerReport) -> dict[str, ComparedAnswer]:
    """Return the answers of a report by question."""
    return {row.query_id: ComparedAnswer.of(row.text, row.citations) for row in report.rows}


def prefer(
    query: GoldQuery,
    gold: Sequence[str],
    mine: ComparedAnswer,
    other: ComparedAnswer,
    *,
    model: ChatModel,
) -> dict[str, str]:
    """Return for each of `CRITERIA` which of two answers is better: `mine`, `other` or `tie`.

    CoV-RAG, section 4.2 and Table 16, for two answers. The model is asked in both orders; different
    choices are a tie, since judges may favour the first position (Zheng et al. 2023, section 3.4).

    Args:
        query: The question.
        gold: Reference answers.
        mine: One answer.
        other: The other one.
        model: Judges, in two calls.

    Raises:
        ModelError: If it returns no choice.
    """
    first = _asked(query, gold, mine, other, model)
    second = _asked(query, gold, other, mine, model)
    names = {("1", "2"): "mine", ("2", "1"): "other"}
    return {name: names.get((first[name], second[name]), TIE) for name in CRITERIA}


def compared(
    report: AnswerReport,
    others: Mapping[str, ComparedAnswer],
    queries: Sequence[tuple[GoldQuery, Sequence[str]]],
    *,
    other: str,
    model: CountingModel,
    tape: Tape,
    progress: Callable[[str, int, int], None] | None = None,
) -> AnswerReport:
    """Return a report with the choices of each question and their counts.

    Args:
        report: Of one system.
        others: Answers of the other, by question.
        queries: With reference answers.
        other: The other's name.
        model: Judges.
        tape: Recorder or player.
        progress: Called with (name, questions done, total).

    Raises:
        EvaluationError: If the other lacks an answer, or a response is not recorded: names the
            question.
    """
    mine = answers_of(report)
    counts = {name: Counter({report.system: 0, other: 0, TIE: 0}) for name in CRITERIA}
    names = {"mine": report.system, "other": other, TIE: TIE}
    rows: list[AnswerScores] = []
    unjudged: list[str] = []
    for number, ((query, gold), row) in enumerate(zip(queries, report.rows, strict=True)):
        if progress:
            progress(f"{report.system} against {other}", number, len(queries))
        place = f"question {query.query_id}"
        if query.query_id not in others:
            raise EvaluationError(
                f"{place}: {other} has no answer to it. Remedy: answers to the same questions"
            )
        try:
            told = prefer(query, gold, mine[query.query_id], others[query.query_id], model=model)
        except ModelError as exc:
            told = {}
            unjudged.append(f"{place}: {exc}")
        tape.check(place, model)
        for name, who in told.items():
            counts[name][names[who]] += 1
        rows.append(replace(row, preferred={name: names[who] for name, who in told.items()}))
    calls, usage = model.taken()
    notes = [f"comparing took {calls} calls and {usage.prompt + usage.completion} tokens"]
    if unjudged:
        notes.append(f"{len(unjudged)} pairs could not be judged: {unjudged[0]}")
    return replace(report, rows=tuple(rows), compared=counts, notes=(*report.notes, *notes))


def _asked(
    query: GoldQuery,
    gold: Sequence[str],
    first: ComparedAnswer,
    second: ComparedAnswer,
    model: ChatModel,
) -> dict[str, str]:
    messages = prompt("compare", question_language(query.question)).fill(
        question=fence(query.question, label="question"),
        gold=fence("\n".join(gold), label="gold"),
        first=fence(first.text, label="answer"),
        first_quotes=fence(first.quotes, label="quotes"),
        second=fence(second.text, label="answer"),
        second_quotes=fence(second.quotes, label="quotes"),
    )
    request = Request(messages, "verify", schema=_SCHEMA, schema_name="compare")
    return ask(model, request, _read)


def _read(data: Json) -> dict[str, str]:
    """Parse the choice of each criterion.

    Raises:
        ValueError: If one is missing or no choice.
    """
    if not isinstance(data, dict):
        raise ValueError(f"a JSON object is wanted, got {type(data).__name__}")
    told = {name: str(data.get(name)).strip().lower() for name in CRITERIA}
    for name, choice in told.items():
        if choice not in _CHOICES:
            raise ValueError(f"{name} must be one of {', '.join(_CHOICES)}, got {choice!r}")
    return told
