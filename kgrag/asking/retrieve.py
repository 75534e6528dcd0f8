"""From a question to the chunks that it is answered from, with a model's help."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kgrag.asking.knowledge import Knowledge
from kgrag.asking.models import QuestionModels
from kgrag.asking.options import AskOptions
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


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What was found for a wording of a question.

    Attributes:
        query: As it was read.
        results: Best first.
        rows: Lines of the graph query's rows.
    """

    query: Query
    results: list[ScoredChunk] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)


def retrieve(
    question: str,
    *,
    knowledge: Knowledge,
    pipeline: Pipeline,
    options: AskOptions,
    models: QuestionModels,
    steps: list[Step],
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
        steps: What is done is added here.

    Raises:
        ModelUnavailableError: If the answer's model cannot be reached either: it is behind the
            same endpoint.
        TransientModelError: If that endpoint goes on failing.
    """
    query = knowledge.query(question)
    with _Readers(models, steps) as readers:
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
        query = readers.end(analysed)
        wordings = readers.end(expanded) if expanded else []
        passage = readers.end(made_up) if made_up else ""
        rows = readers.end(asked).rows if asked else ()
    leaf = knowledge.settings().leaf
    queried = chunks_of_rows(rows, knowledge.store, size=leaf)
    own = knowledge.search(query, hypothetical=passage, queried=queried)
    further = [knowledge.search(_reworded(query, w, knowledge)) for w in wordings]
    results = retrieve_several(pipeline, [own, *further], top_k=options.top_k)
    steps.append(Step("retrieve", _shown(results, own)))
    return Retrieved(query, results, rows_as_text(rows, _ROWS).splitlines())


class _Readers:
    """Has models read a question in several ways at once; as a context, waits for all.

    Where the user stops it, it waits for none.
    """

    def __init__(self, models: QuestionModels, steps: list[Step]) -> None:
        self._models = models
        self._steps = steps
        self._left = models.left - 1
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="question")

    def __enter__(self) -> "_Readers":
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        stopped = isinstance(error, KeyboardInterrupt)
        self._pool.shutdown(wait=not stopped, cancel_futures=True)

    def begin(
        self, name: str, work: Callable[[ChatModel], tuple[_T, str]], otherwise: _T
    ) -> "Future[tuple[_T, Step, ModelError | None]]":
        """Begin a way to read; `work` gives a value and a detail for the reader."""
        self._left -= 1
        allowed = self._left >= 0

        def run() -> tuple[_T, Step, ModelError | None]:
            if not allowed:
                told = f"{LEFT_OUT}the calls are kept for the answer (verify.max_calls)"
                return otherwise, Step(name, told, failed=True), None
            counted: Counted | None = None
            try:
                counted = Counted(self._models.of("analyse"))
                value, detail = work(counted)
            except ModelError as exc:
                calls = counted.calls if counted else 0
                return otherwise, Step(name, f"{LEFT_OUT}{exc}", calls, failed=True), exc
            return value, Step(name, detail, counted.calls), None

        return self._pool.submit(run)

    def end(self, begun: "Future[tuple[_T, Step, ModelError | None]]") -> _T:
        """Return what was read, or what stands in for it.

        Raises:
            ModelError: If the endpoint of the answer's model was tried for long enough: asking
                it for the answer would take as long again.
        """
        value, step, error = begun.result()
        self._steps.append(step)
        gone = isinstance(error, ModelUnavailableError | TransientModelError)
        if error is not None and gone and self._models.answers_like("analyse"):
            raise error
        return value


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


def _queried(question: str, knowledge: Knowledge, model: ChatModel) -> tuple[GraphAnswer, str]:
    answer = ask_graph(question, model=model, store=knowledge.graph)
    lines = rows_as_text(answer.rows, _ROWS).splitlines() or ["no rows"]
    return answer, "\n".join([answer.query, *lines, *filter(None, [answer.error])])


def _reworded(query: Query, wording: str, knowledge: Knowledge) -> Query:
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
