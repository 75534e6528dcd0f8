"""Searching for a question, read by rules or by a model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kgrag.answering.models import QuestionModels, StageModels
from kgrag.answering.options import AskOptions
from kgrag.answering.retrieve import Understood, search, understand
from kgrag.answering.search_context import SearchContext
from kgrag.config import Config
from kgrag.limits import checked_text
from kgrag.results import Hits, ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.store.store import Store

Analysis = Literal["rules", "model"]


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
        checked_text("question", question)
        knowledge = self.knowledge(question)
        return self._found(knowledge, Understood(knowledge.query(question)))

    def by_model(self, question: str) -> list[ScoredChunk]:
        """Return the chunks for a question as a model reads it, as an answer would use them.

        Raises:
            ModelError: If the model fails.
        """
        return self._found(*self._read(question))

    def _read(self, question: str) -> tuple[SearchContext, Understood]:
        checked_text("question", question)
        knowledge = self.knowledge(question)
        options = AskOptions.from_config(self.config, writer="model", has_model=True)
        models = QuestionModels(self.stages(), options.verify)
        query = knowledge.query(question)
        return knowledge, understand(query, knowledge=knowledge, options=options, models=models)

    def _found(self, knowledge: SearchContext, read: Understood) -> Hits:
        found = search(read, knowledge=knowledge, pipeline=self.pipeline, top_k=self.top_k)
        return with_documents(found, knowledge.store)


def with_documents(found: Sequence[ScoredChunk], store: Store) -> Hits:
    """Return results with title and file of their documents; empty for deleted ones."""
    doc_ids = list(dict.fromkeys(hit.chunk.doc_id for hit in found))
    cards = {card.doc_id: card for card in store.document_cards(doc_ids)} if doc_ids else {}
    return Hits(
        replace(hit, title=card.title, file=card.file)
        if (card := cards.get(hit.chunk.doc_id))
        else hit
        for hit in found
    )
