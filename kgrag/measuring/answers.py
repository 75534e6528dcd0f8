"""Ask every question of a set, and score each answer: without a model, and by one that judges."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from kgrag.api import KnowledgeBase
from kgrag.asking.options import Writer
from kgrag.errors import EvaluationError, KgragError
from kgrag.evaluation.answer_report import BACKED, AnswerReport, AnswerScores
from kgrag.evaluation.overlap import OVERLAP, overlap_scores
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.quoted import quoted_scores
from kgrag.measuring.backed import backing_scores, number_scores, plain_text
from kgrag.measuring.gold import Gold
from kgrag.measuring.metered import Metered, Tape
from kgrag.results import Answer
from kgrag.retrieval.filter import Filter


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
        without_gold: Whether the gold documents of each question are left out of its search:
            refusing is right then.
        model: Counts what answers take; None where no model writes.
        judge: Scores answers; None for none.
        judge_model: Counts what judging takes, so that it can be told apart.
        tape: What is recorded or played.
    """

    system: str | None = None
    writer: Writer | None = None
    without_gold: bool = False
    model: Metered | None = None
    judge: Judge | None = None
    judge_model: Metered | None = None
    tape: Tape | None = None


def measure_answers(
    base: KnowledgeBase,
    queries: Sequence[GoldQuery],
    asking: Asking,
    *,
    progress: Callable[[str, int, int], None] | None = None,
) -> AnswerReport:
    """Return the scores of the answers to all questions, one after the other.

    No question is skipped: an answer that found nothing has 0 wherever it is scored. Of questions
    that the documents do not answer, only is counted whether they are refused.

    Args:
        base: What is asked.
        queries: With their gold; those without gold documents are unanswerable.
        asking: How.
        progress: Called with (system, questions done, questions in all).

    Raises:
        EvaluationError: If none of the gold is held; or if a question cannot be asked, or nothing
            was recorded for it: names the question.
    """
    gold = Gold.of(queries, base.store)
    system = asking.system or base.config.search.system
    rows: list[AnswerScores] = []
    fell_back = 0
    for number, query in enumerate(queries):
        if progress:
            progress(system, number, len(queries))
        row, fallback = _measured(base, query, gold, asking)
        rows.append(row)
        fell_back += fallback
    if progress:
        progress(system, len(queries), len(queries))
    notes = []
    if gold.missing:
        shown = ", ".join(gold.missing[:5])
        notes.append(f"{len(gold.missing)} gold documents are not held: {shown}")
    if fell_back:
        notes.append(f"{fell_back} answers were quoted by rule because the model could not answer")
    return AnswerReport(system, tuple(rows), tuple(notes))


def answer_scores(
    query: GoldQuery, answer: Answer, *, references: Sequence[str], spans: Sequence[str]
) -> dict[str, float]:
    """Return all measures of an answer to an answerable question that need no model.

    Args:
        query: With its gold.
        answer: As `ask` gives it.
        references: Right answers in words.
        spans: Texts of the gold spans.
    """
    text = plain_text(answer) if answer.found else ""
    scores = overlap_scores(text, references) if references else dict.fromkeys(OVERLAP, 0.0)
    scores |= quoted_scores(answer.citations, query.gold_spans, query.gold_docs)
    told = backing_scores(answer) | number_scores(answer, references=references, spans=spans)
    return scores | {name: told[name] for name in BACKED if name in told}


def _measured(
    base: KnowledgeBase, query: GoldQuery, gold: Gold, asking: Asking
) -> tuple[AnswerScores, bool]:
    """Return the scores of one question, and whether a model was to answer and could not."""
    place = f"question {query.query_id}"
    within = _without(query, gold) if asking.without_gold else None
    begun = time.perf_counter()
    try:
        answer = base.ask(query.question, system=asking.system, writer=asking.writer, within=within)
    except KgragError as exc:
        raise EvaluationError(f"{place}: {exc}") from exc
    seconds = time.perf_counter() - begun
    if asking.tape:
        asking.tape.check(place, asking.model)
    scores: dict[str, float] = {}
    answerable = bool(query.gold_docs) and not asking.without_gold
    if answerable:
        spans, references = gold.spans(query), gold.references(query)
        scores = answer_scores(query, answer, references=references, spans=spans)
    calls, usage = asking.model.taken() if asking.model else (0, None)
    scores |= {"refused": float(not answer.found), "calls": float(calls)}
    if usage:
        scores |= {"prompt": float(usage.prompt), "completion": float(usage.completion)}
    scores["seconds"] = seconds
    if asking.judge and answerable:
        scores |= _judged(query, answer, asking, place)
    row = AnswerScores(
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
    return row, answer.fallback


def _judged(query: GoldQuery, answer: Answer, asking: Asking, place: str) -> dict[str, float]:
    assert asking.judge is not None
    try:
        found = dict(asking.judge(query, answer))
    except KgragError as exc:
        raise EvaluationError(f"{place}: cannot be judged: {exc}") from exc
    if asking.judge_model:
        calls, usage = asking.judge_model.taken()
        found |= {"judge-calls": calls, "judge-tokens": usage.prompt + usage.completion}
    return found


def _without(query: GoldQuery, gold: Gold) -> Filter | None:
    """Return what leaves the gold documents of a question out."""
    held = (gold.documents.get(doc) for doc in query.gold_docs)
    ids = tuple(document.doc_id for document in held if document)
    return Filter(without=ids) if ids else None
