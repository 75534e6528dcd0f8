"""From a question to the chunks that it is answered from, with a model's help."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from kgrag.asking.models import QuestionModels
from kgrag.asking.options import AskOptions
from kgrag.asking.search_context import SearchContext
from kgrag.asking.stopped import StoppedError, stopped_after
from kgrag.errors import ModelError, ModelUnavailableError, TransientModelError
from kgrag.llm.chat import ChatModel
from kgrag.llm.counting import Counted
from kgrag.results import ScoredChunk, Step
from kgrag.retrieval.analysis import analyse_with_model
from kgrag.retrieval.expansion import expand, hypothetical
from kgrag.retrieval.graph_query import GraphAnswer, ask_graph, chunks_of_rows, rows_as_text
from kgrag.retrieval.grim import Pipeline
from kgrag.retrieval.search import Search
from kgrag.retrieval.several import retrieve_several
from kgrag.types import Query

LEFT_OUT = "left out: "  # begins the detail of a step that failed, for a reader
_ROWS = 20  # of a graph query that an answer may draw from
_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found for a wording of a question.

    Attributes:
        query: As it was read.
        results: Best first.
        rows: Lines of the graph query's rows.
        steps: What was done for it, in order.
    """

    query: Query
    results: list[ScoredChunk]
    rows: list[str]
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class _Reading(Generic[_T_co]):
    """What came of one way to read a question."""

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
    """Return the chunks for a question that models read first, side by side.

    What a model fails at is left out and told: the question's own words always search. One call
    is kept for the answer.

    Args:
        question: As asked, or another wording of it.
        knowledge: What is asked.
        pipeline: The retrieval preset.
        options: What models are asked for.
        models: Of the question.

    Raises:
        StoppedError: If the answer's model cannot be reached either, or goes on failing: it is
            behind the same endpoint; or if the encoder fails.
    """
    query = knowledge.query(question)
    with _Readers(models) as readers:
        analysed = readers.begin("analyse", lambda m: _analysed(query, m), query)
        expanded = made_up = asked = None
        if options.expansions:
            expanded = readers.begin(
                "expand", lambda m: _expanded(question, query, options, m), list[str]()
            )
        if options.hyde:
            made_up = readers.begin("hyde", lambda m: _made_up(question, query, m), "")
        if options.graph_query and knowledge.doc_ids is None:  # a query reads all documents
            nothing = GraphAnswer("", knowledge.graph.query_language)
            asked = readers.begin(
                "graph query", lambda m: _queried(question, knowledge, m), nothing
            )
        analysis = analysed.result()
        expansion = expanded.result() if expanded else None
        imagined = made_up.result() if made_up else None
        found = asked.result() if asked else None
    steps = _steps(filter(None, (analysis, expansion, imagined, found)), models)
    query = analysis.value
    wordings = expansion.value if expansion else []
    passage = imagined.value if imagined else ""
    rows = found.value.rows if found else ()
    with stopped_after(steps):
        leaf = knowledge.settings().leaf
        queried = chunks_of_rows(rows, knowledge.store, size=leaf)
        own = knowledge.search(query, hypothetical=passage, queried=queried)
        further = [knowledge.search(_reworded(query, w, knowledge)) for w in wordings]
        results = knowledge.best(
            own, lambda n: retrieve_several(pipeline, [own, *further], top_k=n), top_k=options.top_k
        )
    lines = rows_as_text(rows, _ROWS).splitlines()
    return Retrieved(query, results, lines, (*steps, Step("retrieve", _shown(results, own))))


class _Readers:
    """Has models read a question in several ways at once; as a context, waits for all.

    Where the user stops it, it waits for none.
    """

    def __init__(self, models: QuestionModels) -> None:
        self._models = models
        self._left = models.left - 1
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="question")

    def __enter__(self) -> "_Readers":
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        stopped = isinstance(error, KeyboardInterrupt)
        self._pool.shutdown(wait=not stopped, cancel_futures=True)

    def begin(
        self, name: str, work: Callable[[ChatModel], tuple[_T, str]], otherwise: _T
    ) -> "Future[_Reading[_T]]":
        """Begin a way to read; `work` gives a value and a detail for the reader."""
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
    """Return what was done to read a question.

    Raises:
        StoppedError: If the endpoint of the answer's model was tried for long enough: asking it
            for the answer would take as long again.
    """
    steps: tuple[Step, ...] = ()
    for reading in readings:
        steps = (*steps, reading.step)
        gone = isinstance(reading.error, ModelUnavailableError | TransientModelError)
        if reading.error is not None and gone and models.answers_like("analyse"):
            raise StoppedError(reading.error, steps) from reading.error
    return steps


def _analysed(query: Query, model: ChatModel) -> tuple[Query, str]:
    read = analyse_with_model(query, model=model)
    keywords = "、".join(read.keywords) or "none"
    return read, f"keywords and synonyms: {keywords}\ncritical: {read.critical or 'none'}"


def _expanded(
    question: str, query: Query, options: AskOptions, model: ChatModel
) -> tuple[list[str], str]:
    wordings = expand(question, language=query.language, model=model, n=options.expansions)
    return wordings, "\n".join(wordings) or "none"


def _made_up(question: str, query: Query, model: ChatModel) -> tuple[str, str]:
    text = hypothetical(question, language=query.language, model=model)
    return text, text


def _queried(question: str, knowledge: SearchContext, model: ChatModel) -> tuple[GraphAnswer, str]:
    answer = ask_graph(question, model=model, store=knowledge.graph)
    lines = rows_as_text(answer.rows, _ROWS).splitlines() or ["no rows"]
    return answer, "\n".join([answer.query, *lines, *filter(None, [answer.error])])


def _reworded(query: Query, wording: str, knowledge: SearchContext) -> Query:
    """Return another wording as read, with what a model said of the question."""
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
