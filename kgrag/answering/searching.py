"""Searching for a question, read by rules or by a model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from kgrag.answer.answer import Step
from kgrag.answering.models import QuestionModels
from kgrag.answering.search_context import SearchContext
from kgrag.config import Config, SearchConfig
from kgrag.errors import ModelError, ModelUnavailableError, TransientModelError
from kgrag.limits import checked_text
from kgrag.llm.chat import ChatModel
from kgrag.llm.models import Models
from kgrag.results import Hits, ScoredChunk
from kgrag.retrieval.graph_query import Row, ask_graph, chunks_of_rows, rows_as_text
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.qcg import with_critical
from kgrag.retrieval.reading import Reading, read_question
from kgrag.store.store import Store
from kgrag.types import Query

LEFT_OUT = "left out: "  # begins the detail of a step that failed, for a reader
_KEPT = f"{LEFT_OUT}the calls are kept for the answer (verify.max_calls)"
_ROWS = 20  # of a graph query that an answer may draw from
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Understood:
    """A question as models read it.

    Attributes:
        query: With the models' keywords and sub-questions.
        wordings: Rewordings to search.
        passage: Made up by a model; empty for none.
        rows: Of a model's query to the graph.
    """

    query: Query
    wordings: tuple[str, ...] = ()
    passage: str = ""
    rows: Sequence[Row] = ()

    @property
    def lines(self) -> list[str]:
        """The first rows in words."""
        return rows_as_text(self.rows, _ROWS).splitlines()


def understand(
    query: Query,
    *,
    knowledge: SearchContext,
    settings: SearchConfig,
    models: QuestionModels,
    steps: list[Step] | None = None,
) -> Understood:
    """Return what models read in a question.

    Args:
        query: As parsed by rules.
        knowledge: The knowledge base.
        settings: What models are asked for.
        models: Models of the question.
        steps: Steps so far, to which those of reading are added: what a model fails at is told
            there and left out, and one call is kept for the answer. None makes failures errors.

    Raises:
        ModelError: If a model fails without `steps`, or the endpoint of the answer's model is down.
    """

    def read(name: str, work: Callable[[ChatModel], tuple[_T, str]], otherwise: _T) -> _T:
        if steps is None:
            return work(models.of("analyse"))[0]
        if models.left <= 1:
            steps.append(Step(name, _KEPT, failed=True))
            return otherwise
        before = models.calls
        try:
            value, told = work(models.of("analyse"))
        except ModelError as exc:
            steps.append(Step(name, f"{LEFT_OUT}{exc}", models.calls - before, failed=True))
            gone = isinstance(exc, ModelUnavailableError | TransientModelError)
            if gone and models.answers_like("analyse"):
                raise
            return otherwise
        steps.append(Step(name, told, models.calls - before))
        return value

    def analysed(model: ChatModel) -> tuple[Reading, str]:
        reading = read_question(query, model=model, wordings=settings.expansions)
        return reading, reading.described()

    def queried(model: ChatModel) -> tuple[Sequence[Row], str]:
        answer = ask_graph(query.question, model=model, store=knowledge.graph)
        lines = rows_as_text(answer.rows, _ROWS) or "no rows"
        return answer.rows, "\n".join(filter(None, (answer.query, lines, answer.error)))

    reading = read("analyse", analysed, Reading())
    rows: Sequence[Row] = ()
    known = knowledge.settings()
    if settings.graph_query and knowledge.doc_ids is None:  # a query reads all documents
        rows = read("graph query", queried, rows)
    return Understood(
        reading.told_to(query, known_places=known.known_places, chinese=known.chinese),
        reading.wordings,
        reading.passage if settings.hyde else "",
        rows,
    )


def search(
    understood: Understood, *, knowledge: SearchContext, pipeline: Pipeline, top_k: int
) -> list[ScoredChunk]:
    """Return the chunks for a question that was read, best first.

    Args:
        understood: The question.
        knowledge: The knowledge base.
        pipeline: The retrieval preset.
        top_k: Maximum number of chunks.

    Raises:
        ModelError: If the encoder fails.
    """
    query = understood.query
    queried = chunks_of_rows(understood.rows, knowledge.store, size=knowledge.settings().leaf)
    searches = [knowledge.search(query, hypothetical=understood.passage, queried=queried)]
    for wording in understood.wordings:
        reworded = replace(knowledge.query(wording), keywords=query.keywords, critical="")
        searches.append(knowledge.search(reworded))
    return knowledge.best(pipeline, searches, top_k=top_k)


def find(
    question: str,
    *,
    knowledge: SearchContext,
    pipeline: Pipeline,
    top_k: int,
    config: Config,
    stages: Models | None,
) -> Hits:
    """Return the chunks for a question.

    Args:
        question: As asked.
        knowledge: The knowledge base.
        pipeline: The retrieval preset.
        top_k: Maximum number of results.
        config: Settings of reading by a model, and its limits.
        stages: Models that read the question first, as for an answer; None for rules.

    Raises:
        ModelError: If a model fails.
    """
    checked_text("question", question)
    understood = Understood(knowledge.query(question))
    if stages is not None:
        models = QuestionModels(stages, config.verify)
        model_of = partial(models.of, "analyse")
        rerankers = with_critical(pipeline.rerankers, understood.query, model_of)
        pipeline = replace(pipeline, rerankers=rerankers)
        understood = understand(
            understood.query, knowledge=knowledge, settings=config.search, models=models
        )
    found = search(understood, knowledge=knowledge, pipeline=pipeline, top_k=top_k)
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
