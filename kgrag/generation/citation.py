"""Make a citation of a span of a document."""

from collections.abc import Sequence

from kgrag.results import Citation
from kgrag.text.headings import HeadingTree
from kgrag.types import Document, Heading


def citation(
    number: int,
    *,
    document: Document,
    headings: Sequence[Heading],
    span: tuple[int, int],
    chunk_id: str,
) -> Citation:
    """Return the citation of `document.text[start:end]`.

    Args:
        number: The [n] in the answer.
        document: With text and segments.
        headings: Of the document.
        span: (start, end) of the quote.
        chunk_id: The retrieved chunk that holds it.
    """
    start, end = span
    return Citation(
        number=number,
        doc_id=document.doc_id,
        title=document.title,
        file=document.file,
        heading_path=HeadingTree(document.text, headings).path(start, end),
        page=_page(document, start),
        start=start,
        end=end,
        quote=document.text[start:end],
        chunk_id=chunk_id,
    )


def _page(document: Document, offset: int) -> int | None:
    pages = (s for s in document.segments if s.kind == "page" and s.start <= offset < s.end)
    return next((page.number for page in pages), None)
