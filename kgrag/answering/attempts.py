"""Attempts at one question: retrieve, write, cite, check; again from the same or more passages."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from kgrag.answer.answer import Answer, Problem, Step
from kgrag.answer.citation import Citation
from kgrag.answering.cite import cited_texts, resolve
from kgrag.answering.copies import naming_copies
from kgrag.answering.draft import Mend
from kgrag.answering.follow_up import Turn
from kgrag.answering.generate import generate, integrate
from kgrag.answering.models import QuestionModels, stopped_after
from kgrag.answering.options import AskOptions
from kgrag.answering.pack import pack
from kgrag.answering.retrieve import LEFT_OUT, Retrieved, retrieve
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext, facts_in
from kgrag.answering.stated import as_results, table_of
from kgrag.errors import ModelError
from kgrag.llm.chat import OnText
from kgrag.llm.tokens import estimate_tokens
from kgrag.results import Context, Passage, ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.statements.table import Table, worded
from kgrag.store.store import Store
from kgrag.text.words import question_language
from kgrag.types import Query
from kgrag.verification.attempt import Attempt, by_reference
from kgrag.verification.checks import checked
from kgrag.verification.rating import rate

# Characters between two passages of a document that are a gap (benchmarks/decisions.md).
_WIDEST = 300


class Attempts:
    """Answers of a model to one self-contained question; see `Try`."""

    def __init__(
        self,
        question: str,
        knowledge: SearchContext,
        pipeline: Pipeline,
        options: AskOptions,
        models: QuestionModels,
        history: Sequence[Turn] = (),
    ) -> None:
        """Initialise.

        Args:
            question: The question of every attempt.
            knowledge: The knowledge base.
            pipeline: The retrieval preset.
            options: Options.
            models: Models of the question.
            history: Earlier turns, oldest first.
        """
        self._question = question
        self._knowledge = knowledge
        self._pipeline = pipeline
        self._options = options
        self._models = models
        self._history = history

    def __call__(self, wording: str, on_text: OnText | None = None) -> Attempt:
        """Retrieve with a wording, and answer the question.

        Raises:
            StoppedError: If there is no answer.
        """
        found = self._retrieved(wording)
        return self._answered(wording, found, on_text=on_text)

    def _retrieved(self, wording: str) -> Retrieved:
        found = retrieve(
            wording,
            knowledge=self._knowledge,
            pipeline=self._pipeline,
            options=self._options,
            models=self._models,
        )
        if self._options.verify != "chats-grid":
            return found
        results, rating = self._rated(found.results)
        return replace(found, results=results, steps=(*found.steps, rating))

    def _answered(
        self, wording: str, found: Retrieved, *, on_text: OnText | None = None
    ) -> Attempt:
        steps = found.steps
        with stopped_after(steps):
            query = replace(self._knowledge.query(self._question), keywords=found.query.keywords)
            table = self._table(query)
            told = worded(table.notes, query.language) if table else []
            rows = self._rows(table) if table else []
            held = ResultsWithDocuments.of([*rows, *found.results], self._knowledge.store)
            context = self._packed(query, [*told, *found.rows], held)
            before = self._models.calls
            answer = self._written(query, context, held, on_text)
            answer = replace(answer, notes=(*told, *answer.notes))
        if table:
            steps = (*steps, Step("table", "\n".join((table.name, *told))))
        steps = (*steps, self._generated(answer, context, before))
        return Attempt(wording, replace(answer, steps=steps), context, tuple(held.results))

    def _generated(self, answer: Answer, context: Context, before: int) -> Step:
        """Return the step of writing an answer, with its calls since `before`."""
        shown = (
            f"{len(context.passages)} passages, about {context.tokens} tokens\n{answer.written()}"
        )
        return Step("generate", shown, self._models.calls - before)

    def again(self, attempt: Attempt, problem: Problem) -> Attempt:
        """Answer again from the same context, given what is wrong with an answer."""
        query = self._knowledge.query(self._question)
        held = ResultsWithDocuments.of(attempt.results, self._knowledge.store)
        said = "\n".join(filter(None, (problem.sentence, problem.why)))
        mend = Mend(by_reference(attempt.answer, attempt.context), said)
        before = self._models.calls
        answer = self._written(query, attempt.context, held, None, mend)
        table = self._table(query)
        told = worded(table.notes, query.language) if table else []
        answer = replace(answer, notes=(*told, *answer.notes))
        step = self._generated(answer, attempt.context, before)
        return replace(attempt, answer=replace(answer, steps=(step,)))

    def with_more(self, attempt: Attempt, problem: Problem, wording: str) -> Attempt:
        """Answer from earlier results, the gaps between them, and results for another wording."""
        found = self._retrieved(wording)
        leaf = self._knowledge.settings().leaf
        results = with_more(attempt, found.results, self._knowledge.store, leaf=leaf)
        return self._answered(wording, replace(found, results=results))

    def _table(self, query: Query) -> Table | None:
        """Return the table that answers a question; None for none."""
        search = self._knowledge.search(query)
        return table_of(search, self._knowledge, planned=self._pipeline.planned)

    def _rows(self, table: Table) -> list[ScoredChunk]:
        leaf = self._knowledge.settings().leaf
        return as_results(table, self._knowledge.store, size=leaf)

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
        self,
        query: Query,
        context: Context,
        held: ResultsWithDocuments,
        on_text: OnText | None,
        mend: Mend | None = None,
    ) -> Answer:
        model = self._models.of("answer")
        draft = generate(
            query,
            context,
            model=model,
            template=self._options.template,
            history=self._history,
            mend=mend,
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
        return checked(naming_copies(answer, held.results), texts)


def with_more(
    attempt: Attempt, found: Sequence[ScoredChunk], store: Store, *, leaf: int
) -> list[ScoredChunk]:
    """Return chunks for an answer that lacks a part, each once.

    First the chunks that it cites, then those in a gap between two passages of a document, the
    new results, and its earlier results: each group contains less of what is missing than the one
    before (benchmarks/decisions.md).

    Args:
        attempt: The answer, with its results.
        found: Results for a better question, best first.
        store: The knowledge base.
        leaf: Size of the chunks that fill gaps.
    """
    cited = [r for r in attempt.results if _is_cited(r, attempt.answer.citations)]
    gaps = _gaps(attempt.context.passages, attempt.results, store, leaf=leaf)
    held: dict[str, ScoredChunk] = {}
    for result in (*cited, *gaps, *found, *attempt.results):
        held.setdefault(result.chunk.chunk_id, result)
    return list(held.values())


def _is_cited(result: ScoredChunk, citations: Sequence[Citation]) -> bool:
    chunk = result.chunk
    return any(
        c.doc_id == chunk.doc_id and c.start < chunk.end and chunk.start < c.end for c in citations
    )


def _gaps(
    passages: Sequence[Passage], results: Sequence[ScoredChunk], store: Store, *, leaf: int
) -> list[ScoredChunk]:
    """Return the leaves between near passages of a document."""
    in_order = sorted(passages, key=lambda p: (p.doc_id, p.start))
    gaps = [
        (left.doc_id, left.end, right.start)
        for left, right in pairwise(in_order)
        if left.doc_id == right.doc_id and left.end < right.start <= left.end + _WIDEST
    ]
    documents = {doc_id for doc_id, _, _ in gaps}
    chunks = [r.chunk for r in results if r.chunk.doc_id in documents]
    parents = list(dict.fromkeys(chunk.parent_id or chunk.chunk_id for chunk in chunks))
    inside = [
        chunk
        for chunk in (store.families(parents) if parents else [])
        if chunk.size == leaf
        and any(
            chunk.doc_id == doc_id and chunk.start < end and start < chunk.end
            for doc_id, start, end in gaps
        )
    ]
    told = ("fills a gap between passages",)
    return [ScoredChunk(chunk, 0.0, told) for chunk in inside]
