"""Attempts at one question: retrieve, write, cite, check; again from the same or more passages."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from kgrag.answer.answer import Answer, Problem, Step
from kgrag.answering.cite import cited_texts, resolve
from kgrag.answering.follow_up import Turn
from kgrag.answering.generate import generate
from kgrag.answering.look_up import LookUp, Toolbox
from kgrag.answering.models import QuestionModels
from kgrag.answering.options import AskOptions
from kgrag.answering.pack import facts_block, pack, passages_block
from kgrag.answering.search_context import ResultsWithDocuments, SearchContext, facts_in
from kgrag.answering.searching import find
from kgrag.answering.stated import given_of, table_of
from kgrag.errors import ModelError
from kgrag.llm.chat import OnText
from kgrag.llm.tokens import estimate_tokens
from kgrag.results import Context, ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.statements.table import Table, worded
from kgrag.types import Query
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
        toolbox: What the model may call while it answers; None for nothing.
        steps: Of the last attempt, in order, also of one that failed.
        rounds: Of calls of tools that are left.
        has_looked: Whether a tool answered a call of the model.
    """

    query: Query
    knowledge: SearchContext
    pipeline: Pipeline
    options: AskOptions
    models: QuestionModels
    history: Sequence[Turn] = ()
    toolbox: Toolbox | None = None
    steps: list[Step] = field(default_factory=list, init=False)
    rounds: int = field(init=False)
    has_looked: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        """Allow as many rounds of calls as settings do: over all attempts."""
        self.rounds = self.options.answer.tool_rounds

    def __call__(self, wording: str, on_text: OnText | None = None) -> Attempt:
        """Retrieve with a wording, and answer the question.

        Raises:
            ModelError: If there is no answer.
        """
        self.steps = []
        return self._answered(wording, self._retrieved(wording), on_text)

    def again(self, attempt: Attempt, problem: Problem) -> Attempt:
        """Answer again from the same context, given what is wrong with an answer."""
        self.steps = []
        said = "\n".join(filter(None, (problem.sentence, problem.why)))
        mend = by_reference(attempt.answer, attempt.context), said
        held = ResultsWithDocuments.of(attempt.results, self.knowledge.store)
        held.read((p.doc_id for p in attempt.context.passages), self.knowledge.store)
        answer, _ = self._written(self.query, self._look_up(attempt.context, held), mend=mend)
        return replace(attempt, answer=answer)

    def with_more(self, attempt: Attempt, problem: Problem, wording: str) -> Attempt:
        """Answer from earlier results, and those for another wording."""
        self.steps = []
        return self._answered(wording, cited_first(attempt, self._retrieved(wording)))

    @cached_property
    def _table(self) -> Table | None:
        """The table that answers the question; None for none."""
        search = self.knowledge.search(self.query)
        return table_of(search, self.knowledge, planned=self.pipeline.planned)

    @property
    def _told(self) -> list[str]:
        """Notes of the table."""
        return worded(self._table.notes, self.query.language) if self._table else []

    def _retrieved(self, wording: str) -> list[ScoredChunk]:
        knowledge, options = self.knowledge, self.options
        results: list[ScoredChunk] = find(
            wording,
            knowledge=knowledge,
            pipeline=self.pipeline,
            top_k=options.top_k,
            model_of=partial(self.models.of, "analyse"),
        )
        shown = (
            f"{n}. {r.title or r.chunk.doc_id}, characters "
            f"{r.chunk.start}-{r.chunk.end}: {'; '.join(r.via[:3])}"
            for n, r in enumerate(results, 1)
        )
        self.steps.append(Step("retrieve", "\n".join(shown) or "nothing found"))
        if options.verify.method == "chats-grid":
            results = self._rated(results)
        return results

    def _rated(self, results: list[ScoredChunk]) -> list[ScoredChunk]:
        """Return the results that a model finds helpful; all if there is no model."""
        before = self.models.calls
        try:
            model = self.models.of("verify")
        except ModelError as exc:
            self.steps.append(Step("rate", f"left out: {exc}", failed=True))
            return results
        language, titles = self.query.language, {r.chunk.doc_id: r.title for r in results}
        rated = rate(self.query.question, results, language=language, model=model, titles=titles)
        shown = ", ".join(str(rating) for _, rating in rated) or "none helps"
        told = f"{shown}; {len(results) - len(rated)} dropped"
        self.steps.append(Step("rate", told, self.models.calls - before))
        return [result for result, _ in rated]

    def _answered(
        self, wording: str, results: Sequence[ScoredChunk], on_text: OnText | None = None
    ) -> Attempt:
        store, leaf = self.knowledge.store, self.knowledge.settings().leaf
        held = ResultsWithDocuments.of(results, store)
        budget = self.options.answer.context_tokens
        rows = given_of(self._table) if self._table else None
        if self._table and rows:
            _, _, left = self._look_up(Context(()), held).add(rows, budget // 2)
            budget -= budget // 2 - left
            self.steps.append(Step("table", "\n".join((self._table.name, *self._told))))
        context = pack(
            self.query,
            held.results,
            documents=held.documents,
            headings=held.headings,
            facts=facts_in(held.results, store, leaf=leaf),
            budget_tokens=budget,
            count=estimate_tokens,
        )
        context = self.knowledge.with_marks(context, self.query.language)
        look_up = self._look_up(context, held)
        if rows:
            look_up.add(rows, self.options.answer.context_tokens // 2)
        answer, context = self._written(self.query, look_up, on_text=on_text)
        return Attempt(wording, answer, context, tuple(held.results))

    def _look_up(self, context: Context, held: ResultsWithDocuments) -> LookUp:
        return LookUp(
            self.toolbox,
            self.knowledge,
            context,
            held,
            self.query.language,
            self.rounds,
            self.options.answer.context_tokens,
            lambda: self.models.left,
            self.steps,
        )

    def _written(
        self,
        query: Query,
        look_up: LookUp,
        *,
        on_text: OnText | None = None,
        mend: tuple[str, str] | None = None,
    ) -> tuple[Answer, Context]:
        before, held = self.models.calls, look_up.held
        draft = generate(
            query,
            look_up.context,
            model=self.models.of("answer"),
            template=self.options.answer.template,
            history=self.history,
            mend=mend,
            on_text=on_text,
            look_up=None if mend else look_up,
        )
        context, self.rounds = look_up.context, look_up.rounds
        self.has_looked |= look_up.has_found
        documents, headings = held.documents, held.headings
        answer = resolve(
            query, draft, context, documents=documents, headings=headings, results=held.results
        )
        texts = cited_texts(answer.citations, documents=documents, passages=context.passages)
        answer = checked(answer, texts)
        tokens = estimate_tokens(passages_block(context) + facts_block(context.facts))
        told = f"{len(context.passages)} passages, about {tokens} tokens"
        shown = f"{told}\n{answer.written()}"
        self.steps.append(Step("generate", shown, self.models.calls - before))
        notes = (*self._told, *answer.notes)
        return replace(answer, notes=notes, steps=tuple(self.steps)), context


def cited_first(attempt: Attempt, found: Sequence[ScoredChunk]) -> list[ScoredChunk]:
    """Return chunks for an answer that lacks a part, each once.

    First the chunks that it cites, then the new results, and its earlier results
    (benchmarks/decisions.md).

    Args:
        attempt: The answer, with its results.
        found: Results for a better question, best first.
    """
    named = {c.chunk_id for c in attempt.answer.citations}
    cited = [r for r in attempt.results if r.chunk.chunk_id in named]
    held: dict[str, ScoredChunk] = {}
    for result in (*cited, *found, *attempt.results):
        held.setdefault(result.chunk.chunk_id, result)
    return list(held.values())
