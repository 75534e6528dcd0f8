"""Check that chunks are pieces of their documents, and that each group loses nothing."""

import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Sequence

from kgrag.store.sqlite.read import CHUNK_COLUMNS, chunk, documents, headings
from kgrag.store.store import Problem
from kgrag.types import Chunk, Document

_REMEDY = "ingest the document again"


def check_documents(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check documents one after the other: no more than one text is in memory."""
    ids = [d for (d,) in connection.execute("SELECT doc_id FROM documents ORDER BY doc_id")]
    for doc_id in ids:
        document = documents(connection, [doc_id])[0]
        rows = connection.execute(
            f"SELECT {CHUNK_COLUMNS} FROM chunks c WHERE c.doc_id = ?"
            " ORDER BY c.parent_id IS NOT NULL, c.size DESC, c.position",
            (doc_id,),
        )
        yield from _document(connection, document)
        yield from check_chunks(document, [chunk(row) for row in rows])


def check_chunks(document: Document, chunks: Sequence[Chunk]) -> Iterator[Problem]:
    """Check the chunks of one document, given parents first and in reading order."""
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


def _document(connection: sqlite3.Connection, document: Document) -> Iterator[Problem]:
    stored = connection.execute(
        "SELECT characters FROM documents WHERE doc_id = ?", (document.doc_id,)
    ).fetchone()[0]
    if stored != len(document.text):
        detail = f"says {stored} characters, its text has {len(document.text)}: {_REMEDY}"
        yield Problem("document-characters", document.doc_id, detail)
    places = [(s.start, s.end) for s in document.segments]
    places += [(h.start, h.end) for h in headings(connection, document.doc_id)]
    for start, end in places:
        if not 0 <= start <= end <= len(document.text):
            detail = f"a heading or page at {start}..{end} is outside the text: {_REMEDY}"
            yield Problem("document-places", document.doc_id, detail)


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
