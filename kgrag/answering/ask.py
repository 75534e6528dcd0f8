"""Answering one question: retrieve, write, cite, check, verify, retry."""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.answer.answer import Answer, Step, Verdict
from kgrag.answer.blocks import Missing
from kgrag.answer.notes import note
from kgrag.answering.attempts import Attempts
from kgrag.answering.clauses import answer_by_clauses
from kgrag.answering.follow_up import Turn, carry_over, rewrite_follow_up
from kgrag.answering.models import QuestionModels, StageModels
from kgrag.answering.notes import read_in_chinese
from kgrag.answering.options import METHODS, AskOptions
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext
from kgrag.answering.stated import answer_of, table_of
from kgrag.errors import KgragError, ModelError
from kgrag.limits import check_whole, checked_text
from kgrag.llm.chat import OnText
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.systems import NO_SYSTEMS, Systems, preset
from kgrag.text.quantities import broken_numbers
from kgrag.text.words import question_language
from kgrag.verification.attempt import NOT_VERIFIED, Attempt, Verified
from kgrag.verification.checks import notes_of

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
    stages: StageModels | None,
    history: Sequence[Turn] = (),
    on_text: OnText | None = None,
    systems: Systems = NO_SYSTEMS,
) -> Answer:
    """Return an answer with citations, checks and a verdict.

    Without a model, clauses are quoted by rule; also if the model cannot be reached or gives
    nothing usable, with a note that says why.

    Args:
        question: The question.
        knowledge: The knowledge base.
        options: Options.
        stages: Models by stage; None for quotes by rule.
        history: Earlier turns, oldest first, which the question may refer to.
        on_text: Called with each piece of the first answer as it is streamed, before citations
            are resolved; a later answer that replaces it is not streamed.
        systems: Retrieval pipelines that `options.system` may name.

    Raises:
        OutOfRangeError: If the question is too long.
        GarbledTextError: If it, or an earlier turn, was damaged before it arrived.
    """
    checked_text("question", question)
    check_whole("history", *(text for turn in history for text in (turn.question, turn.answer)))
    pipeline = preset(options.search.system, systems)
    known = knowledge.settings().known_places
    if stages is None or not question.strip():
        standing, _ = carry_over(question, history, known=known)
        return _quoted(standing, knowledge, pipeline, options)
    models = QuestionModels(stages, options.verify)
    before: tuple[Step, ...] = ()
    if history:
        question, step = rewrite_follow_up(question, history, models=models, known=known)
        before = (step,)
    attempts = Attempts(question, knowledge, pipeline, options, models, history)
    try:
        first = attempts(question, on_text)
    except ModelError as exc:
        quoted = _quoted(question, knowledge, pipeline, options)
        used = Step("used", models.usage())
        return _fallen_back(quoted, exc, (*before, *attempts.steps), used)
    verified = _verified(question, first, attempts, options, models)
    steps = (*before, *first.answer.steps, *verified.steps, Step("used", models.usage()))
    left_out = dict.fromkeys(f"{step.name}: {step.detail}" for step in steps if step.failed)
    notes = (*verified.answer.notes, *left_out)
    answer = replace(verified.answer, verdict=verified.verdict, steps=steps, notes=notes)
    answer = _with_broken_numbers(answer)
    return replace(answer, notes=(*answer.notes, *notes_of(answer)))


def _fallen_back(quoted: Answer, error: ModelError, before: Sequence[Step], used: Step) -> Answer:
    """Return an answer of quotes, with a note on why the model did not write one."""
    told = QUOTED_INSTEAD if quoted.citations else NOTHING_QUOTED
    why = told.format(str(error).rstrip("."))
    return replace(
        quoted,
        blocks=quoted.blocks if quoted.citations else (Missing(unanswered=True),),
        notes=(why, *quoted.notes),
        steps=(*before, Step("fall back", why), *quoted.steps, used),
        fallback=True,
    )


def _quoted(
    question: str, knowledge: SearchContext, pipeline: Pipeline, options: AskOptions
) -> Answer:
    """Return a table that answers the question, else the best clauses, by rule."""
    query = knowledge.query(question)
    search = knowledge.search(query)
    table = table_of(search, knowledge, planned=pipeline.planned)
    if table is not None:
        leaf = knowledge.settings().leaf
        answer = answer_of(table, query, knowledge.store, size=leaf)
    else:
        results = knowledge.best(pipeline, [search], top_k=options.top_k)
        found = ResultsWithDocuments.of(results, knowledge.store)
        embedder, most = knowledge.embedder(), options.answer.max_chars
        answer = answer_by_clauses(search, found, embedder=embedder, max_chars=most)
    answer = _with_broken_numbers(replace(answer, question=question))
    read_as = read_in_chinese(query, knowledge.settings().chinese)
    held = search.titled.values()
    missing = [
        note("title-missing", query.language, title=title)
        for title in query.titles
        if table is None and title not in held
    ]
    return replace(answer, notes=(*read_as, *missing, *answer.notes))


def _verified(
    question: str, first: Attempt, attempts: Attempts, options: AskOptions, models: QuestionModels
) -> Verified:
    """Return the best answer; no failure of a model loses the first one."""
    try:
        if options.verify.method != "none":
            return METHODS[options.verify.method].verify(
                question,
                first,
                attempts,
                language=question_language(question),
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


def _with_broken_numbers(answer: Answer) -> Answer:
    """Return an answer with a note for each quoted number that is broken by a gap in the text."""
    notes = dict.fromkeys(
        note(
            "broken-number",
            answer.language,
            number=c.number,
            written=written,
            read="".join(written.split()),
        )
        for c in answer.citations
        for start, end in broken_numbers(c.quote)
        for written in [c.quote[start:end]]
    )
    return replace(answer, notes=(*answer.notes, *notes)) if notes else answer
