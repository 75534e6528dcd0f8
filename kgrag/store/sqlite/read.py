"""Reading documents, chunks and summaries: one statement a call, however many ids."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from kgrag.store.checks import check_settings
from kgrag.store.contents import Counts, SourceState
from kgrag.store.sqlite.seals import refuse_damaged_settings
from kgrag.types import Chunk, Document, Heading, Segment, Summary

CHUNK_COLUMNS = (
    "c.chunk_id, c.doc_id, c.size, c.position, c.start, c.end, c.text, c.parent_id, c.heading_path"
)
_CHILD_COLUMNS = (
    "c.chunk_id, c.doc_id, c.size, c.position, c.start, c.end, c.parent_id, c.heading_path"
)
SUMMARY_COLUMNS = "s.summary_id, s.doc_id, s.start, s.end, s.text, s.level, s.source, s.target_ids"
# A document shows the smallest of its sources, whatever the order in which they came.
_CARD_COLUMNS = (
    "d.doc_id, d.title, d.media_type, d.content_hash, d.warnings, d.metadata,"
    " (SELECT min(source) FROM sources f WHERE f.doc_id = d.doc_id)"
)


def get_meta(connection: sqlite3.Connection, key: str) -> str | None:
    """Return a setting, or None; StoreError if any is damaged."""
    return all_meta(connection).get(key)


def all_meta(connection: sqlite3.Connection) -> dict[str, str]:
    """Return every setting, ordered by key.

    Raises:
        StoreError: If one is not as it was stored, or of no use.
    """
    refuse_damaged_settings(connection, "meta")
    rows = connection.execute("SELECT key, value FROM meta ORDER BY key")
    return check_settings(dict(rows.fetchall()))


def sources(connection: sqlite3.Connection) -> list[SourceState]:
    """Return every source, ordered by source."""
    rows = connection.execute(
        "SELECT s.source, s.doc_id, d.fingerprint FROM documents d INDEXED BY documents_cards"
        " CROSS JOIN sources s ON s.doc_id = d.doc_id ORDER BY s.source"
    )
    return [SourceState(*row) for row in rows]


def documents(
    connection: sqlite3.Connection, doc_ids: Sequence[str] | None = None
) -> list[Document]:
    """Return documents with text and segments."""
    rows = _rows(connection, _CARD_COLUMNS + ", d.segments, d.text", "documents d", doc_ids)
    return [_document(card, segments, text) for *card, segments, text in rows]


def document_cards(
    connection: sqlite3.Connection, doc_ids: Sequence[str] | None = None
) -> list[Document]:
    """Return documents without text and segments."""
    rows = _rows(connection, _CARD_COLUMNS, "documents d", doc_ids)
    return [_document(list(card), "[]", "") for card in rows]


def headings(connection: sqlite3.Connection, doc_id: str) -> list[Heading]:
    """Return a document's headings in the order in which they were stored."""
    return headings_of(connection, [doc_id]).get(doc_id, [])


def headings_of(connection: sqlite3.Connection, doc_ids: Sequence[str]) -> dict[str, list[Heading]]:
    """Return the headings of documents by document."""
    rows = connection.execute(
        "SELECT j.value, h.start, h.end, h.level, h.text FROM json_each(?) j"
        " CROSS JOIN headings h ON h.doc_id = j.value ORDER BY j.key, h.position",
        (json.dumps(list(doc_ids)),),
    )
    found: dict[str, list[Heading]] = {}
    for doc_id, *heading in rows:
        found.setdefault(doc_id, []).append(Heading(*heading))
    return found


def chunks(connection: sqlite3.Connection, chunk_ids: Sequence[str]) -> list[Chunk]:
    """Return chunks in the order asked."""
    return _chunks(
        connection, "json_each(?1) j CROSS JOIN chunks c ON c.chunk_id = j.value", chunk_ids, 0
    )


def chunks_of(connection: sqlite3.Connection, doc_ids: Sequence[str], size: int) -> list[Chunk]:
    """Return a group of documents' chunks in reading order."""
    return _chunks(
        connection,
        "json_each(?1) j CROSS JOIN chunks c ON c.doc_id = j.value AND c.size = ?2",
        doc_ids,
        size,
    )


def all_chunks(connection: sqlite3.Connection, doc_id: str) -> list[Chunk]:
    """Return all groups of a document, parents first, each in reading order."""
    rows = connection.execute(
        f"SELECT {CHUNK_COLUMNS} FROM chunks c WHERE c.doc_id = ?"
        " ORDER BY c.parent_id IS NOT NULL, c.size DESC, c.position",
        (doc_id,),
    )
    return [chunk(row) for row in rows]


def children(connection: sqlite3.Connection, parent_ids: Sequence[str], size: int) -> list[Chunk]:
    """Return a group of parents' children in reading order."""
    return _chunks(
        connection,
        "json_each(?1) j CROSS JOIN chunks c ON c.parent_id = j.value AND c.size = ?2",
        parent_ids,
        size,
    )


def families(connection: sqlite3.Connection, parent_ids: Sequence[str]) -> list[Chunk]:
    """Return parents, each followed by all its children."""
    parents = [c for c in chunks(connection, parent_ids) if c.parent_id is None]
    families = {parent.chunk_id: [parent] for parent in parents}
    rows = connection.execute(
        f"SELECT {_CHILD_COLUMNS} FROM json_each(?) j CROSS JOIN chunks c"
        " ON c.parent_id = j.value ORDER BY j.key, c.size DESC, c.position",
        (json.dumps(list(families)),),
    )
    for chunk_id, doc_id, size, position, start, end, parent_id, path in rows:
        family = families[parent_id]
        parent = family[0]  # its text holds the child's: that is not read
        text = parent.text[start - parent.start : end - parent.start]
        place = (chunk_id, doc_id, size, position, start, end)
        family.append(Chunk(*place, text, parent_id, _heading_path(path)))
    return [chunk for family in families.values() for chunk in family]


def summaries(
    connection: sqlite3.Connection, summary_ids: Sequence[str] | None = None
) -> list[Summary]:
    """Return summaries in the order asked, or all by document and place."""
    if summary_ids is None:
        rows = connection.execute(
            f"SELECT {SUMMARY_COLUMNS} FROM summaries s"
            " ORDER BY s.doc_id, s.start, s.end, s.summary_id"
        )
    else:
        rows = connection.execute(
            f"SELECT {SUMMARY_COLUMNS} FROM json_each(?) j"
            " CROSS JOIN summaries s ON s.summary_id = j.value ORDER BY j.key",
            (json.dumps(list(summary_ids)),),
        )
    return [summary(row) for row in rows]


def summaries_of(connection: sqlite3.Connection, doc_id: str) -> list[Summary]:
    """Return a document's summaries, ordered by place."""
    rows = connection.execute(
        f"SELECT {SUMMARY_COLUMNS} FROM summaries s WHERE s.doc_id = ?"
        " ORDER BY s.start, s.end, s.summary_id",
        (doc_id,),
    )
    return [summary(row) for row in rows]


def counts(connection: sqlite3.Connection) -> Counts:
    """Return how many of each are stored; `vectors` counts distinct ones."""

    def count(table: str) -> int:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    characters = connection.execute("SELECT coalesce(sum(characters), 0) FROM documents")
    sizes = connection.execute("SELECT size, count(*) FROM chunks GROUP BY size ORDER BY size DESC")
    return Counts(
        documents=count("documents"),
        characters=int(characters.fetchone()[0]),
        chunks=dict(sizes.fetchall()),
        summaries=count("summaries"),
        entities=count("entities"),
        facts=count("facts"),
        mentions=count("mentions"),
        vectors=count("embeddings"),
    )


def chunk(row: Sequence[Any]) -> Chunk:
    """Return the chunk of a row of `CHUNK_COLUMNS`."""
    return Chunk(*(*row[:-1], _heading_path(row[-1])))


def summary(row: Sequence[Any]) -> Summary:
    """Return the summary of a row of `SUMMARY_COLUMNS`."""
    return Summary(*(*row[:-1], tuple(json.loads(row[-1]))))


@lru_cache(maxsize=4096)  # the chunks of a section have the same
def _heading_path(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _chunks(
    connection: sqlite3.Connection, tables: str, ids: Sequence[str], size: int
) -> list[Chunk]:
    # ?2 stands in some of the statements only, so it is bound by number in all of them.
    rows = connection.execute(
        f"SELECT {CHUNK_COLUMNS} FROM {tables} WHERE ?2 = ?2 ORDER BY j.key, c.position",
        (json.dumps(list(ids)), size),
    )
    return [chunk(row) for row in rows]


def _rows(
    connection: sqlite3.Connection, columns: str, table: str, doc_ids: Sequence[str] | None
) -> sqlite3.Cursor:
    if doc_ids is None:
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY d.doc_id")
    return connection.execute(
        f"SELECT {columns} FROM json_each(?) j CROSS JOIN {table} ON d.doc_id = j.value"
        " ORDER BY j.key",
        (json.dumps(list(doc_ids)),),
    )


def _document(card: Sequence[str], segments: str, text: str) -> Document:
    doc_id, title, media_type, content_hash, warnings, metadata, file = card
    facts: Mapping[str, str] = json.loads(metadata)
    return Document(
        doc_id=doc_id,
        title=title,
        text=text,
        file=file or "",
        media_type=media_type,
        content_hash=content_hash,
        segments=tuple(Segment(*segment) for segment in json.loads(segments)),
        warnings=tuple(json.loads(warnings)),
        metadata=facts,
    )
