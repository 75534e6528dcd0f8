"""Searching for a question, with the documents of what is found."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from kgrag.answering.search_context import SearchContext
from kgrag.limits import checked_text
from kgrag.llm.chat import ChatModel
from kgrag.results import Hits, ScoredChunk
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.qcg import with_critical
from kgrag.store.store import Store


def find(
    question: str,
    *,
    knowledge: SearchContext,
    pipeline: Pipeline,
    top_k: int,
    model_of: Callable[[], ChatModel] | None = None,
) -> Hits:
    """Return the chunks for a question, best first.

    Args:
        question: As asked.
        knowledge: The knowledge base.
        pipeline: The retrieval preset.
        top_k: Maximum number of results.
        model_of: Returns the model that extracts critical information, for presets with it; None
            for rules.

    Raises:
        ModelError: If the encoder fails.
    """
    checked_text("question", question)
    query = knowledge.query(question)
    if model_of:
        rerankers = with_critical(pipeline.rerankers, query, model_of)
        pipeline = replace(pipeline, rerankers=rerankers)
    found = knowledge.best(pipeline, knowledge.search(query), top_k=top_k)
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
