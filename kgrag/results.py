"""Results of retrieval: chunks with their scores, and the context that answers draw from."""

from dataclasses import dataclass, field

from kgrag.json_ready import JsonReady
from kgrag.notebook import list_html, passage_html, place_html
from kgrag.status import Status, mark
from kgrag.types import Chunk, Language

IN_SECTION = "section "  # begins the reason of what stands in a section that the question names


@dataclass(frozen=True, slots=True)
class ScoredChunk(JsonReady):
    """A retrieved chunk.

    Attributes:
        chunk: The chunk.
        score: Higher is better; comparable within one ranking only.
        via: Reasons, strongest first, e.g. `vector 0.71`, `fact: A - cites - B`,
            `merged from 5 of 8`, `filled between 3 and 5`.
        title: Of its document; set, like `file`, by the last step of a search, and not compared.
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
            self.title + mark(self.status, language_of(self.title)),
            chunk.heading_path,
            file=self.file,
            start=chunk.start,
            end=chunk.end,
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
        text: What a model reads: `document.text[start:end]`, or less if compressed.
        chunk_id: The retrieved chunk.
        mark: Appended to the title of a document that is not in force; empty for others.
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


def language_of(title: str) -> Language:
    """Return the language of a title, for marks in a notebook."""
    return "zh" if any("一" <= c <= "鿿" for c in title) else "en"
