"""The server store: a Neo4j database."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from kgrag.store.contents import Counts, DocumentBundle, NodeVector, Problem, SourceState
from kgrag.store.copied import ServerState
from kgrag.store.graph import StatedTriple, Stating, Triple
from kgrag.store.neo4j import graph_read, labels, names, read, schema, write
from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.bundle import read_bundle
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.dense import VectorIndexes
from kgrag.store.neo4j.export import export
from kgrag.store.neo4j.lexical import LexicalIndexes
from kgrag.store.neo4j.query import run_query
from kgrag.store.neo4j.staged import Neo4jStagedVectors, finish_switch
from kgrag.store.neo4j.statements import own_labels
from kgrag.store.neo4j.verify import verify
from kgrag.store.search import T
from kgrag.store.whole import QueryLanguage
from kgrag.types import (
    Chunk,
    Document,
    Entity,
    Fact,
    Heading,
    Mention,
    NodeKind,
    Summary,
    TextField,
)
from kgrag.vectors.vector import Hit, Vector

_AT_ONCE = 8  # what one question has under way: its routes, and searches by vector begun before


class Neo4jStore:
    """A knowledge base in a database of a Neo4j server or cluster.

    See `kgrag.store.store.Store` for what each method promises. Any number of threads and
    processes may read and write; writers wait for each other. Reads go to any member of a
    cluster and see what this store wrote before.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lexical = LexicalIndexes(database)
        self._vectors = VectorIndexes(database)
        self._threads = ThreadPoolExecutor(_AT_ONCE, "kgrag-neo4j")

    @classmethod
    def open(cls, location: str, *, create: bool = True) -> "Neo4jStore":
        """Open the knowledge base of a database.

        Args:
            location: `bolt://HOST:PORT` for a server, `neo4j://HOST:PORT` for a cluster; `/NAME`
                after it for another database than `neo4j`. User and password come from the
                environment: NEO4J_USERNAME and NEO4J_PASSWORD.
            create: Make it where there is none.

        Raises:
            StoreUnavailableError: If it cannot be reached, refuses us, or holds no knowledge
                base and `create` is off, or another graph.
            StoreError: If a newer kgrag made it.
        """
        database = Database.open(parse(location))
        try:
            schema.prepare(database, create=create)
            finish_switch(database)
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def query_language(self) -> QueryLanguage:
        """Return the language of `run_query`."""
        return "cypher"

    def own_labels(self, text: str) -> str:
        """Return a text with the labels that no other program, or knowledge base, has."""
        return own_labels(text, self._database.address.base)

    def close(self) -> None:
        """Close all connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._database.close()

    def get_meta(self, key: str) -> str | None:
        """Return a setting, or None."""
        return read.get_meta(self._database, key)

    def all_meta(self) -> dict[str, str]:
        """Return every setting, ordered by name."""
        return read.all_meta(self._database)

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Record settings, all or none."""
        self._database.write(lambda tx: write.set_meta(tx, values))

    def change_counter(self) -> int:
        """Return the number of changes that were committed."""
        return int(read.base(self._database)["seq"])

    def state(self) -> ServerState:
        """Return mark and settings: what tells whether a copy is like this."""
        return read.state(self._database)

    def revisions(self) -> dict[str, str]:
        """Return by document what is another after each of its changes."""
        return read.revisions(self._database)

    def refresh(self, *, sizes: Collection[int] = ()) -> None:
        """Bring the indexes up to date, and finish what was cut off.

        Args:
            sizes: Chunk sizes that get a full-text index where they have none yet.
        """
        self._finish_deletions()
        finish_switch(self._database)
        self._lexical.refresh(sizes)
        self._vectors.refresh()
        self._database.read("await_fulltext")

    @property
    def staged(self) -> Neo4jStagedVectors:
        """Return the vectors of another encoder that do not answer yet."""
        return Neo4jStagedVectors(self._database)

    # writing

    def upsert_document(self, bundle: DocumentBundle, *, source: str) -> None:
        """Store a document whole in place of its old self."""
        labels.unhindered(
            self._database, lambda tx: write.upsert_document(tx, bundle, source=source)
        )
        self._finish_deletions()

    def attach_source(self, source: str, doc_id: str) -> None:
        """Record that `source` holds a stored document; NotFoundError if it is not stored."""
        labels.unhindered(self._database, lambda tx: write.attach_source(tx, source, doc_id))
        self._finish_deletions()

    def delete_document(self, doc_id: str) -> bool:
        """Delete a document and exactly what nothing else supports."""
        held = labels.unhindered(self._database, lambda tx: write.delete_document(tx, doc_id))
        self._finish_deletions()
        return held

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
        labels.unhindered(
            self._database,
            lambda tx: write.add_knowledge(
                tx,
                doc_id,
                facts=facts,
                mentions=mentions,
                summaries=summaries,
                vectors=vectors,
                embedder=embedder,
            ),
        )

    # reading documents and chunks

    def sources(self) -> list[SourceState]:
        """Return every known source, ordered by source."""
        return read.sources(self._database)

    def documents(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return documents with text."""
        return read.documents(self._database, doc_ids)

    def document_cards(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return documents with empty text and segments."""
        return read.document_cards(self._database, doc_ids)

    def bundle(self, doc_id: str) -> DocumentBundle | None:
        """Return everything that a document brings, or None if it is not held."""
        return read_bundle(self._database, doc_id)

    def headings(self, doc_ids: Sequence[str]) -> dict[str, list[Heading]]:
        """Return the headings of documents in text order, by document."""
        return read.headings_of(self._database, doc_ids)

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        """Return chunks in the order asked."""
        return read.chunks(self._database, chunk_ids)

    def chunks_of(self, doc_ids: Sequence[str], *, size: int) -> list[Chunk]:
        """Return a group's chunks of documents."""
        return read.chunks_of(self._database, doc_ids, size)

    def children(self, parent_ids: Sequence[str], *, size: int) -> list[Chunk]:
        """Return one group of children."""
        return read.children(self._database, parent_ids, size)

    def families(self, parent_ids: Sequence[str]) -> list[Chunk]:
        """Return parents, each followed by all its children."""
        return read.families(self._database, parent_ids)

    def summaries(self, summary_ids: Sequence[str] | None = None) -> list[Summary]:
        """Return summaries."""
        return read.summaries(self._database, summary_ids)

    # searching

    def find_documents(self, name: str, *, top_k: int) -> list[str]:
        """Return ids of documents whose title contains a name, shortest first."""
        return names.find_documents(self._database, name, top_k)

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
        self._check_open()
        return self._lexical.search_words(
            terms, field=field, size=size, top_k=top_k, doc_ids=doc_ids
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
        self._check_open()
        return self._lexical.search_phrase(
            phrase, field=field, size=size, top_k=top_k, doc_ids=doc_ids
        )

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return stored vectors by key."""
        return self._vectors.vectors(keys)

    def vectors_of(self, node_ids: Sequence[str]) -> dict[str, Vector]:
        """Return the vector of each node that has one."""
        return self._vectors.vectors_of(node_ids)

    def search_vectors(
        self,
        vector: Vector,
        *,
        kind: NodeKind,
        top_k: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Hit]:
        """Return the nearest nodes by cosine."""
        self._check_open()
        return self._vectors.search(vector, kind=kind, top_k=top_k, doc_ids=doc_ids)

    def begin_search_vectors(
        self,
        vector: Vector,
        *,
        kind: NodeKind,
        top_k: int,
        doc_ids: Collection[str] | None = None,
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

    def similarities(self, vector: Vector, node_ids: Sequence[str]) -> dict[str, float]:
        """Return the cosine of each node that has a vector; the best of those of a fact."""
        return self._vectors.similarities(vector, node_ids)

    # the graph

    def find_entities(self, names: Sequence[str]) -> list[Entity]:
        """Return entities by name."""
        return graph_read.find_entities(self._database, names)

    def search_entities(self, text: str, *, top_k: int) -> list[Hit]:
        """Return entities whose name contains, or is like, a text."""
        return names.search_entities(self._database, text, top_k)

    def entities(self, entity_ids: Sequence[str]) -> list[Entity]:
        """Return entities in the order asked."""
        return graph_read.entities(self._database, entity_ids)

    def facts_around(
        self,
        entity_ids: Sequence[str],
        *,
        limit: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Fact]:
        """Return facts around entities, at most `limit` for each, each fact once."""
        return graph_read.facts_around(self._database, entity_ids, limit, doc_ids)

    def triples_around(
        self,
        entity_ids: Sequence[str],
        *,
        limit: int,
        doc_ids: Collection[str] | None = None,
    ) -> list[Triple]:
        """Return facts around entities without their evidence."""
        facts = self.facts_around(entity_ids, limit=limit, doc_ids=doc_ids)
        return [graph_read.triple(fact) for fact in facts]

    def stating_chunks(self, fact_ids: Sequence[str]) -> list[Stating]:
        """Return (fact id, chunk id) of the evidence of facts."""
        return [(f.fact_id, e.chunk_id) for f in self.facts(fact_ids) for e in f.evidence]

    def stated_triples(self, fact_ids: Sequence[str]) -> list[StatedTriple]:
        """Return facts in the order asked, each once, with the chunks that state them."""
        facts = self.facts(fact_ids)
        return [(graph_read.triple(f), tuple(e.chunk_id for e in f.evidence)) for f in facts]

    def facts(self, fact_ids: Sequence[str]) -> list[Fact]:
        """Return facts in the order asked, each once."""
        return graph_read.facts(self._database, fact_ids)

    def facts_of_chunks(self, chunk_ids: Sequence[str]) -> list[Fact]:
        """Return facts with evidence in chunks."""
        return graph_read.facts_of_chunks(self._database, chunk_ids)

    def entity_degrees(self, entity_ids: Sequence[str]) -> dict[str, int]:
        """Return the number of facts around each entity."""
        return graph_read.entity_degrees(self._database, entity_ids)

    def knowledge_of(self, doc_id: str) -> tuple[list[Fact], list[Mention], list[Summary]]:
        """Return what is known from one document."""
        knowledge = graph_read.stored_knowledge(self._database.read, doc_id)
        facts, mentions = graph_read.said_once(doc_id, knowledge)
        return facts, mentions, read.summaries_of(self._database, doc_id)

    # whole

    def counts(self) -> Counts:
        """Return how many of each are stored."""
        return read.counts(self._database)

    def count_foreign(self) -> int:
        """Return how many nodes of other programs have labels that ours have."""
        return read.count_foreign(self._database)

    def verify(self) -> list[Problem]:
        """Check every invariant."""
        return verify(self._database)

    def export(self) -> Iterator[dict[str, object]]:
        """Yield every record in a fixed order."""
        return export(self._database)

    def run_query(
        self, text: str, /, *, max_rows: int = 200, timeout_s: float = 5.0
    ) -> list[dict[str, object]]:
        """Return the rows of one statement of Cypher; see `kgrag.store.neo4j.query`."""
        return run_query(self._database, text, max_rows=max_rows, timeout_s=timeout_s)

    def _check_open(self) -> None:
        self._database.driver  # noqa: B018  # raises when closed

    def _finish_deletions(self) -> None:
        """Delete what is left of large documents, some at a time."""
        while read.base(self._database)["deleting"]:
            self._database.write(write.delete_remains)
