"""Answer one question: retrieve, write, cite, check, verify, and ask again where that fails."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from kgrag.asking.complete import complete
from kgrag.asking.models import QuestionModels, StageModels
from kgrag.asking.options import AskOptions
from kgrag.asking.retrieve import LEFT_OUT, retrieve
from kgrag.asking.rows import Complete, as_answer, as_results, with_quotes
from kgrag.asking.search_context import ResultsWithDocuments, SearchContext, facts_in
from kgrag.asking.stopped import StoppedError, stopped_after
from kgrag.errors import KgragError, ModelError
from kgrag.generation.cite import cited_texts, resolve
from kgrag.generation.extract import Quoted
from kgrag.generation.extract import quoted as quote_results
from kgrag.generation.follow_up import Turn, carry_over, rewrite_follow_up
from kgrag.generation.generate import generate
from kgrag.generation.integrate import integrate
from kgrag.generation.pack import pack
from kgrag.generation.sides import answer_by_sides, of_side
from kgrag.language.text import question_language
from kgrag.limits import check_whole, checked_text
from kgrag.llm.chat import OnText
from kgrag.llm.tokens import estimate_tokens
from kgrag.results import Answer, Context, ScoredChunk, Step, Verdict
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.plan import plan
from kgrag.retrieval.search import Search
from kgrag.retrieval.systems import NO_SYSTEMS, Systems, preset
from kgrag.types import Document, Language, Query
from kgrag.verification.attempt import NOT_VERIFIED, Attempt, Verified
from kgrag.verification.checks import check, mark
from kgrag.verification.methods import METHODS, unchecked
from kgrag.verification.rating import rate

_QUOTED_OF_SILENT = 2  # sentences for a place of which no row was read
QUOTED_INSTEAD = "The model could not answer: {}; sentences are quoted by rule instead."
NOTHING_QUOTED = (
    "The model could not answer: {}; rules found no sentence to quote instead, which does not mean "
    "that the documents hold no answer."
)
_NO_ANSWER: Mapping[Language, str] = {
    "zh": "模型未能作答，按规则也没有找到可以引用的句子；这不表示文件中没有答案。",
    "en": "The model could not answer, and rules found no sentence to quote;"
    " the documents may hold one.",
}
_UNSUPPORTED: Mapping[Language, str] = {
    "zh": "{1} 句中有 {0} 句得不到所引文字的支持",
    "en": "{} of {} sentences are not supported by what they cite",
}


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
    """Return an answer that a model wrote, with citations, checks and a verdict.

    Where no model is given, sentences are quoted by rule. Where it cannot be reached or gives
    nothing of use, they are, too, and a note says why.

    Args:
        question: In any words.
        knowledge: What is asked.
        options: How.
        stages: Gives the model of a stage; None has sentences quoted by rule.
        history: Earlier turns, oldest first: the question may lean on them.
        on_text: Called with each piece of the first answer as it comes, before citations are
            resolved; a later answer that replaces it is not streamed.
        systems: Pipelines of the program, which `options.system` may name.

    Raises:
        OutOfRangeError: If the question is too long.
        GarbledTextError: If it, or an earlier turn, was damaged on its way here.
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
        asking = _Asking(understood, knowledge, pipeline, options, models, history)
        return asking.answer(steps, on_text)
    except StoppedError as exc:
        quoted = _quoted(understood, knowledge, pipeline, options, ())
        return _fallen_back(question, quoted, exc, exc.steps, models)


def _understood(
    question: str, history: Sequence[Turn], models: QuestionModels
) -> tuple[str, Step | None]:
    """Return a follow-up question as one that stands by itself, and what was done for it.

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
    """Return an answer made of quotes, told that a model was to write one and why it did not."""
    told = QUOTED_INSTEAD if quoted.found else NOTHING_QUOTED
    note = told.format(str(error).rstrip("."))
    return replace(
        quoted,
        text=quoted.text if quoted.found else _NO_ANSWER[question_language(question)],
        notes=(note, *quoted.notes),
        steps=(*steps, Step("fall back", note), *quoted.steps, Step("used", models.usage())),
        fallback=True,
    )


def _quoted(
    question: str,
    knowledge: SearchContext,
    pipeline: Pipeline,
    options: AskOptions,
    history: Sequence[Turn],
) -> Answer:
    """Return an answer made of sentences quoted by rule; no model is asked."""
    standing = carry_over(question, history) if history else question
    query = knowledge.query(standing)
    search = knowledge.search(query)
    held: dict[str, Document] = {}

    def quote(search: Search, most: int) -> Quoted:
        results = knowledge.best(
            search, lambda n: pipeline.retrieve(search, top_k=n), top_k=options.top_k
        )
        found = ResultsWithDocuments.of(results, knowledge.store)
        held.update(found.documents)
        return quote_results(
            search.query,
            found.results,
            documents=found.documents,
            headings=found.headings,
            embedder=knowledge.embedder(),
            max_sentences=most,
            facts=facts_in(found.results, knowledge.store, leaf=knowledge.settings().leaf),
        )

    def quote_side(side: str, most: int) -> Quoted:
        asked = search.asked(sides[side])
        told = quote(asked, most)
        return of_side(asked.query, told, titled=asked.titled, documents=held)

    sides = {side.label: side.query for side in plan(query)} if pipeline.planned else {}
    listed = complete(search, knowledge) if pipeline.planned else None
    if listed is not None and listed.rows:
        answer = with_quotes(
            as_answer(listed, query, knowledge.store),
            replace(listed, silent=tuple(place for place in listed.silent if place in sides)),
            lambda place: quote_side(place, _QUOTED_OF_SILENT).answer,
        )
        cited = knowledge.store.documents(list({c.doc_id for c in answer.citations}))
        held.update((document.doc_id, document) for document in cited)
    elif sides:
        answer = answer_by_sides(
            query,
            list(sides),
            quote_side,
            max_sentences=options.max_sentences,
            embedder=knowledge.embedder(),
        )
    else:
        answer = quote(search, options.max_sentences).answer
    if listed is not None and not listed.rows:
        answer = replace(answer, notes=(*listed.notes, *answer.notes))
    return mark(
        replace(answer, checks=check(answer, cited_texts(answer.citations, documents=held)))
    )


class _Asking:
    """One question, as it is understood by itself, on its way to a model's answer."""

    def __init__(
        self,
        question: str,
        knowledge: SearchContext,
        pipeline: Pipeline,
        options: AskOptions,
        models: QuestionModels,
        history: Sequence[Turn],
    ) -> None:
        self._question = question
        self._knowledge = knowledge
        self._pipeline = pipeline
        self._options = options
        self._models = models
        self._history = history

    def answer(self, before: Sequence[Step], on_text: OnText | None) -> Answer:
        """Return the best answer within the bounds.

        Args:
            before: What was done already.
            on_text: Called with each piece of the first answer.

        Raises:
            StoppedError: If there is no first answer.
        """
        with stopped_after(before):
            first = self._attempt(self._question, on_text)
        verified = self._verified(first)
        used = Step("used", self._models.usage())
        steps = (*before, *first.answer.steps, *verified.steps, used)
        notes = (*verified.answer.notes, *_left_out(steps))
        verdict = _with_checks(verified.verdict, verified.answer)
        return mark(replace(verified.answer, verdict=verdict, steps=steps, notes=notes))

    def _verified(self, first: Attempt) -> Verified:
        """Return the best answer; nothing that a model does may lose the first one."""
        if self._options.verify == "none":
            return unchecked(first)
        try:
            return METHODS[self._options.verify].verify(
                self._question,
                first,
                self._attempt,
                language=question_language(self._question),
                model=self._models.of("verify"),
                budget=self._models.budget,
            )
        except KgragError as exc:
            verified = unchecked(first)
            reason = f"{NOT_VERIFIED}{exc}; {verified.verdict.reason}"
            verdict = replace(verified.verdict, status="unverified", reason=reason)
            return replace(verified, verdict=verdict)

    def _attempt(self, wording: str, on_text: OnText | None = None) -> Attempt:
        """Retrieve with a wording, answer the question.

        Raises:
            StoppedError: If there is no answer.
        """
        found = retrieve(
            wording,
            knowledge=self._knowledge,
            pipeline=self._pipeline,
            options=self._options,
            models=self._models,
        )
        results, steps = found.results, found.steps
        if self._options.verify == "chats-grid":
            results, rating = self._rated(results)
            steps = (*steps, rating)
        with stopped_after(steps):
            query = replace(self._knowledge.query(self._question), keywords=found.query.keywords)
            listed = self._listed(query)
            held = ResultsWithDocuments.of([*self._rows(listed), *results], self._knowledge.store)
            told = listed.notes if listed else ()
            context = self._packed(query, [*told, *found.rows], held)
            before = self._models.calls
            answer = self._written(query, context, held, on_text)
            answer = replace(answer, notes=(*told, *answer.notes))
        if listed:
            steps = (*steps, Step("table", "\n".join((listed.kind, *listed.notes))))
        shown = f"{len(context.passages)} passages, about {context.tokens} tokens\n{answer.text}"
        steps = (*steps, Step("generate", shown, self._models.calls - before))
        return Attempt(wording, replace(answer, steps=steps), context)

    def _listed(self, query: Query) -> Complete | None:
        """Return all that documents state of what is asked, where that is sure."""
        planned = self._pipeline.planned
        return complete(self._knowledge.search(query), self._knowledge) if planned else None

    def _rows(self, listed: Complete | None) -> list[ScoredChunk]:
        if listed is None:
            return []
        leaf = self._knowledge.settings().leaf
        return as_results(listed, self._knowledge.store, size=leaf)

    def _rated(self, results: list[ScoredChunk]) -> tuple[list[ScoredChunk], Step]:
        doc_ids = list(dict.fromkeys(r.chunk.doc_id for r in results))
        titles = {d.doc_id: d.title for d in self._knowledge.store.document_cards(doc_ids)}
        before = self._models.calls
        try:
            model = self._models.of("verify")
        except ModelError as exc:
            return results, Step("rate", f"{LEFT_OUT}{exc}", failed=True)
        rated = rate(
            self._question,
            results,
            language=question_language(self._question),
            model=model,
            titles=titles,
        )
        shown = ", ".join(str(rating) for _, rating in rated) or "none helps"
        detail = f"{shown}; {len(results) - len(rated)} dropped"
        step = Step("rate", detail, self._models.calls - before)
        return [result for result, _ in rated], step

    def _packed(self, query: Query, rows: Sequence[str], held: ResultsWithDocuments) -> Context:
        leaf = self._knowledge.settings().leaf
        context = pack(
            query,
            held.results,
            documents=held.documents,
            headings=held.headings,
            facts=facts_in(held.results, self._knowledge.store, leaf=leaf),
            budget_tokens=self._options.context_tokens,
            compress=self._options.compress,
            count=estimate_tokens,
            rows=rows,
        )
        return self._knowledge.with_marks(context, query.language)

    def _written(
        self, query: Query, context: Context, held: ResultsWithDocuments, on_text: OnText | None
    ) -> Answer:
        model = self._models.of("answer")
        draft = generate(
            query,
            context,
            model=model,
            template=self._options.template,
            history=self._history,
            on_text=on_text,
        )
        if self._options.integrate and context.passages:
            draft = integrate(query, draft, context, model=model)
        answer = resolve(
            query,
            draft,
            context,
            documents=held.documents,
            headings=held.headings,
            results=held.results,
        )
        texts = cited_texts(answer.citations, documents=held.documents, passages=context.passages)
        return replace(answer, checks=check(answer, texts))


def _with_checks(verdict: Verdict, answer: Answer) -> Verdict:
    """Return a verdict that does not pass what the checks without a model speak against."""
    bad = sum(not check.supported for check in answer.checks)
    if not verdict.passed or not bad:
        return verdict
    told = _UNSUPPORTED[question_language(answer.question)].format(bad, len(answer.checks))
    return replace(verdict, status="failed", reason=told)


def _left_out(steps: Sequence[Step]) -> list[str]:
    """Return a note for each step that a model could not do, each once."""
    failed = (step for step in steps if step.failed)
    return list(dict.fromkeys(f"{step.name}: {step.detail}" for step in failed))
