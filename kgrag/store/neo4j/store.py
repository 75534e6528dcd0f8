"""The server store: a Neo4j database."""

from collections.abc import Collection, Iterator, Mapping

from kgrag.errors import StoreError
from kgrag.store import records
from kgrag.store.checks import check_settings
from kgrag.store.contents import Counts, DocumentBundle, NodeVector, Problem
from kgrag.store.folders import FOLDERS, without_folders
from kgrag.store.graph_query import GraphQuery
from kgrag.store.graph_statement import GraphRows
from kgrag.store.neo4j import schema, write
from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.base import bases, gone, read_base
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.decisions import Decisions
from kgrag.store.neo4j.document_knowledge import Place, evidence_in, read_knowledge
from kgrag.store.neo4j.documents import batches, complete, summaries_of
from kgrag.store.neo4j.embeddings import to_vector
from kgrag.store.neo4j.graph import Graph
from kgrag.store.neo4j.query import run_form, run_query
from kgrag.store.neo4j.search import Search
from kgrag.store.neo4j.staged import Neo4jStagedVectors, finish_switch
from kgrag.store.neo4j.verify import verify
from kgrag.store.records import Record
from kgrag.store.texts import NOTHING
from kgrag.store.whole import QueryLanguage, ServerState
from kgrag.types import Entity

_TRIES = 5  # at a document that others change meanwhile


class Neo4jStore(Decisions, Graph, Search):
    """A knowledge base in a database of a Neo4j server or cluster.

    See `kgrag.store.store.Store` for what each method promises. Any number of threads and
    processes may read and write; writers of documents take turns at what documents share, and at
    what is replaced, alone. Reads go to any member of a cluster and see what this store wrote
    before.
    """

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
    def staged(self) -> Neo4jStagedVectors:
        return Neo4jStagedVectors(self._database)

    @property
    def query_language(self) -> QueryLanguage:
        return "cypher"

    def graph_rows(
        self, query: GraphQuery, /, *, most: int, doc_ids: Collection[str] | None = None
    ) -> GraphRows:
        return run_form(self._database, query, most=most, doc_ids=doc_ids)

    def get_meta(self, key: str) -> str | None:
        """Return a setting, or None; StoreError if it is of no use."""
        rows = self._database.read("setting", key=key)
        if not rows or rows[0]["value"] is None:  # the statement gives a row for none, too
            return None
        check_settings({key: rows[0]["value"]})
        return str(rows[0]["value"])

    def all_meta(self) -> dict[str, str]:
        """Return every setting, ordered by name; StoreError if one is of no use."""
        rows = self._database.read("settings")
        return check_settings(dict(sorted((row["key"], row["value"]) for row in rows)))

    def notes(self, prefix: str) -> dict[str, str]:
        rows = self._database.read("notes", prefix=prefix)
        return dict(sorted((row["key"], row["value"]) for row in rows))

    def set_meta(self, values: Mapping[str, str]) -> None:
        self._database.write(lambda tx: write.set_meta(tx, values))

    def change_counter(self) -> int:
        return int(read_base(self._database)["seq"])

    def state(self) -> ServerState:
        """Return mark and settings, with which copies are compared.

        Raises:
            StoreError: If the knowledge base has gone, or a setting is of no use.
        """
        rows = self._database.read("state")
        if not rows:
            raise gone(self._database)
        settings = check_settings(dict(sorted((key, value) for key, value in rows[0]["settings"])))
        return ServerState(rows[0]["mark"], settings, settled=not rows[0]["switching"])

    def revisions(self) -> dict[str, str]:
        return {row["id"]: row["revision"] for row in complete(self._database.read("revisions"))}

    def bundle(self, doc_id: str) -> DocumentBundle | None:
        """Return a document with everything derived from it, or None if it is not stored.

        It takes several statements: one that changed between them is read again.

        Raises:
            StoreError: If it is changed again and again, or parts of it are missing.
        """
        address = self._database.address
        revision = self._revision(doc_id)
        for _ in range(_TRIES):
            if revision is None:
                return None
            missing: Exception | None = None
            try:
                bundle = self._bundle_now(doc_id)
            except (LookupError, ValueError) as exc:  # changed while it was read, or damaged
                missing = exc
            after = self._revision(doc_id)
            if after == revision and missing is None:
                return bundle
            if after == revision:
                raise StoreError(
                    f"{address}: parts of document {doc_id} are missing: see what "
                    "`kgrag verify` says, and ingest it again"
                ) from missing
            revision = after
        raise StoreError(f"{address}: document {doc_id} is changed all the time: try later")

    def counts(self) -> Counts:
        sizes = {row["size"]: row["n"] for row in self._database.read("chunk_sizes")}
        row = self._database.read("counts")[0]
        return Counts(chunks=dict(sorted(sizes.items(), reverse=True)), **row.data())

    def count_foreign(self) -> int:
        """Return how many nodes of other programs are called Document, Chunk, Summary or Entity.

        The database's own counts say at once whether there may be any; only then are nodes read.
        """
        database = self._database
        n = database.read("count_public")[0]["n"]
        ours = sum(database.beside(name).read("count_ours")[0]["n"] for name in bases(database))
        return int(database.read("count_foreign")[0]["n"]) if n > ours else 0

    def verify(self) -> list[Problem]:
        return verify(self._database)

    def export(self) -> Iterator[Record]:
        cards = complete(self._database.read("all_cards"))
        fingerprints = {row["id"]: row["fingerprint"] for row in cards}
        doc_ids = sorted(fingerprints)
        for ids in batches(doc_ids):
            headings = self.headings(ids)
            for document in self.documents(ids):
                doc_id = document.doc_id
                fingerprint, found = fingerprints[doc_id], headings.get(doc_id, [])
                yield records.document_record(document, fingerprint, found)
        for key, value in sorted((r["key"], r["value"]) for r in self._database.read("settings")):
            yield records.meta_record(key, value)
        for ids in batches(doc_ids):
            chunks = self.all_chunks(ids)
            for doc_id in ids:
                for chunk in sorted(chunks.get(doc_id, ()), key=lambda c: (-c.size, c.position)):
                    yield records.chunk_record(chunk)
        for summary in sorted(self.summaries(), key=lambda s: s.summary_id):
            yield records.summary_record(summary)
        yield from self._graph_records()
        yield from self._vector_records()
        yield from records.decided_records(self.corrections(), self.decisions())

    def run_query(
        self, text: str, /, *, max_rows: int, timeout_s: float
    ) -> list[dict[str, object]]:
        rows = run_query(self._database, text, max_rows=max_rows, timeout_s=timeout_s)
        return without_folders(rows, self.get_meta(FOLDERS))

    def _bundle_now(self, doc_id: str) -> DocumentBundle:
        """Return the present state.

        Raises:
            LookupError: If something that is named is not there.
            ValueError: If lists do not fit each other.
        """
        database = self._database
        document = self.documents([doc_id])[0]
        facts, mentions = read_knowledge(database.read, doc_id).kept(doc_id).every_wording()
        nodes = database.read("embedding_keys_of", id=doc_id)
        keys = sorted({row["key"] for row in nodes})
        embedder = self.get_meta("embedder") or ""
        rows = database.read("vectors", keys=keys)
        vectors = {row["key"]: to_vector(row["vector"]) for row in rows}
        return DocumentBundle(
            document=document,
            fingerprint=self._cards([doc_id])[doc_id]["fingerprint"],
            headings=self.headings([doc_id]).get(doc_id, []),
            chunks=self.all_chunks([doc_id]).get(doc_id, []),
            summaries=summaries_of(database, doc_id),
            facts=facts,
            mentions=mentions,
            vectors=[
                NodeVector(row["id"], row["kind"], row["key"], vectors[row["key"]]) for row in nodes
            ],
            embedder=embedder,
        )

    def _graph_records(self) -> Iterator[Record]:
        stream = self._database.stream
        for row in stream("every_entity"):
            yield records.entity_record(Entity(row["id"], row["name"], row["type"]))
        for row in stream("every_name"):
            for way in sorted(row["ways"]):
                doc_id, name, type_ = way
                yield records.entity_name_record(Entity(row["id"], name, type_), doc_id)
        for row in stream("every_fact"):
            fact = (row["id"], row["subject_id"], row["predicate"], row["object_id"])
            yield records.fact_record(*fact)
        for row in stream("every_fact"):
            for e in sorted(evidence_in(row), key=lambda e: e[:6]):
                yield records.evidence_record(row["id"], e.evidence(), e.predicate)
        for row in stream("every_mention"):
            places = ((*place[:5], place[5] or NOTHING, place[6]) for place in row["places"])
            for doc_id, *where, confidence in sorted(places):
                evidence = Place(*where).evidence(doc_id, confidence)
                yield records.mention_record(row["id"], evidence)

    def _vector_records(self) -> Iterator[Record]:
        rows = [tuple(row) for row in self._database.stream("every_node_with_embedding")]
        for node_id, kind, doc_id, key in sorted(rows):
            yield records.vector_record(node_id, kind, doc_id, key)
        for row in self._database.stream("every_embedding"):
            yield records.embedding_record(row["key"], to_vector(row["vector"]))
