"""Query the graph by a statement that a model writes.

The store makes such a statement harmless: read-only, a single one, limited in time and rows by
the engine. The text of a question is never put into a statement.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from kgrag.errors import ModelOutputError, StatementError
from kgrag.limits import check_query, checked_text
from kgrag.llm.chat import ChatModel, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import Json, ask
from kgrag.retrieval.graph_schema import graph_schema
from kgrag.store.store import Store
from kgrag.store.whole import QueryLanguage, shown
from kgrag.text.words import question_language

Row = Mapping[str, object]

_PROMPTS: Mapping[QueryLanguage, str] = {
    "sql": "graph_query_sql",
    "cypher": "graph_query_cypher",
}
_SCHEMA = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "explanation": {"type": "string"}},
    "required": ["query", "explanation"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """Result of a graph query.

    Attributes:
        query: The statement of the model; empty if it wrote none.
        language: Query language of the statement.
        rows: As the store returns them; empty on failure.
        error: Message of the failure; empty on success.
        explanation: The model's description of what it searches.
    """

    query: str
    language: QueryLanguage
    rows: tuple[Row, ...] = ()
    error: str = ""
    explanation: str = ""

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as printed by `kgrag query --natural --json`."""
        return {"query": self.query, "rows": list(self.rows), "error": self.error}


def ask_graph(
    question: str, *, model: ChatModel, store: Store, max_rows: int = 50, timeout_s: float = 5.0
) -> GraphAnswer:
    """Run a query that a model writes for a question.

    GRIM, section 3.2.2: the question becomes a statement in the graph database's language, whose
    results join the other retrievers. A statement that the store refuses is returned to the model
    once, with the reason; a second failure is an answer with an error, not an exception.

    Raises:
        ModelError: If the model cannot be reached.
        StoreError: If the storage fails.
        OutOfRangeError: If the question is too long, or max_rows or timeout_s are out of range.
    """
    checked_text("question", question)
    check_query(max_rows, timeout_s)
    language = store.query_language
    tried = GraphAnswer("", language)

    def run(answer: Json) -> GraphAnswer:
        nonlocal tried
        tried = _read(answer, language)
        try:
            rows = store.run_query(tried.query, max_rows=max_rows, timeout_s=timeout_s)
        except StatementError as exc:
            tried = replace(tried, error=str(exc).removeprefix(f"{shown(tried.query)}: "))
            raise ValueError(f'the statement in "query" was refused: {tried.error}') from exc
        return replace(tried, rows=tuple(rows))

    known = graph_schema() if language == "cypher" else {}
    messages = prompt(_PROMPTS[language], question_language(question)).fill(
        question=fence(question, label="question"), **known
    )
    told, *asked = messages
    messages = (replace(told, content=store.own_labels(told.content)), *asked)
    request = Request(messages, stage="analyse", schema=_SCHEMA, schema_name="graph_query")
    try:
        return ask(model, request, run)
    except ModelOutputError as exc:
        return replace(tried, error=tried.error or str(exc.__cause__ or exc))


def _read(answer: Json, language: QueryLanguage) -> GraphAnswer:
    query = answer.get("query") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or not isinstance(query, str) or not query.strip():
        raise ValueError('an object with a text "query" is needed')
    explanation = answer.get("explanation")
    said = " ".join(explanation.split()) if isinstance(explanation, str) else ""
    return GraphAnswer(query.strip(), language, explanation=said)
