"""Searching by title, by words and by vectors.

Words and phrases are searched by BM25 in a full-text index for each chunk size. The indexed words
are our own (`kgrag.store.neo4j.nodes`), as nodes beside the chunks: the index's whitespace
analyzer only splits them. A size gets its index when it is first asked for; from then on every
document brings its words along. Vectors have an index for each kind of node.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from kgrag.errors import StoreError, StoreUnavailableError
from kgrag.ids import document_of
from kgrag.store.neo4j.base import SWITCHING, lock, read_base
from kgrag.store.neo4j.connection import Database, Row, Transaction
from kgrag.store.neo4j.documents import Documents
from kgrag.store.neo4j.embeddings import to_vector
from kgrag.store.neo4j.nodes import chunk_of, document_key, label_of, terms_rows
from kgrag.store.neo4j.schema import LEAST, ensure_vector_indexes
from kgrag.store.neo4j.staged import finish_switch
from kgrag.store.neo4j.statements import of_base
from kgrag.store.search import T
from kgrag.store.terms import terms_version
from kgrag.text.words import character_pairs, normalize_name, words
from kgrag.types import DocIds, NodeKind, TextField
from kgrag.vectors.vector import Hit, Vector, best_of_each, cosine_of, other_dimension

logger = logging.getLogger(__name__)

_WORD_FIELDS: Mapping[TextField, str] = {"text": "words", "path": "path_words"}
_PAIR_FIELDS: Mapping[TextField, str] = {"text": "pairs", "path": "path_pairs"}
_MOST_TERMS = 800  # of a query; Lucene takes 1024 clauses
_MOST_DOCUMENTS = 200  # that a query names beside its terms; of more, hits are sifted
_SPARE = 32  # hits, or embeddings, fetched beyond those asked for, to see the end of a tie
_DIGITS = 5  # of a score: Lucene adds up in float32
_FACTOR = 2.2  # k1 + 1, which Lucene leaves out of BM25 and tantivy does not
_MOST_DEAD = 0.02  # share of deleted chunks above which an index is built anew
_BATCH = 500  # chunks whose words are written in one transaction
# An index looks at as many embeddings as it is asked for and overlooks some of the last, so it is
# asked for more: measured with 18,600, recall of the best 200 is 99.1 % at once, 99.96 % at 3.
_WIDER = 3
_MOST_KEPT = 20_000  # vectors kept: 40 MB of 512 numbers
_AT_ONCE = 8  # what one question has under way: its routes, and searches by vector begun before
_LEAST_TITLE = 2  # a single character is part of too many titles to name one


class Search(Documents):
    """All searching, several at a time; see `kgrag.store.search.SearchStore`.

    Vectors that were compared with are kept: their key is made from model and text, so that
    they never change.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._threads = ThreadPoolExecutor(_AT_ONCE, "kgrag-neo4j")
        self._indexed_sizes: set[int] = set()
        self._sizes_lock = threading.Lock()
        self._dimension: int | None = None
        self._kept_vectors: OrderedDict[str, Vector] = OrderedDict()
        self._vectors_lock = threading.Lock()

    def close(self) -> None:
        """Close all connections, and begin nothing that waits for a thread."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._database.close()

    def refresh(self, *, sizes: Collection[int] = ()) -> None:
        """Bring the indexes up to date, and finish what was cut off.

        Args:
            sizes: Chunk sizes that get a full-text index where they have none yet.
        """
        self._finish_deletions()
        finish_switch(self._database)
        self._refresh_words(sizes)
        self._dimension = ensure_vector_indexes(self._database, renew=True)
        self._database.read("await_fulltext")

    def find_documents(self, name: str, *, top_k: int) -> list[str]:
        wanted = normalize_name(name)
        if len(wanted) < _LEAST_TITLE:
            return []
        rows = self._database.read("find_documents", name=wanted)
        ordered = sorted((len(row["title_key"]), row["id"]) for row in rows)
        return [doc_id for _, doc_id in ordered[: max(top_k, 0)]]

    def begin_search_vectors(
        self, vector: Vector, *, kind: NodeKind, top_k: int, doc_ids: DocIds = None
    ) -> Callable[[], list[Hit]]:
        """Begin `search_vectors` in another thread: the server answers several at a time."""
        self._check_open()
        search = partial(self.search_vectors, vector, kind=kind, top_k=top_k, doc_ids=doc_ids)
        return self._threads.submit(search).result

    def side_by_side(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Return what each of some works returns; the server answers several at a time."""
        self._check_open()
        begun = [self._threads.submit(work) for work in works[1:]]
        found = [work() for work in works[:1]]
        # What no thread has begun is done here: nobody waits for threads that wait for others.
        both = zip(works[1:], begun, strict=True)
        return found + [work() if f.cancel() else f.result() for work, f in both]

    def search_words(
        self,
        terms: Mapping[str, float],
        *,
        field: TextField,
        size: int,
        top_k: int,
        doc_ids: DocIds = None,
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
        self, phrase: str, *, field: TextField, size: int, top_k: int, doc_ids: DocIds = None
    ) -> list[Hit]:
        """Return chunks that contain a phrase, by BM25 of its consecutive character pairs.

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

    def search_vectors(
        self, vector: Vector, *, kind: NodeKind, top_k: int, doc_ids: DocIds = None
    ) -> list[Hit]:
        """Return the nodes with the largest cosine, rounded to 6 decimals, ties by node id.

        Over all documents by the index, which may overlook one of the last; within documents
        exact.

        Raises:
            StoreError: If the vector's dimension is not the stored one.
        """
        self._check_open()
        if not self._comparable(vector) or top_k < 1:
            return []
        if doc_ids is not None:
            rows = self._database.read(f"{kind}_keys_within", ids=sorted(doc_ids))
            return self._compared(vector, rows)[:top_k]
        if not vector.any():  # equally far from everything
            rows = self._database.read(f"some_{kind}_with_embedding", limit=top_k)
            return [(row["id"], 0.0) for row in rows]
        limit = top_k + _SPARE
        while True:
            k = max(_WIDER * limit, LEAST)
            rows = self._nearest(kind, k=k, limit=limit, vector=vector)
            hits = _best((row["id"], 2 * row["score"] - 1) for row in rows)
            # Equal vectors are one embedding; nearly equal ones may tie when they are rounded.
            if len(rows) < limit or (len(hits) > top_k and hits[-1][1] < hits[top_k - 1][1]):
                return hits[:top_k]
            limit *= 4

    def similarities(self, vector: Vector, node_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine of each node that has a vector.

        Raises:
            StoreError: If the vector's dimension is not the stored one.
        """
        if not self._comparable(vector) or not node_ids:
            return {}
        rows = self._database.read("embedding_keys", ids=sorted(node_ids))
        return dict(self._compared(vector, rows))

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        rows = self._database.read("vectors", keys=sorted(keys)) if keys else []
        return {row["key"]: to_vector(row["vector"]) for row in rows}

    def vectors_of(self, node_ids: Sequence[str]) -> dict[str, Vector]:
        rows = self._database.read("embedding_keys", ids=sorted(node_ids)) if node_ids else []
        found = self.vectors(sorted({row["key"] for row in rows}))
        return {row["id"]: found[row["key"]] for row in rows if row["key"] in found}

    def _check_open(self) -> None:
        """Refuse to answer without the server what cannot be asked of it any more."""
        self._database.driver  # noqa: B018  # raises when closed

    def _refresh_words(self, sizes: Collection[int]) -> None:
        """Bring the indexes of sizes up to date, and build anew what has too much dead in it."""
        base = read_base(self._database)
        self._renew(base["terms_version"], base["dead_terms"])
        known = {int(size) for size in base["sizes"]}
        for size in sorted({*known, *sizes}):
            self._build(size)
        self._database.await_indexes()

    def _hits(self, query: str, *, size: int, top_k: int, doc_ids: DocIds) -> list[Hit]:
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

    def _nearest(self, kind: NodeKind, *, k: int, limit: int, vector: Vector) -> list[Row]:
        numbers = vector.astype(np.float32).tolist()

        def ask() -> list[Row]:
            return self._database.read(f"search_{kind}_vectors", k=k, limit=limit, vector=numbers)

        try:
            rows = ask()
        except StoreUnavailableError:
            raise
        except StoreError:  # the index has gone, is of another dimension, or is made anew just now
            self._check_dimension(vector)
            ensure_vector_indexes(self._database, renew=False)
            rows = ask()
        if not rows:
            self._check_dimension(vector)
        return rows

    def _check_dimension(self, vector: Vector) -> None:
        """Refuse a vector where the knowledge base was built anew meanwhile, by another model."""
        dimension = read_base(self._database)["dimension"]
        if dimension not in (None, vector.size):
            raise other_dimension("the query", vector, dimension)

    def _check_not_switching(self) -> None:
        """Refuse to find nothing where staged vectors are taking over just now."""
        if read_base(self._database)["switching"]:
            raise StoreUnavailableError(f"{self._database.address}: {SWITCHING}")

    def _compared(self, vector: Vector, rows: Sequence[Row]) -> list[Hit]:
        """Return the cosines of nodes, best first, given as rows of id and key."""
        known = self._known({row["key"] for row in rows})
        held = [row for row in rows if row["key"] in known]
        if not held:
            self._check_not_switching()
            return []
        nodes, vectors = [row["id"] for row in held], [known[row["key"]] for row in held]
        for other in vectors:
            if other.size != vector.size:  # the knowledge base was built anew meanwhile
                raise other_dimension("the query", vector, other.size)
        scores = np.stack(vectors) @ vector.astype(np.float32)
        return _best(zip(nodes, scores.tolist(), strict=True))

    def _known(self, keys: set[str]) -> dict[str, Vector]:
        """Return vectors by key, those not kept yet from the server."""
        with self._vectors_lock:
            found = {key: self._kept_vectors[key] for key in keys if key in self._kept_vectors}
            for key in found:
                self._kept_vectors.move_to_end(key)
        new = self.vectors(sorted(keys - found.keys()))
        with self._vectors_lock:
            self._kept_vectors.update(new)
            while len(self._kept_vectors) > _MOST_KEPT:
                self._kept_vectors.popitem(last=False)
        return found | new

    def _comparable(self, vector: Vector) -> bool:
        """Return whether there is anything to compare with."""
        if self._dimension != vector.size:
            with self._vectors_lock:  # one thread makes the indexes, the others wait for them
                if self._dimension != vector.size:
                    self._dimension = ensure_vector_indexes(self._database, renew=False)
        if self._dimension is None:
            return False
        if vector.shape != (self._dimension,):
            raise other_dimension("the query", vector, self._dimension)
        return True


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
    """Return the Lucene query for weighted terms; terms with blanks are in no text."""
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


def _best(cosines: Iterable[tuple[str, float]]) -> list[Hit]:
    return best_of_each((node_id, cosine_of(cosine)) for node_id, cosine in cosines)
