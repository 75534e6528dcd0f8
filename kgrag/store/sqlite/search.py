"""Search by words, by vectors, and by title."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kgrag.store.search import T
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.embeddings import from_blob, read_vectors
from kgrag.store.sqlite.lexical import LexicalIndex, View, build_missing
from kgrag.store.sqlite.role import Role
from kgrag.store.sqlite.statements import json_list, run
from kgrag.store.sqlite.vectors import VectorIndex, scanning_threads
from kgrag.text.words import character_pairs, normalize_name, words
from kgrag.types import DocIds, NodeKind, TextField
from kgrag.vectors.vector import KINDS, Hit, Vector, best_of_each, cosines

if TYPE_CHECKING:
    import tantivy

_WORD_FIELDS: Mapping[TextField, str] = {"text": "text", "path": "path"}
_PAIR_FIELDS: Mapping[TextField, str] = {"text": "pairs", "path": "path_pairs"}
_LEAST_TITLE = 2  # characters; a single one is in too many titles


class Search(Role):
    """Searches; implements part of `kgrag.store.search`.

    Caches are updated first: searches answer from the latest state.
    """

    def __init__(self, database: Database, cache: CacheFolder) -> None:
        super().__init__(database, cache)
        self._lexical: dict[int, LexicalIndex] = {}
        self._lexical_lock = threading.Lock()
        self._threads = scanning_threads()
        self._vectors = self._vector_indexes()

    def forget_caches(self) -> None:
        """Release caches in memory or mapped; no more searches are possible."""
        with self._lexical_lock:
            self._lexical.clear()
        self._vectors = self._vector_indexes()
        self._threads.shutdown(wait=False)

    def refresh(self, *, sizes: Collection[int] = ()) -> None:
        known = {int(n.removeprefix("lexical-")) for n in self._cache.names("lexical-")}
        with self._database.read() as connection:
            lexical = [self._lexical_index(size) for size in sorted({*known, *sizes})]
            build_missing(lexical, connection)
            for index in lexical:
                index.view(connection)
            for vectors in self._vectors.values():
                vectors.state(connection)

    def find_documents(self, name: str, *, top_k: int) -> list[str]:
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
        doc_ids: DocIds = None,
    ) -> list[Hit]:
        name = _WORD_FIELDS[field]
        return self._lexical_hits(
            lambda view: view.words(name, terms, doc_ids), size, top_k if terms else 0, doc_ids
        )

    def search_phrase(
        self, phrase: str, *, field: TextField, size: int, top_k: int, doc_ids: DocIds = None
    ) -> list[Hit]:
        pairs, name = character_pairs(phrase), _PAIR_FIELDS[field]
        if pairs and len(pairs[0]) < 2:  # a single character has no pair
            single = dict.fromkeys(words(phrase), 1.0)
            return self.search_words(single, field=field, size=size, top_k=top_k, doc_ids=doc_ids)
        return self._lexical_hits(
            lambda view: view.phrase(name, pairs, doc_ids), size, top_k if pairs else 0, doc_ids
        )

    def search_vectors(
        self, vector: Vector, *, kind: NodeKind, top_k: int, doc_ids: DocIds = None
    ) -> list[Hit]:
        with self._database.read() as connection:
            return self._vectors[kind].search(connection, vector, top_k=top_k, doc_ids=doc_ids)

    def begin_search_vectors(
        self, vector: Vector, *, kind: NodeKind, top_k: int, doc_ids: DocIds = None
    ) -> Callable[[], list[Hit]]:
        with self._database.read() as connection:
            end = self._vectors[kind].begin(connection, vector, top_k=top_k, doc_ids=doc_ids)

        def hits() -> list[Hit]:
            with self._database.read() as connection:
                return end(connection)

        return hits

    def side_by_side(self, works: Sequence[Callable[[], T]]) -> list[T]:
        return [work() for work in works]

    def similarities(self, vector: Vector, node_ids: Sequence[str]) -> dict[str, float]:
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
        with self._reading() as connection:
            return read_vectors(connection, keys)

    def vectors_of(self, node_ids: Sequence[str]) -> dict[str, Vector]:
        rows = self._rows("vectors_of", json_list(node_ids))
        return {node_id: from_blob(blob) for node_id, blob in rows}

    def _vector_indexes(self) -> dict[NodeKind, VectorIndex]:
        return {kind: VectorIndex(kind, self._cache, threads=self._threads) for kind in KINDS}

    def _lexical_hits(
        self, query: "Callable[[View], tantivy.Query]", size: int, top_k: int, doc_ids: DocIds
    ) -> list[Hit]:
        with self._database.read() as connection:
            if top_k < 1 or (doc_ids is not None and not doc_ids):
                return []
            return self._lexical_index(size).search(connection, query, top_k)

    def _lexical_index(self, size: int) -> LexicalIndex:
        with self._lexical_lock:
            return self._lexical.setdefault(size, LexicalIndex(size, self._cache))
