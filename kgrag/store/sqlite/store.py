"""The embedded store: one SQLite file with search caches."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from kgrag.errors import StoreError
from kgrag.store import records
from kgrag.store.contents import Counts, DocumentBundle, NodeVector, Problem
from kgrag.store.decisions import UNSETTLED, unsettled_problems
from kgrag.store.records import Record
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.documents import chunk, summary
from kgrag.store.sqlite.embeddings import from_blob
from kgrag.store.sqlite.graph import Graph, evidence
from kgrag.store.sqlite.query import run_query
from kgrag.store.sqlite.search import Search
from kgrag.store.sqlite.staged import Staged
from kgrag.store.sqlite.verify import is_unreadable, readable, verify, verify_caches, verify_vectors
from kgrag.store.sqlite.write import Writing
from kgrag.store.whole import QueryLanguage
from kgrag.types import Entity

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

    def own_labels(self, text: str) -> str:
        return text

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
            with suppress(StoreError):  # damaged settings are reported by checksums
                problems += readable(UNSETTLED, lambda: unsettled_problems(here))
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
