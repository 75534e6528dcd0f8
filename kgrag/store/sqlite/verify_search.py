"""Check vectors, and that search caches hold what they say they hold."""

import sqlite3
from collections.abc import Iterator

import numpy as np

from kgrag.errors import StoreError
from kgrag.store.contents import Problem
from kgrag.store.sqlite.cache import CacheFolder, CacheUnwritableError, Note
from kgrag.store.sqlite.changes import changed_since, current_mark
from kgrag.store.sqlite.embeddings import from_blob, stored_dimension
from kgrag.store.sqlite.lexical import LexicalIndex, sums_of
from kgrag.store.sqlite.lexical_view import IndexDamagedError, open_view, reading_index
from kgrag.store.sqlite.statements import run
from kgrag.store.sqlite.vector_source import stream
from kgrag.store.sqlite.vectors import VectorIndex
from kgrag.vectors.blocks import Block
from kgrag.vectors.codes import Reader
from kgrag.vectors.rows import CodedRows, dequantized, quantized
from kgrag.vectors.vector import KINDS, check_vector

_REMEDY = "run `kgrag repair`, or ingest the document again"


def verify_vectors(connection: sqlite3.Connection) -> Iterator[Problem]:
    """Check that vectors are finite, of unit length (or zero) and of one dimension."""
    dimension = stored_dimension(connection)
    for key, blob in run(connection, "export_embeddings"):
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
    detail = (
        "does not hold what the database holds: run `kgrag repair`, or delete "
        f"{folder.folder}: it is rebuilt"
    )
    return Problem("cache-agrees", name, detail)


def _lexical_agrees(connection: sqlite3.Connection, index: LexicalIndex) -> bool:
    import tantivy

    note = index.note()
    if note is None:
        return True
    if not _files_agree(index):
        return not _can_be_opened(note)
    if note.mark != current_mark(connection):
        return True
    try:
        view = open_view(note.content, note.mark)
        with reading_index():
            everything = view.searcher.search(tantivy.Query.all_query(), max(view.entries, 1)).hits
            addresses = [address for _, address in everything]
            held = view.searcher.fast_field_values("number", addresses)
    except IndexDamagedError:
        return True  # rebuilt when it is next searched
    rows = run(connection, "chunk_numbers", index.size)
    return len(held) == len(set(held)) and set(held) == {number for (number,) in rows}


def _can_be_opened(note: Note) -> bool:
    """Return whether an index would be searched; one that cannot be read is built anew."""
    try:
        open_view(note.content, note.mark)
    except IndexDamagedError:
        return False
    return True


def _files_agree(index: LexicalIndex) -> bool:
    """Return whether the files of an index are as they were written."""
    if _as_noted(index):
        return True
    try:
        with index.cache.exclusive(index.name):  # another process may have been writing
            return _as_noted(index)
    except CacheUnwritableError:
        return False


def _as_noted(index: LexicalIndex) -> bool:
    note = index.note()
    if note is None or "files" not in note.details:
        return True
    try:
        return sums_of(note.content, known=None) == note.details["files"]
    except OSError:
        return False


def _vectors_agree(connection: sqlite3.Connection, index: VectorIndex) -> bool:
    state = index.load(connection)
    dimension = stored_dimension(connection)
    if state is None or any(b.segment.rows.shape[1] != dimension for b in state.blocks):
        return True  # rebuilt when it is next searched
    changed = changed_since(connection, state.mark, "vectors")
    blocks = [block.without(changed) for block in state.blocks]
    held = [doc_id for block in blocks for doc_id in block.standing()]
    stored = run(connection, "documents_with_vectors", index.kind)
    known = {doc_id for (doc_id,) in stored} - set(changed)
    if len(held) != len(set(held)) or set(held) != known:
        return False
    try:
        return all(_block_agrees(connection, index, block) for block in blocks)
    except StoreError:
        return False


def _block_agrees(connection: sqlite3.Connection, index: VectorIndex, block: Block) -> bool:
    lengths = np.diff(block.segment.bounds)[block.documents].tolist()
    stored = dict(zip(block.standing(), lengths, strict=True))
    rows, vectors = np.flatnonzero(block.alive), block.segment.rows
    at = 0
    for numbers, node_ids, matrix in stream(connection, index.kind, stored, vectors.shape[1]):
        part = rows[at : at + len(numbers)]
        at += len(numbers)
        if not np.array_equal(numbers, block.segment.numbers[part]):
            return False
        if node_ids.at(np.arange(len(part))) != block.segment.node_ids.at(part):
            return False
        expected, held = matrix.tobytes(), vectors.matrix[part].tobytes()
        if isinstance(vectors, CodedRows):
            expected = b"".join(array.tobytes() for array in quantized(matrix))
            held += vectors.scales[part].tobytes()
        if held != expected:
            return False
    if vectors.codes is None:
        return True
    read: Reader = vectors.matrix.__getitem__
    if isinstance(vectors, CodedRows):
        read = dequantized(vectors.matrix, vectors.scales)
    return vectors.codes.agree(read, len(block.alive))
