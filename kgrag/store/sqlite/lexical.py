"""BM25 over words and phrases: one tantivy index for each chunk size, a cache of the database."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.store.sqlite.cache import CacheFolder, CacheUnwritableError, Note, remove
from kgrag.store.sqlite.changes import Mark, changed_since, current_mark, is_known
from kgrag.store.sqlite.connection import renew
from kgrag.store.sqlite.lexical_view import (
    IndexDamagedError,
    View,
    hits,
    open_view,
    reading_index,
    utf8_path,
    writing_index,
)
from kgrag.store.sqlite.lexical_write import all_documents, lexical_schema, write_documents
from kgrag.store.sqlite.statements import run
from kgrag.store.terms import terms_version
from kgrag.text.words import character_pairs, words
from kgrag.types import TextField
from kgrag.vectors.vector import Hit

if TYPE_CHECKING:
    import tantivy

logger = logging.getLogger(__name__)

_FORMAT = "2"  # raise it when the schema of the index changes
_MOST_DEAD = 0.2  # share of deleted chunks above which an index is built anew

_WORD_FIELDS: Mapping[TextField, str] = {"text": "text", "path": "path"}
_PAIR_FIELDS: Mapping[TextField, str] = {"text": "pairs", "path": "path_pairs"}


class LexicalIndex:
    """The index of one chunk size; brought up to date when it is asked.

    Attributes:
        size: The chunk size.
        name: Of the cache.
        cache: Where it is kept.
    """

    def __init__(self, size: int, cache: CacheFolder) -> None:
        self.size = size
        self.name = f"lexical-{size}"
        self.cache = cache
        self._view: View | None = None
        self._lock = threading.Lock()

    def search_words(
        self,
        connection: sqlite3.Connection,
        terms: Mapping[str, float],
        *,
        field: TextField,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return chunks by BM25 of weighted words (Robertson; tantivy's k1 = 1.2, b = 0.75)."""
        if not terms or top_k < 1 or (doc_ids is not None and not doc_ids):
            return []

        def query(view: View) -> "tantivy.Query":
            return view.words(_WORD_FIELDS[field], terms, doc_ids)

        return self._searched(connection, query, top_k)

    def search_phrase(
        self,
        connection: sqlite3.Connection,
        phrase: str,
        *,
        field: TextField,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return chunks that hold a phrase, by BM25 of its character pairs in a row.

        A phrase of one character is searched as a word: it makes no pair.
        """
        pairs = character_pairs(phrase)
        if not pairs or top_k < 1 or (doc_ids is not None and not doc_ids):
            return []
        if len(pairs[0]) < 2:
            single = dict.fromkeys(words(phrase), 1.0)
            return self.search_words(connection, single, field=field, top_k=top_k, doc_ids=doc_ids)
        pairs_field = _PAIR_FIELDS[field]
        return self._searched(
            connection, lambda view: view.phrase(pairs_field, pairs, doc_ids), top_k
        )

    def view(self, connection: sqlite3.Connection) -> View:
        """Return the index in the state that the connection sees from now on.

        The connection is moved to the latest state of the database, so that chunks found are
        chunks that it sees.
        """
        with self._lock:
            renew(connection)
            if self._view is None or self._view.mark != current_mark(connection):
                self._view = self._refreshed(connection)
            return self._view

    def note(self) -> Note | None:
        """Return what the cache says of itself, None where there is none."""
        return self.cache.read(self.name, _format())

    def _searched(
        self,
        connection: sqlite3.Connection,
        query: Callable[[View], "tantivy.Query"],
        top_k: int,
    ) -> list[Hit]:
        view = self.view(connection)
        try:
            with reading_index():
                return hits(connection, view, query(view), top_k)
        except IndexDamagedError as exc:
            logger.info("%s cannot be read and will be rebuilt: %s", self.name, exc)
        self.cache.forget(self.name)
        with self._lock:
            self._view = None
        view = self.view(connection)
        return hits(connection, view, query(view), top_k)

    def _refreshed(self, connection: sqlite3.Connection) -> View:
        try:
            with self.cache.exclusive(self.name):
                renew(connection)  # what another process did while we waited is known, too
                mark, note = current_mark(connection), self.note()
                view = None
                if note and is_known(connection, note.mark):
                    view = self._caught_up(connection, note, mark)
                return view or self._built(connection, mark)
        except (CacheUnwritableError, IndexDamagedError, OSError) as exc:
            logger.info("%s is kept in memory: %s", self.name, exc)
            return self._built_in_memory(connection, current_mark(connection))

    def _caught_up(self, connection: sqlite3.Connection, note: Note, mark: Mark) -> View | None:
        """Return the index with what changed since; None where it must be built anew."""
        import tantivy

        try:
            changed = changed_since(connection, note.mark, "chunks")
            if changed:
                with reading_index():
                    index = tantivy.Index.open(utf8_path(note.content))
                    write_documents({self.size: index}, connection, changed)
            view = open_view(note.content, mark)
        except IndexDamagedError as exc:
            logger.info("%s cannot be read and will be rebuilt: %s", self.name, exc)
            return None
        living = view.entries - view.dead
        if view.dead > _MOST_DEAD * view.entries or living != self._count(connection):
            return None
        if note.mark != mark:
            details = {"files": sums_of(note.content, known=note.details.get("files"))}
            self.cache.write(self.name, _format(), Note(mark, note.content, details))
        return view

    def _built(self, connection: sqlite3.Connection, mark: Mark) -> View:
        return open_view(_build([self], connection, mark)[0], mark)

    def _built_in_memory(self, connection: sqlite3.Connection, mark: Mark) -> View:
        import tantivy

        index = tantivy.Index(lexical_schema())
        write_documents({self.size: index}, connection, all_documents(connection))
        index.reload()
        searcher = index.searcher()
        return View(mark, searcher, index.schema, searcher.num_docs, 0)

    def _count(self, connection: sqlite3.Connection) -> int:
        return int(run(connection, "count_chunks", self.size).fetchone()[0])


def build_missing(indexes: Sequence[LexicalIndex], connection: sqlite3.Connection) -> None:
    """Build the indexes that there are none of yet together: that takes little more than one.

    The connection is moved to the latest state of the database.
    """
    try:
        with ExitStack() as locks:
            for index in sorted(indexes, key=lambda index: index.size):
                locks.enter_context(index.cache.exclusive(index.name))
            renew(connection)
            missing = [index for index in indexes if index.note() is None]
            if missing:
                _build(missing, connection, current_mark(connection))
    except (CacheUnwritableError, OSError) as exc:
        logger.info("the lexical indexes cannot be kept: %s", exc)


def _build(
    indexes: Sequence[LexicalIndex], connection: sqlite3.Connection, mark: Mark
) -> list[Path]:
    """Write indexes of all documents, make them the caches, and return where they are.

    Raises:
        CacheUnwritableError: If there is no space, or no more files may be open.
    """
    import tantivy

    logger.info("building %s", ", ".join(index.name for index in indexes))
    paths = [index.cache.fresh(index.name, mark) for index in indexes]
    try:
        with writing_index():
            for path in paths:
                path.mkdir()
            written = {
                index.size: tantivy.Index(lexical_schema(), utf8_path(path))
                for index, path in zip(indexes, paths, strict=True)
            }
            write_documents(written, connection, all_documents(connection))
            for index, path in zip(indexes, paths, strict=True):
                details = {"files": sums_of(path, known=None)}
                index.cache.write(index.name, _format(), Note(mark, path, details))
    except CacheUnwritableError:
        for path in paths:
            remove(path)  # it may be what fills the disk
        raise
    return paths


def sums_of(path: Path, *, known: object) -> dict[str, str]:
    """Return the checksum of each file of an index.

    Args:
        path: The index.
        known: Checksums by name; those of files that never change are taken from there, so that
            a damaged one is not taken for whole. None to read all.
    """
    kept = known if isinstance(known, dict) else {}
    return {
        file.name: str(kept[file.name])
        if file.name in kept and file.suffix != ".json"
        else blake2b(file.read_bytes(), digest_size=8).hexdigest()
        for file in sorted(path.iterdir())
        if file.suffix != ".lock"
    }


def _format() -> str:
    from importlib import metadata

    return f"{_FORMAT}-{metadata.version('tantivy')}-{terms_version()}"
