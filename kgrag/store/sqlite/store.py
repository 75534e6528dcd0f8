"""The embedded store: one SQLite file, and search caches beside it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from kgrag.store.contents import Counts, DocumentBundle, NodeVector, Problem, SourceState
from kgrag.store.graph import StatedTriple, Stating, Triple
from kgrag.store.sqlite import embeddings, graph, names, read, write
from kgrag.store.sqlite.bundle import read_bundle
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.cards import Cards
from kgrag.store.sqlite.changes import current_mark
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.export import export
from kgrag.store.sqlite.known_entities import KnownEntities
from kgrag.store.sqlite.query import run_query
from kgrag.store.sqlite.searching import Searching
from kgrag.store.sqlite.staged import SQLiteStagedVectors
from kgrag.store.sqlite.verify import verify
from kgrag.store.sqlite.verify_seals import check_file_header, check_log, readable
from kgrag.store.sqlite.verify_search import verify_caches, verify_vectors
from kgrag.store.whole import QueryLanguage
from kgrag.types import Chunk, Document, Entity, Fact, Heading, Mention, Summary
from kgrag.vectors.vector import Hit, Vector

CACHE_FOLDER = "cache"


class SQLiteStore(Searching):
    """A knowledge base in a folder; see `kgrag.store.store.Store` for what each method promises.

    Any number of threads and processes may read while one writes. Searches bring their caches
    up to date first.
    """

    def __init__(self, database: Database, cache: CacheFolder) -> None:
        super().__init__(database, cache)
        self._cards = Cards()
        self._known_entities = KnownEntities()

    @classmethod
    def open(cls, folder: Path, *, create: bool = True) -> "SQLiteStore":
        """Open the knowledge base of a folder.

        Args:
            folder: Holds `kgrag.db` and `cache/`.
            create: Make it where there is none.

        Raises:
            StoreUnavailableError: If it is missing, may not be read, or is none.
            StoreError: If a newer kgrag made it.
        """
        return cls(Database.open(folder, create=create), CacheFolder(folder / CACHE_FOLDER))

    @property
    def query_language(self) -> QueryLanguage:
        """Return the language of `run_query`."""
        return "sql"

    def close(self) -> None:
        """Close all connections."""
        self._database.close()
        self.forget_caches()

    def get_meta(self, key: str) -> str | None:
        """Return a setting, or None."""
        with self._database.read() as connection:
            return read.get_meta(connection, key)

    def all_meta(self) -> dict[str, str]:
        """Return every setting, ordered by key."""
        with self._database.read() as connection:
            return read.all_meta(connection)

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Record settings, all or none."""
        with self._database.write() as connection:
            write.set_meta(connection, values.items())

    def change_counter(self) -> int:
        """Return the number of the last commit that changed what `export` yields of documents."""
        with self._database.read() as connection:
            return current_mark(connection).seq

    @property
    def staged(self) -> SQLiteStagedVectors:
        """Return the vectors of another encoder that do not answer yet."""
        return SQLiteStagedVectors(self._database)

    # writing

    def upsert_document(self, bundle: DocumentBundle, *, source: str) -> None:
        """Store a document whole in place of its old self."""
        with self._database.write() as connection:
            write.upsert_document(connection, bundle, source=source)

    def attach_source(self, source: str, doc_id: str) -> None:
        """Record that `source` holds a stored document; NotFoundError if it is not stored."""
        with self._database.write() as connection:
            write.attach_source(connection, source, doc_id)

    def delete_document(self, doc_id: str) -> bool:
        """Delete a document and exactly what nothing else supports."""
        with self._database.write() as connection:
            return write.delete_document(connection, doc_id)

    def add_knowledge(
        self,
        doc_id: str,
        *,
        facts: Sequence[Fact] = (),
        mentions: Sequence[Mention] = (),
        summaries: Sequence[Summary] = (),
        vectors: Sequence[NodeVector] = (),
        embedder: str = "",
    ) -> None:
        """Add to a stored document what it does not have yet."""
        with self._database.write() as connection:
            write.add_knowledge(
                connection,
                doc_id,
                facts=facts,
                mentions=mentions,
                summaries=summaries,
                vectors=vectors,
                embedder=embedder,
            )

    # reading documents and chunks

    def sources(self) -> list[SourceState]:
        """Return every known source, ordered by source."""
        with self._database.read() as connection:
            return read.sources(connection)

    def documents(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return documents with text."""
        with self._database.read() as connection:
            return read.documents(connection, doc_ids)

    def document_cards(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return documents with empty text and segments."""
        with self._database.read() as connection:
            if doc_ids is None:
                return self._cards.all(connection)
            return read.document_cards(connection, doc_ids)

    def headings(self, doc_ids: Sequence[str]) -> dict[str, list[Heading]]:
        """Return the headings of documents in text order, by document."""
        with self._database.read() as connection:
            return read.headings_of(connection, doc_ids)

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return chunks in the order asked."""
        with self._database.read() as connection:
            return read.chunks(connection, chunk_ids)

    def chunks_of(self, doc_ids: Sequence[str], *, size: int) -> list[Chunk]:
        """Return a group's chunks of documents."""
        with self._database.read() as connection:
            return read.chunks_of(connection, doc_ids, size)

    def children(self, parent_ids: Sequence[str], *, size: int) -> list[Chunk]:
        """Return one group of children."""
        with self._database.read() as connection:
            return read.children(connection, parent_ids, size)

    def families(self, parent_ids: Sequence[str]) -> list[Chunk]:
        """Return parents, each followed by all its children."""
        with self._database.read() as connection:
            return read.families(connection, parent_ids)

    def summaries(self, summary_ids: Sequence[str] | None = None) -> list[Summary]:
        """Return summaries."""
        with self._database.read() as connection:
            return read.summaries(connection, summary_ids)

    # vectors and the graph

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return stored vectors by key."""
        with self._database.read() as connection:
            return embeddings.read_vectors(connection, keys)

    def vectors_of(self, node_ids: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each node that has one."""
        with self._database.read() as connection:
            return embeddings.vectors_of(connection, node_ids)

    def find_entities(self, names: Sequence[str]) -> list[Entity]:
        """Return entities by name."""
        with self._database.read() as connection:
            return graph.find_entities(connection, names)

    def search_entities(self, text: str, *, top_k: int) -> list[Hit]:
        """Return entities whose name contains, or is like, a text."""
        with self._database.read() as connection:
            return names.search_entities(connection, text, top_k)

    def entities(self, entity_ids: Sequence[str]) -> list[Entity]:
        """Return entities in the order asked."""
        with self._database.read() as connection:
            return graph.entities(connection, entity_ids)

    def facts_around(
        self,
        entity_ids: Sequence[str],
        *,
        limit: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Fact]:
        """Return facts around entities, at most `limit` for each, each fact once."""
        with self._database.read() as connection:
            return graph.facts_around(connection, entity_ids, limit, doc_ids)

    def triples_around(
        self,
        entity_ids: Sequence[str],
        *,
        limit: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Triple]:
        """Return facts around entities without their evidence."""
        with self._database.read() as connection:
            return graph.triples_around(
                connection, entity_ids, limit, doc_ids, known=self._known_entities
            )

    def stated_triples(self, fact_ids: Sequence[str]) -> list[StatedTriple]:
        """Return facts in the order asked, each once, with the chunks that state them."""
        with self._database.read() as connection:
            return graph.stated_triples(connection, fact_ids, known=self._known_entities)

    def stating_chunks(self, fact_ids: Sequence[str]) -> list[Stating]:
        """Return (fact id, chunk id) of the evidence of facts."""
        with self._database.read() as connection:
            return graph.stating_chunks(connection, fact_ids)

    def facts(self, fact_ids: Sequence[str]) -> list[Fact]:
        """Return facts in the order asked, each once."""
        with self._database.read() as connection:
            return graph.facts(connection, fact_ids)

    def facts_of_chunks(self, chunk_ids: Sequence[str]) -> list[Fact]:
        """Return facts with evidence in chunks."""
        with self._database.read() as connection:
            return graph.facts_of_chunks(connection, chunk_ids)

    def entity_degrees(self, entity_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of facts around each entity."""
        with self._database.read() as connection:
            return graph.entity_degrees(connection, entity_ids)

    def knowledge_of(self, doc_id: str) -> tuple[list[Fact], list[Mention], list[Summary]]:
        """Return what is known from one document."""
        with self._database.read() as connection:
            return graph.knowledge_of(connection, doc_id)

    # whole

    def bundle(self, doc_id: str) -> DocumentBundle | None:
        """Return everything that one document brings."""
        with self._database.read() as connection:
            return read_bundle(connection, doc_id)

    def counts(self) -> Counts:
        """Return how many of each are stored."""
        with self._database.read() as connection:
            return read.counts(connection)

    def own_labels(self, text: str) -> str:
        """Return a text as it is: the tables have one name in every folder."""
        return text

    def count_foreign(self) -> int:
        """Return 0: nobody else writes to the file."""
        return 0

    def verify(self) -> list[Problem]:
        """Check every invariant."""
        with self._database.read() as connection:
            seen = self._database.seen
            problems = [*check_log(seen.lost), *check_file_header(seen.wrong_header)]
            problems += verify(connection)
            if any(p.invariant in ("file", "schema") for p in problems):
                return problems
            problems += readable("vectors", lambda: verify_vectors(connection))
        # It moves on to the latest state, with which the caches keep up.
        with self._database.read() as connection:
            problems += readable("caches", lambda: verify_caches(connection, self._cache))
        return problems

    def export(self) -> Iterator[dict[str, object]]:
        """Yield every record in a fixed order."""
        with self._database.read() as connection:
            yield from export(connection)

    def run_query(
        self, sql: str, *, max_rows: int = 200, timeout_s: float = 5.0
    ) -> list[dict[str, object]]:
        """Return the rows of one SELECT over the views of `kgrag.store.sqlite.query`.

        Args:
            sql: One statement.
            max_rows: At most so many rows.
            timeout_s: Seconds after which it is stopped.

        Raises:
            StatementError: If it is refused, malformed or stopped.
        """
        return run_query(self._database, sql, max_rows=max_rows, timeout_s=timeout_s)
