"""Results of retrieval: chunks with their scores, and the context that answers draw from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from kgrag.json_ready import JsonReady
from kgrag.notebook import list_html, passage_html, place_html
from kgrag.status import Status
from kgrag.types import Chunk

# Reasons by kind, as JSON output and run files have them.
REASONS: Mapping[str, str] = MappingProxyType(
    {
        "reranked": "reranked: {score}",
        "coverage": "covers {score}",
        "graph": "chunk graph {score}, critical information by {who}: {what}",
        "vector": "vector {score}",
        "text": "words {score}",
        "path": "path {score}",
        "fact": "fact {score}: {what}",
        "summary": "summary {score}: {what}",
        "place": "place {what}",
        "national": "national",
        "title": "title {what}",
        "mention": "holds {what}",
        "section": "section {what}",
        "cited": "cited: {what}",
        "merged": "merged from {n} of {of} chunks of {size}",
        "filled": "filled between {left} and {right}",
        "side": "asked for {what}",
        "part": "one of {n} parts{of}",
        "official": "{word} read as {what}",
        "outdated": "behind what is in force: {what}",
        "edition": "behind another edition: {what}",
        "version": "another version of {what} is in force, or asked for",
    }
)


class Reason(str):
    """Why a chunk was retrieved: the text of a kind of `REASONS`, with its values.

    Attributes:
        kind: Key in `REASONS`.
        values: By field of the text; scores are rounded for display.
    """

    __slots__ = ("kind", "values")
    kind: str
    values: Mapping[str, str]

    def __new__(cls, kind: str, **values: str) -> "Reason":
        """Format the text."""
        reason = super().__new__(cls, REASONS[kind].format(**values))
        reason.kind, reason.values = kind, values
        return reason

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        return (self.kind,), dict(self.values)


@dataclass(frozen=True, slots=True)
class ScoredChunk(JsonReady):
    """A retrieved chunk.

    Attributes:
        chunk: The chunk.
        score: Higher is better; comparable within one ranking only.
        via: Reasons, strongest first, e.g. `vector 0.71`, `filled between 3 and 5`; those of
            kgrag's own retrievers are `Reason`s.
        title: Of its document; like `file`, a search's last step sets it, and results that differ
            in nothing else are equal.
        file: Of its document, as ingested.
        status: Whether its document is in force; None if not determined.
        also_in: Other files with the passage, or most of it: of documents with the same or nearly
            the same text.
    """

    chunk: Chunk
    score: float
    via: tuple[str, ...] = ()
    title: str = field(default="", compare=False)
    file: str = field(default="", compare=False)
    status: Status | None = field(default=None, compare=False)
    also_in: tuple[str, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping as `search --json` prints it."""
        return {
            "chunk_id": self.chunk.chunk_id,
            "doc_id": self.chunk.doc_id,
            "file": self.file,
            "start": self.chunk.start,
            "end": self.chunk.end,
            "score": self.score,
            "text": self.chunk.text,
            "via": list(self.via),
            "status": self.status.to_dict() if self.status else None,
            "also_in": list(self.also_in),
        }

    def _repr_html_(self) -> str:
        """Return it for a notebook."""
        chunk = self.chunk
        where = place_html(
            self.title,
            chunk.heading_path,
            file=self.file,
            start=chunk.start,
            end=chunk.end,
            status=self.status,
            score=self.score,
        )
        return passage_html(where, chunk.text)


class Hits(list[ScoredChunk]):
    """Results of a search, best first: a list with an HTML form for notebooks."""

    def _repr_html_(self) -> str:
        """Return them for a notebook."""
        shown = list_html((n, hit._repr_html_()) for n, hit in enumerate(self, 1))
        return shown or "<p>nothing found</p>"


@dataclass(frozen=True, slots=True)
class Passage:
    """A numbered piece of a context.

    Attributes:
        number: The [n] by which an answer cites it, from 1.
        doc_id: The document.
        title: Its title.
        heading_path: Sections around its start, outermost first.
        start: First character in the document's text.
        end: Offset after the last.
        text: What a model reads: `document.text[start:end]`, or the row that it states.
        chunk_id: The retrieved chunk.
        mark: Appended to the title of a document that is not in force; empty for others.
        is_row: Whether the text is a row of a table.
    """

    number: int
    doc_id: str
    title: str
    heading_path: tuple[str, ...]
    start: int
    end: int
    text: str
    chunk_id: str
    mark: str = ""
    is_row: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """Input of an answer.

    Attributes:
        passages: In document order: documents by their best rank, then by place.
        facts: Triples related to the question, as lines of text.
        tokens: Estimated length.
        best: Number of the best-ranked passage; 0 if there is none.
    """

    passages: tuple[Passage, ...]
    facts: tuple[str, ...] = ()
    tokens: int = 0
    best: int = 0
