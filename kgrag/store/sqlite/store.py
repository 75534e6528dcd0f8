"""The embedded store: one SQLite file with search caches."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kgrag.store import records
from kgrag.store.contents import Counts, DocumentBundle, NodeVector, Problem
from kgrag.store.graph_query import GraphQuery
from kgrag.store.graph_statement import GraphRows
from kgrag.store.records import Record
from kgrag.store.search import T
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.documents import chunk, summary
from kgrag.store.sqlite.embeddings import from_blob, read_vectors
from kgrag.store.sqlite.graph import Graph, evidence
from kgrag.store.sqlite.lexical import LexicalIndex, View, build_missing
from kgrag.store.sqlite.query import run_form, run_query
from kgrag.store.sqlite.role import Role
from kgrag.store.sqlite.staged import Staged
from kgrag.store.sqlite.statements import json_list, run
from kgrag.store.sqlite.vectors import VectorIndex, scanning_threads
from kgrag.store.sqlite.verify import is_unreadable, readable, verify, verify_caches, verify_vectors
from kgrag.store.sqlite.write import Writing
from kgrag.store.whole import QueryLanguage
from kgrag.text.words import character_pairs, normalize_name, words
from kgrag.types import DocIds, Entity, NodeKind, TextField
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


CACHE_FOLDER = "cache"
# The statements of an export after the documents, and the record of a row of each.
_EXPORTED: tuple[tuple[str, Callable[..., Record]], ...] = (
    ("export_chunks", lambda *row: records.chunk_record(chunk(*row))),
    ("export_summaries", lambda *row: records.summary_record(summary(*row))),
    ("export_entities", lambda *row: records.entity_record(Entity(*row))),
    ("export_names", lambda *row: records.entity_name_record(Entity(*row[:-1]), row[-1])),
    ("export_facts", records.fact_record),
    ("export_evidence", lambda f, p, *place: records.evidence_record(f, evidence(place), p)),
    ("export_mentions", lambda e, *place: records.mention_record(e, evidence(place))),
    ("export_vectors", records.vector_record),
    ("export_embeddings", lambda key, blob: records.embedding_record(key, from_blob(blob))),
)


class SQLiteStore(Writing, Graph, Search):
    """A knowledge base in a folder; implements `kgrag.store.store.Store`.

    Any number of threads and processes may read while one writes.
    """

    @classmethod
    def open(cls, folder: Path, *, create: bool = True) -> "SQLiteStore":
        """Open the knowledge base of a folder, creating it with `create`.

        Raises:
            StoreUnavailableError: If it is missing, cannot be read, or is none.
            StoreError: If a newer kgrag made it.
        """
        return cls(Database.open(folder, create=create), CacheFolder(folder / CACHE_FOLDER))

    @property
    def staged(self) -> Staged:
        return Staged(self._database, self._cache)

    @property
    def query_language(self) -> QueryLanguage:
        return "sql"

    def graph_rows(
        self, query: GraphQuery, /, *, most: int, doc_ids: Collection[str] | None = None
    ) -> GraphRows:
        with self._reading() as connection:
            return run_form(connection, query, most=most, doc_ids=doc_ids)

    def close(self) -> None:
        self._database.close()
        self.forget_caches()

    def bundle(self, doc_id: str, *, embedder: str | None = None) -> DocumentBundle | None:
        """Return a complete document, or None if it is not stored.

        `embedder` overrides the recorded encoder of its vectors.
        """
        with self.snapshot() as here:
            held = here._rows("fingerprint", doc_id)
            if not held:
                return None
            facts, mentions = here._knowledge(doc_id).every_wording()
            return DocumentBundle(
                document=here.documents([doc_id])[0],
                fingerprint=held[0][0],
                headings=here.headings([doc_id]).get(doc_id, []),
                chunks=here.all_chunks_of(doc_id),
                summaries=here.summaries_of(doc_id),
                facts=facts,
                mentions=mentions,
                vectors=here._read(
                    lambda n, kind, key, blob: NodeVector(n, kind, key, from_blob(blob)),
                    "bundle_vectors",
                    doc_id,
                ),
                embedder=(here.get_meta("embedder") or "") if embedder is None else embedder,
            )

    def counts(self) -> Counts:
        with self.snapshot() as here:
            sizes: dict[int, int] = dict(here._rows("count_sizes"))
            ((documents, characters, summaries, *graph, vectors),) = here._rows("count_all")
        entities, facts, mentions = graph
        return Counts(
            documents=documents,
            characters=int(characters),
            chunks=sizes,
            summaries=summaries,
            entities=entities,
            facts=facts,
            mentions=mentions,
            vectors=vectors,
        )

    def count_foreign(self) -> int:
        return 0

    def verify(self) -> list[Problem]:
        with self.snapshot() as here, here._reading() as connection:
            problems = verify(connection, here, self._database.seen)
            if is_unreadable(problems):
                return problems
            problems += readable("vectors", lambda: verify_vectors(connection))
        # Moves on to the latest state, which the caches may reflect.
        with self._database.read() as connection:
            problems += readable("caches", lambda: verify_caches(connection, self._cache))
        return problems

    def export(self) -> Iterator[Record]:
        with self.snapshot() as here:
            for doc_id, fingerprint in here._rows("export_documents"):
                (document,) = here.documents([doc_id])  # one text in memory
                headings = here.headings([doc_id]).get(doc_id, [])
                yield records.document_record(document, fingerprint, headings)
            yield from (records.meta_record(*setting) for setting in here.all_meta().items())
            for name, record in _EXPORTED:
                yield from here._each(record, name)
            yield from records.decided_records(here.corrections(), here.decisions())

    def run_query(
        self, text: str, /, *, max_rows: int, timeout_s: float
    ) -> list[dict[str, object]]:
        """Return the rows of one SELECT over the views of `kgrag.store.sqlite.query`."""
        return run_query(self._database, text, max_rows=max_rows, timeout_s=timeout_s)
