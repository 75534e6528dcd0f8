"""What a document brings as rows of the tables."""

import sqlite3
from collections.abc import Iterable, Sequence

from kgrag.language.document_nodes import node_id
from kgrag.language.text import normalize_name
from kgrag.store.contents import DocumentBundle
from kgrag.store.sqlite.reconcile import Affected
from kgrag.store.sqlite.statements import run, run_each
from kgrag.store.texts import metadata_text, qualifiers_text, segment_rows, to_json
from kgrag.types import Chunk, Document, Entity, Evidence, Fact, Mention, Summary


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
