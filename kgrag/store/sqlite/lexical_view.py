"""An opened lexical index: queries, scores, and what to make of a damaged one."""

import json
import math
import os
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, cast

from kgrag.store.sqlite.cache import CacheUnwritableError
from kgrag.store.sqlite.changes import Mark
from kgrag.store.sqlite.statements import json_list, run
from kgrag.text.visible import shown_path
from kgrag.vectors.vector import Hit

if TYPE_CHECKING:
    import tantivy

_SPARE = 32  # hits fetched beyond those asked for, to see the end of a tie
_MOST_KNOWN = 100_000  # ids, some 12 MB
_DIGITS = 5  # of a score: tantivy adds up in float32, in an order that depends on its segments


class IndexDamagedError(Exception):
    """The files of an index cannot be read; it is built anew (never reaches the user)."""


@contextmanager
def reading_index() -> Iterator[None]:
    """Raise IndexDamagedError for what tantivy makes of damaged files."""
    with _said_as(IndexDamagedError):
        yield


@contextmanager
def writing_index() -> Iterator[None]:
    """Raise CacheUnwritableError for what tantivy makes of a full disk, or too few open files."""
    with _said_as(CacheUnwritableError):
        yield


@contextmanager
def _said_as(error: type[Exception]) -> Iterator[None]:
    """Raise an error of ours for what tantivy says of files: OSError, ValueError, or a panic."""
    try:
        yield
    except UnicodeError:
        raise  # what was asked for is no text
    except (OSError, ValueError) as exc:
        raise error(str(exc)) from exc
    except BaseException as exc:
        # A panic in Rust is no Exception, and its class cannot be imported.
        if type(exc).__name__ != "PanicException":
            raise
        raise error(str(exc)) from exc


@dataclass(frozen=True, slots=True)
class View:
    """An opened index that does not change any more.

    Attributes:
        mark: The commit that it reflects.
        searcher: Of tantivy.
        schema: Of tantivy.
        entries: Chunks in it, deleted ones that still take up space included.
        dead: Deleted ones of these.
        living: How many chunks that are not deleted hold a term, where that was counted.
        chunk_ids: Of chunks that were found, by their number; None for one that the database has
            lost. Their rows lie all over the file, and questions about one field meet them again.
    """

    mark: Mark
    searcher: "tantivy.Searcher"
    schema: "tantivy.Schema"
    entries: int
    dead: int
    living: dict[tuple[str, str], int] = field(default_factory=dict)
    chunk_ids: dict[int, str | None] = field(default_factory=dict)

    def words(
        self, field: str, terms: Mapping[str, float], doc_ids: Collection[str] | None
    ) -> "tantivy.Query":
        """Return the query for weighted terms, within documents if any are given."""
        import tantivy

        should = tantivy.Occur.Should
        query = tantivy.Query.boolean_query(
            [(should, self._term(field, term, weight)) for term, weight in sorted(terms.items())]
        )
        return self._filtered(query, doc_ids)

    def phrase(
        self, field: str, terms: Sequence[str], doc_ids: Collection[str] | None
    ) -> "tantivy.Query":
        """Return the query for terms one right after the other, within documents if any."""
        import tantivy

        if len(terms) == 1:
            return self._filtered(self._term(field, terms[0], 1.0), doc_ids)
        query = tantivy.Query.phrase_query(self.schema, field, list(terms))
        boosted = tantivy.Query.boost_query(query, self.correction(field, terms))
        return self._filtered(boosted, doc_ids)

    def _filtered(self, query: "tantivy.Query", doc_ids: Collection[str] | None) -> "tantivy.Query":
        """Return a query within documents; scores stay what they are over all."""
        import tantivy

        if doc_ids is None:
            return query
        must = tantivy.Occur.Must
        wanted = tantivy.Query.term_set_query(self.schema, "doc", sorted(doc_ids))
        no_score = tantivy.Query.const_score_query(wanted, 0.0)
        return tantivy.Query.boolean_query([(must, no_score), (must, query)])

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

    def _term(self, field: str, term: str, weight: float) -> "tantivy.Query":
        import tantivy

        query = tantivy.Query.term_query(self.schema, field, term, "freq")
        return tantivy.Query.boost_query(query, weight * self.correction(field, [term]))

    def _living(self, field: str, term: str) -> int:
        """Return how many living chunks hold a term; all that do are counted one by one, once."""
        import tantivy

        if (field, term) not in self.living:
            query = tantivy.Query.term_query(self.schema, field, term, "basic")
            found = self.searcher.search(query, 1, count=True)
            count = int(found.count)  # type: ignore[attr-defined]  # tantivy's stub lacks it
            self.living[field, term] = count
        return self.living[field, term]


def utf8_path(path: Path) -> str:
    """Return a path as tantivy takes it, whatever the system's encoding of names is.

    Raises:
        OSError: If it is not UTF-8: tantivy cannot reach such a place.
    """
    try:
        return os.fsencode(path).decode("utf-8")
    except UnicodeDecodeError as exc:
        raise OSError(f"{shown_path(path)}: is not UTF-8, which the index of words needs") from exc


def open_view(path: Path, mark: Mark) -> View:
    """Open an index as it is on the disk.

    Raises:
        IndexDamagedError: If it cannot be read.
    """
    import tantivy

    with reading_index():
        index = tantivy.Index.open(utf8_path(path))
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
    """Return the ids of chunks; None for one that the database has lost since."""
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


def _rounded(score: float) -> float:
    return float(f"{score:.{_DIGITS}g}")
