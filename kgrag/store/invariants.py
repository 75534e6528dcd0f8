"""Invariants of a document's chunks, headings and pages; checks that every store shares."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from kgrag.store.contents import Problem
from kgrag.types import Chunk, Document, Heading

_REMEDY = "ingest the document again"


def check_places(document: Document, headings: Sequence[Heading]) -> Iterator[Problem]:
    """Check that a document's pages and headings lie in its text."""
    places = [(s.start, s.end) for s in document.segments]
    places += [(h.start, h.end) for h in headings]
    for start, end in places:
        if not 0 <= start <= end <= len(document.text):
            detail = f"a heading or page at {start}..{end} is outside the text: {_REMEDY}"
            yield Problem("document-places", document.doc_id, detail)


def check_chunks(document: Document, chunks: Sequence[Chunk]) -> Iterator[Problem]:
    """Check that chunks are pieces of their document, and that each group loses nothing.

    Args:
        document: With its text.
        chunks: All of its chunks, parents first and each group in reading order.
    """
    groups: defaultdict[int, list[Chunk]] = defaultdict(list)
    for c in chunks:
        groups[c.size].append(c)
        if c.text != document.text[c.start : c.end] or not 0 <= c.start <= c.end:
            detail = f"its text is not that of {c.start}..{c.end} in {c.doc_id}: {_REMEDY}"
            yield Problem("chunk-text", c.chunk_id, detail)
    for size, group in groups.items():
        if [c.position for c in group] != list(range(len(group))):
            detail = f"positions of group {size} are not 0 to {len(group) - 1}: {_REMEDY}"
            yield Problem("chunk-positions", document.doc_id, detail)
    parents = {c.chunk_id: c for c in chunks if c.parent_id is None}
    if not _covers(list(parents.values()), 0, len(document.text)):
        detail = f"its parents leave a gap, overlap or do not end at {len(document.text)}"
        yield Problem("parents-cover-document", document.doc_id, f"{detail}: {_REMEDY}")
    yield from _check_children(parents, chunks)


def _check_children(parents: dict[str, Chunk], chunks: Sequence[Chunk]) -> Iterator[Problem]:
    children: defaultdict[tuple[str, int], list[Chunk]] = defaultdict(list)
    for c in chunks:
        if c.parent_id is None:
            continue
        parent = parents.get(c.parent_id)
        if parent is None:
            detail = f"its parent {c.parent_id} is missing or a child itself: {_REMEDY}"
            yield Problem("child-has-parent", c.chunk_id, detail)
        elif not parent.start <= c.start <= c.end <= parent.end:
            detail = f"{c.start}..{c.end} is not inside its parent {c.parent_id}: {_REMEDY}"
            yield Problem("child-inside-parent", c.chunk_id, detail)
        else:
            children[c.parent_id, c.size].append(c)
    sizes = sorted({c.size for c in chunks if c.parent_id is not None}, reverse=True)
    for parent in parents.values():
        for size in sizes:
            if not _covers(children[parent.chunk_id, size], parent.start, parent.end):
                detail = f"its children of {size} leave a gap or overlap: {_REMEDY}"
                yield Problem("children-cover-parent", parent.chunk_id, detail)


def _covers(chunks: Sequence[Chunk], start: int, end: int) -> bool:
    """Return whether chunks in reading order cover a span without gap or overlap."""
    for c in chunks:
        if c.start != start or c.end < c.start:
            return False
        start = c.end
    return start == end
