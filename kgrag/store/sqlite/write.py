"""Storing and deleting documents, each call in one transaction."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kgrag.errors import NotFoundError
from kgrag.metadata import Metadata
from kgrag.store.checks import check_bundle, check_encoder, check_knowledge, check_title
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.store.sqlite.changes import ALL_PARTS, Part, record_change
from kgrag.store.sqlite.decisions import carry_corrections
from kgrag.store.sqlite.embeddings import add_vectors
from kgrag.store.sqlite.reconcile import Affected, reconcile
from kgrag.store.sqlite.seals import (
    part_sum,
    refuse_damaged_settings,
    seal_documents,
    seal_settings,
)
from kgrag.store.sqlite.settings import Settings
from kgrag.store.sqlite.staged import forget_staged
from kgrag.store.sqlite.statements import run, run_each
from kgrag.store.texts import metadata_of, metadata_text, qualifiers_text, segment_rows, to_json
from kgrag.text.document_nodes import node_id
from kgrag.text.words import normalize_name
from kgrag.types import Chunk, Document, Entity, Evidence, Fact, Mention, Summary


class Writing(Settings):
    """Storing documents; see `kgrag.store.documents` for what each method promises."""

    def upsert_document(self, bundle: DocumentBundle, *, source: str) -> None:
        """Store a document in place of its old self and of what only `source` held."""
        doc_id = bundle.document.doc_id
        with self._database.write() as connection:
            check_bundle(bundle)
            self._check_encoder(connection, bundle.embedder)
            affected = Affected()
            carry_corrections(connection, source, doc_id)
            changed = {doc_id, *_release_source(connection, source, affected, keep=doc_id)}
            sources = {source, *_sources_of(connection, doc_id)}
            _remove(connection, doc_id, affected)
            add_document(connection, bundle, sources)
            add_knowledge(
                connection, doc_id, bundle.facts, bundle.mentions, bundle.summaries, affected
            )
            add_vectors(connection, doc_id, bundle.vectors, affected)
            reconcile(connection, affected)
            record_change(connection, sorted(changed))
            seal_documents(connection, sorted(changed))
            seal_settings(connection)

    def attach_source(self, source: str, doc_id: str) -> None:
        """Record that `source` holds a stored document, and drop what only it held before."""
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
        """Add to a stored document what it does not have yet."""
        with self._database.write() as connection:
            _check_held(connection, doc_id)
            self._check_encoder(connection, embedder)
            check_knowledge(doc_id, facts, mentions, summaries)
            affected = Affected()
            parts: list[Part] = []
            before = connection.total_changes
            add_knowledge(connection, doc_id, facts, mentions, summaries, affected)
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

    def replace_knowledge(
        self,
        doc_id: str,
        *,
        facts: Sequence[Fact],
        mentions: Sequence[Mention],
        metadata: Metadata | None = None,
        title: str | None = None,
        vectors: Sequence[NodeVector] = (),
        embedder: str = "",
    ) -> None:
        """Let a stored document say these facts and mentions, and nothing else."""
        with self._database.write() as connection:
            refuse_damaged_settings(connection, "meta")
            _check_held(connection, doc_id)
            self._check_encoder(connection, embedder)
            check_knowledge(doc_id, facts, mentions, ())
            check_title(title)
            new = Knowledge(facts, mentions, vectors, metadata, title)
            affected = Affected()
            parts = replace_knowledge(connection, doc_id, new, affected)
            reconcile(connection, affected)
            if parts:
                forget_staged(connection, doc_id)
                record_change(connection, [doc_id], parts)
                seal_documents(connection, [doc_id], ["text", "knowledge", "vectors", "log"])
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


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a document says from now on.

    Attributes:
        facts: All of them.
        mentions: All of them.
        vectors: Of facts that have another vector than before, or had none.
        metadata: What it says of itself; None for what it said.
        title: Its title; None for the one that it has.
    """

    facts: Sequence[Fact]
    mentions: Sequence[Mention]
    vectors: Sequence[NodeVector] = ()
    metadata: Metadata | None = None
    title: str | None = None


def replace_knowledge(
    connection: sqlite3.Connection, doc_id: str, new: Knowledge, affected: Affected
) -> list[Part]:
    """Let a document say something else within the running transaction; the caller reconciles.

    Returns:
        Which parts have changed; all of them where the title or metadata have, by which lists of
        documents and indexes of words know it.
    """
    before = {part: part_sum(connection, doc_id, part) for part in ("text", "knowledge")}
    affected.note_document(connection, doc_id)
    for name in ("delete_evidence_of", "delete_mentions_of", "delete_names_of"):
        run(connection, name, doc_id)
    add_knowledge(connection, doc_id, new.facts, new.mentions, (), affected)
    moved = [(doc_id, v.node_id, v.key) for v in new.vectors]
    gone = run(connection, "delete_vectors_of_lost_facts", doc_id).rowcount
    gone += run_each(connection, "delete_other_vector", moved).rowcount
    added = add_vectors(connection, doc_id, new.vectors, affected)
    _describe(connection, doc_id, new)
    if part_sum(connection, doc_id, "text") != before["text"]:
        return list(ALL_PARTS)
    is_new = part_sum(connection, doc_id, "knowledge") != before["knowledge"]
    return list(_parts(knowledge=is_new, vectors=gone > 0 or added))


def _describe(connection: sqlite3.Connection, doc_id: str, new: Knowledge) -> None:
    """Write title and metadata, where they are given, and what follows from them."""
    if new.title is None and new.metadata is None:
        return
    title, text = run(connection, "described", doc_id).fetchone()
    title = title if new.title is None else new.title
    metadata = metadata_of(text) if new.metadata is None else new.metadata
    node = node_id(title, metadata)
    row = (title, normalize_name(title), metadata_text(metadata), node, doc_id)
    run(connection, "describe_document", *row)


def _parts(*, knowledge: bool, vectors: bool) -> Iterator[Part]:
    if knowledge:
        yield "knowledge"
    if vectors:
        yield "vectors"


def add_document(
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
        to_json(segment_rows(document.segments)),
        document.text,
        metadata_text(document.metadata),
        node_id(document.title, document.metadata),
    )


def _chunk_row(c: Chunk) -> tuple[str | int | None, ...]:
    path = to_json(c.heading_path)
    return (c.chunk_id, c.doc_id, c.size, c.position, c.start, c.end, c.parent_id, path, c.text)


def add_knowledge(
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


def _evidence_row(e: Evidence) -> tuple[str, int, int, str, str, str, float]:
    qualifiers = qualifiers_text(e.qualifiers)
    return (e.doc_id, e.start, e.end, e.extractor, e.chunk_id, qualifiers, e.confidence)
