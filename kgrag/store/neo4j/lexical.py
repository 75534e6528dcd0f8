"""BM25 over words and phrases: a full-text index for each chunk size that is searched.

The indexed words are our own (`kgrag.store.neo4j.nodes`), as nodes beside the chunks: the
index's whitespace analyzer only parts them. A size gets its index when it is first asked for;
from then on every document brings its words along.
"""

import logging
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from kgrag.ids import document_of
from kgrag.store.neo4j.base import lock, read_base
from kgrag.store.neo4j.connection import Database, Transaction
from kgrag.store.neo4j.nodes import chunk_of, document_key, label_of, terms_rows
from kgrag.store.neo4j.role import Role
from kgrag.store.neo4j.statements import of_base
from kgrag.store.terms import terms_version
from kgrag.text.words import character_pairs, words
from kgrag.types import TextField
from kgrag.vectors.vector import Hit

logger = logging.getLogger(__name__)

_WORD_FIELDS: Mapping[TextField, str] = {"text": "words", "path": "path_words"}
_PAIR_FIELDS: Mapping[TextField, str] = {"text": "pairs", "path": "path_pairs"}
_MOST_TERMS = 800  # of a query; Lucene takes 1024 clauses
_MOST_DOCUMENTS = 200  # that a query names beside its terms; of more, hits are sifted
_SPARE = 32  # hits fetched beyond those asked for, to see the end of a tie
_DIGITS = 5  # of a score: Lucene adds up in float32
_FACTOR = 2.2  # k1 + 1, which Lucene leaves out of BM25 and tantivy does not
_MOST_DEAD = 0.02  # share of deleted chunks above which an index is built anew
_BATCH = 500  # chunks whose words are written in one transaction


class WordSearch(Role):
    """Searching by words and phrases, in one full-text index for each chunk size searched."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._indexed_sizes: set[int] = set()
        self._sizes_lock = threading.Lock()

    def search_words(
        self,
        terms: Mapping[str, float],
        *,
        field: TextField,
        size: int,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return chunks by BM25 of weighted words (Robertson; Lucene's k1 = 1.2, b = 0.75)."""
        self._check_open()
        if not terms or top_k < 1 or (doc_ids is not None and not doc_ids):
            return []
        most = sorted(terms.items(), key=lambda item: (-item[1], item[0]))[:_MOST_TERMS]
        query = _weighted(_WORD_FIELDS[field], most)
        if not query:
            return []
        return self._hits(query, size=size, top_k=top_k, doc_ids=doc_ids)

    def search_phrase(
        self,
        phrase: str,
        *,
        field: TextField,
        size: int,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return chunks that hold a phrase, by BM25 of its character pairs in a row.

        A phrase of one character is searched as a word: it makes no pair.
        """
        self._check_open()
        pairs = character_pairs(phrase)
        if not pairs or top_k < 1 or (doc_ids is not None and not doc_ids):
            return []
        if len(pairs[0]) < 2:
            single = dict.fromkeys(words(phrase), 1.0)
            return self.search_words(single, field=field, size=size, top_k=top_k, doc_ids=doc_ids)
        if any(pair.split() != [pair] for pair in pairs):
            return []  # blanks are in no pair
        query = f"{_PAIR_FIELDS[field]}:{quoted(' '.join(pairs))}"
        return self._hits(query, size=size, top_k=top_k, doc_ids=doc_ids)

    def _refresh_words(self, sizes: Collection[int]) -> None:
        """Bring the indexes of sizes up to date, and build anew what has too much dead in it."""
        base = read_base(self._database)
        self._renew(base["terms_version"], base["dead_terms"])
        known = {int(size) for size in base["sizes"]}
        for size in sorted({*known, *sizes}):
            self._build(size)
        self._database.await_indexes()

    def _hits(
        self, query: str, *, size: int, top_k: int, doc_ids: Collection[str] | None
    ) -> list[Hit]:
        """Return what a query finds, within documents if any are given."""
        if not self._is_indexed(size):
            return []
        if doc_ids is not None and len(doc_ids) <= _MOST_DOCUMENTS:
            keys = any_of(sorted(document_key(doc_id) for doc_id in doc_ids))
            query, doc_ids = f"+doc_key:({keys})^0 +({query})", None
        index = of_base(f"kgrag_terms_{size:d}", self._database.address.base)
        limit = top_k + _SPARE
        while True:
            rows = self._database.read("search_terms", index=index, query=query, limit=limit)
            found = [(row["id"], _bm25(row["score"])) for row in rows]
            kept = [hit for hit in found if doc_ids is None or document_of(hit[0]) in doc_ids]
            enough = len(kept) >= top_k and found[-1][1] < kept[top_k - 1][1]
            if len(found) < limit or enough:
                return sorted(kept, key=lambda hit: (-hit[1], hit[0]))[:top_k]
            limit *= 4

    def _is_indexed(self, size: int) -> bool:
        """Return whether chunks of a size can be searched, after making it so where there are."""
        if size in self._indexed_sizes:
            return True
        with self._sizes_lock:
            base = read_base(self._database)
            if base["terms_version"] != terms_version() or size not in base["ready"]:
                if not self._database.read("any_chunk", size=size):
                    return False
                self._renew(base["terms_version"], 0)
                self._build(size)
            self._indexed_sizes.add(size)
        return True

    def _renew(self, version: str, dead: int) -> None:
        """Drop all words where they were made otherwise, or too many of them are deleted."""
        n = self._database.read("count_terms")[0]["n"]
        stale = bool(n) and version != terms_version()
        if not stale and dead <= _MOST_DEAD * (n + dead):
            return
        logger.info("the full-text indexes are built anew: %s deleted, %s held", dead, n)
        self._indexed_sizes.clear()
        again = [] if stale else ["index_terms"]  # at once: others go on searching it
        for size in read_base(self._database)["sizes"]:
            self._database.define("drop_index_terms", *again, size=size)
        values: dict[str, object] = {"dead_terms": 0}
        if stale:
            values |= {"sizes": [], "ready": [], "terms_version": ""}
        self._database.write(lambda tx: tx.run("change_base", values=values))
        while stale and self._database.write(_delete_some):
            logger.debug("words deleted")

    def _build(self, size: int) -> None:
        """Give every chunk of a size its words; from now on documents bring them along."""
        self._database.define("index_terms", size=size)
        self._database.write(lambda tx: _note_size(tx, size))
        for doc_ids in self._missing(size):
            self._database.write(partial(_add_terms, doc_ids=doc_ids, size=size))
        self._database.write(lambda tx: _note_ready(tx, size))
        self._database.await_indexes()

    def _missing(self, size: int) -> Iterator[list[str]]:
        """Yield documents with chunks of a size that have no words yet, a few at a time."""
        rows = self._database.read("documents_without_terms", size=size)
        batch: list[str] = []
        n = 0
        for row in rows:
            batch.append(row["id"])
            n += row["n"]
            if n >= _BATCH:
                yield batch
                batch, n = [], 0
        if batch:
            yield batch


def quoted(text: str) -> str:
    """Return a Lucene phrase: nothing in it is an operator.

    >>> quoted("碳达 达峰")
    '"碳达 达峰"'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def any_of(terms: Sequence[str]) -> str:
    """Return the Lucene query for any of some terms."""
    return " ".join(map(quoted, terms[:_MOST_TERMS]))


def _weighted(field: str, terms: Sequence[tuple[str, float]]) -> str:
    """Return the Lucene query for weighted terms; one that holds blanks is in no text."""
    return " ".join(
        f"{field}:{quoted(term)}^{weight:.6f}" for term, weight in terms if term.split() == [term]
    )


def _bm25(score: float) -> float:
    """Return Lucene's score as tantivy gives it, rounded."""
    return float(f"{_FACTOR * score:.{_DIGITS}g}")


def _delete_some(tx: Transaction) -> bool:
    """Delete some words; return whether there may be more, made otherwise than now."""
    if tx.run("lock_base")[0]["terms_version"]:
        return False  # another process has begun to make them anew
    return bool(tx.run("delete_any_terms", limit=5000)[0]["n"])


def _note_size(tx: Transaction, size: int) -> None:
    base = lock(tx)
    sizes = sorted({*base.sizes, size})
    tx.run("change_base", values={"sizes": sizes, "terms_version": terms_version()})


def _note_ready(tx: Transaction, size: int) -> None:
    ready = tx.run("lock_base")[0]["ready"]
    tx.run("change_base", values={"ready": sorted({*ready, size})})


def _add_terms(tx: Transaction, *, doc_ids: Sequence[str], size: int) -> None:
    lock(tx)
    titles = {row["id"]: row["title"] for row in tx.run("cards", ids=list(doc_ids))}
    rows = []
    found = [chunk_of(row) for row in tx.run("chunks_of", ids=sorted(titles), size=size)]
    for doc_id, title in sorted(titles.items()):
        rows += terms_rows((c for c in found if c.doc_id == doc_id), title)
    tx.run_rows("put_terms", rows, size=_BATCH, label=label_of(size, tx.base))
