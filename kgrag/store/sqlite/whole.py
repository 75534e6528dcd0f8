"""The knowledge base as a whole: documents as they were stored, counts, export, checks."""

from collections.abc import Iterator
from contextlib import suppress

from kgrag.errors import StoreError
from kgrag.store import records
from kgrag.store.bundles import StatedFact, assemble_knowledge
from kgrag.store.contents import Counts, DocumentBundle, NodeVector, Problem
from kgrag.store.decisions import UNSETTLED, unsettled_problems
from kgrag.store.records import Record
from kgrag.store.sqlite.decisions import Decisions
from kgrag.store.sqlite.documents import chunk, summary
from kgrag.store.sqlite.embeddings import from_blob
from kgrag.store.sqlite.graph import Graph, evidence
from kgrag.store.sqlite.query import run_query
from kgrag.store.sqlite.role import Row
from kgrag.store.sqlite.search import Search
from kgrag.store.sqlite.settings import Settings
from kgrag.store.sqlite.verify import is_unreadable, readable, verify
from kgrag.store.sqlite.verify_search import verify_caches, verify_vectors
from kgrag.store.whole import QueryLanguage
from kgrag.types import Entity, Evidence, Fact, Mention


class Whole(Settings, Graph, Search, Decisions):
    """Everything at once; see `kgrag.store.whole` for what each method promises."""

    @property
    def query_language(self) -> QueryLanguage:
        """Return the language of `run_query`."""
        return "sql"

    def own_labels(self, text: str) -> str:
        """Return a text as it is: the tables have one name in every folder."""
        return text

    def close(self) -> None:
        """Close all connections."""
        self._database.close()
        self.forget_caches()

    def bundle(self, doc_id: str, *, embedder: str | None = None) -> DocumentBundle | None:
        """Return everything that one document brings, or None if it is not held.

        Args:
            doc_id: The document.
            embedder: Encoder of its vectors; the recorded one for None.
        """
        with self.snapshot() as here:
            held = here._rows("fingerprint", doc_id)
            if not held:
                return None
            facts, mentions = here._knowledge(doc_id)
            return DocumentBundle(
                document=here.documents([doc_id])[0],
                fingerprint=held[0][0],
                headings=here.headings([doc_id]).get(doc_id, []),
                chunks=here.all_chunks_of(doc_id),
                summaries=here.summaries_of(doc_id),
                facts=facts,
                mentions=mentions,
                vectors=here._read(_node_vector, "bundle_vectors", doc_id),
                embedder=(here.get_meta("embedder") or "") if embedder is None else embedder,
            )

    def counts(self) -> Counts:
        """Return how many of each are stored; `vectors` counts distinct ones."""
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
        """Return 0: nobody else writes to the file."""
        return 0

    def verify(self) -> list[Problem]:
        """Check every invariant."""
        with self.snapshot() as here, here._reading() as connection:
            problems = verify(connection, here, self._database.seen)
            if is_unreadable(problems):
                return problems
            problems += readable("vectors", lambda: verify_vectors(connection))
            with suppress(StoreError):  # of a damaged setting its checksum tells
                problems += readable(UNSETTLED, lambda: unsettled_problems(here))
        # It moves on to the latest state, with which the caches keep up.
        with self._database.read() as connection:
            problems += readable("caches", lambda: verify_caches(connection, self._cache))
        return problems

    def export(self) -> Iterator[Record]:
        """Yield every record, first those of documents; no file paths, no row numbers."""
        with self.snapshot() as here:
            yield from here._document_records()
            yield from (records.meta_record(*setting) for setting in here.all_meta().items())
            yield from map(records.chunk_record, here._each(chunk, "export_chunks"))
            yield from map(records.summary_record, here._each(summary, "export_summaries"))
            for kind, name in (
                (_entity_record, "export_entities"),
                (_name_record, "export_names"),
                (_fact_record, "export_facts"),
                (_evidence_record, "export_evidence"),
                (_mention_record, "export_mentions"),
                (_vector_record, "export_vectors"),
                (_embedding_record, "export_embeddings"),
            ):
                yield from here._each(kind, name)
            yield from records.decided_records(here.corrections(), here.decisions())

    def run_query(
        self, text: str, /, *, max_rows: int = 200, timeout_s: float = 5.0
    ) -> list[dict[str, object]]:
        """Return the rows of one SELECT over the views of `kgrag.store.sqlite.query`."""
        return run_query(self._database, text, max_rows=max_rows, timeout_s=timeout_s)

    def _knowledge(self, doc_id: str) -> tuple[list[Fact], list[Mention]]:
        return assemble_knowledge(
            names=self._read(lambda row: Entity(*row), "bundle_names", doc_id),
            stated=self._read(_stated_fact, "bundle_facts", doc_id),
            mentioned=self._read(_mentioned, "bundle_mentions", doc_id),
        )

    def _document_records(self) -> Iterator[Record]:
        """Yield the records of documents: no more than one text is in memory."""
        for doc_id, fingerprint in self._rows("export_documents"):
            (document,) = self.documents([doc_id])
            headings = self.headings([doc_id]).get(doc_id, [])
            yield records.document_record(document, fingerprint, headings)


def _stated_fact(row: Row) -> StatedFact:
    fact_id, subject_id, predicate, object_id, *place = row
    return StatedFact(fact_id, subject_id, predicate, object_id, evidence(place))


def _mentioned(row: Row) -> tuple[str, Evidence]:
    entity_id, *place = row
    return entity_id, evidence(place)


def _node_vector(row: Row) -> NodeVector:
    node_id, kind, key, blob = row
    return NodeVector(node_id, kind, key, from_blob(blob))


def _entity_record(row: Row) -> Record:
    return records.entity_record(Entity(*row))


def _name_record(row: Row) -> Record:
    *entity, doc_id = row
    return records.entity_name_record(Entity(*entity), doc_id)


def _fact_record(row: Row) -> Record:
    return records.fact_record(*row)


def _evidence_record(row: Row) -> Record:
    fact_id, predicate, *place = row
    return records.evidence_record(fact_id, evidence(place), predicate)


def _mention_record(row: Row) -> Record:
    return records.mention_record(*_mentioned(row))


def _vector_record(row: Row) -> Record:
    return records.vector_record(*row)


def _embedding_record(row: Row) -> Record:
    key, blob = row
    return records.embedding_record(key, from_blob(blob))
