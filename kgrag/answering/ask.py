"""Answering one question: retrieve, write, cite, check, verify, retry."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from kgrag.answer.answer import Answer, Step
from kgrag.answer.blocks import Block, Missing, Row, Side
from kgrag.answer.notes import note
from kgrag.answering.attempts import Attempts
from kgrag.answering.cite import cited_texts
from kgrag.answering.copies import naming_copies
from kgrag.answering.follow_up import Turn, carry_over, rewrite_follow_up
from kgrag.answering.intents import complete
from kgrag.answering.models import QuestionModels, StageModels, StoppedError, stopped_after
from kgrag.answering.notes import read_in_chinese
from kgrag.answering.options import AskOptions
from kgrag.answering.quotes import METHOD, Quoted, answer_by_sides, of_side
from kgrag.answering.quotes import quoted as quote_results
from kgrag.answering.retrieve import LEFT_OUT
from kgrag.answering.rows import as_answer, with_comparison, with_quotes, without_rows
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext, facts_in
from kgrag.errors import KgragError, ModelError
from kgrag.limits import check_whole, checked_text
from kgrag.llm.chat import OnText
from kgrag.question.query import analyse, like
from kgrag.question.question import ANYWHERE, CITIES, PROVINCES, Question, question_of
from kgrag.results import ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.search import Search
from kgrag.retrieval.systems import NO_SYSTEMS, Systems, preset
from kgrag.text.quantities import broken_numbers
from kgrag.text.regions import listed_regions
from kgrag.text.words import normalize_name, question_language
from kgrag.types import Document, Query
from kgrag.verification.attempt import NOT_VERIFIED, Attempt, Verified
from kgrag.verification.checks import checked, notes_of
from kgrag.verification.methods import METHODS, unchecked

_QUOTED_OF_SILENT = 2  # sentences for a place of which no row was read
# Results for a question on all places, those that each place keeps, and sentences of each.
_WIDE, _PASSAGES, _OF_PLACE = 150, 3, 2
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
        understood, step = _understood(question, history, models)
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
    question: str, history: Sequence[Turn], models: QuestionModels
) -> tuple[str, Step | None]:
    """Return a follow-up question as a self-contained one, and the steps for that.

    Raises:
        ModelError: If a model of the answer's endpoint fails.
    """
    if not history:
        return question, None
    before = models.calls
    try:
        model = models.of("analyse")
        understood = rewrite_follow_up(question, history, model=model)
    except ModelError as exc:
        if models.answers_like("analyse"):
            raise
        understood = carry_over(question, history)
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
    standing = carry_over(question, history) if history else question
    query = knowledge.query(standing)
    search = knowledge.search(query)
    quoting = _Quoting(search, knowledge, pipeline, options)
    planned = question_of(query).sides if pipeline.planned else ()
    sides = {side.label: side.query for side in planned}
    listed = complete(search, knowledge) if pipeline.planned and not query.unread else None
    if listed is not None and listed.rows:
        answer = with_quotes(
            as_answer(listed, query, knowledge.store),
            listed,
            sides,
            lambda place: quoting.of_side(sides[place], _QUOTED_OF_SILENT).answer,
        )
        quoting.hold(c.doc_id for c in answer.citations)
    elif sides:
        answer = answer_by_sides(
            query,
            list(sides),
            lambda side, most: quoting.of_side(sides[side], most),
            max_sentences=options.max_sentences,
            embedder=knowledge.embedder(),
        )
    elif pipeline.planned and listed is None and (placed := quoting.by_place()):
        answer = placed
    else:
        answer = quoting.of_search(search, options.max_sentences).answer
    if listed is not None and not listed.rows:
        answer = without_rows(answer, listed, query, quoting.held)
    answer = shortened(replace(answer, question=standing), options.most_quotes)
    answer = _marked(answer, read_in_chinese(query, knowledge.settings().chinese), quoting.held)
    return with_comparison(answer, listed, knowledge.store) if listed else answer


class _Quoting:
    """Sentences quoted by rule, from what is found for a question or a side of it.

    Attributes:
        held: The documents found so far, by id.
    """

    def __init__(
        self, search: Search, knowledge: SearchContext, pipeline: Pipeline, options: AskOptions
    ) -> None:
        self.held: dict[str, Document] = {}
        self._search = search
        self._knowledge = knowledge
        self._pipeline = pipeline
        self._options = options

    def hold(self, doc_ids: Iterable[str]) -> None:
        """Read documents by id."""
        read = self._knowledge.store.documents(list(set(doc_ids)))
        self.held.update((document.doc_id, document) for document in read)

    def of_search(self, search: Search, most: int) -> Quoted:
        """Return at most so many sentences of what a search finds."""
        results = self._knowledge.best(self._pipeline, [search], top_k=self._options.top_k)
        return self._of_results(search.query, results, most)

    def of_side(self, side: Query, most: int) -> Quoted:
        """Return sentences for a side of a comparison, of its own place or document."""
        asked = self._search.asked(side)
        told = self.of_search(asked, most)
        return of_side(asked.query, told, titled=asked.titled, documents=self.held)

    def by_place(self) -> Answer | None:
        """Return the best sentences of each place, if the question asks for all of a level.

        What is found for such a question is mostly of the few documents that are most like it; of
        more results each place keeps its own. A sentence, or a heading above it, must have the word
        of the question that is rarest in the documents. None where fewer than two places have any.
        """
        query, knowledge = self._search.query, self._knowledge
        asked = question_of(query)
        if asked.level not in (PROVINCES, CITIES, ANYWHERE) or query.titles:
            return None
        word = knowledge.rarest(" ".join(asked.pieces))
        if not word:
            return None
        about = asked.topic if "figure" in asked.asks else " ".join(asked.pieces)
        topic = like(query, analyse(about, known_places=()))

        def rows_of(place: str, results: Sequence[ScoredChunk]) -> list[Row]:
            found = self._of_results(topic, results, _OF_PLACE).answer
            return [
                Row(c, place, f"{place}：")
                for c in (found.citations if found.found else ())
                if word in normalize_name("".join((*c.heading_path, c.quote)))
            ]

        rows: list[Row] = []
        placed = self._placed(asked, word)
        for place, (doc_ids, results) in placed.items():
            rows += rows_of(place, results) or rows_of(
                place, knowledge.with_phrase(word, doc_ids, _PASSAGES)
            )
        shown = {row.label for row in rows}
        if len(shown) < 2:
            return None
        language = query.language
        notes = [note("by-place", language, n=len(shown), most=_OF_PLACE, word=word)]
        if silent := [place for place in placed if place not in shown]:
            notes.append(note("not-by-place", language, word=word, names=tuple(silent)))
        return Answer(query.text, tuple(rows), METHOD, notes=tuple(notes))

    def _placed(self, asked: Question, word: str) -> dict[str, tuple[list[str], list[ScoredChunk]]]:
        """Return the documents about each place, in order, and the best results with a word."""
        placed: dict[str, tuple[list[str], list[ScoredChunk]]] = {}
        places: dict[str, str] = {}
        for doc_id, card in self._knowledge.cards().items():
            around = card.metadata.regions
            rows = (asked.row_of(around[:n]) for n in range(len(around), 0, -1))
            if place := next(filter(None, rows), ""):
                places[doc_id] = place
                placed.setdefault(place, ([], []))[0].append(doc_id)
        for hit in self._knowledge.best(self._pipeline, [self._search], top_k=_WIDE):
            place = places.get(hit.chunk.doc_id, "")
            told = normalize_name("".join((*hit.chunk.heading_path, hit.chunk.text)))
            if place and word in told and len(placed[place][1]) < _PASSAGES:
                placed[place][1].append(hit)
        order = {region.name: n for n, region in enumerate(listed_regions())}
        return {p: placed[p] for p in sorted(placed, key=lambda p: (order.get(p, len(order)), p))}

    def _of_results(self, query: Query, results: Sequence[ScoredChunk], most: int) -> Quoted:
        store = self._knowledge.store
        found = ResultsWithDocuments.of(results, store)
        self.held.update(found.documents)
        told = quote_results(
            query,
            found.results,
            documents=found.documents,
            headings=found.headings,
            embedder=self._knowledge.embedder(),
            max_sentences=most,
            facts=facts_in(found.results, store, leaf=self._knowledge.settings().leaf),
        )
        return replace(told, answer=naming_copies(told.answer, found.results))


def _marked(answer: Answer, notes: Sequence[str], held: Mapping[str, Document]) -> Answer:
    """Return an answer of quotes with its checks, and notes before its own."""
    answer = _with_broken_numbers(answer)
    answer = checked(answer, cited_texts(answer.citations, documents=held))
    return replace(answer, notes=(*notes, *answer.notes, *notes_of(answer)))


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
