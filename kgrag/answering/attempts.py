"""Attempts at one question: retrieve, write, cite, check; again from the same or more passages."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from kgrag.answer.answer import Answer, Problem, Step
from kgrag.answering.cite import cited_texts, resolve
from kgrag.answering.follow_up import Turn
from kgrag.answering.generate import generate
from kgrag.answering.models import QuestionModels
from kgrag.answering.options import AskOptions
from kgrag.answering.pack import pack
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext, facts_in
from kgrag.answering.searching import LEFT_OUT, Understood, search, understand, with_documents
from kgrag.answering.stated import answer_of, as_results, table_of
from kgrag.errors import ModelError
from kgrag.llm.chat import OnText
from kgrag.llm.tokens import estimate_tokens
from kgrag.results import Context, ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.qcg import with_critical
from kgrag.statements.table import Table, worded
from kgrag.types import Chunk, Query
from kgrag.verification.attempt import Attempt, by_reference
from kgrag.verification.checks import checked
from kgrag.verification.rating import rate


@dataclass
class Attempts:
    """Answers of a model to one self-contained question; see `Try`.

    Attributes:
        query: The question of every attempt.
        knowledge: The knowledge base.
        pipeline: The retrieval preset.
        options: Options.
        models: Models of the question.
        history: Earlier turns, oldest first.
        steps: Of the last attempt, in order, also of one that failed.
    """

    query: Query
    knowledge: SearchContext
    pipeline: Pipeline
    options: AskOptions
    models: QuestionModels
    history: Sequence[Turn] = ()
    steps: list[Step] = field(default_factory=list, init=False)

    def __call__(self, wording: str, on_text: OnText | None = None) -> Attempt:
        """Retrieve with a wording, and answer the question.

        Raises:
            ModelError: If there is no answer.
        """
        self.steps = []
        understood, results = self._retrieved(wording)
        return self._answered(wording, understood, results, on_text)

    def again(self, attempt: Attempt, problem: Problem) -> Attempt:
        """Answer again from the same context, given what is wrong with an answer."""
        self.steps = []
        said = "\n".join(filter(None, (problem.sentence, problem.why)))
        mend = by_reference(attempt.answer, attempt.context), said
        held = ResultsWithDocuments.of(attempt.results, self.knowledge.store)
        answer = self._written(self.query, attempt.context, held, mend=mend)
        return replace(attempt, answer=answer)

    def with_more(self, attempt: Attempt, problem: Problem, wording: str) -> Attempt:
        """Answer from earlier results, and those for another wording."""
        self.steps = []
        understood, found = self._retrieved(wording)
        return self._answered(wording, understood, cited_first(attempt, found))

    @cached_property
    def _table(self) -> Table | None:
        """The table that answers the question; None for none."""
        search = self.knowledge.search(self.query)
        return table_of(search, self.knowledge, planned=self.pipeline.planned)

    @property
    def _told(self) -> list[str]:
        """Notes of the table."""
        return worded(self._table.notes, self.query.language) if self._table else []

    def _retrieved(self, wording: str) -> tuple[Understood, list[ScoredChunk]]:
        knowledge, options = self.knowledge, self.options
        understood = understand(
            knowledge.query(wording),
            knowledge=knowledge,
            settings=options.search,
            models=self.models,
            steps=self.steps,
        )
        model_of = partial(self.models.of, "analyse")
        rerankers = with_critical(self.pipeline.rerankers, understood.query, model_of)
        pipeline = replace(self.pipeline, rerankers=rerankers)
        results = search(understood, knowledge=knowledge, pipeline=pipeline, top_k=options.top_k)
        results = [*with_documents(results, knowledge.store)]
        shown = (
            f"{n}. {r.title or r.chunk.doc_id}, characters "
            f"{r.chunk.start}-{r.chunk.end}: {'; '.join(r.via[:3])}"
            for n, r in enumerate(results, 1)
        )
        self.steps.append(Step("retrieve", "\n".join(shown) or "nothing found"))
        if options.verify.method == "chats-grid":
            results = self._rated(results)
        return understood, results

    def _rated(self, results: list[ScoredChunk]) -> list[ScoredChunk]:
        """Return the results that a model finds helpful; all if there is no model."""
        before = self.models.calls
        try:
            model = self.models.of("verify")
        except ModelError as exc:
            self.steps.append(Step("rate", f"{LEFT_OUT}{exc}", failed=True))
            return results
        language, titles = self.query.language, {r.chunk.doc_id: r.title for r in results}
        rated = rate(self.query.question, results, language=language, model=model, titles=titles)
        shown = ", ".join(str(rating) for _, rating in rated) or "none helps"
        told = f"{shown}; {len(results) - len(rated)} dropped"
        self.steps.append(Step("rate", told, self.models.calls - before))
        return [result for result, _ in rated]

    def _answered(
        self,
        wording: str,
        understood: Understood,
        results: Sequence[ScoredChunk],
        on_text: OnText | None = None,
    ) -> Attempt:
        store, leaf = self.knowledge.store, self.knowledge.settings().leaf
        query = replace(self.query, keywords=understood.query.keywords)
        rows: list[ScoredChunk] = []
        if self._table:
            rows = as_results(answer_of(self._table, self.query, store, size=leaf), store)
            self.steps.append(Step("table", "\n".join((self._table.name, *self._told))))
        held = ResultsWithDocuments.of([*rows, *results], store)
        context = pack(
            query,
            held.results,
            documents=held.documents,
            headings=held.headings,
            facts=facts_in(held.results, store, leaf=leaf),
            budget_tokens=self.options.answer.context_tokens,
            count=estimate_tokens,
            rows=[*self._told, *understood.lines],
        )
        context = self.knowledge.with_marks(context, query.language)
        answer = self._written(query, context, held, on_text=on_text)
        return Attempt(wording, answer, context, tuple(held.results))

    def _written(
        self,
        query: Query,
        context: Context,
        held: ResultsWithDocuments,
        *,
        on_text: OnText | None = None,
        mend: tuple[str, str] | None = None,
    ) -> Answer:
        before = self.models.calls
        draft = generate(
            query,
            context,
            model=self.models.of("answer"),
            template=self.options.answer.template,
            history=self.history,
            mend=mend,
            on_text=on_text,
        )
        documents, headings = held.documents, held.headings
        answer = resolve(
            query, draft, context, documents=documents, headings=headings, results=held.results
        )
        texts = cited_texts(answer.citations, documents=documents, passages=context.passages)
        answer = checked(answer, texts)
        told = f"{len(context.passages)} passages, about {context.tokens} tokens"
        shown = f"{told}\n{answer.written()}"
        self.steps.append(Step("generate", shown, self.models.calls - before))
        return replace(answer, notes=(*self._told, *answer.notes), steps=tuple(self.steps))


def cited_first(attempt: Attempt, found: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Return chunks for an answer that lacks a part, each once.

    First the chunks that it cites, then the new results, and its earlier results
    (benchmarks/decisions.md).

    Args:
        attempt: The answer, with its results.
        found: Results for a better question, best first.
    """
    places = [(c.doc_id, c.start, c.end) for c in attempt.answer.citations]
    cited = [r for r in attempt.results if any(_touches(r.chunk, *place) for place in places)]
    held: dict[str, ScoredChunk] = {}
    for result in (*cited, *found, *attempt.results):
        held.setdefault(result.chunk.chunk_id, result)
    return list(held.values())


def _touches(chunk: Chunk, doc_id: str, start: int, end: int) -> bool:
    return chunk.doc_id == doc_id and chunk.start < end and start < chunk.end
