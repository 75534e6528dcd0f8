"""Searching the embedded store: by words, by vectors, and by title."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence

import numpy as np

from kgrag.store.search import T
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.embeddings import from_blob, read_vectors, vectors_of
from kgrag.store.sqlite.lexical import LexicalIndex, build_missing
from kgrag.store.sqlite.role import Role
from kgrag.store.sqlite.statements import json_list, run
from kgrag.store.sqlite.vectors import VectorIndex, scanning_threads
from kgrag.text.words import normalize_name
from kgrag.types import NodeKind, TextField
from kgrag.vectors.vector import KINDS, Hit, Vector, best_of_each, cosines

_LEAST_TITLE = 2  # a single character is part of too many titles to name one


class Search(Role):
    """Searching; see `kgrag.store.search` for what each method promises.

    Searches bring their caches up to date first, and answer from the latest state.
    """

    def __init__(self, database: Database, cache: CacheFolder) -> None:
        super().__init__(database, cache)
        self._lexical: dict[int, LexicalIndex] = {}
        self._lexical_lock = threading.Lock()
        self._threads = scanning_threads()
        self._vectors = self._vector_indexes()

    def forget_caches(self) -> None:
        """Let go of what the caches hold in memory or mapped; nothing is searched any more."""
        with self._lexical_lock:
            self._lexical.clear()
        self._vectors = self._vector_indexes()
        self._threads.shutdown(wait=False)

    def refresh(self, *, sizes: Collection[int] = ()) -> None:
        """Bring the search caches up to date, so that the next search need not.

        Args:
            sizes: Build the lexical indexes of these chunk sizes, too, where there are none yet.
        """
        known = {int(n.removeprefix("lexical-")) for n in self._cache.names("lexical-")}
        with self._database.read() as connection:
            lexical = [self._lexical_index(size) for size in sorted({*known, *sizes})]
            build_missing(lexical, connection)
            for words in lexical:
                words.view(connection)
            for index in self._vectors.values():
                index.state(connection)

    def find_documents(self, name: str, *, top_k: int) -> list[str]:
        """Return ids of documents whose title contains a name, shortest first."""
        wanted = normalize_name(name)
        if len(wanted) < _LEAST_TITLE:
            return []
        return [doc_id for (doc_id,) in self._rows("find_documents", wanted, max(top_k, 0))]

    def search_words(
        self,
        terms: Mapping[str, float],
        *,
        field: TextField,
        size: int,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return chunks by BM25 of weighted words."""
        with self._database.read() as connection:
            return self._lexical_index(size).search_words(
                connection, terms, field=field, top_k=top_k, doc_ids=doc_ids
            )

    def search_phrase(
        self,
        phrase: str,
        *,
        field: TextField,
        size: int,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return chunks that hold a phrase as one."""
        with self._database.read() as connection:
            return self._lexical_index(size).search_phrase(
                connection, phrase, field=field, top_k=top_k, doc_ids=doc_ids
            )

    def search_vectors(
        self,
        vector: Vector,
        *,
        kind: NodeKind,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return the nearest nodes by cosine, exact."""
        with self._database.read() as connection:
            return self._vectors[kind].search(connection, vector, top_k=top_k, doc_ids=doc_ids)

    def begin_search_vectors(
        self,
        vector: Vector,
        *,
        kind: NodeKind,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> Callable[[], list[Hit]]:
        """Begin `search_vectors` in another thread."""
        with self._database.read() as connection:
            end = self._vectors[kind].begin(connection, vector, top_k=top_k, doc_ids=doc_ids)

        def hits() -> list[Hit]:
            with self._database.read() as connection:
                return end(connection)

        return hits

    def side_by_side(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """Return what each of some works returns, one after the other."""
        return [work() for work in works]

    def similarities(self, vector: Vector, node_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine of each node that has a vector; the best of those of a fact."""
        with self._database.read() as connection:
            found = self._vectors["chunk"].similarities(connection, vector, node_ids)
            others = [node_id for node_id in node_ids if node_id not in found]
            if others:
                rows = run(connection, "vectors_of", json_list(others)).fetchall()
                if rows:
                    scores = cosines(np.array([from_blob(blob) for _, blob in rows]), vector)
                    nodes = (node_id for node_id, _ in rows)
                    found.update(best_of_each(zip(nodes, scores.tolist(), strict=True)))
            return found

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return stored vectors by key."""
        with self._reading() as connection:
            return read_vectors(connection, keys)

    def vectors_of(self, node_ids: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each node that has one."""
        with self._reading() as connection:
            return vectors_of(connection, node_ids)

    def _vector_indexes(self) -> dict[NodeKind, VectorIndex]:
        return {kind: VectorIndex(kind, self._cache, threads=self._threads) for kind in KINDS}

    def _lexical_index(self, size: int) -> LexicalIndex:
        with self._lexical_lock:
            return self._lexical.setdefault(size, LexicalIndex(size, self._cache))
