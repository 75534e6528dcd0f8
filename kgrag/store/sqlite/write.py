"""Storing and deleting documents, each call in one transaction."""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from kgrag.errors import NotFoundError
from kgrag.language.text import normalize_name
from kgrag.store.checks import check_bundle, check_encoder, check_knowledge
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.store.sqlite.changes import Part, record_change
from kgrag.store.sqlite.embeddings import add_vectors
from kgrag.store.sqlite.reconcile import Affected, reconcile
from kgrag.store.sqlite.seals import refuse_damaged_settings, seal_documents, seal_settings
from kgrag.store.sqlite.settings import Settings
from kgrag.store.sqlite.staged import forget_staged
from kgrag.store.sqlite.statements import run, run_each
from kgrag.types import Chunk, Document, Entity, Evidence, Fact, Mention, Summary


class Writing(Settings):
    """Storing documents; see `kgrag.store.documents` for what each method promises."""

    def upsert_document(self, bundle: DocumentBundle, *, source: str) -> None:
        """Store a document in place of its old self and of what only `source` held.

        Raises:
            ValueError: If a part of the bundle belongs to another document, or a fact lacks
                evidence.
            ModelMismatchError: If its vectors are of another encoder than is recorded.
        """
        doc_id = bundle.document.doc_id
        with self._database.write() as connection:
            check_bundle(bundle)
            self._check_encoder(connection, bundle.embedder)
            affected = Affected()
            changed = {doc_id, *_release_source(connection, source, affected, keep=doc_id)}
            sources = {source, *_sources_of(connection, doc_id)}
            _remove(connection, doc_id, affected)
            _add_document(connection, bundle, sources)
            _add_knowledge(
                connection, doc_id, bundle.facts, bundle.mentions, bundle.summaries, affected
            )
            add_vectors(connection, doc_id, bundle.vectors, affected)
            reconcile(connection, affected)
            record_change(connection, sorted(changed))
            seal_documents(connection, sorted(changed))
            seal_settings(connection)

    def attach_source(self, source: str, doc_id: str) -> None:
        """Record that `source` holds a stored document, and drop what only it held before.

        Raises:
            NotFoundError: If the document is not held.
        """
        with self._database.write() as connection:
            refuse_damaged_settings(connection, "meta")
            _check_held(connection, doc_id)
            affected = Affected()
            removed = _release_source(connection, source, affected, keep=doc_id)
            run(connection, "put_source", source, doc_id)
            if removed:
                reconcile(connection, affected)
                record_change(connection, removed)
            seal_documents(connection, removed)
            seal_documents(connection, [doc_id], ["sources"])
            seal_settings(connection)

    def delete_document(self, doc_id: str) -> bool:
        """Delete a document and what nothing else supports; return whether it was held."""
        with self._database.write() as connection:
            refuse_damaged_settings(connection, "meta")
            affected = Affected()
            held = _remove(connection, doc_id, affected)
            if held:
                reconcile(connection, affected)
                record_change(connection, [doc_id])
                seal_documents(connection, [doc_id])
                seal_settings(connection)
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
        """Add to a stored document what it does not have yet.

        Raises:
            NotFoundError: If the document is not held.
            ValueError: If something belongs to another document, or a fact lacks evidence.
            ModelMismatchError: If the vectors are of another encoder than is recorded.
        """
        with self._database.write() as connection:
            _check_held(connection, doc_id)
            self._check_encoder(connection, embedder)
            check_knowledge(doc_id, facts, mentions, summaries)
            affected = Affected()
            parts: list[Part] = []
            before = connection.total_changes
            _add_knowledge(connection, doc_id, facts, mentions, summaries, affected)
            if connection.total_changes > before:
                parts.append("knowledge")
            if add_vectors(connection, doc_id, vectors, affected):
                parts.append("vectors")
            reconcile(connection, affected)
            if parts:
                forget_staged(connection, doc_id)
                record_change(connection, [doc_id], parts)
                seal_documents(connection, [doc_id], ["summaries", "knowledge", "vectors", "log"])
                seal_settings(connection)

    def _check_encoder(self, connection: sqlite3.Connection, embedder: str) -> None:
        with self._on(connection) as here:
            check_encoder(embedder, here.get_meta("embedder"))


def _release_source(
    connection: sqlite3.Connection, source: str, affected: Affected, *, keep: str
) -> list[str]:
    """Take the source from the document that it held; return that document if it had to go."""
    row = run(connection, "document_of", source).fetchone()
    if row is None or row[0] == keep:
        return []
    previous = str(row[0])
    run(connection, "delete_source", source)
    if _sources_of(connection, previous):
        seal_documents(connection, [previous], ["sources"])
        return []
    _remove(connection, previous, affected)
    return [previous]


def _sources_of(connection: sqlite3.Connection, doc_id: str) -> list[str]:
    return [source for (source,) in run(connection, "sources_of", doc_id)]


def _remove(connection: sqlite3.Connection, doc_id: str, affected: Affected) -> bool:
    """Delete a document's rows and note what they may leave without support."""
    affected.note_document(connection, doc_id)
    return run(connection, "delete_document", doc_id).rowcount > 0


def _check_held(connection: sqlite3.Connection, doc_id: str) -> None:
    if not run(connection, "is_held", doc_id).fetchone():
        raise NotFoundError(f"document {doc_id!r} is not in the knowledge base: ingest it first")


def _add_document(
    connection: sqlite3.Connection, bundle: DocumentBundle, sources: Iterable[str]
) -> None:
    """Insert a document, its files, headings and chunks."""
    doc_id = bundle.document.doc_id
    run(connection, "add_document", *_document_row(bundle.document, bundle.fingerprint))
    run_each(connection, "add_source", [(source, doc_id) for source in sources])
    headings = [(doc_id, i, h.start, h.end, h.level, h.text) for i, h in enumerate(bundle.headings)]
    run_each(connection, "add_heading", headings)
    run_each(connection, "add_chunk", map(_chunk_row, bundle.chunks))


def _document_row(document: Document, fingerprint: str) -> tuple[str | int, ...]:
    return (
        document.doc_id,
        document.title,
        normalize_name(document.title),
        document.media_type,
        document.content_hash,
        fingerprint,
        len(document.text),
        to_json(list(document.warnings)),
        to_json(dict(document.properties)),
        to_json([(s.start, s.end, s.kind, s.number) for s in document.segments]),
        document.text,
    )


def _chunk_row(c: Chunk) -> tuple[str | int | None, ...]:
    path = to_json(c.heading_path)
    return (c.chunk_id, c.doc_id, c.size, c.position, c.start, c.end, c.parent_id, path, c.text)


def _add_knowledge(
    connection: sqlite3.Connection,
    doc_id: str,
    facts: Sequence[Fact],
    mentions: Sequence[Mention],
    summaries: Sequence[Summary],
    affected: Affected,
) -> None:
    """Insert what is not there yet; the caller reconciles afterwards."""
    entities = [e for f in facts for e in (f.subject, f.object)] + [m.entity for m in mentions]
    _add_entities(connection, doc_id, entities)
    affected.entities.update(e.entity_id for e in entities)
    affected.facts.update(f.fact_id for f in facts)
    rows = [(f.fact_id, f.subject.entity_id, f.object.entity_id, f.predicate) for f in facts]
    run_each(connection, "add_fact", rows)
    evidence = [(f.fact_id, *_evidence_row(e), f.predicate) for f in facts for e in f.evidence]
    run_each(connection, "add_evidence", evidence)
    mentioned = [(m.entity.entity_id, *_evidence_row(m.evidence)) for m in mentions]
    run_each(connection, "add_mention", mentioned)
    said = [
        (s.summary_id, doc_id, s.start, s.end, s.level, s.source, to_json(s.target_ids), s.text)
        for s in summaries
    ]
    run_each(connection, "add_summary", said)


def _add_entities(connection: sqlite3.Connection, doc_id: str, entities: Sequence[Entity]) -> None:
    distinct = sorted({(e.entity_id, e.name, e.type) for e in entities})
    rows = [(e, normalize_name(name), name, type_) for e, name, type_ in distinct]
    run_each(connection, "add_entity", rows)
    named = [(e, doc_id, name, type_) for e, name, type_ in distinct]
    run_each(connection, "add_entity_name", named)


def _evidence_row(e: Evidence) -> tuple[str, int, int, str, str, float]:
    return (e.doc_id, e.start, e.end, e.extractor, e.chunk_id, e.confidence)


def to_json(value: object) -> str:
    """Return compact JSON with sorted keys: the same value gives the same text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
