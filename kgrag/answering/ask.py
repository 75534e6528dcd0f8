"""Answering one question: retrieve, write, cite, check, verify, retry."""

from collections.abc import Sequence
from dataclasses import replace

from kgrag.answer.answer import Answer, Step
from kgrag.answer.blocks import Missing
from kgrag.answer.notes import note
from kgrag.answering.attempts import Attempts
from kgrag.answering.clauses import answer_by_clauses
from kgrag.answering.follow_up import Turn, carry_over, rewrite_follow_up
from kgrag.answering.models import QuestionModels, StageModels, StoppedError, stopped_after
from kgrag.answering.notes import read_in_chinese
from kgrag.answering.options import METHODS, AskOptions, unchecked
from kgrag.answering.retrieve import LEFT_OUT
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
    pipeline = preset(options.system, systems)
    if stages is None or not question.strip():
        return _quoted(question, knowledge, pipeline, options, history)
    models = QuestionModels(
        stages,
        max_rounds=options.max_rounds,
        max_calls=options.max_calls,
        timeout_s=options.timeout_s,
    )
    try:
        understood, step = _understood(question, history, models, knowledge)
    except ModelError as exc:
        quoted = _quoted(question, knowledge, pipeline, options, history)
        return _fallen_back(question, quoted, exc, (), models)
    steps = (step,) if step else ()
    try:
        attempts = Attempts(understood, knowledge, pipeline, options, models, history)
        return _Asking(understood, attempts, options, models).answer(steps, on_text)
    except StoppedError as exc:
        quoted = _quoted(understood, knowledge, pipeline, options, ())
        return _fallen_back(question, quoted, exc, exc.steps, models)


def _understood(
    question: str, history: Sequence[Turn], models: QuestionModels, knowledge: SearchContext
) -> tuple[str, Step | None]:
    """Return a follow-up question as a self-contained one, and the steps for that.

    Raises:
        ModelError: If a model of the answer's endpoint fails.
    """
    if not history:
        return question, None
    before, known = models.calls, knowledge.settings().known_places
    try:
        model = models.of("analyse")
        understood = rewrite_follow_up(question, history, model=model, known=known)
    except ModelError as exc:
        if models.answers_like("analyse"):
            raise
        understood, _ = carry_over(question, history, known=known)
        told = f"{LEFT_OUT}{exc}\nby rule: {understood}"
        return understood, Step("understand", told, models.calls - before, failed=True)
    return understood, Step("understand", understood, models.calls - before)


def _fallen_back(
    question: str,
    quoted: Answer,
    error: ModelError,
    steps: Sequence[Step],
    models: QuestionModels,
) -> Answer:
    """Return an answer of quotes, with a note on why the model did not write one."""
    told = QUOTED_INSTEAD if quoted.citations else NOTHING_QUOTED
    why = told.format(str(error).rstrip("."))
    return replace(
        quoted,
        blocks=quoted.blocks if quoted.citations else (Missing(unanswered=True),),
        notes=(why, *quoted.notes),
        steps=(*steps, Step("fall back", why), *quoted.steps, Step("used", models.usage())),
        fallback=True,
    )


def _quoted(
    question: str,
    knowledge: SearchContext,
    pipeline: Pipeline,
    options: AskOptions,
    history: Sequence[Turn],
) -> Answer:
    """Return a table that answers the question, else the best clauses, by rule."""
    standing, _ = carry_over(question, history, known=knowledge.settings().known_places)
    query = knowledge.query(standing)
    search = knowledge.search(query)
    table = table_of(search, knowledge, planned=pipeline.planned)
    if table is not None:
        leaf = knowledge.settings().leaf
        answer = answer_of(table, query, knowledge.store, size=leaf)
    else:
        results = knowledge.best(pipeline, [search], top_k=options.top_k)
        found = ResultsWithDocuments.of(results, knowledge.store)
        embedder = knowledge.embedder()
        answer = answer_by_clauses(search, found, embedder=embedder, max_chars=options.max_chars)
    answer = _with_broken_numbers(replace(answer, question=standing))
    read_as = read_in_chinese(query, knowledge.settings().chinese)
    held = search.titled.values()
    missing = [
        note("title-missing", query.language, title=title)
        for title in query.titles
        if table is None and title not in held
    ]
    return replace(answer, notes=(*read_as, *missing, *answer.notes))


class _Asking:
    """A self-contained question that a model answers."""

    def __init__(
        self, question: str, attempts: Attempts, options: AskOptions, models: QuestionModels
    ) -> None:
        self._question = question
        self._attempts = attempts
        self._options = options
        self._models = models

    def answer(self, before: Sequence[Step], on_text: OnText | None) -> Answer:
        """Return the best answer within the limits.

        Args:
            before: Earlier steps.
            on_text: Called with each piece of the first answer.

        Raises:
            StoppedError: If there is no first answer.
        """
        with stopped_after(before):
            first = self._attempts(self._question, on_text)
        verified = self._verified(first)
        used = Step("used", self._models.usage())
        steps = (*before, *first.answer.steps, *verified.steps, used)
        notes = (*verified.answer.notes, *_left_out(steps))
        answer = replace(verified.answer, verdict=verified.verdict, steps=steps, notes=notes)
        answer = _with_broken_numbers(answer)
        return replace(answer, notes=(*answer.notes, *notes_of(answer)))

    def _verified(self, first: Attempt) -> Verified:
        """Return the best answer; no failure of a model loses the first one."""
        if self._options.verify == "none":
            return unchecked(first)
        try:
            return METHODS[self._options.verify].verify(
                self._question,
                first,
                self._attempts,
                language=question_language(self._question),
                model=self._models.of("verify"),
                budget=self._models.budget,
            )
        except KgragError as exc:
            verified = unchecked(first)
            reason = f"{NOT_VERIFIED}{exc}; {verified.verdict.reason}"
            verdict = replace(verified.verdict, status="unverified", reason=reason)
            return replace(verified, verdict=verdict)


def _left_out(steps: Sequence[Step]) -> list[str]:
    """Return a note for each step that a model failed at, each once."""
    failed = (step for step in steps if step.failed)
    return list(dict.fromkeys(f"{step.name}: {step.detail}" for step in failed))


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
