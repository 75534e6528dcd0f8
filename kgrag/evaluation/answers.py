"""Ask every question of a set and score the answers, with and without a judge model."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kgrag.answer.answer import Answer
from kgrag.config import Config, Writer
from kgrag.errors import EvaluationError, KgragError, ModelError
from kgrag.evaluation.answer_report import AnswerReport, AnswerScores
from kgrag.evaluation.chat_models import Tape
from kgrag.evaluation.citations import plain_text, quoted_scores
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.runs import RunResult
from kgrag.evaluation.scores import document_key
from kgrag.evaluation.wording import OVERLAP, overlap_scores
from kgrag.llm.middleware import Counted
from kgrag.results import ScoredChunk
from kgrag.retrieval.filter import Filter
from kgrag.store.store import Store
from kgrag.text.words import sentence_spans
from kgrag.types import Document
from kgrag.verification.attempt import supported_share


class KnowledgeBase(Protocol):
    """The part of `kgrag.api.KnowledgeBase` that is measured."""

    @property
    def config(self) -> Config:
        """Return its settings."""
        ...

    @property
    def store(self) -> Store:
        """Return its store."""
        ...

    def search(self, question: str, *, system: str | None, top_k: int) -> Sequence[ScoredChunk]:
        """Return the chunks for a question, best first."""
        ...

    def ask(
        self, question: str, *, system: str | None, writer: Writer | None, within: Filter | None
    ) -> Answer:
        """Return an answer with its citations."""
        ...


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold of questions, as far as its documents are stored.

    Attributes:
        documents: By the name in the questions.
        missing: Names without a stored document.
    """

    documents: Mapping[str, Document]
    missing: tuple[str, ...]

    @classmethod
    def of(cls, queries: Sequence[GoldQuery], store: Store) -> "Gold":
        """Return the gold documents in a knowledge base.

        Raises:
            EvaluationError: If questions have gold and none of it is stored.
        """
        wanted = dict.fromkeys(doc for q in queries for doc in (*q.gold_docs, *q.gold_spans))
        names: dict[str, str] = {}
        for card in store.document_cards():
            name = document_key(RunResult(card.doc_id, file=card.file), wanted.keys())
            if name in wanted:
                names[card.doc_id] = name
        if wanted and not names:
            raise EvaluationError(
                f"none of the {len(wanted)} gold documents ({', '.join(list(wanted)[:3])}, …) is "
                "in this knowledge base. Remedy: ingest them, or name another --kb"
            )
        held = {names[d.doc_id]: d for d in store.documents(list(names)) if d.doc_id in names}
        return cls(held, tuple(name for name in wanted if name not in held))

    def references(self, query: GoldQuery) -> list[str]:
        """Return the reference texts for the wording of an answer.

        These are the answers of the question; without any, the sentences around its gold spans,
        joined.
        """
        if query.answers:
            return list(query.answers)
        told = [
            _sentences_around(self.documents[doc].text, start, end)
            for doc, several in query.gold_spans.items()
            if doc in self.documents
            for start, end in several
        ]
        return ["\n".join(told)] if told else []


class Judge(Protocol):
    """Scores an answer by a model."""

    def __call__(self, query: GoldQuery, answer: Answer) -> Mapping[str, float]:
        """Return scores by measure, each in [0, 1]."""
        ...


@dataclass(frozen=True, slots=True)
class Asking:
    """How the questions are asked.

    Attributes:
        system: Retrieval preset; the configured one for None.
        writer: `model`, `quotes`, or None as for `KnowledgeBase.ask`.
        without_gold: Whether the gold documents of each question are excluded from its search, so
            that refusing is right.
        model: Counts the cost of answers; None without a model.
        judge: Scores answers; None for none.
        judge_model: Counts the cost of judging, separately.
        tape: Recorder or player of model calls.
    """

    system: str | None = None
    writer: Writer | None = None
    without_gold: bool = False
    model: Counted | None = None
    judge: Judge | None = None
    judge_model: Counted | None = None
    tape: Tape | None = None


def measure_answers(
    base: KnowledgeBase,
    queries: Sequence[GoldQuery],
    asking: Asking,
    *,
    progress: Callable[[str, int, int], None] | None = None,
) -> AnswerReport:
    """Return the scores of the answers to all questions, in sequence.

    No question is skipped: an answer that found nothing scores 0. Unanswerable questions are only
    scored for abstention.

    Args:
        base: The knowledge base.
        queries: With gold; those without gold documents are unanswerable.
        asking: How.
        progress: Called with (system, questions done, total).

    Raises:
        EvaluationError: If none of the gold is stored; or if a question fails or has no recorded
            response: names the question.
    """
    gold = Gold.of(queries, base.store)
    system = asking.system or base.config.search.system
    run = _Run(base, gold, asking)
    rows: list[AnswerScores] = []
    for number, query in enumerate(queries):
        if progress:
            progress(system, number, len(queries))
        rows.append(run.measured(query))
    if progress:
        progress(system, len(queries), len(queries))
    return AnswerReport(system, tuple(rows), tuple(run.notes()))


def answer_scores(
    query: GoldQuery, answer: Answer, *, references: Sequence[str]
) -> dict[str, float]:
    """Return all measures of an answer to an answerable question that need no model.

    Args:
        query: With its gold.
        answer: The answer; sentences of a model have been checked.
        references: Reference answers.
    """
    text = plain_text(answer) if answer.found else ""
    scores = overlap_scores(text, references) if references else dict.fromkeys(OVERLAP, 0.0)
    scores |= quoted_scores(answer.citations, query.gold_spans, query.gold_docs)
    return scores | ({"supported": supported_share(answer)} if answer.checks else {})


class _Run:
    """Asks questions in sequence and collects failures."""

    def __init__(self, base: KnowledgeBase, gold: Gold, asking: Asking) -> None:
        self._base = base
        self._gold = gold
        self._asking = asking
        self._fell_back = 0
        self._unjudged: list[str] = []

    def measured(self, query: GoldQuery) -> AnswerScores:
        """Return a question's answer with its scores."""
        asking, place = self._asking, f"question {query.query_id}"
        answer, seconds = self._asked(query, place)
        answerable = bool(query.gold_docs) and not asking.without_gold
        scores: dict[str, float] = {}
        if answerable:
            scores = answer_scores(query, answer, references=self._gold.references(query))
        scores |= {"refused": float(not answer.found), **_cost(asking.model), "seconds": seconds}
        if answerable and asking.judge:
            scores |= self._judged(query, answer, asking.judge, place)
        self._fell_back += answer.fallback
        return AnswerScores(
            query.query_id,
            query.kind,
            query.question,
            answerable,
            not answer.found,
            answer.text,
            tuple(citation.to_dict() for citation in answer.citations),
            scores,
            answer.notes,
        )

    def notes(self) -> list[str]:
        """Return notes on the figures for the reader."""
        missing, told = self._gold.missing, []
        if missing:
            told.append(f"{len(missing)} gold documents are not held: {', '.join(missing[:5])}")
        if self._fell_back:
            told.append(
                f"{self._fell_back} answers were quoted by rule because the model could not answer"
            )
        if self._unjudged:
            told.append(f"{len(self._unjudged)} answers could not be judged: {self._unjudged[0]}")
        if tape := self._asking.tape:
            told += tape.notes()
        return told

    def _asked(self, query: GoldQuery, place: str) -> tuple[Answer, float]:
        """Return the answer and the seconds it took."""
        asking = self._asking
        within = _without(query, self._gold) if asking.without_gold else None
        begun = time.perf_counter()
        try:
            answer = self._base.ask(
                query.question, system=asking.system, writer=asking.writer, within=within
            )
        except KgragError as exc:
            raise EvaluationError(f"{place}: {exc}") from exc
        seconds = time.perf_counter() - begun
        if asking.tape:
            asking.tape.check(place, asking.model)
        return answer, seconds

    def _judged(
        self, query: GoldQuery, answer: Answer, judge: Judge, place: str
    ) -> dict[str, float]:
        """Return the judge's scores and cost; nothing if its response is unreadable."""
        asking = self._asking
        try:
            found = dict(judge(query, answer))
        except ModelError as exc:
            found = {}
            self._unjudged.append(f"{place}: {exc}")
        if asking.tape:
            asking.tape.check(place, asking.judge_model)
        cost = _cost(asking.judge_model)
        tokens = cost.get("prompt", 0.0) + cost.get("completion", 0.0)
        return found | {"judge-calls": cost["calls"], "judge-tokens": tokens}


def _cost(model: Counted | None) -> dict[str, float]:
    """Return calls and tokens since the last question; no tokens without a model."""
    if model is None:
        return {"calls": 0.0}
    used = [completion.usage for _, completion in model.completions]
    cost = {"calls": model.calls}
    cost |= {"prompt": sum(u.prompt for u in used), "completion": sum(u.completion for u in used)}
    model.reset()
    return {name: float(n) for name, n in cost.items()}


def _without(query: GoldQuery, gold: Gold) -> Filter | None:
    """Return a filter that excludes the gold documents of a question."""
    held = (gold.documents.get(doc) for doc in query.gold_docs)
    ids = tuple(document.doc_id for document in held if document)
    return Filter(without=ids) if ids else None


def _sentences_around(text: str, start: int, end: int) -> str:
    touched = [text[a:b] for a, b in sentence_spans(text) if a < end and start < b]
    return "".join(touched).strip()
