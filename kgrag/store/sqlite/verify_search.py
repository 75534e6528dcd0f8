"""Check vectors, and that search caches hold what they say they hold."""

import sqlite3
from collections.abc import Iterator

import numpy as np

from kgrag.errors import StoreError
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.changes import changed_since, current_mark
from kgrag.store.sqlite.embeddings import from_blob, stored_dimension
from kgrag.store.sqlite.lexical import LexicalIndex
from kgrag.store.sqlite.lexical_view import IndexDamagedError, open_view, reading_index
from kgrag.store.sqlite.vectors import VectorIndex
from kgrag.store.store import Problem
from kgrag.store.vectors import KINDS, check_vector

_REMEDY = "ingest the document again"


def verify_vectors(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that vectors are finite, of unit length (or zero) and of one dimension."""
    dimension = stored_dimension(connection)
    for key, blob in connection.execute("SELECT key, vector FROM embeddings ORDER BY key"):
        if len(blob) != 4 * (dimension or 0):
            detail = f"has {len(blob)} bytes, not those of dimension {dimension}: {_REMEDY}"
            yield Problem("vector-dimension", key, detail)
            continue
        try:
            check_vector(from_blob(blob), key)
        except ValueError as exc:
            yield Problem("vector-length", key, f"{exc}; {_REMEDY}")


def verify_caches(connection: sqlite3.Connection, folder: CacheFolder) -> Iterator[Problem]:
    """Check each cache against the database as of the commit that it names.

    One that lags behind is no problem: it catches up when it is next searched.
    """
    for name in folder.names("lexical-"):
        size = name.removeprefix("lexical-")
        if size.isdecimal() and not _lexical_agrees(connection, LexicalIndex(int(size), folder)):
            yield _damaged(folder, name)
    for kind in KINDS:
        if not _vectors_agree(connection, VectorIndex(kind, folder)):
            yield _damaged(folder, f"vectors-{kind}")


def _damaged(folder: CacheFolder, name: str) -> Problem:
    detail = f"does not hold what the database holds: delete {folder.folder}, it is rebuilt"
    return Problem("cache-agrees", name, detail)


def _lexical_agrees(connection: sqlite3.Connection, index: LexicalIndex) -> bool:
    import tantivy

    note = index.note()
    if note is None or note.mark != current_mark(connection):
        return True
    try:
        view = open_view(note.content, note.mark)
        with reading_index():
            everything = view.searcher.search(tantivy.Query.all_query(), max(view.entries, 1)).hits
            addresses = [address for _, address in everything]
            held = view.searcher.fast_field_values("number", addresses)
    except IndexDamagedError:
        return True  # rebuilt when it is next searched
    rows = connection.execute("SELECT number FROM chunks WHERE size = ?", (index.size,))
    return len(held) == len(set(held)) and set(held) == {number for (number,) in rows}


def _vectors_agree(connection: sqlite3.Connection, index: VectorIndex) -> bool:
    try:
        found = index.load(connection)
    except StoreError:
        return False
    if found is None:
        return True
    mark, block = found
    block = block.without(changed_since(connection, mark, "vectors"))
    living = np.delete(np.arange(len(block.numbers)), block.dead)
    row_of = {int(block.numbers[row]): int(row) for row in living}
    stored = connection.execute(
        "SELECT n.number, n.doc_id, e.vector FROM node_vectors n JOIN embeddings e USING (key)"
        " WHERE n.kind = ?",
        (index.kind,),
    )
    for number, doc_id, vector in stored:
        if doc_id in block.spans:
            row = row_of.pop(number, None)
            if row is None or block.matrix[row].tobytes() != vector:
                return False
    return not row_of
