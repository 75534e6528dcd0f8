"""Settings, decisions of people, and documents: storing them, each in one transaction."""

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence

from kgrag.errors import NotFoundError
from kgrag.kb_meta import NOTE
from kgrag.store.checks import check_bundle, check_encoder, check_knowledge, check_settings
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.store.decisions import Correction, Decision, check_decided
from kgrag.store.sqlite.changes import Part, current_mark, record_change
from kgrag.store.sqlite.embeddings import add_vectors
from kgrag.store.sqlite.reconcile import Affected, reconcile
from kgrag.store.sqlite.role import Role, T
from kgrag.store.sqlite.seals import (
    DECIDED,
    part_sum,
    refuse_damaged_settings,
    seal_documents,
    seal_settings,
)
from kgrag.store.sqlite.statements import run, run_each
from kgrag.store.texts import metadata_text, qualifiers_text, segment_rows, to_json
from kgrag.text.document_nodes import node_id
from kgrag.text.messages import packed
from kgrag.text.words import normalize_name
from kgrag.types import Chunk, Document, Entity, Evidence, Fact, Mention, Summary


class Writing(Role):
    """The methods that write, and settings; see `kgrag.store.whole`, `decisions`, `documents`."""

    def get_meta(self, key: str) -> str | None:
        """Return a setting or note, or None; StoreError if any is damaged."""
        if not key.startswith(NOTE):
            return self.all_meta().get(key)
        with self._reading() as connection:
            refuse_damaged_settings(connection, "meta")
            row = run(connection, "setting", key).fetchone()
        return None if row is None else str(row[0])

    def all_meta(self) -> dict[str, str]:
        """Return all settings, ordered by key; StoreError if one is damaged or invalid."""
        with self._reading() as connection:
            refuse_damaged_settings(connection, "meta")
            return check_settings(dict(run(connection, "settings").fetchall()))

    def notes(self, prefix: str) -> dict[str, str]:
        with self._reading() as connection:
            return dict(run(connection, "notes_of", prefix).fetchall())

    def set_meta(self, values: Mapping[str, str]) -> None:
        with self._database.write() as connection:
            run_each(connection, "put_setting", values.items())
            seal_settings(connection)

    def change_counter(self) -> int:
        with self._reading() as connection:
            return current_mark(connection).seq

    def corrections(self) -> dict[str, dict[str, str]]:
        """Return corrections by document and field; StoreError if one is damaged."""
        found: dict[str, dict[str, str]] = {}
        with self._reading() as connection:
            refuse_damaged_settings(connection, "corrections")
            for doc_id, field, value in run(connection, "corrections"):
                found.setdefault(doc_id, {})[field] = value
        return found

    def decisions(self) -> list[Decision]:
        """Return decisions, ordered by kind and names; StoreError if one is damaged."""
        with self._reading() as connection:
            refuse_damaged_settings(connection, "decisions")
            return [Decision(*row) for row in run(connection, "decisions")]

    def decide(
        self,
        *,
        corrections: Iterable[Correction] = (),
        decisions: Iterable[Decision] = (),
        taken_back: Iterable[Decision] = (),
    ) -> bool:
        told, put, gone = tuple(corrections), tuple(decisions), tuple(taken_back)
        check_decided(told, (*put, *gone))
        cleared = [(doc_id, field) for doc_id, field, value in told if value is None]
        with self._database.write() as connection:
            refuse_damaged_settings(connection, *DECIDED)
            before = connection.total_changes
            run_each(connection, "put_correction", [row for row in told if row[2] is not None])
            run_each(connection, "delete_correction", cleared)
            run_each(connection, "delete_decision", [(d.kind, d.name, d.into) for d in gone])
            run_each(connection, "add_decision", [(d.kind, d.name, d.into) for d in put])
            is_new = connection.total_changes > before
            if is_new:
                record_change(connection, [])
                seal_settings(connection, DECIDED)
        return is_new

    def in_one(self, work: Callable[[], T], *, alone: bool = True) -> T:
        with self._database.whole():
            return work()

    def upsert_document(self, bundle: DocumentBundle, *, source: str) -> str | None:
        doc_id = bundle.document.doc_id
        with self._database.write() as connection:
            held = run(connection, "fingerprint", doc_id).fetchone()
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
        return held and str(held[0])

    def attach_source(self, source: str, doc_id: str) -> None:
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

    def detach_source(self, source: str) -> None:
        with self._database.write() as connection:
            refuse_damaged_settings(connection, "meta")
            affected = Affected()
            removed = _release_source(connection, source, affected, keep="")
            if removed:
                reconcile(connection, affected)
                record_change(connection, removed)
            seal_documents(connection, removed)
            seal_settings(connection)

    def delete_document(self, doc_id: str) -> bool:
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
                run(connection, "delete_staged_document", doc_id)
                record_change(connection, [doc_id], parts)
                seal_documents(connection, [doc_id], ["summaries", "knowledge", "vectors", "log"])
                seal_settings(connection)

    def replace_knowledge(
        self,
        doc_id: str,
        *,
        facts: Sequence[Fact],
        mentions: Sequence[Mention],
    ) -> None:
        with self._database.write() as connection:
            refuse_damaged_settings(connection, "meta")
            _check_held(connection, doc_id)
            check_knowledge(doc_id, facts, mentions, ())
            before = part_sum(connection, doc_id, "knowledge")
            affected = Affected()
            affected.note_document(connection, doc_id)
            for name in ("delete_evidence_of", "delete_mentions_of", "delete_names_of"):
                run(connection, name, doc_id)
            add_knowledge(connection, doc_id, facts, mentions, (), affected)
            parts: list[Part] = []
            if part_sum(connection, doc_id, "knowledge") != before:
                parts.append("knowledge")
            if run(connection, "delete_vectors_of_lost_facts", doc_id).rowcount > 0:
                parts.append("vectors")
            reconcile(connection, affected)
            if parts:
                run(connection, "delete_staged_document", doc_id)
                record_change(connection, [doc_id], parts)
                seal_documents(connection, [doc_id], ["knowledge", "vectors", "log"])
                seal_settings(connection)

    def _check_encoder(self, connection: sqlite3.Connection, embedder: str) -> None:
        with self._on(connection) as here:
            check_encoder(embedder, here.get_meta("embedder"))


def carry_corrections(connection: sqlite3.Connection, source: str, doc_id: str) -> None:
    """Transfer corrections to a document from the one that its source contained before.

    A document's existing corrections take precedence. The other document keeps its corrections
    where it has another source.
    """
    row = run(connection, "document_of", source).fetchone()
    if row is None or row[0] == doc_id:
        return
    previous = row[0]
    theirs = run(connection, "corrections_of", previous).fetchall()
    if not theirs or run(connection, "corrections_of", doc_id).fetchone():
        return
    refuse_damaged_settings(connection, "corrections")
    if run(connection, "sources_of", previous).fetchall() == [(source,)]:
        run(connection, "delete_corrections_of", previous)
    run_each(connection, "put_correction", [(doc_id, *correction) for correction in theirs])
    seal_settings(connection, ["corrections"])


def _release_source(
    connection: sqlite3.Connection, source: str, affected: Affected, *, keep: str
) -> list[str]:
    """Detach a source from its document; return the document if it was removed."""
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
    """Delete a document's rows and note what they supported."""
    affected.note_document(connection, doc_id)
    return run(connection, "delete_document", doc_id).rowcount > 0


def _check_held(connection: sqlite3.Connection, doc_id: str) -> None:
    if not run(connection, "is_held", doc_id).fetchone():
        raise NotFoundError(
            "document {doc_id!r} is not in the knowledge base: ingest it first", doc_id=doc_id
        )


def add_document(
    connection: sqlite3.Connection, bundle: DocumentBundle, sources: Iterable[str]
) -> None:
    """Insert a document, its sources, headings and chunks."""
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
        to_json(list(map(packed, document.warnings))),
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
    """Insert missing knowledge; the caller reconciles."""
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
