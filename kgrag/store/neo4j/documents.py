"""Documents, chunks and summaries: one statement a call, however many ids."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from kgrag.store.contents import DocumentBundle, NodeVector, SourceState
from kgrag.store.folders import shown_from
from kgrag.store.neo4j import write
from kgrag.store.neo4j.base import read_base
from kgrag.store.neo4j.connection import Database, Row, Transaction
from kgrag.store.neo4j.graph_write import release
from kgrag.store.neo4j.labels import write_despite_constraints
from kgrag.store.neo4j.nodes import chunk_of
from kgrag.store.texts import metadata_of
from kgrag.text.messages import unpacked
from kgrag.types import Chunk, Document, Fact, Heading, Mention, Segment, Summary

_T = TypeVar("_T")
_TRIES = 3  # at a document that others replace meanwhile
# Properties that every node has.
_CARD = ("title", "media_type", "content_hash", "warnings", "properties", "characters")
_CHUNK = ("doc_id", "size", "index", "start", "end", "text", "heading_path")
_SUMMARY = ("doc_id", "start", "end", "text", "level", "source", "target_ids")


class Documents:
    """Documents with all that makes them up; see `kgrag.store.documents.DocumentStore`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def upsert_document(self, bundle: DocumentBundle, *, source: str) -> str | None:
        return self._write(lambda tx: write.upsert_document(tx, bundle, source=source))

    def attach_source(self, source: str, doc_id: str) -> None:
        self._write(lambda tx: write.attach_source(tx, source, doc_id))

    def detach_source(self, source: str) -> None:
        self._write(lambda tx: _detach(tx, source))

    def delete_document(self, doc_id: str) -> bool:
        return self._write(lambda tx: write.delete_document(tx, doc_id))

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
        write_despite_constraints(
            self._database,
            lambda tx: write.add_knowledge(
                tx,
                doc_id,
                facts=facts,
                mentions=mentions,
                summaries=summaries,
                vectors=vectors,
                embedder=embedder,
            ),
        )

    def replace_knowledge(
        self,
        doc_id: str,
        *,
        facts: Sequence[Fact],
        mentions: Sequence[Mention],
    ) -> None:
        write_despite_constraints(
            self._database, lambda tx: write.replace_knowledge(tx, doc_id, facts, mentions)
        )

    def sources(self) -> list[SourceState]:
        rows = self._database.read("sources")
        return sorted((SourceState(*row) for row in rows), key=lambda state: state.source)

    def documents(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        """Return documents with text and segments.

        Card and text are two statements: a document that is replaced between them is read again.
        """
        found: dict[str, Document] = {}
        wanted = doc_ids
        for _ in range(_TRIES):
            cards = self._cards(wanted)
            read = self._with_text(cards)
            found |= read
            wanted = [d for d, card in cards.items() if len(read[d].text) != card["characters"]]
            if not wanted:
                break
        return in_order(found, sorted(found) if doc_ids is None else doc_ids)

    def document_cards(self, doc_ids: Sequence[str] | None = None) -> list[Document]:
        cards = self._cards(doc_ids)
        found = {doc_id: _document(card) for doc_id, card in cards.items()}
        return in_order(found, sorted(cards) if doc_ids is None else doc_ids)

    def headings(self, doc_ids: Sequence[str]) -> dict[str, list[Heading]]:
        return {
            row["id"]: [Heading(*heading) for heading in json.loads(row["headings"])]
            for row in complete(self._database.read("layouts", ids=list(doc_ids)), "headings")
        }

    def chunks(self, chunk_ids: Sequence[str]) -> list[Chunk]:
        rows = self._database.read("chunks", ids=list(chunk_ids)) if chunk_ids else []
        return in_order({c.chunk_id: c for c in _chunks(rows)}, chunk_ids)

    def chunks_of(self, doc_ids: Sequence[str], *, size: int) -> list[Chunk]:
        rows = self._database.read("chunks_of", ids=list(doc_ids), size=size) if doc_ids else []
        groups = _grouped(rows, lambda c: c.doc_id)
        return [c for doc_id in doc_ids for c in groups[doc_id]]

    def children(self, parent_ids: Sequence[str], *, size: int) -> list[Chunk]:
        ids = list(parent_ids)
        rows = self._database.read("children", ids=ids, size=size) if ids else []
        groups = _grouped(rows, lambda c: c.parent_id or "")
        return [c for parent_id in parent_ids for c in groups[parent_id]]

    def families(self, parent_ids: Sequence[str]) -> list[Chunk]:
        rows = self._database.read("families", ids=list(parent_ids)) if parent_ids else []
        groups = _grouped(rows, lambda c: c.parent_id or c.chunk_id)
        return [c for parent_id in parent_ids for c in groups[parent_id]]

    def summaries(self, summary_ids: Sequence[str] | None = None) -> list[Summary]:
        if summary_ids is None:
            return _by_place(_summaries(self._database.read("all_summaries")))
        rows = self._database.read("summaries", ids=list(summary_ids)) if summary_ids else []
        return in_order({s.summary_id: s for s in _summaries(rows)}, summary_ids)

    def all_chunks(self, doc_ids: Sequence[str]) -> Mapping[str, list[Chunk]]:
        """Return all groups of documents by document, parents first, each in reading order."""
        rows = self._database.read("chunks_of_documents", ids=list(doc_ids))
        return _grouped(rows, lambda c: c.doc_id)

    def _write(self, work: Callable[[Transaction], _T]) -> _T:
        """Return what a change of documents returns; see `write_despite_constraints`."""
        result = write_despite_constraints(self._database, work)
        self._finish_deletions()
        return result

    def _finish_deletions(self) -> None:
        """Delete what is left of large documents, some at a time."""
        while read_base(self._database)["deleting"]:
            self._database.write(write.delete_remains)

    def _revision(self, doc_id: str) -> str | None:
        """Return a value that changes with each change of a document; None if it is not stored."""
        rows = self._database.read("revision", id=doc_id)
        return str(rows[0]["revision"]) if rows else None

    def _cards(self, doc_ids: Sequence[str] | None) -> dict[str, Row]:
        if doc_ids is None:
            rows = self._database.read("all_cards")
        else:
            rows = self._database.read("cards", ids=list(doc_ids)) if doc_ids else []
        return {row["id"]: row for row in complete(rows, *_CARD)}

    def _with_text(self, cards: Mapping[str, Row]) -> dict[str, Document]:
        ids = sorted(cards)
        if not ids:
            return {}
        rows = complete(self._database.read("layouts", ids=ids), "segments")
        segments = {row["id"]: row["segments"] for row in rows}
        parents: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
        for row in complete(self._database.read("texts", ids=ids), "text"):
            parents[row["id"]].append((row["index"], row["text"]))
        return {
            doc_id: _document(
                card,
                text="".join(text for _, text in sorted(parents[doc_id])),
                segments=segments.get(doc_id, "[]"),
            )
            for doc_id, card in cards.items()
        }


def _detach(tx: Transaction, source: str) -> None:
    if doc_id := release(tx, source):
        write.delete_document(tx, doc_id)


def summaries_of(database: Database, doc_id: str) -> list[Summary]:
    """Return a document's summaries by place."""
    return _by_place(_summaries(database.read("summaries_of_document", id=doc_id)))


def batches(doc_ids: Sequence[str], size: int = 16) -> Iterator[list[str]]:
    """Yield so many documents at a time: few round trips, few texts in memory."""
    for start in range(0, len(doc_ids), size):
        yield list(doc_ids[start : start + size])


def complete(rows: Iterable[Row], *required: str) -> list[Row]:
    """Return the rows that have an id and all required values.

    Of a node that another transaction deletes meanwhile, Neo4j reads properties as null.
    """
    return [row for row in rows if all(row[key] is not None for key in ("id", *required))]


def in_order(found: Mapping[str, _T], ids: Iterable[str]) -> list[_T]:
    """Return what was found in the order asked."""
    return [found[i] for i in ids if i in found]


def _chunks(rows: Iterable[Row]) -> list[Chunk]:
    return [chunk_of(row) for row in complete(rows, *_CHUNK)]


def _summaries(rows: Iterable[Row]) -> list[Summary]:
    return [
        Summary(
            row["id"], row["doc_id"], row["start"], row["end"], row["text"], row["level"],
            row["source"], tuple(row["target_ids"]),
        )
        for row in complete(rows, *_SUMMARY)
    ]  # fmt: skip


def _document(card: Row, *, text: str = "", segments: str = "[]") -> Document:
    return Document(
        doc_id=card["id"],
        title=card["title"],
        text=text,
        file=shown_from(card["folders"])(card["file"] or ""),
        media_type=card["media_type"],
        content_hash=card["content_hash"],
        segments=tuple(Segment(*segment) for segment in json.loads(segments)),
        warnings=tuple(map(unpacked, card["warnings"])),
        properties=json.loads(card["properties"]),
        metadata=metadata_of(card["metadata"]),
    )


def _grouped(rows: Iterable[Row], key: Callable[[Chunk], str]) -> defaultdict[str, list[Chunk]]:
    """Return the chunks of rows in groups, in each parents first, then by size and place."""
    chunks = _chunks(rows)
    chunks.sort(key=lambda c: (c.parent_id is not None, -c.size, c.position))
    groups: defaultdict[str, list[Chunk]] = defaultdict(list)
    for c in chunks:
        groups[key(c)].append(c)
    return groups


def _by_place(found: Iterable[Summary]) -> list[Summary]:
    return sorted(found, key=lambda s: (s.doc_id, s.start, s.end, s.summary_id))
