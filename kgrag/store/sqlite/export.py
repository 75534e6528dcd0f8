"""Everything that a knowledge base holds as records in a fixed order."""

import sqlite3
from collections.abc import Iterator

from kgrag.store import records
from kgrag.store.records import Record
from kgrag.store.sqlite.embeddings import from_blob
from kgrag.store.sqlite.read import (
    CHUNK_COLUMNS,
    SUMMARY_COLUMNS,
    all_meta,
    chunk,
    documents,
    headings,
    summary,
)
from kgrag.types import Entity, Evidence

_PLACE = "doc_id, start, end, chunk_id, extractor, confidence"
_PLACE_ORDER = "doc_id, start, end, extractor, chunk_id"


def export(connection: sqlite3.Connection) -> Iterator[Record]:
    """Yield every record, first those of documents; no file paths, no row numbers."""
    yield from _documents(connection)
    for key, value in all_meta(connection).items():
        yield records.meta_record(key, value)
    for row in connection.execute(
        f"SELECT {CHUNK_COLUMNS} FROM chunks c ORDER BY doc_id, size DESC, position"
    ):
        yield records.chunk_record(chunk(row))
    for row in connection.execute(f"SELECT {SUMMARY_COLUMNS} FROM summaries s ORDER BY summary_id"):
        yield records.summary_record(summary(row))
    yield from _graph(connection)
    for row in connection.execute(
        "SELECT node_id, kind, doc_id, key FROM node_vectors ORDER BY node_id, doc_id"
    ):
        yield records.vector_record(*row)
    for key, blob in connection.execute("SELECT key, vector FROM embeddings ORDER BY key"):
        yield records.embedding_record(key, from_blob(blob))


def _documents(connection: sqlite3.Connection) -> Iterator[Record]:
    rows = connection.execute("SELECT doc_id, fingerprint FROM documents ORDER BY doc_id")
    for doc_id, fingerprint in rows:
        document = documents(connection, [doc_id])[0]
        yield records.document_record(document, fingerprint, headings(connection, doc_id))


def _graph(connection: sqlite3.Connection) -> Iterator[Record]:
    for row in connection.execute("SELECT entity_id, name, type FROM entities ORDER BY entity_id"):
        yield records.entity_record(Entity(*row))
    for *entity, doc_id in connection.execute(
        "SELECT entity_id, name, type, doc_id FROM entity_names"
        " ORDER BY entity_id, doc_id, name, type"
    ):
        yield records.entity_name_record(Entity(*entity), doc_id)
    for row in connection.execute(
        "SELECT fact_id, subject_id, predicate, object_id FROM facts ORDER BY fact_id"
    ):
        yield records.fact_record(*row)
    for fact_id, predicate, *place in connection.execute(
        f"SELECT fact_id, predicate, {_PLACE} FROM evidence ORDER BY fact_id, {_PLACE_ORDER}"
    ):
        yield records.evidence_record(fact_id, Evidence(*place), predicate)
    for entity_id, *place in connection.execute(
        f"SELECT entity_id, {_PLACE} FROM mentions ORDER BY entity_id, {_PLACE_ORDER}"
    ):
        yield records.mention_record(entity_id, Evidence(*place))
