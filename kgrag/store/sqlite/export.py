"""Everything that a knowledge base holds as records in a fixed order."""

import hashlib
import json
import sqlite3
from collections.abc import Iterator

from kgrag.store.sqlite.read import headings

Record = dict[str, object]

# Record kind, its columns (those in _JSON hold JSON), and where they come from, in order.
_TABLES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("meta", ("key", "value"), "meta ORDER BY key"),
    (
        "chunk",
        (
            "chunk_id", "doc_id", "size", "position", "start", "end", "parent_id",
            "heading_path", "text",
        ),
        "chunks ORDER BY doc_id, size DESC, position",
    ),
    (
        "summary",
        ("summary_id", "doc_id", "start", "end", "level", "source", "target_ids", "text"),
        "summaries ORDER BY summary_id",
    ),
    ("entity", ("entity_id", "name", "type"), "entities ORDER BY entity_id"),
    (
        "entity-name",
        ("entity_id", "doc_id", "name", "type"),
        "entity_names ORDER BY entity_id, doc_id, name, type",
    ),
    ("fact", ("fact_id", "subject_id", "predicate", "object_id"), "facts ORDER BY fact_id"),
    (
        "evidence",
        (
            "fact_id", "doc_id", "start", "end", "extractor", "chunk_id", "confidence",
            "predicate",
        ),
        "evidence ORDER BY fact_id, doc_id, start, end, extractor, chunk_id",
    ),
    (
        "mention",
        ("entity_id", "doc_id", "start", "end", "extractor", "chunk_id", "confidence"),
        "mentions ORDER BY entity_id, doc_id, start, end, extractor, chunk_id",
    ),
    ("vector", ("node_id", "kind", "doc_id", "key"), "node_vectors ORDER BY node_id"),
)  # fmt: skip
_JSON = frozenset({"heading_path", "target_ids"})


def export(connection: sqlite3.Connection) -> Iterator[Record]:
    """Yield every record, first those of documents; no file paths, no row numbers."""
    yield from _documents(connection)
    for kind, columns, rest in _TABLES:
        for row in connection.execute(f"SELECT {', '.join(columns)} FROM {rest}"):
            values = (
                json.loads(value) if column in _JSON else value
                for column, value in zip(columns, row, strict=True)
            )
            yield {"record": kind, **dict(zip(columns, values, strict=True))}
    for key, vector in connection.execute("SELECT key, vector FROM embeddings ORDER BY key"):
        yield {
            "record": "embedding",
            "key": key,
            "dimension": len(vector) // 4,
            "sha256": hashlib.sha256(vector).hexdigest(),
        }


def _documents(connection: sqlite3.Connection) -> Iterator[Record]:
    for doc_id, title, media_type, content_hash, fingerprint, *rest, text in connection.execute(
        "SELECT doc_id, title, media_type, content_hash, fingerprint, warnings, metadata, segments,"
        " text FROM documents ORDER BY doc_id"
    ):
        warnings, metadata, segments = map(json.loads, rest)
        yield {
            "record": "document",
            "doc_id": doc_id,
            "title": title,
            "media_type": media_type,
            "content_hash": content_hash,
            "fingerprint": fingerprint,
            "warnings": warnings,
            "metadata": metadata,
            "segments": segments,
            "headings": [[h.start, h.end, h.level, h.text] for h in headings(connection, doc_id)],
            "text": text,
        }
