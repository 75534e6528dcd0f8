"""Attempts at one question: retrieve, write, cite, check; again from the same or more passages."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from kgrag.answer.answer import Answer, Problem, Step
from kgrag.answering.cite import cited_texts, resolve
from kgrag.answering.follow_up import Turn
from kgrag.answering.generate import generate
from kgrag.answering.models import QuestionModels
from kgrag.answering.options import AskOptions
from kgrag.answering.pack import pack
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext, facts_in
from kgrag.answering.searching import LEFT_OUT, Understood, search, understand
from kgrag.answering.stated import as_results, table_of
from kgrag.errors import ModelError
from kgrag.llm.chat import OnText
from kgrag.llm.tokens import estimate_tokens
from kgrag.results import Context, Passage, ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.statements.table import Table, worded
from kgrag.store.store import Store
from kgrag.types import Query
from kgrag.verification.attempt import Attempt, by_reference
from kgrag.verification.checks import checked
from kgrag.verification.rating import rate

# Characters between two passages of a document that are a gap (benchmarks/decisions.md).
_WIDEST = 300


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
        """Answer from earlier results, the gaps between them, and results for another wording."""
        self.steps = []
        understood, found = self._retrieved(wording)
        leaf = self.knowledge.settings().leaf
        results = with_more(attempt, found, self.knowledge.store, leaf=leaf)
        return self._answered(wording, understood, results)

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
        results = search(
            understood, knowledge=knowledge, pipeline=self.pipeline, top_k=options.top_k
        )
        doc_ids = list({r.chunk.doc_id for r in results})
        titles = {c.doc_id: c.title for c in knowledge.store.document_cards(doc_ids)}
        self.steps.append(Step("retrieve", _shown(results, titles)))
        if options.verify.method == "chats-grid":
            results = self._rated(results, titles)
        return understood, results

    def _rated(self, results: list[ScoredChunk], titles: dict[str, str]) -> list[ScoredChunk]:
        """Return the results that a model finds helpful; all if there is no model."""
        before = self.models.calls
        try:
            model = self.models.of("verify")
        except ModelError as exc:
            self.steps.append(Step("rate", f"{LEFT_OUT}{exc}", failed=True))
            return results
        language = self.query.language
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
        rows = as_results(self._table, store, size=leaf) if self._table else []
        if self._table:
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


def _shown(results: Sequence[ScoredChunk], titles: dict[str, str]) -> str:
    lines = [
        f"{n}. {titles.get(r.chunk.doc_id, r.chunk.doc_id)}, characters "
        f"{r.chunk.start}-{r.chunk.end}: {'; '.join(r.via[:3])}"
        for n, r in enumerate(results, 1)
    ]
    return "\n".join(lines) or "nothing found"


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
    places = [(c.doc_id, c.start, c.end) for c in attempt.answer.citations]
    cited = [r for r in attempt.results if any(_touches(r, *place) for place in places)]
    gaps = _gaps(attempt.context.passages, store, leaf=leaf)
    held: dict[str, ScoredChunk] = {}
    for result in (*cited, *gaps, *found, *attempt.results):
        held.setdefault(result.chunk.chunk_id, result)
    return list(held.values())


def _gaps(passages: Sequence[Passage], store: Store, *, leaf: int) -> list[ScoredChunk]:
    """Return the leaves between near passages of a document."""
    gaps = [
        (left.doc_id, left.end, right.start)
        for left, right in pairwise(sorted(passages, key=lambda p: (p.doc_id, p.start)))
        if left.doc_id == right.doc_id and left.end < right.start <= left.end + _WIDEST
    ]
    chunks = store.chunks_of(list({gap[0] for gap in gaps}), size=leaf) if gaps else []
    leaves = [ScoredChunk(c, 0.0, ("fills a gap between passages",)) for c in chunks]
    return [hit for hit in leaves if any(_touches(hit, *gap) for gap in gaps)]


def _touches(hit: ScoredChunk, doc_id: str, start: int, end: int) -> bool:
    chunk = hit.chunk
    return chunk.doc_id == doc_id and chunk.start < end and start < chunk.end
