"""Writing chunks into a lexical index."""

import ctypes
import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.store.sqlite.statements import json_list, run
from kgrag.store.terms import pair_terms, word_terms

_TAKEN = Path("/proc/self/statm")  # man 5 proc: its first number is the pages of the whole process
_ARENAS = -8  # M_ARENA_MAX of glibc's malloc.h

if TYPE_CHECKING:
    import tantivy

# Documents from which on a larger buffer pays; tantivy flushes a segment when it is full.
_MANY_DOCUMENTS = 20
_SMALL_HEAP, _LARGE_HEAP = 15_000_000, 150_000_000
_BESIDE = 64_000_000  # for threads, merging and what is read meanwhile
# Taken from the database at once; `kgrag.text.words.words` remembers the clauses of as many.
_TOGETHER = 8


def lexical_schema() -> "tantivy.Schema":
    """Return the fields of an index.

    `number` leads to the chunk's row; `doc` is there to delete a document's chunks and to search
    within documents. Each value of `path_pairs` is a title or heading: phrases end with it.
    """
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("number", fast=True)
    builder.add_text_field("doc", tokenizer_name="raw", index_option="basic")
    for field, option in (
        ("text", "freq"),
        ("path", "freq"),
        ("pairs", "position"),
        ("path_pairs", "position"),
    ):
        builder.add_text_field(field, tokenizer_name="whitespace", index_option=option)
    return builder.build()


def all_documents(connection: sqlite3.Connection) -> list[str]:
    """Return the ids of all documents in order."""
    return [d for (d,) in run(connection, "doc_ids")]


def write_documents(
    indexes: "Mapping[int, tantivy.Index]", connection: sqlite3.Connection, doc_ids: Sequence[str]
) -> None:
    """Replace documents' chunks in indexes by those in the database (none, if deleted).

    Doing it twice leaves the same indexes. The chunks of several sizes hold the same clauses,
    which are split into words once when their indexes are written together.

    Args:
        indexes: By chunk size.
        connection: Where the chunks are.
        doc_ids: Documents that changed.

    Raises:
        MemoryError: If the process may not take as much as is needed.
    """
    heap = _SMALL_HEAP
    if len(doc_ids) >= _MANY_DOCUMENTS and spare_bytes() > len(indexes) * _LARGE_HEAP + _BESIDE:
        heap = _LARGE_HEAP
    check_room(len(indexes) * heap + _BESIDE)
    # One thread: which chunks share a segment depends on nothing but their order.
    writers = {size: index.writer(heap, 1) for size, index in indexes.items()}
    for first in range(0, len(doc_ids), _TOGETHER):
        batch = doc_ids[first : first + _TOGETHER]
        for size, writer in writers.items():
            _write(writer, connection, batch, size)
    for writer in writers.values():
        writer.commit()
        writer.wait_merging_threads()


def _write(
    writer: "tantivy.IndexWriter",
    connection: sqlite3.Connection,
    doc_ids: Sequence[str],
    size: int,
) -> None:
    import tantivy

    for doc_id in doc_ids:
        writer.delete_documents_by_term("doc", doc_id)
    path = _Path()
    rows = run(connection, "indexed_chunks", json_list(doc_ids), size)
    for number, doc_id, title, heading_path, text in rows:
        document = tantivy.Document()
        document.add_unsigned("number", number)
        document.add_text("doc", doc_id)
        document.add_text("text", " ".join(word_terms(text)))
        document.add_text("pairs", " ".join(pair_terms(text)))
        path_words, path_pairs = path.terms(title, heading_path)
        document.add_text("path", path_words)
        for pairs in path_pairs:
            document.add_text("path_pairs", pairs)
        writer.add_document(document)


class _Path:
    """Terms of a title and headings, kept for the chunks that follow in the same section."""

    def __init__(self) -> None:
        self._known: tuple[str, str] = ("", "")
        self._terms: tuple[str, list[str]] = ("", [])

    def terms(self, title: str, heading_path: str) -> tuple[str, list[str]]:
        """Return the words of all together, and the pairs of each.

        Args:
            title: Of the document.
            heading_path: The headings as a JSON list.
        """
        if self._known != (title, heading_path):
            names = [title, *json.loads(heading_path)]
            self._known = (title, heading_path)
            self._terms = (
                " ".join(word_terms(" ".join(names))),
                [" ".join(pair_terms(name)) for name in names],
            )
        return self._terms


def spare_bytes() -> float:
    """Return how many more bytes of addresses the process may take; infinity without a limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return math.inf
        return limit - int(_TAKEN.read_text("ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # Windows knows no such limit, macOS not what is taken
        return math.inf


def check_room(n_bytes: int) -> None:
    """Refuse to go on where the process may not take so many more bytes.

    Where there is a limit, threads share what is allocated: glibc reserves 64 MB for each of them,
    590 MB while four small indexes are written, of which 20 are used.

    Raises:
        MemoryError: If there is less.
    """
    spare = spare_bytes()
    if math.isinf(spare):
        return
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).mallopt(_ARENAS, 1)
    if spare < n_bytes:
        raise MemoryError(
            f"the search index needs {n_bytes / 1e6:.0f} MB, {max(spare, 0) / 1e6:.0f} are left of "
            "what ulimit -v allows"
        )
