"""Model-based scores of answers (GRIM, Chats-Grid, CoV-RAG), and answers compared in pairs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kgrag.answer.answer import Answer
from kgrag.errors import EvaluationError, ModelError
from kgrag.evaluation.answer_report import AnswerReport, AnswerScores
from kgrag.evaluation.answers import KnowledgeBase
from kgrag.evaluation.chat_models import CountingModel, Tape
from kgrag.evaluation.citations import plain_text
from kgrag.evaluation.lines import Text, checked, read_rows
from kgrag.evaluation.queries import GoldQuery
from kgrag.llm.chat import ChatModel, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask
from kgrag.llm.tokens import estimate_tokens
from kgrag.results import Context, Passage
from kgrag.text.words import question_language
from kgrag.types import Chunk
from kgrag.verification.attempt import Attempt
from kgrag.verification.chats_grid import self_check
from kgrag.verification.cov import score
from kgrag.verification.loop import Case
from kgrag.verification.rating import as_object

# Gives GRIM's measures of a question, an answer and contexts: `GrimEvaluators` does.
Evaluators = Callable[[str, str, Sequence[str]], Mapping[str, float]]

_TOP_K = 10
# Measures of the references alone: an answer that found nothing has them, and 0 in the others.
_OF_CONTEXT = frozenset({"grim:Ctxt-Qry", "grid:context_recall", "cov:reference_correctness"})
_WORST = {"cov:bias": 1.0}


class AnswerJudge:
    """Judges answers of a system against their citations and its search results.

    Measures: `grim:…` as in `GrimEvaluators` (GRIM, equations 4 to 7), `grid:…` (Chats-Grid,
    section III.C, criteria 1 to 4; the fifth, tokens, is counted), `cov:…` (CoV-RAG, Table 1; low
    bias is good) and `cov:true`, 1 if its judgement is true.
    """

    def __init__(
        self,
        base: KnowledgeBase,
        model: ChatModel,
        *,
        system: str | None = None,
        evaluators: Evaluators | None = None,
    ) -> None:
        """Store the judge.

        Args:
            base: Source of references.
            model: Judges.
            system: Retrieval preset for further references; the configured one for None.
            evaluators: GRIM's measures; left out for None.
        """
        self._base = base
        self._model = model
        self._system = system
        self._evaluators = evaluators

    def __call__(self, query: GoldQuery, answer: Answer) -> dict[str, float]:
        """Return the scores of an answer, each in [0, 1].

        An answer that found nothing scores 0 (bias 1); a GRIM measure with an unreadable response
        is left out.

        Raises:
            ModelError: If the model returns no scores.
        """
        question, language = query.question, question_language(query.question)
        context = self._context(question, answer)
        attempt = Attempt(question, answer, context)
        scores: dict[str, float] = {}
        if self._evaluators:
            texts = [passage.text for passage in context.passages]
            found = self._evaluators(question, plain_text(answer), texts)
            scores |= {f"grim:{name}": value for name, value in found.items()}
        case = Case(question, language, self._model)
        grid = self_check(case, attempt)
        scores |= {f"grid:{name}": value for name, value in grid.items()}
        told = score(case, attempt)
        scores |= {f"cov:{name}": value for name, value in told.scores.items()}
        scores["cov:true"] = float(told.judgement == "true")
        if answer.found:
            return scores
        return {
            name: value if name in _OF_CONTEXT else _WORST.get(name, 0.0)
            for name, value in scores.items()
        }

    def _context(self, question: str, answer: Answer) -> Context:
        """Return the chunks of the quotes, then search results, as far as they fit.

        This is the same for all writers, since extractive answers have no context of their own.
        """
        store = self._base.store
        cited = store.chunks(list(dict.fromkeys(c.chunk_id for c in answer.citations)))
        found = self._base.search(question, system=self._system, top_k=_TOP_K)
        chunks = list({c.chunk_id: c for c in (*cited, *(hit.chunk for hit in found))}.values())
        titles = {d.doc_id: d.title for d in store.document_cards([c.doc_id for c in chunks])}
        return _packed(
            chunks, titles, at_least=len(cited), most=self._base.config.answer.context_tokens
        )


def _packed(
    chunks: Sequence[Chunk], titles: Mapping[str, str], *, at_least: int, most: int
) -> Context:
    """Return numbered passages: all cited ones, and as many others as fit."""
    passages: list[Passage] = []
    tokens = 0
    for chunk in chunks:
        cost = estimate_tokens(chunk.text)
        if len(passages) >= at_least and tokens + cost > most:
            continue
        tokens += cost
        passages.append(
            Passage(
                len(passages) + 1,
                chunk.doc_id,
                titles.get(chunk.doc_id, ""),
                chunk.heading_path,
                chunk.start,
                chunk.end,
                chunk.text,
                chunk.chunk_id,
            )
        )
    return Context(tuple(passages), tokens=tokens, best=1 if passages else 0)


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


@dataclass(frozen=True, slots=True)
class _Written:
    """A line of `kgrag eval answers --out FILE.jsonl`."""

    id: Text
    answer: str
    citations: list[dict[str, object]]


def read_answers(path: Path) -> dict[str, ComparedAnswer]:
    """Return the answers in a file of `kgrag eval answers --out FILE.jsonl`, by question.

    Raises:
        EvaluationError: If it cannot be read or a line is malformed; names file and line.
    """
    told: dict[str, ComparedAnswer] = {}
    for place, row in read_rows(path):
        found = checked(_Written, row, place)
        told[found.id] = ComparedAnswer.of(found.answer, found.citations)
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
    given = as_object(data)
    told = {name: str(given.get(name)).strip().lower() for name in CRITERIA}
    for name, choice in told.items():
        if choice not in _CHOICES:
            raise ValueError(f"{name} must be one of {', '.join(_CHOICES)}, got {choice!r}")
    return told
