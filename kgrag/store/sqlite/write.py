"""Storing and deleting documents, each call within one transaction of the caller's."""

import json
import sqlite3
from collections.abc import Iterable, Sequence

from kgrag.errors import NotFoundError
from kgrag.store.checks import check_bundle, check_encoder, check_knowledge
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.store.sqlite.changes import Part, record_change
from kgrag.store.sqlite.embeddings import add_vectors
from kgrag.store.sqlite.read import get_meta
from kgrag.store.sqlite.seals import refuse_damaged_settings, seal_documents, seal_settings
from kgrag.store.sqlite.settle import Touched, settle
from kgrag.store.sqlite.staged import forget_staged
from kgrag.text import normalize_name
from kgrag.types import Chunk, Document, Entity, Evidence, Fact, Heading, Mention, Summary


def set_meta(connection: sqlite3.Connection, items: Iterable[tuple[str, str]]) -> None:
    """Record settings."""
    connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(items))
    seal_settings(connection)


def upsert_document(connection: sqlite3.Connection, bundle: DocumentBundle, *, source: str) -> None:
    """Store a document in place of its old self and of what only `source` held.

    Raises:
        ValueError: If a part of the bundle belongs to another document, or a fact lacks evidence.
        ModelMismatchError: If its vectors are of another encoder than is recorded.
    """
    doc_id = bundle.document.doc_id
    check_bundle(bundle)
    check_encoder(bundle.embedder, get_meta(connection, "embedder"))
    touched = Touched()
    changed = {doc_id, *_release_source(connection, source, touched, keep=doc_id)}
    sources = {source, *_sources_of(connection, doc_id)}
    _remove(connection, doc_id, touched)
    _add_document(connection, bundle.document, bundle.fingerprint)
    connection.executemany("INSERT INTO sources VALUES (?, ?)", [(s, doc_id) for s in sources])
    _add_headings(connection, doc_id, bundle.headings)
    _add_chunks(connection, bundle.chunks)
    _add_knowledge(connection, doc_id, bundle.facts, bundle.mentions, bundle.summaries, touched)
    add_vectors(connection, doc_id, bundle.vectors, touched)
    settle(connection, touched)
    record_change(connection, sorted(changed))
    seal_documents(connection, sorted(changed))
    seal_settings(connection)


def attach_source(connection: sqlite3.Connection, source: str, doc_id: str) -> None:
    """Record that `source` holds a stored document, and drop what only it held before.

    Raises:
        NotFoundError: If the document is not held.
    """
    refuse_damaged_settings(connection, "meta")
    _check_held(connection, doc_id)
    touched = Touched()
    removed = _release_source(connection, source, touched, keep=doc_id)
    connection.execute("INSERT OR REPLACE INTO sources VALUES (?, ?)", (source, doc_id))
    if removed:
        settle(connection, touched)
        record_change(connection, removed)
    seal_documents(connection, removed)
    seal_documents(connection, [doc_id], ["sources"])
    seal_settings(connection)


def delete_document(connection: sqlite3.Connection, doc_id: str) -> bool:
    """Delete a document and what nothing else supports; return whether it was held."""
    refuse_damaged_settings(connection, "meta")
    touched = Touched()
    held = _remove(connection, doc_id, touched)
    if held:
        settle(connection, touched)
        record_change(connection, [doc_id])
        seal_documents(connection, [doc_id])
        seal_settings(connection)
    return held


def add_knowledge(
    connection: sqlite3.Connection,
    doc_id: str,
    *,
    facts: Sequence[Fact],
    mentions: Sequence[Mention],
    summaries: Sequence[Summary],
    vectors: Sequence[NodeVector],
    embedder: str = "",
) -> None:
    """Add to a stored document what it does not have yet.

    Raises:
        NotFoundError: If the document is not held.
        ValueError: If something belongs to another document, or a fact lacks evidence.
        ModelMismatchError: If the vectors are of another encoder than is recorded.
    """
    _check_held(connection, doc_id)
    check_encoder(embedder, get_meta(connection, "embedder"))
    check_knowledge(doc_id, facts, mentions, summaries)
    touched = Touched()
    parts: list[Part] = []
    before = connection.total_changes
    _add_knowledge(connection, doc_id, facts, mentions, summaries, touched)
    if connection.total_changes > before:
        parts.append("knowledge")
    if add_vectors(connection, doc_id, vectors, touched):
        parts.append("vectors")
    settle(connection, touched)
    if parts:
        forget_staged(connection, doc_id)
        record_change(connection, [doc_id], parts)
        seal_documents(connection, [doc_id], ["summaries", "knowledge", "vectors", "log"])
        seal_settings(connection)


def _release_source(
    connection: sqlite3.Connection, source: str, touched: Touched, *, keep: str
) -> list[str]:
    """Take the source from the document that it held; return that document if it had to go."""
    row = connection.execute("SELECT doc_id FROM sources WHERE source = ?", (source,)).fetchone()
    if row is None or row[0] == keep:
        return []
    previous = str(row[0])
    connection.execute("DELETE FROM sources WHERE source = ?", (source,))
    if _sources_of(connection, previous):
        seal_documents(connection, [previous], ["sources"])
        return []
    _remove(connection, previous, touched)
    return [previous]


def _sources_of(connection: sqlite3.Connection, doc_id: str) -> list[str]:
    rows = connection.execute("SELECT source FROM sources WHERE doc_id = ?", (doc_id,))
    return [source for (source,) in rows]


def _remove(connection: sqlite3.Connection, doc_id: str, touched: Touched) -> bool:
    """Delete a document's rows and note what they may leave without support."""
    touched.note_document(connection, doc_id)
    # Everything that names the document goes with it (ON DELETE CASCADE).
    cursor = connection.execute("DELETE FROM documents WHERE doc_id = ?", (doc_id,))
    return cursor.rowcount > 0


def _check_held(connection: sqlite3.Connection, doc_id: str) -> None:
    if not connection.execute("SELECT 1 FROM documents WHERE doc_id = ?", (doc_id,)).fetchone():
        raise NotFoundError(f"document {doc_id!r} is not in the knowledge base: ingest it first")


def _add_document(connection: sqlite3.Connection, document: Document, fingerprint: str) -> None:
    segments = [(s.start, s.end, s.kind, s.number) for s in document.segments]
    connection.execute(
        "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            document.doc_id,
            document.title,
            normalize_name(document.title),
            document.media_type,
            document.content_hash,
            fingerprint,
            len(document.text),
            to_json(list(document.warnings)),
            to_json(dict(document.metadata)),
            to_json(segments),
            document.text,
        ),
    )


def _add_headings(connection: sqlite3.Connection, doc_id: str, headings: Sequence[Heading]) -> None:
    connection.executemany(
        "INSERT INTO headings VALUES (?, ?, ?, ?, ?, ?)",
        [(doc_id, i, h.start, h.end, h.level, h.text) for i, h in enumerate(headings)],
    )


def _add_chunks(connection: sqlite3.Connection, chunks: Sequence[Chunk]) -> None:
    connection.executemany(
        "INSERT INTO chunks (chunk_id, doc_id, size, position, start, end, parent_id,"
        " heading_path, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                c.chunk_id,
                c.doc_id,
                c.size,
                c.position,
                c.start,
                c.end,
                c.parent_id,
                to_json(c.heading_path),
                c.text,
            )
            for c in chunks
        ],
    )


def _add_knowledge(
    connection: sqlite3.Connection,
    doc_id: str,
    facts: Sequence[Fact],
    mentions: Sequence[Mention],
    summaries: Sequence[Summary],
    touched: Touched,
) -> None:
    """Insert what is not there yet; the caller settles afterwards."""
    entities = [e for f in facts for e in (f.subject, f.object)] + [m.entity for m in mentions]
    _add_entities(connection, doc_id, entities)
    touched.entities.update(e.entity_id for e in entities)
    touched.facts.update(f.fact_id for f in facts)
    connection.executemany(
        "INSERT INTO facts VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(f.fact_id, f.subject.entity_id, f.object.entity_id, f.predicate) for f in facts],
    )
    connection.executemany(
        "INSERT INTO evidence VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(f.fact_id, *_evidence_row(e), f.predicate) for f in facts for e in f.evidence],
    )
    connection.executemany(
        "INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(m.entity.entity_id, *_evidence_row(m.evidence)) for m in mentions],
    )
    connection.executemany(
        "INSERT INTO summaries VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [
            (s.summary_id, doc_id, s.start, s.end, s.level, s.source, to_json(s.target_ids), s.text)
            for s in summaries
        ],
    )


def _add_entities(connection: sqlite3.Connection, doc_id: str, entities: Sequence[Entity]) -> None:
    distinct = {(e.entity_id, e.name, e.type) for e in entities}
    connection.executemany(
        "INSERT INTO entities (entity_id, normalized, name, type) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (entity_id) DO NOTHING",
        [(e, normalize_name(name), name, type_) for e, name, type_ in sorted(distinct)],
    )
    connection.executemany(
        "INSERT INTO entity_names VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        [(e, doc_id, name, type_) for e, name, type_ in sorted(distinct)],
    )


def _evidence_row(e: Evidence) -> tuple[str, int, int, str, str, float]:
    return (e.doc_id, e.start, e.end, e.extractor, e.chunk_id, e.confidence)


def to_json(value: object) -> str:
    """Return compact JSON with sorted keys: the same value gives the same text."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
