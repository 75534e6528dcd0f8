"""Reading documents, chunks and summaries, with one statement a call for any number of ids."""

import json
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from kgrag.errors import StoreError
from kgrag.store.contents import SourceState
from kgrag.store.folders import shown_from
from kgrag.store.sqlite.cache import CacheFolder
from kgrag.store.sqlite.changes import Mark, changed_since, current_mark, is_known
from kgrag.store.sqlite.connection import Database
from kgrag.store.sqlite.role import Role
from kgrag.store.sqlite.statements import json_list, run
from kgrag.store.texts import metadata_of
from kgrag.text.messages import unpacked
from kgrag.types import Chunk, Document, Heading, Segment, Summary


class Documents(Role):
    """Reading documents; implements part of `kgrag.store.documents`."""

    def __init__(self, database: Database, cache: CacheFolder) -> None:
        super().__init__(database, cache)
        self._cards = Cards()

    def sources(self) -> list[SourceState]:
        return self._read(SourceState, "sources")

    def documents(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        if doc_ids is None:
            return self._read(document, "all_documents")
        return self._read(document, "documents", json_list(doc_ids))

    def document_cards(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        with self._reading() as connection:
            if doc_ids is None:
                return self._cards.all(connection)
            return _cards_of(connection, doc_ids)

    def headings(self, doc_ids: Sequence[str]) -> dict[str, list[Heading]]:
        found: dict[str, list[Heading]] = {}
        for doc_id, *heading in self._rows("headings", json_list(doc_ids)):
            found.setdefault(doc_id, []).append(Heading(*heading))
        return found

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        return self._read(chunk, "chunks", json_list(chunk_ids))

    def chunks_of(self, doc_ids: Sequence[str], *, size: int) -> list[Chunk]:
        return self._read(chunk, "chunks_of", json_list(doc_ids), size)

    def all_chunks_of(self, doc_id: str) -> list[Chunk]:
        """Return all chunks of a document, parents first, each group in reading order."""
        return self._read(chunk, "all_chunks_of", doc_id)

    def children(self, parent_ids: Sequence[str], *, size: int) -> list[Chunk]:
        return self._read(chunk, "children", json_list(parent_ids), size)

    def families(self, parent_ids: Sequence[str]) -> list[Chunk]:
        with self.snapshot() as here:
            parents = [c for c in here.chunks(parent_ids) if c.parent_id is None]
            families = {parent.chunk_id: [parent] for parent in parents}
            rows = here._rows("families", json_list(families))
            for chunk_id, doc_id, size, position, start, end, parent_id, path in rows:
                family = families[parent_id]
                parent = family[0]
                text = parent.text[start - parent.start : end - parent.start]
                place = (chunk_id, doc_id, size, position, start, end)
                family.append(Chunk(*place, text, parent_id, _heading_path(path)))
        return [chunk for family in families.values() for chunk in family]

    def summaries(self, summary_ids: Sequence[str] | None = None) -> list[Summary]:
        if summary_ids is None:
            return self._read(summary, "all_summaries")
        return self._read(summary, "summaries", json_list(summary_ids))

    def summaries_of(self, doc_id: str) -> list[Summary]:
        """Return a document's summaries, ordered by span."""
        return self._read(summary, "summaries_of", doc_id)


class Cards:
    """A cache of all document cards, which searches need after every change.

    Only changed documents are read again.
    """

    def __init__(self) -> None:
        self._read_at: tuple[Mark, dict[str, Document]] | None = None
        self._lock = threading.Lock()

    def all(self, connection: sqlite3.Connection) -> list[Document]:
        """Return the cards of all documents that the connection sees, ordered by id."""
        mark = current_mark(connection)
        with self._lock:
            known = self._read_at
        if known is None or not is_known(connection, known[0]):
            cards = {card.doc_id: card for card in _all_cards(connection)}
        else:
            cards = _renewed(known[1], connection, changed_since(connection, known[0], "chunks"))
        with self._lock:
            self._read_at = (mark, cards)
        return [cards[doc_id] for doc_id in sorted(cards)]


def _renewed(
    cards: dict[str, Document], connection: sqlite3.Connection, changed: list[str]
) -> dict[str, Document]:
    """Return cards without deleted documents, those of changed documents read again.

    Files are always read: sources change independently of content.
    """
    gone = set(changed)
    renewed = {doc_id: card for doc_id, card in cards.items() if doc_id not in gone}
    renewed.update((card.doc_id, card) for card in _cards_of(connection, changed))
    for doc_id, source, note in run(connection, "shown_sources"):
        file = shown_from(note)(source)
        if renewed[doc_id].file != file:
            renewed[doc_id] = replace(renewed[doc_id], file=file)
    return renewed


def _all_cards(connection: sqlite3.Connection) -> list[Document]:
    return [document(*row) for row in run(connection, "all_document_cards")]


def _cards_of(connection: sqlite3.Connection, doc_ids: Sequence[str]) -> list[Document]:
    return [document(*row) for row in run(connection, "document_cards", json_list(doc_ids))]


def document(*row: Any) -> Document:
    """Return the document of a row, or its card; StoreError if it is damaged."""
    doc_id, title, media_type, content_hash, warnings, properties, metadata, source, note, *rest = (
        row
    )
    segments, text = rest or ("[]", "")
    try:
        known = metadata_of(metadata)
    except (TypeError, ValueError) as exc:
        raise StoreError(
            f"the metadata of {doc_id} is damaged ({exc}): run `kgrag repair`"
        ) from exc
    return Document(
        doc_id=doc_id,
        title=title,
        text=text,
        file=shown_from(note)(source or ""),
        media_type=media_type,
        content_hash=content_hash,
        segments=tuple(Segment(*segment) for segment in json.loads(segments)),
        warnings=tuple(map(unpacked, json.loads(warnings))),
        properties=json.loads(properties),
        metadata=known,
    )


def chunk(*row: Any) -> Chunk:
    """Convert a row of the statement `chunks`."""
    return Chunk(*(*row[:-1], _heading_path(row[-1])))


def summary(*row: Any) -> Summary:
    """Convert a row of the statement `summaries`."""
    return Summary(*(*row[:-1], tuple(json.loads(row[-1]))))


@lru_cache(maxsize=4096)  # chunks of a section share it
def _heading_path(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))
