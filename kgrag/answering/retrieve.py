"""Retrieval for a question that models read first."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from kgrag.answer.answer import Step
from kgrag.answering.models import QuestionModels, StoppedError, stopped_after
from kgrag.answering.options import AskOptions
from kgrag.answering.search_context import SearchContext
from kgrag.errors import ModelError, ModelUnavailableError, TransientModelError
from kgrag.llm.chat import ChatModel
from kgrag.llm.middleware import Counted
from kgrag.results import ScoredChunk
from kgrag.retrieval.graph_query import (
    GraphAnswer,
    Row,
    ask_graph,
    chunks_of_rows,
    rows_as_text,
)
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.reading import Reading, read_question
from kgrag.retrieval.search import Search
from kgrag.types import Query

LEFT_OUT = "left out: "  # begins the detail of a step that failed, for a reader
_ROWS = 20  # of a graph query that an answer may draw from
_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Understood:
    """A question as models read it.

    Attributes:
        query: With the models' keywords and sub-questions.
        wordings: Rewordings to search.
        passage: Made up by a model; empty for none.
        rows: Of a model's query to the graph.
        steps: Steps so far, in order.
        error: The first failure; None for none.
    """

    query: Query
    wordings: tuple[str, ...]
    passage: str
    rows: Sequence[Row]
    steps: tuple[Step, ...]
    error: ModelError | None = None


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Results for a wording of a question.

    Attributes:
        query: As read.
        results: Best first.
        rows: Lines of the graph query's rows.
        steps: Steps so far, in order.
    """

    query: Query
    results: list[ScoredChunk]
    rows: list[str]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class _Reading(Generic[_T_co]):
    """Result of one way to read a question."""

    value: _T_co
    step: Step
    error: ModelError | None = None


def retrieve(
    question: str,
    *,
    knowledge: SearchContext,
    pipeline: Pipeline,
    options: AskOptions,
    models: QuestionModels,
) -> Retrieved:
    """Return the chunks for a question that models read first.

    What a model fails at is left out and reported: the question's own words are always searched.
    One call is reserved for the answer.

    Args:
        question: As asked, or another wording.
        knowledge: The knowledge base.
        pipeline: The retrieval preset.
        options: What models are asked for.
        models: Models of the question.

    Raises:
        StoppedError: If the answer's model has the same endpoint, which cannot be reached or keeps
            failing; or if the encoder fails.
    """
    query = knowledge.query(question)
    understood = understand(query, knowledge=knowledge, options=options, models=models, kept=1)
    return search(understood, knowledge=knowledge, pipeline=pipeline, options=options)


def understand(
    query: Query,
    *,
    knowledge: SearchContext,
    options: AskOptions,
    models: QuestionModels,
    kept: int = 0,
) -> Understood:
    """Return what models read in a question, in parallel; failures are left out and reported.

    Args:
        query: As parsed by rules.
        knowledge: The knowledge base.
        options: What models are asked for.
        models: Models of the question.
        kept: Number of calls reserved for later steps.

    Raises:
        StoppedError: If the endpoint of the answer's model is down.
    """
    nothing = GraphAnswer("", knowledge.graph.query_language)
    with _Readers(models, kept) as readers:
        read = readers.begin("analyse", lambda model: _read(query, options, model), Reading())
        asked = None
        if options.graph_query and knowledge.doc_ids is None:  # a query reads all documents
            asked = readers.begin(
                "graph query", lambda model: _queried(query.question, knowledge, model), nothing
            )
        reading = read.result()
        found = asked.result() if asked else None
    done: list[_Reading[object]] = [reading, *filter(None, [found])]
    steps = _steps(done, models)
    known = knowledge.settings()
    return Understood(
        reading.value.told_to(query, known_places=known.known_places, chinese=known.chinese),
        reading.value.wordings,
        reading.value.passage if options.hyde else "",
        found.value.rows if found else (),
        steps,
        next((one.error for one in done if one.error), None),
    )


def search(
    understood: Understood,
    *,
    knowledge: SearchContext,
    pipeline: Pipeline,
    options: AskOptions,
) -> Retrieved:
    """Return the chunks for a question that was read.

    Args:
        understood: The question.
        knowledge: The knowledge base.
        pipeline: The retrieval preset.
        options: Number of chunks.

    Raises:
        StoppedError: If the encoder fails.
    """
    query = understood.query
    with stopped_after(understood.steps):
        leaf = knowledge.settings().leaf
        queried = chunks_of_rows(understood.rows, knowledge.store, size=leaf)
        own = knowledge.search(query, hypothetical=understood.passage, queried=queried)
        further = [
            knowledge.search(_reworded(query, wording, knowledge))
            for wording in understood.wordings
        ]
        results = knowledge.best(pipeline, [own, *further], top_k=options.top_k)
    lines = rows_as_text(understood.rows, _ROWS).splitlines()
    steps = (*understood.steps, Step("retrieve", _shown(results, own)))
    return Retrieved(query, results, lines, steps)


class _Readers:
    """Runs several ways to read a question in parallel; as a context manager, waits for all.

    If the user stops it, it waits for none.
    """

    def __init__(self, models: QuestionModels, kept: int) -> None:
        self._models = models
        self._left = models.left - kept
        self._pool = ThreadPoolExecutor(2, thread_name_prefix="question")

    def __enter__(self) -> "_Readers":
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        stopped = isinstance(error, KeyboardInterrupt)
        self._pool.shutdown(wait=not stopped, cancel_futures=True)

    def begin(
        self, name: str, work: Callable[[ChatModel], tuple[_T, str]], otherwise: _T
    ) -> "Future[_Reading[_T]]":
        """Start a way to read; `work` returns a value and a detail for the reader."""
        self._left -= 1
        allowed = self._left >= 0

        def run() -> _Reading[_T]:
            if not allowed:
                told = f"{LEFT_OUT}the calls are kept for the answer (verify.max_calls)"
                return _Reading(otherwise, Step(name, told, failed=True))
            counted: Counted | None = None
            try:
                counted = Counted(self._models.of("analyse"))
                value, detail = work(counted)
            except ModelError as exc:
                calls = counted.calls if counted else 0
                told = f"{LEFT_OUT}{exc}"
                return _Reading(otherwise, Step(name, told, calls, failed=True), exc)
            return _Reading(value, Step(name, detail, counted.calls))

        return self._pool.submit(run)


def _steps(readings: Iterable[_Reading[object]], models: QuestionModels) -> tuple[Step, ...]:
    """Return the steps of reading a question.

    Raises:
        StoppedError: If the endpoint of the answer's model was tried for long enough.
    """
    steps: tuple[Step, ...] = ()
    for reading in readings:
        steps = (*steps, reading.step)
        gone = isinstance(reading.error, ModelUnavailableError | TransientModelError)
        if reading.error is not None and gone and models.answers_like("analyse"):
            raise StoppedError(reading.error, steps) from reading.error
    return steps


def _read(query: Query, options: AskOptions, model: ChatModel) -> tuple[Reading, str]:
    reading = read_question(query, model=model, wordings=options.expansions)
    return reading, reading.described()


def _queried(question: str, knowledge: SearchContext, model: ChatModel) -> tuple[GraphAnswer, str]:
    answer = ask_graph(question, model=model, store=knowledge.graph)
    lines = rows_as_text(answer.rows, _ROWS).splitlines() or ["no rows"]
    return answer, "\n".join([answer.query, *lines, *filter(None, [answer.error])])


def _reworded(query: Query, wording: str, knowledge: SearchContext) -> Query:
    """Return another wording with what a model read in the question."""
    return replace(knowledge.query(wording), keywords=query.keywords, critical="")


def _shown(results: list[ScoredChunk], search: Search) -> str:
    cards = search.store.document_cards(list(dict.fromkeys(r.chunk.doc_id for r in results)))
    titles = {card.doc_id: card.title for card in cards}
    lines = [
        f"{n}. {titles.get(r.chunk.doc_id, r.chunk.doc_id)}, characters "
        f"{r.chunk.start}-{r.chunk.end}: {'; '.join(r.via[:3])}"
        for n, r in enumerate(results, 1)
    ]
    return "\n".join(lines) or "nothing found"
