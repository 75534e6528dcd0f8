"""From a question to the chunks that it is answered from, with a model's help."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from kgrag.asking.knowledge import Knowledge
from kgrag.asking.models import QuestionModels
from kgrag.asking.options import AskOptions
from kgrag.errors import ModelError, ModelUnavailableError, TransientModelError
from kgrag.retrieval.analysis import analyse_with_model
from kgrag.retrieval.expansion import expand, hypothetical
from kgrag.retrieval.graph_query import ask_graph, chunks_of_rows, rows_as_text
from kgrag.retrieval.grim import Grim
from kgrag.retrieval.search import Search
from kgrag.retrieval.several import retrieve_several
from kgrag.types import Query, ScoredChunk, Step

LEFT_OUT = "left out: "  # begins the detail of a step that a model could not do
_ROWS = 20  # of a graph query that an answer may draw from
_T = TypeVar("_T")


@dataclass(slots=True)
class Retrieved:
    """What was found for a wording of a question.

    Attributes:
        query: As it was read.
        results: Best first.
        rows: Lines of the graph query's rows.
        steps: How it went.
    """

    query: Query
    results: list[ScoredChunk] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


def retrieve(
    question: str,
    *,
    knowledge: Knowledge,
    pipeline: Grim,
    options: AskOptions,
    models: QuestionModels,
) -> Retrieved:
    """Return the chunks for a question that models read first.

    A step of a model that fails is left out and told: the question's own words always search.

    Raises:
        ModelUnavailableError: If a model cannot be reached at all.
        TransientModelError: If one goes on failing.
    """
    found = Retrieved(knowledge.query(question))
    steps = found.steps

    def attempt(name: str, work: Callable[[], tuple[_T, str]], otherwise: _T) -> _T:
        before = models.calls
        try:
            value, detail = work()
        except (ModelUnavailableError, TransientModelError):
            raise  # tried long enough: the answer's call would wait as long again
        except ModelError as exc:
            value, detail = otherwise, f"{LEFT_OUT}{exc}"
        steps.append(Step(name, detail, models.calls - before))
        return value

    found.query = attempt("analyse", lambda: _analysed(found.query, models), found.query)
    made_up = ""
    wordings, queried = list[str](), list[str]()
    if options.expansions:
        wordings = attempt("expand", lambda: _expanded(question, options, models), wordings)
    if options.hyde:
        made_up = attempt("hyde", lambda: _made_up(question, models), "")
    if options.graph_query:
        found.rows, queried = attempt(
            "graph query", lambda: _queried(question, knowledge, models), (found.rows, queried)
        )
    own = knowledge.search(found.query, hypothetical=made_up, queried=queried)
    further = [knowledge.search(_reworded(found.query, w, knowledge)) for w in wordings]
    found.results = retrieve_several(pipeline, [own, *further], top_k=options.top_k)
    steps.append(Step("retrieve", _shown(found.results, own)))
    return found


def _analysed(query: Query, models: QuestionModels) -> tuple[Query, str]:
    read = analyse_with_model(query, model=models.of("analyse"))
    keywords = "、".join(read.keywords) or "none"
    return read, f"keywords and synonyms: {keywords}\ncritical: {read.critical or 'none'}"


def _expanded(question: str, options: AskOptions, models: QuestionModels) -> tuple[list[str], str]:
    wordings = expand(question, model=models.of("analyse"), n=options.expansions)
    return wordings, "\n".join(wordings) or "none"


def _made_up(question: str, models: QuestionModels) -> tuple[str, str]:
    text = hypothetical(question, model=models.of("analyse"))
    return text, text


def _queried(
    question: str, knowledge: Knowledge, models: QuestionModels
) -> tuple[tuple[list[str], list[str]], str]:
    answer = ask_graph(question, model=models.of("analyse"), store=knowledge.store)
    lines = rows_as_text(answer.rows, _ROWS).splitlines()
    leaf = knowledge.settings(question).leaf
    detail = "\n".join([answer.query, *(lines or ["no rows"]), *filter(None, [answer.error])])
    return (lines, chunks_of_rows(answer.rows, knowledge.store, size=leaf)), detail


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
