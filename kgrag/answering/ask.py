"""Answering one question: retrieve, write, cite, check, verify, retry."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, zip_longest

from kgrag.answer.answer import Answer, Step
from kgrag.answer.blocks import Block, Missing, Row, Side
from kgrag.answer.notes import note
from kgrag.answering.attempts import Attempts
from kgrag.answering.copies import naming_copies
from kgrag.answering.follow_up import Turn, carry_over, rewrite_follow_up
from kgrag.answering.models import QuestionModels, StageModels, StoppedError, stopped_after
from kgrag.answering.notes import read_in_chinese
from kgrag.answering.options import METHODS, AskOptions, unchecked
from kgrag.answering.quotes import answer_by_sides, of_side, quoted, side
from kgrag.answering.retrieve import LEFT_OUT
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext, facts_in
from kgrag.answering.stated import answer_of, table_of
from kgrag.errors import KgragError, ModelError
from kgrag.limits import check_whole, checked_text
from kgrag.llm.chat import OnText
from kgrag.question.question import question_of
from kgrag.results import ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.search import Search
from kgrag.retrieval.systems import NO_SYSTEMS, Systems, preset
from kgrag.text.facets import called
from kgrag.text.quantities import broken_numbers
from kgrag.text.words import question_language
from kgrag.types import Document, Query
from kgrag.verification.attempt import NOT_VERIFIED, Attempt, Verified
from kgrag.verification.checks import notes_of

_QUOTED_OF_SILENT = 2  # sentences for a place of which no row was read
QUOTED_INSTEAD = "The model could not answer: {}; sentences are quoted by rule instead."
NOTHING_QUOTED = (
    "The model could not answer: {}; rules found no sentence to quote instead, which does not mean "
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

    Without a model, sentences are quoted by rule; also if the model cannot be reached or gives
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
    told = QUOTED_INSTEAD if quoted.found else NOTHING_QUOTED
    why = told.format(str(error).rstrip("."))
    return replace(
        quoted,
        blocks=quoted.blocks if quoted.found else (Missing(unanswered=True),),
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
    """Return an answer of sentences quoted by rule."""
    standing, _ = carry_over(question, history, known=knowledge.settings().known_places)
    query = knowledge.query(standing)
    search = knowledge.search(query)
    held: dict[str, Document] = {}

    def quote(search: Search, most: int, sure: bool = False) -> Answer:
        results = knowledge.best(pipeline, [search], top_k=options.top_k)
        told, documents = _quote_results(search.query, results, knowledge, most, sure=sure)
        held.update(documents)
        return told

    def quote_side(side: str, most: int, sure: bool = False) -> Answer:
        asked = search.asked(sides[side])
        told = quote(asked, most, sure)
        return of_side(asked.query, told, titled=asked.titled, documents=held)

    planned = question_of(query).sides if pipeline.planned else ()
    sides = {side.label: side.query for side in planned}
    table = table_of(search, knowledge, planned=pipeline.planned)
    if table is not None:
        leaf = knowledge.settings().leaf
        answer = answer_of(table, query, knowledge.store, size=leaf)
        stating = {called(block.label) for block in answer.blocks if isinstance(block, Row)}
        nearest = (
            side(label, quote_side(label, _QUOTED_OF_SILENT, True), nearest=True)
            for label in sides
            if label not in stating
        )
        answer = replace(answer, blocks=(*answer.blocks, *nearest))
    elif sides:
        answer = answer_by_sides(query, [*sides], quote_side, max_sentences=options.max_sentences)
    else:
        answer = quote(search, options.max_sentences)
    answer = shortened(replace(answer, question=standing), options.most_quotes)
    answer = _with_broken_numbers(answer)
    read_as = read_in_chinese(query, knowledge.settings().chinese)
    return replace(answer, notes=(*read_as, *answer.notes))


def _quote_results(
    query: Query,
    results: Sequence[ScoredChunk],
    knowledge: SearchContext,
    most: int,
    *,
    sure: bool = False,
) -> tuple[Answer, dict[str, Document]]:
    """Return at most so many sentences of results by rule, and the documents of the results.

    With `sure`, the results are known to be about it, and the best are quoted whatever they score.
    """
    results = [*results, *knowledge.defining(query, results)]
    found = ResultsWithDocuments.of(results, knowledge.store)
    told = quoted(
        query,
        found.results,
        documents=found.documents,
        headings=found.headings,
        embedder=knowledge.embedder(),
        max_sentences=most,
        facts=facts_in(found.results, knowledge.store, leaf=knowledge.settings().leaf),
        absent=lambda: knowledge.absent(query),
        apart=cache(lambda: knowledge.apart(query)),
        sure=sure,
    )
    return naming_copies(told, found.results), found.documents


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


def shortened(answer: Answer, most: int | None) -> Answer:
    """Return an answer with at most `most` quotes and rows, taken from its sides in turn.

    Args:
        answer: Of quotes.
        most: None for no limit.
    """
    if most is None or not answer.found:
        return answer
    groups: dict[str, list[Block]] = {}
    for block in answer.blocks:
        label = block.label if isinstance(block, Row | Side | Missing) else ""
        groups.setdefault(label, []).extend(block.blocks if isinstance(block, Side) else [block])
    ordered = [b for b in chain.from_iterable(zip_longest(*groups.values())) if b is not None]
    if len(ordered) <= most:
        return answer
    kept = {id(block) for block in ordered[:most]}
    blocks: list[Block] = []
    for block in answer.blocks:
        if isinstance(block, Side):
            own = tuple(b for b in block.blocks if id(b) in kept)
            blocks += [replace(block, blocks=own)] if own else []
        elif id(block) in kept:
            blocks.append(block)
    told = note("shortened", answer.language, shown=most, n=len(ordered))
    return replace(answer, blocks=tuple(blocks), notes=(*answer.notes, told))
