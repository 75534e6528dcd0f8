"""Results of retrieval: chunks with their scores, and the context that answers draw from."""

from dataclasses import dataclass, field

from kgrag.json_ready import JsonReady
from kgrag.notebook import list_html, passage_html, place_html
from kgrag.status import Status, mark
from kgrag.types import Chunk, Language

IN_SECTION = "section "  # begins the reason of what stands in a section that the question names


@dataclass(frozen=True, slots=True)
class ScoredChunk(JsonReady):
    """A retrieved chunk and how it came.

    Attributes:
        chunk: The chunk.
        score: Higher is better; comparable within one ranking only.
        via: Reasons, strongest first, e.g. `vector 0.71`, `fact: A - cites - B`,
            `merged from 5 of 8`, `filled between 3 and 5`.
        title: Of its document; like `file`, a search's last step sets it, and results that differ
            in nothing else are equal.
        file: Of its document, as ingested.
        status: Whether its document is in force; None where nobody asked.
        also_in: Other files that hold the passage, or most of it: of documents with the same text,
            or nearly.
    """

    chunk: Chunk
    score: float
    via: tuple[str, ...] = ()
    title: str = field(default="", compare=False)
    file: str = field(default="", compare=False)
    status: Status | None = field(default=None, compare=False)
    also_in: tuple[str, ...] = field(default=(), compare=False)

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping as `search --json` prints it.

        The keys are those of a run file, and `status` and `also_in`.
        """
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
    """Results of a search, best first: a list that notebooks show."""

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
        text: What a model reads: `document.text[start:end]`, or less where it was compressed.
        chunk_id: The retrieved chunk that it is made of.
        mark: What is put behind the title of a document that is not in force; empty for others.
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
    """What an answer may draw from.

    Attributes:
        passages: In document order: documents by their best rank, then by place.
        facts: Triples of the graph that bear on the question, as lines of text.
        tokens: Their length, estimated.
        best: Number of the passage that was ranked first; 0 where there is none.
    """

    passages: tuple[Passage, ...]
    facts: tuple[str, ...] = ()
    tokens: int = 0
    best: int = 0


def language_of(title: str) -> Language:
    """Return the language in which a notebook shows a mark: there is no question to go by."""
    return "zh" if any("一" <= c <= "鿿" for c in title) else "en"
