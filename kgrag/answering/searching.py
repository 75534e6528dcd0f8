"""Searching for one or many questions, read by rules or by a model."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Literal

from kgrag.answering.models import QuestionModels, StageModels
from kgrag.answering.options import AskOptions
from kgrag.answering.retrieve import Understood, search, understand
from kgrag.answering.search_context import SearchContext
from kgrag.config import Config
from kgrag.errors import ModelError
from kgrag.evaluation.runs import Run, run_of
from kgrag.limits import checked_text
from kgrag.results import Hits, ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.store.store import Store

Analysis = Literal["rules", "model"]
Unread = Callable[[str, ModelError], object]  # told a question that could not be read, and why


@dataclass(frozen=True, slots=True)
class Searching:
    """A configured search.

    Attributes:
        knowledge: Returns the context for a question.
        pipeline: The retrieval preset.
        top_k: Maximum number of results.
        config: Settings of reading by a model, and its limits.
        stages: Returns the models; called only if one reads.
    """

    knowledge: Callable[[str], SearchContext]
    pipeline: Pipeline
    top_k: int
    config: Config
    stages: Callable[[], StageModels]

    def by_rules(self, question: str) -> list[ScoredChunk]:
        """Return the chunks for a question as rules read it."""
        knowledge = self._asked_of(question)
        search = knowledge.search(knowledge.query(question))
        found = knowledge.best(self.pipeline, [search], top_k=self.top_k)
        return _with_documents(found, knowledge.store)

    def by_model(self, question: str) -> list[ScoredChunk]:
        """Return the chunks for a question as a model reads it, as an answer would use them.

        Raises:
            ModelError: If the model fails.
        """
        with self.side_by_side([question]) as find:
            return find(question)

    def run(
        self,
        questions: Mapping[str, str],
        analysis: Analysis,
        *,
        unread: Unread | None,
        progress: Callable[[int, int], None] | None,
    ) -> Run:
        """Return the results for questions by id; see `side_by_side` for the arguments."""
        if analysis == "rules":
            return run_of(questions, self.by_rules, progress=progress)
        with self.side_by_side(questions.values(), unread=unread) as find:
            return run_of(questions, find, progress=progress)

    @contextmanager
    def side_by_side(
        self, questions: Collection[str], *, unread: Unread | None = None
    ) -> Iterator[Callable[[str], list[ScoredChunk]]]:
        """Yield a function that returns the chunks of each of several questions, in any order.

        A model starts to read them at once, up to `llm.concurrency` in parallel. If it is stopped,
        it waits for none.

        Args:
            questions: All of them.
            unread: Called with each question that the model failed to read, which is then searched
                by rules; None makes that an error.
        """
        options = AskOptions.from_config(
            self.config, writer="model", top_k=self.top_k, has_model=True
        )
        held = {question: self._asked_of(question) for question in questions}
        workers = self.config.model_of("analyse").concurrency
        pool = ThreadPoolExecutor(workers, thread_name_prefix="reading")
        begun = {q: pool.submit(self._read, q, held[q], options) for q in held}

        def find(question: str) -> list[ScoredChunk]:
            knowledge = held[question]
            read = _outcome(begun[question], question, knowledge)
            if read.error is not None:
                if unread is None:
                    raise read.error
                unread(question, read.error)
            found = search(read, knowledge=knowledge, pipeline=self.pipeline, options=options)
            return _with_documents(found.results, knowledge.store)

        try:
            yield find
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown()

    def _asked_of(self, question: str) -> SearchContext:
        checked_text("question", question)
        return self.knowledge(question)

    def _read(self, question: str, knowledge: SearchContext, options: AskOptions) -> Understood:
        models = QuestionModels(
            self.stages(),
            max_rounds=1,
            max_calls=options.max_calls,
            timeout_s=options.timeout_s,
        )
        query = knowledge.query(question)
        return understand(query, knowledge=knowledge, options=options, models=models)


def _outcome(begun: "Future[Understood]", question: str, knowledge: SearchContext) -> Understood:
    """Return a question as read; by rules if the model's endpoint is down."""
    try:
        return begun.result()
    except ModelError as exc:
        return Understood(knowledge.query(question), (), "", (), (), exc)


def _with_documents(found: Sequence[ScoredChunk], store: Store) -> Hits:
    """Return results with title and file of their documents; empty for deleted ones."""
    doc_ids = list(dict.fromkeys(hit.chunk.doc_id for hit in found))
    cards = {card.doc_id: card for card in store.document_cards(doc_ids)} if doc_ids else {}
    return Hits(
        replace(hit, title=card.title, file=card.file)
        if (card := cards.get(hit.chunk.doc_id))
        else hit
        for hit in found
    )
