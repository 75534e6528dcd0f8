"""Search results with the data to cite them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from kgrag.api import KnowledgeBase
from kgrag.notebook import place_words
from kgrag.results import ScoredChunk
from kgrag.types import Chunk, Document


@dataclass(frozen=True, slots=True)
class Passage:
    """A retrieved chunk with its document.

    Attributes:
        result: The chunk with its score and reasons.
        title: Of the document.
        file: The document's file as ingested.
        page: 1-based page or slide of the chunk's start; None without such.
        cells: Of the sheet that the chunk is from; empty for other files.
    """

    result: ScoredChunk
    title: str
    file: str
    page: int | None
    cells: str = ""


def check_choice(kb: KnowledgeBase, system: str, top_k: int) -> None:
    """Validate the arguments of a search early.

    Raises:
        ConfigError: If there is no such preset.
        ValueError: If top_k < 1.
    """
    kb.system(system)
    if top_k < 1:
        raise ValueError(f"top_k must be at least 1, got {top_k}")


def passages(kb: KnowledgeBase, question: str, *, system: str, top_k: int) -> list[Passage]:
    """Search a knowledge base by a preset; at most `top_k` results, best first."""
    check_choice(kb, system, top_k)
    results = kb.search(question, system=system, top_k=top_k)
    doc_ids = list(dict.fromkeys(r.chunk.doc_id for r in results))
    documents = {d.doc_id: d for d in kb.store.documents(doc_ids)}
    return [
        Passage(
            r,
            document.title,
            document.file,
            _page(document, r.chunk),
            document.cells_at(r.chunk.start, r.chunk.end),
        )
        for r in results
        # another process may have deleted the document since the search
        if (document := documents.get(r.chunk.doc_id))
    ]


def citation(
    title: str,
    heading_path: Sequence[str],
    *,
    file: str,
    page: int | None,
    start: int,
    end: int,
    cells: str = "",
) -> str:
    """Format the place of a text as one line.

    Without the file's folders, which are of no use to a reader and reveal too much to a model.

    >>> citation("Plan", ["1. Aims"], file="docs/plan.pdf", page=2, start=10, end=90)
    'Plan › 1. Aims (plan.pdf, page 2, characters 10-90)'
    """
    where = " › ".join((title, *heading_path))
    place = place_words(PurePath(file).name, start, end, "en", page=page, cells=cells)
    return f"{where} ({place})"


def _page(document: Document, chunk: Chunk) -> int | None:
    """Return the first page that a chunk touches; pages may leave gaps."""
    touched = (
        s.number
        for s in document.segments
        if s.kind in ("page", "slide") and s.start < chunk.end and chunk.start < s.end
    )
    return next(touched, None)
