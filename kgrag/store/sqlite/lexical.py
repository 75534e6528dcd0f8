"""BM25 over words and phrases: a cached tantivy index for each chunk size."""

import ctypes
import json
import logging
import math
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kgrag.store.sqlite.cache import CacheFolder, CacheUnwritableError, Note, remove
from kgrag.store.sqlite.changes import Mark, changed_since, current_mark, is_known
from kgrag.store.sqlite.connection import renew
from kgrag.store.sqlite.statements import json_list, run
from kgrag.store.terms import pair_terms, terms_version, word_terms
from kgrag.text.visible import shown_path
from kgrag.types import DocIds
from kgrag.vectors.vector import Hit

if TYPE_CHECKING:
    import tantivy

logger = logging.getLogger(__name__)

_FORMAT = "2"  # raise it when the schema of the index changes
_MOST_DEAD = 0.2  # share of deleted chunks above which an index is rebuilt
_SPARE = 32  # additional hits fetched, to see the end of a tie
_MOST_KNOWN = 100_000  # cached ids, some 12 MB
_DIGITS = 5  # of a score: tantivy sums in float32, in an order that depends on its segments
_TAKEN = Path("/proc/self/statm")  # man 5 proc: the first number is the process size in pages
_ARENAS = -8  # M_ARENA_MAX of glibc's malloc.h
# Documents from which a larger buffer pays; tantivy flushes a segment when it is full.
_MANY_DOCUMENTS = 20
_SMALL_HEAP, _LARGE_HEAP = 15_000_000, 150_000_000
_BESIDE = 64_000_000  # bytes for threads, merging and reading
# Documents read at once; `kgrag.text.words.words` caches the clauses of as many.
_TOGETHER = 8


def _lexical_schema() -> "tantivy.Schema":
    """Return the fields of an index.

    `number` refers to the chunk's row; `doc` serves deletion and filters. Each value of
    `path_pairs` is a title or heading, so that phrases do not span several.
    """
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("number", fast=True)
    builder.add_text_field("doc", tokenizer_name="raw", index_option="basic")
    for name, option in (
        ("text", "freq"),
        ("path", "freq"),
        ("pairs", "position"),
        ("path_pairs", "position"),
    ):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option=option)
    return builder.build()


def _all_documents(connection: sqlite3.Connection) -> list[str]:
    """Return the ids of all documents in order."""
    return [d for (d,) in run(connection, "doc_ids")]


def write_documents(
    indexes: "Mapping[int, tantivy.Index]", connection: sqlite3.Connection, doc_ids: Sequence[str]
) -> None:
    """Replace documents' chunks in indexes, by size, with those in the database; idempotent.

    Chunks of several sizes contain the same clauses, which are tokenised once when their indexes
    are written together.

    Raises:
        MemoryError: If the memory limit of the process is too low.
    """
    heap = _SMALL_HEAP
    if len(doc_ids) >= _MANY_DOCUMENTS and spare_bytes() > len(indexes) * _LARGE_HEAP + _BESIDE:
        heap = _LARGE_HEAP
    check_room(len(indexes) * heap + _BESIDE)
    # One thread: segments depend only on the order of chunks.
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
    rows = run(connection, "indexed_chunks", json_list(doc_ids), size)
    for number, doc_id, title, heading_path, text in rows:
        document = tantivy.Document()
        document.add_unsigned("number", number)
        document.add_text("doc", doc_id)
        document.add_text("text", " ".join(word_terms(text)))
        document.add_text("pairs", " ".join(pair_terms(text)))
        path_words, path_pairs = _path_terms(title, heading_path)
        document.add_text("path", path_words)
        for pairs in path_pairs:
            document.add_text("path_pairs", pairs)
        writer.add_document(document)


@lru_cache(maxsize=64)  # chunks of a section share them
def _path_terms(title: str, heading_path: str) -> tuple[str, list[str]]:
    """Return the words of title and headings (a JSON list) together, and the pairs of each."""
    names = [title, *json.loads(heading_path)]
    return " ".join(word_terms(" ".join(names))), [" ".join(pair_terms(name)) for name in names]


def spare_bytes() -> float:
    """Return how many more bytes of address space are allowed; infinity without a limit."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return math.inf
        return limit - int(_TAKEN.read_text("ascii").split()[0]) * resource.getpagesize()
    except (ImportError, OSError):  # Windows has no such limit, macOS no such file
        return math.inf


def check_room(n_bytes: int) -> None:
    """Raise MemoryError where the process may not allocate so many more bytes.

    Under a limit, threads are made to share arenas: glibc reserves 64 MB for each thread, 590 MB
    while four small indexes are written, of which 20 are used.
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


class IndexDamagedError(Exception):
    """The files of an index cannot be read; it is rebuilt (never reaches the user)."""


@contextmanager
def raising(error: type[Exception]) -> Iterator[None]:
    """Raise `error` for tantivy's errors with files: OSError, ValueError, or a panic."""
    try:
        yield
    except UnicodeError:
        raise  # of the query
    except (OSError, ValueError) as exc:
        raise error(str(exc)) from exc
    except BaseException as exc:
        # A Rust panic is not an Exception, and its class cannot be imported.
        if type(exc).__name__ != "PanicException":
            raise
        raise error(str(exc)) from exc


@dataclass(frozen=True, slots=True)
class View:
    """An immutable snapshot of an index.

    Ids of chunks are cached, since their rows are scattered over the file, and queries of one topic
    repeat them.
    """

    mark: Mark  # the commit that it reflects
    searcher: "tantivy.Searcher"
    schema: "tantivy.Schema"
    entries: int  # chunks in it, including deleted ones that still take up space
    dead: int  # deleted ones of these
    living: dict[tuple[str, str], int] = field(default_factory=dict)  # cached document frequencies
    chunk_ids: dict[int, str | None] = field(default_factory=dict)  # by number; None if lost

    def words(self, field: str, terms: Mapping[str, float], doc_ids: DocIds) -> "tantivy.Query":
        """Return the query for weighted terms, optionally restricted to documents."""
        import tantivy

        should = tantivy.Occur.Should
        query = tantivy.Query.boolean_query(
            [(should, self._term(field, term, weight)) for term, weight in sorted(terms.items())]
        )
        return self._filtered(query, doc_ids)

    def phrase(self, field: str, terms: Sequence[str], doc_ids: DocIds) -> "tantivy.Query":
        """Return the query for consecutive terms, optionally restricted to documents."""
        import tantivy

        if len(terms) == 1:
            return self._filtered(self._term(field, terms[0], 1.0), doc_ids)
        query = tantivy.Query.phrase_query(self.schema, field, list(terms))
        boosted = tantivy.Query.boost_query(query, self.correction(field, terms))
        return self._filtered(boosted, doc_ids)

    def _filtered(self, query: "tantivy.Query", doc_ids: DocIds) -> "tantivy.Query":
        """Restrict a query to documents without changing scores."""
        import tantivy

        if doc_ids is None:
            return query
        must = tantivy.Occur.Must
        wanted = tantivy.Query.term_set_query(self.schema, "doc", sorted(doc_ids))
        no_score = tantivy.Query.const_score_query(wanted, 0.0)
        return tantivy.Query.boolean_query([(must, no_score), (must, query)])

    def correction(self, field: str, terms: Sequence[str]) -> float:
        """Return the factor that removes deleted chunks from the terms' inverse document frequency.

        tantivy counts deleted chunks until it merges their segment; without this, rankings would
        depend on former content.
        """
        if not self.dead:
            return 1.0
        with_dead = sum(
            _inverse_frequency(self.entries, self.searcher.doc_freq(field, t)) for t in terms
        )
        living = sum(
            _inverse_frequency(self.entries - self.dead, self._living(field, t)) for t in terms
        )
        return living / with_dead

    def _term(self, field: str, term: str, weight: float) -> "tantivy.Query":
        import tantivy

        query = tantivy.Query.term_query(self.schema, field, term, "freq")
        return tantivy.Query.boost_query(query, weight * self.correction(field, [term]))

    def _living(self, field: str, term: str) -> int:
        """Return how many chunks contain a term, deleted ones excluded; counted once."""
        import tantivy

        if (field, term) not in self.living:
            query = tantivy.Query.term_query(self.schema, field, term, "basic")
            found = self.searcher.search(query, 1, count=True)
            count = int(found.count)  # type: ignore[attr-defined]  # tantivy's stub lacks it
            self.living[field, term] = count
        return self.living[field, term]


def _utf8_path(path: Path) -> str:
    """Return a path for tantivy, whatever the system's encoding of names is.

    Raises:
        OSError: If it is not UTF-8: tantivy cannot open such a path.
    """
    try:
        return os.fsencode(path).decode("utf-8")
    except UnicodeDecodeError as exc:
        raise OSError(f"{shown_path(path)}: is not UTF-8, which the index of words needs") from exc


def open_view(path: Path, mark: Mark) -> View:
    """Open an index on disk; IndexDamagedError if it cannot be read."""
    import tantivy

    with raising(IndexDamagedError):
        index = tantivy.Index.open(_utf8_path(path))
        meta = json.loads((path / "meta.json").read_text(encoding="utf-8"))
        deletes = [segment["deletes"] or {} for segment in meta["segments"]]
        return View(
            mark,
            index.searcher(),
            index.schema,
            entries=sum(int(segment["max_doc"]) for segment in meta["segments"]),
            dead=sum(int(d.get("num_deleted_docs", 0)) for d in deletes),
        )


def _inverse_frequency(entries: int, holding: int) -> float:
    """Return BM25's idf, as tantivy computes it."""
    return math.log(1 + (entries - holding + 0.5) / (holding + 0.5))


def hits(
    connection: sqlite3.Connection, view: View, query: "tantivy.Query", top_k: int
) -> list[Hit]:
    """Return the best chunks, ties by chunk id independent of tantivy's order."""
    entries = max(view.entries, 1)
    limit = min(top_k + _SPARE, entries)
    while True:
        found = [
            (float(f"{score:.{_DIGITS}g}"), address)
            for score, address in view.searcher.search(query, limit, count=False).hits
        ]
        whole = len(found) < limit or limit == entries
        if whole or found[-1][0] < found[top_k - 1][0]:
            break
        limit = min(4 * limit, entries)
    addresses = [address for _, address in found]
    numbers = cast("list[int]", view.searcher.fast_field_values("number", addresses))
    chunk_ids = _chunk_ids(connection, view, numbers)
    found_chunks = [
        (chunk_id, score)
        for chunk_id, (score, _) in zip(chunk_ids, found, strict=True)
        if chunk_id is not None
    ]
    return sorted(found_chunks, key=lambda hit: (-hit[1], hit[0]))[:top_k]


def _chunk_ids(
    connection: sqlite3.Connection, view: View, numbers: Sequence[int]
) -> list[str | None]:
    """Return the ids of chunks; None for one that the database has lost."""
    known = view.chunk_ids
    missing = [number for number in numbers if number not in known]
    if missing:
        rows = run(connection, "chunk_ids", json_list(missing))
        found = dict.fromkeys(missing) | dict(rows.fetchall())
        if len(known) + len(found) <= _MOST_KNOWN:
            known.update(found)
        else:
            known = known | found
    return [known[number] for number in numbers]


class LexicalIndex:
    """The index of one chunk size, updated before each search."""

    def __init__(self, size: int, cache: CacheFolder) -> None:
        self.size = size
        self.name = f"lexical-{size}"
        self.cache = cache
        self._view: View | None = None
        self._lock = threading.Lock()

    def search(
        self,
        connection: sqlite3.Connection,
        query: Callable[[View], "tantivy.Query"],
        top_k: int,
    ) -> list[Hit]:
        """Return the chunks of a query by BM25 (Robertson; tantivy's k1 = 1.2, b = 0.75)."""
        view = self.view(connection)
        try:
            with raising(IndexDamagedError):
                return hits(connection, view, query(view), top_k)
        except IndexDamagedError as exc:
            logger.info("%s cannot be read and will be rebuilt: %s", self.name, exc)
        self.cache.forget(self.name)
        with self._lock:
            self._view = None
        view = self.view(connection)
        return hits(connection, view, query(view), top_k)

    def view(self, connection: sqlite3.Connection) -> View:
        """Return the index at the latest state of the database; move the connection there."""
        with self._lock:
            renew(connection)
            if self._view is None or self._view.mark != current_mark(connection):
                self._view = self._refreshed(connection)
            return self._view

    def note(self) -> Note | None:
        """Return the note of the cache, None where there is none."""
        return self.cache.read(self.name, _format())

    def _refreshed(self, connection: sqlite3.Connection) -> View:
        try:
            with self.cache.exclusive(self.name):
                renew(connection)  # another process may have written meanwhile
                mark, note = current_mark(connection), self.note()
                view = None
                if note and is_known(connection, note.mark):
                    view = self._caught_up(connection, note, mark)
                return view or open_view(_build([self], connection, mark)[0], mark)
        except (CacheUnwritableError, IndexDamagedError, OSError) as exc:
            logger.info("%s is kept in memory: %s", self.name, exc)
            return self._built_in_memory(connection, current_mark(connection))

    def _caught_up(self, connection: sqlite3.Connection, note: Note, mark: Mark) -> View | None:
        """Return the updated index; None where it must be rebuilt."""
        import tantivy

        try:
            changed = changed_since(connection, note.mark, "chunks")
            if changed:
                with raising(IndexDamagedError):
                    index = tantivy.Index.open(_utf8_path(note.content))
                    write_documents({self.size: index}, connection, changed)
            view = open_view(note.content, mark)
        except IndexDamagedError as exc:
            logger.info("%s cannot be read and will be rebuilt: %s", self.name, exc)
            return None
        (count,) = run(connection, "count_chunks", self.size).fetchone()
        if view.dead > _MOST_DEAD * view.entries or view.entries - view.dead != count:
            return None
        if note.mark != mark:
            details = {"files": sums_of(note.content, known=note.details.get("files"))}
            self.cache.write(self.name, _format(), Note(mark, note.content, details))
        return view

    def _built_in_memory(self, connection: sqlite3.Connection, mark: Mark) -> View:
        import tantivy

        index = tantivy.Index(_lexical_schema())
        write_documents({self.size: index}, connection, _all_documents(connection))
        index.reload()
        searcher = index.searcher()
        return View(mark, searcher, index.schema, searcher.num_docs, 0)


def build_missing(indexes: Sequence[LexicalIndex], connection: sqlite3.Connection) -> None:
    """Build all missing indexes together, which takes little longer than one.

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
    """Write indexes of all documents, make them the caches, and return their paths.

    CacheUnwritableError if the disk is full, or too many files are open.
    """
    import tantivy

    logger.info("building %s", ", ".join(index.name for index in indexes))
    paths = [index.cache.fresh(index.name, mark) for index in indexes]
    try:
        with raising(CacheUnwritableError):
            for path in paths:
                path.mkdir()
            written = {
                index.size: tantivy.Index(_lexical_schema(), _utf8_path(path))
                for index, path in zip(indexes, paths, strict=True)
            }
            write_documents(written, connection, _all_documents(connection))
            for index, path in zip(indexes, paths, strict=True):
                details = {"files": sums_of(path, known=None)}
                index.cache.write(index.name, _format(), Note(mark, path, details))
    except CacheUnwritableError:
        for path in paths:
            remove(path)  # it may fill the disk
        raise
    return paths


def sums_of(path: Path, *, known: object) -> dict[str, str]:
    """Return the checksum of each file of an index.

    Files that never change keep their `known` checksum, so that damage is not overlooked; None
    reads all.
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
