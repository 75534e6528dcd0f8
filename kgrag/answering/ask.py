"""Answering one question: retrieve, write, cite, check, verify, retry."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from kgrag.answer.answer import Answer, Step, Verdict
from kgrag.answer.blocks import Missing
from kgrag.answer.notes import note
from kgrag.answering.attempts import Attempts
from kgrag.answering.clauses import answer_by_clauses
from kgrag.answering.follow_up import Turn, complete
from kgrag.answering.look_up import Toolbox
from kgrag.answering.models import QuestionModels
from kgrag.answering.notes import read_in_chinese, with_notes
from kgrag.answering.options import METHODS, AskOptions
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext
from kgrag.answering.stated import answer_of, table_of
from kgrag.errors import KgragError, ModelError
from kgrag.limits import check_whole, checked_text
from kgrag.llm.chat import OnText
from kgrag.llm.models import Models
from kgrag.retrieval.filter import Filter
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.systems import NO_SYSTEMS, Systems, preset
from kgrag.types import Language, Query
from kgrag.verification.attempt import NOT_VERIFIED, Attempt, Verified

QUOTED_INSTEAD = "The model could not answer: {}; the best clauses are quoted by rule instead."
NOTHING_QUOTED = (
    "The model could not answer: {}; rules found no clause to quote instead, which does not mean "
    "that the documents hold no answer."
)


def ask(
    question: str,
    *,
    knowledge: SearchContext,
    options: AskOptions,
    stages: Models | None,
    history: Sequence[Turn] = (),
    within: Filter | None = None,
    notes: Sequence[str] = (),
    on_text: OnText | None = None,
    systems: Systems = NO_SYSTEMS,
    toolbox: Callable[[Language], Toolbox] | None = None,
) -> Answer:
    """Return an answer with citations, checks and a verdict, and notes on what it rests on.

    Without a model, clauses are quoted by rule; also if the model cannot be reached or gives
    nothing usable, with a note that says why.

    Args:
        question: The question.
        knowledge: The knowledge base, restricted to `within`.
        options: Options.
        stages: Models by stage; None for quotes by rule.
        history: Earlier turns, oldest first, which the question may refer to.
        within: Which documents are searched; all for None.
        notes: Further notes, on the knowledge base.
        on_text: Called with each piece of the first answer as it is streamed, before citations
            are resolved; a later answer that replaces it is not streamed.
        systems: Retrieval pipelines that `options.system` may name.
        toolbox: Returns what a model may call while it answers in a language; None for nothing.

    Raises:
        OutOfRangeError: If the question is too long.
        GarbledTextError: If it, or an earlier turn, was damaged before it arrived.
    """
    checked_text("question", question)
    check_whole("history", *(text for turn in history for text in (turn.question, turn.answer)))
    pipeline = preset(options.search.system, systems)
    models = QuestionModels(stages, options.verify) if stages and question.strip() else None
    known = knowledge.settings().known_places
    question, before = complete(question, history, models=models, known=known)
    query = knowledge.query(question)
    if models is None:
        answer = _quoted(query, knowledge, pipeline, options)
    else:
        tools = toolbox(query.language) if toolbox and options.answer.tool_rounds else None
        attempts = Attempts(query, knowledge, pipeline, options, models, history, tools)
        answer = _written(attempts, before, on_text)
    answer = replace(answer, question=question)
    return with_notes(answer, query, knowledge, within, notes)


def _written(attempts: Attempts, before: Sequence[Step], on_text: OnText | None) -> Answer:
    """Return a model's answer, verified; clauses if the model gives none, with a note on why."""
    models = attempts.models
    try:
        first = attempts(attempts.query.question, on_text)
    except ModelError as exc:
        quoted = _quoted(attempts.query, attempts.knowledge, attempts.pipeline, attempts.options)
        told = QUOTED_INSTEAD if quoted.citations else NOTHING_QUOTED
        why = told.format(str(exc).rstrip("."))
        fell = Step("fall back", why)
        used = Step("used", models.usage())
        return replace(
            quoted,
            blocks=quoted.blocks if quoted.citations else (Missing(unanswered=True),),
            notes=(why, *quoted.notes),
            steps=(*before, *attempts.steps, fell, *quoted.steps, used),
            fallback=True,
        )
    verified = _verified(first, attempts)
    steps = (*before, *first.answer.steps, *verified.steps, Step("used", models.usage()))
    left_out = dict.fromkeys(f"{step.name}: {step.detail}" for step in steps if step.failed)
    notes = (*verified.answer.notes, *left_out)
    return replace(verified.answer, verdict=verified.verdict, steps=steps, notes=notes)


def _quoted(
    query: Query, knowledge: SearchContext, pipeline: Pipeline, options: AskOptions
) -> Answer:
    """Return a table that answers the question, else the best clauses, by rule."""
    search = knowledge.search(query)
    table = table_of(search, knowledge, planned=pipeline.planned)
    if table is not None:
        leaf = knowledge.settings().leaf
        answer = answer_of(table, query, knowledge.store, size=leaf)
    else:
        results = knowledge.best(pipeline, search, top_k=options.top_k)
        found = ResultsWithDocuments.of(results, knowledge.store)
        embedder, most = knowledge.embedder(), options.answer.max_chars
        answer = answer_by_clauses(search, found, embedder=embedder, max_chars=most)
    read_as = read_in_chinese(query, knowledge.settings().chinese)
    held = search.titled.values()
    missing = [
        note("title-missing", title=title)
        for title in query.titles
        if table is None and title not in held
    ]
    return replace(answer, notes=(*read_as, *missing, *answer.notes))


def _verified(first: Attempt, attempts: Attempts) -> Verified:
    """Return the best answer; no failure of a model loses the first one."""
    method, models = attempts.options.verify.method, attempts.models
    if method == "cov" and attempts.has_looked and not first.answer.found:
        told = note("no-answer", first.answer.language)
        return Verified(first.answer, Verdict(method, "passed", reason=told))
    try:
        if method != "none":
            return METHODS[method].verify(
                attempts.query.question,
                first,
                attempts,
                language=attempts.query.language,
                model=models.of("verify"),
                budget=models.budget,
            )
    except KgragError as exc:
        verdict = unchecked(first).verdict
        reason = f"{NOT_VERIFIED}{exc}; {verdict.reason}"
        return Verified(first.answer, replace(verdict, status="unverified", reason=reason))
    return unchecked(first)


def unchecked(first: Attempt) -> Verified:
    """Return an answer with its offline findings only."""
    checks = first.answer.checks
    bad = sum(not check.supported for check in checks)
    told = note("offline", first.answer.language, bad=bad, n=len(checks))
    return Verified(first.answer, Verdict("none", "failed" if bad else "passed", reason=told))
