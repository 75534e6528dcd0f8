"""BM25 over words and phrases: one tantivy index for each chunk size, a cache of the database."""

import json
import logging
import math
import sqlite3
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.store.sqlite.cache import CacheFolder, CacheUnwritableError, Note
from kgrag.store.sqlite.changes import Mark, changed_since, current_mark, is_known
from kgrag.store.sqlite.connection import renew
from kgrag.store.sqlite.lexical_write import all_documents, lexical_schema, write_documents
from kgrag.store.sqlite.terms import terms_version
from kgrag.store.store import Hit
from kgrag.text import character_pairs, words
from kgrag.types import Route

if TYPE_CHECKING:
    import tantivy

logger = logging.getLogger(__name__)

_FORMAT = "1"  # raise it when the schema of the index changes
_MOST_DEAD = 0.2  # share of deleted chunks above which an index is built anew
_SPARE = 32  # hits fetched beyond those asked for, to see the end of a tie
_DIGITS = 5  # of a score: tantivy adds up in float32, in an order that depends on its segments

_WORD_FIELDS: Mapping[Route, str] = {"text": "text", "path": "path"}
_PAIR_FIELDS: Mapping[Route, str] = {"text": "pairs", "path": "path_pairs"}


@dataclass(frozen=True, slots=True)
class View:
    """An opened index that does not change any more.

    Attributes:
        mark: The commit that it reflects.
        searcher: Of tantivy.
        schema: Of tantivy.
        entries: Chunks in it, deleted ones that still take up space included.
        dead: Deleted ones of these.
    """

    mark: Mark
    searcher: "tantivy.Searcher"
    schema: "tantivy.Schema"
    entries: int
    dead: int

    def term(self, field: str, term: str, weight: float = 1.0) -> "tantivy.Query":
        """Return the query for one term."""
        import tantivy

        query = tantivy.Query.term_query(self.schema, field, term, "freq")
        return tantivy.Query.boost_query(query, weight * self.correction(field, [term]))

    def phrase(self, field: str, terms: Sequence[str]) -> "tantivy.Query":
        """Return the query for two terms or more, one right after the other."""
        import tantivy

        query = tantivy.Query.phrase_query(self.schema, field, list(terms))
        return tantivy.Query.boost_query(query, self.correction(field, terms))

    def correction(self, field: str, terms: Sequence[str]) -> float:
        """Return the factor that takes deleted chunks out of the terms' inverse frequency.

        tantivy counts deleted chunks until it merges their segment; without this, rankings
        would depend on what had been there before.
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

    def _living(self, field: str, term: str) -> int:
        import tantivy

        query = tantivy.Query.term_query(self.schema, field, term, "basic")
        found = self.searcher.search(query, 1, count=True)
        return int(found.count)  # type: ignore[attr-defined]  # tantivy's stub lacks it


class LexicalIndex:
    """The index of one chunk size; brought up to date when it is asked.

    Attributes:
        size: The chunk size.
        name: Of the cache.
    """

    def __init__(self, size: int, cache: CacheFolder) -> None:
        self.size = size
        self.name = f"lexical-{size}"
        self._cache = cache
        self._view: View | None = None
        self._lock = threading.Lock()

    def search_words(
        self,
        connection: sqlite3.Connection,
        terms: Mapping[str, float],
        *,
        route: Route,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return chunks by BM25 of weighted words (Robertson; tantivy's k1 = 1.2, b = 0.75)."""
        import tantivy

        if not terms or top_k < 1 or (doc_ids is not None and not doc_ids):
            return []
        view = self.view(connection)
        field = _WORD_FIELDS[route]
        should, must = tantivy.Occur.Should, tantivy.Occur.Must
        query = tantivy.Query.boolean_query(
            [(should, view.term(field, term, weight)) for term, weight in sorted(terms.items())]
        )
        if doc_ids is not None:
            within = tantivy.Query.term_set_query(view.schema, "doc", sorted(doc_ids))
            no_score = tantivy.Query.const_score_query(within, 0.0)
            query = tantivy.Query.boolean_query([(must, no_score), (must, query)])
        return _hits(connection, view, query, top_k)

    def search_phrase(
        self, connection: sqlite3.Connection, phrase: str, *, route: Route, top_k: int
    ) -> list[Hit]:
        """Return chunks that hold a phrase, by BM25 of its character pairs in a row.

        A phrase of one character is searched as a word: it makes no pair.
        """
        pairs = character_pairs(phrase)
        if not pairs or top_k < 1:
            return []
        if len(pairs[0]) < 2:
            single = dict.fromkeys(words(phrase), 1.0)
            return self.search_words(connection, single, route=route, top_k=top_k)
        view = self.view(connection)
        field = _PAIR_FIELDS[route]
        query = view.phrase(field, pairs) if len(pairs) > 1 else view.term(field, pairs[0])
        return _hits(connection, view, query, top_k)

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
        return self._cache.read(self.name, _format())

    def _refreshed(self, connection: sqlite3.Connection) -> View:
        try:
            with self._cache.exclusive(self.name):
                renew(connection)  # what another process did while we waited is known, too
                mark, note = current_mark(connection), self.note()
                view = None
                if note and is_known(connection, note.mark):
                    view = self._caught_up(connection, note, mark)
                return view or self._built(connection, mark)
        except (CacheUnwritableError, OSError) as exc:
            logger.info("%s is kept in memory: %s", self.name, exc)
            return self._built_in_memory(connection, current_mark(connection))

    def _caught_up(self, connection: sqlite3.Connection, note: Note, mark: Mark) -> View | None:
        """Return the index with what changed since; None where it must be built anew."""
        import tantivy

        try:
            changed = changed_since(connection, note.mark, "chunks")
            if changed:
                index = tantivy.Index.open(str(note.content))
                write_documents(index, connection, changed, size=self.size)
            view = open_view(note.content, mark)
        except (OSError, ValueError) as exc:
            logger.info("%s cannot be read and will be rebuilt: %s", self.name, exc)
            return None
        living = view.entries - view.dead
        if view.dead > _MOST_DEAD * view.entries or living != self._count(connection):
            return None
        if note.mark != mark:
            self._cache.write(self.name, _format(), Note(mark, note.content, {}))
        return view

    def _built(self, connection: sqlite3.Connection, mark: Mark) -> View:
        import tantivy

        logger.info("building %s", self.name)
        path = self._cache.fresh(self.name, mark)
        path.mkdir()
        index = tantivy.Index(lexical_schema(), str(path))
        write_documents(index, connection, all_documents(connection), size=self.size)
        view = open_view(path, mark)
        self._cache.write(self.name, _format(), Note(mark, path, {}))
        return view

    def _built_in_memory(self, connection: sqlite3.Connection, mark: Mark) -> View:
        import tantivy

        index = tantivy.Index(lexical_schema())
        write_documents(index, connection, all_documents(connection), size=self.size)
        index.reload()
        searcher = index.searcher()
        return View(mark, searcher, index.schema, searcher.num_docs, 0)

    def _count(self, connection: sqlite3.Connection) -> int:
        row = connection.execute("SELECT count(*) FROM chunks WHERE size = ?", (self.size,))
        return int(row.fetchone()[0])


def open_view(path: Path, mark: Mark) -> View:
    """Open an index as it is on the disk.

    Raises:
        OSError or ValueError: If it cannot be read.
    """
    import tantivy

    index = tantivy.Index.open(str(path))
    meta = json.loads((path / "meta.json").read_text(encoding="utf-8"))
    deletes = [segment["deletes"] or {} for segment in meta["segments"]]
    return View(
        mark,
        index.searcher(),
        index.schema,
        entries=sum(int(segment["max_doc"]) for segment in meta["segments"]),
        dead=sum(int(d.get("num_deleted_docs", 0)) for d in deletes),
    )


def _format() -> str:
    return f"{_FORMAT}-{terms_version()}"


def _inverse_frequency(entries: int, holding: int) -> float:
    """Return BM25's idf, as tantivy computes it."""
    return math.log(1 + (entries - holding + 0.5) / (holding + 0.5))


def _hits(
    connection: sqlite3.Connection, view: View, query: "tantivy.Query", top_k: int
) -> list[Hit]:
    """Return the best chunks, equal scores by chunk id: no tie is cut by tantivy's own order."""
    entries = max(view.entries, 1)
    limit = min(top_k + _SPARE, entries)
    while True:
        found = [
            (_rounded(score), address)
            for score, address in view.searcher.search(query, limit, count=False).hits
        ]
        whole = len(found) < limit or limit == entries
        if whole or found[-1][0] < found[top_k - 1][0]:
            break
        limit = min(4 * limit, entries)
    numbers = view.searcher.fast_field_values("number", [address for _, address in found])
    rows = connection.execute(
        "SELECT c.number, c.chunk_id FROM json_each(?) j CROSS JOIN chunks c ON c.number = j.value",
        (json.dumps(numbers),),
    )
    # A chunk that the database has lost since is not found.
    chunk_ids = dict(rows.fetchall())
    hits = [
        (chunk_ids[number], score)
        for number, (score, _) in zip(numbers, found, strict=True)
        if number in chunk_ids
    ]
    return sorted(hits, key=lambda hit: (-hit[1], hit[0]))[:top_k]


def _rounded(score: float) -> float:
    return float(f"{score:.{_DIGITS}g}")
