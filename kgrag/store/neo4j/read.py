"""Reading documents, chunks and summaries: one statement a call, however many ids."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from kgrag.errors import StoreError
from kgrag.store.checks import check_settings
from kgrag.store.contents import Counts, SourceState
from kgrag.store.copied import ServerState
from kgrag.store.neo4j.connection import Database, Row
from kgrag.store.neo4j.statements import is_base_name
from kgrag.types import Chunk, Document, Heading, Segment, Summary

_T = TypeVar("_T")
_TRIES = 3  # at a document that others replace meanwhile


def base(database: Database) -> Row:
    """Return the state of the knowledge base.

    Raises:
        StoreError: If it has gone.
    """
    rows = database.read("base")
    if not rows:
        raise _gone(database)
    return rows[0]


def get_meta(database: Database, key: str) -> str | None:
    """Return a setting, or None; StoreError if it is of no use."""
    rows = database.read("setting", key=key)
    if not rows or rows[0]["value"] is None:  # the statement gives a row for none, too
        return None
    check_settings({key: rows[0]["value"]})
    return str(rows[0]["value"])


def all_meta(database: Database) -> dict[str, str]:
    """Return every setting, ordered by name; StoreError if one is of no use."""
    rows = database.read("settings")
    return check_settings(dict(sorted((row["key"], row["value"]) for row in rows)))


def sources(database: Database) -> list[SourceState]:
    """Return every source, ordered by source."""
    rows = database.read("sources")
    return sorted((SourceState(*row) for row in rows), key=lambda state: state.source)


def documents(database: Database, doc_ids: Sequence[str] | None = None) -> list[Document]:
    """Return documents with text and segments.

    Card and text are two statements: a document that is replaced between them is read again.
    """
    found: dict[str, Document] = {}
    wanted = doc_ids
    for _ in range(_TRIES):
        cards = _cards(database, wanted)
        read = _with_text(database, cards)
        found |= read
        wanted = [d for d, card in cards.items() if len(read[d].text) != card["characters"]]
        if not wanted:
            break
    return _ordered(found, sorted(found) if doc_ids is None else doc_ids)


def document_cards(database: Database, doc_ids: Sequence[str] | None = None) -> list[Document]:
    """Return documents without text and segments."""
    cards = _cards(database, doc_ids)
    found = {doc_id: _document(card) for doc_id, card in cards.items()}
    return _ordered(found, sorted(cards) if doc_ids is None else doc_ids)


def fingerprint_of(database: Database, doc_id: str) -> str | None:
    """Return a document's fingerprint; None if it is not held."""
    card = _cards(database, [doc_id]).get(doc_id)
    return None if card is None else str(card["fingerprint"])


def revision_of(database: Database, doc_id: str) -> str | None:
    """Return what is another after each change of a document; None if it is not held."""
    rows = database.read("revision", id=doc_id)
    return str(rows[0]["revision"]) if rows else None


def revisions(database: Database) -> dict[str, str]:
    """Return the revision of every document."""
    return {row["id"]: row["revision"] for row in database.read("revisions")}


def state(database: Database) -> ServerState:
    """Return the mark and the settings of the knowledge base.

    Raises:
        StoreError: If it has gone, or a setting is of no use.
    """
    rows = database.read("state")
    if not rows:
        raise _gone(database)
    settings = check_settings(dict(sorted((key, value) for key, value in rows[0]["settings"])))
    return ServerState(rows[0]["mark"], settings, settled=not rows[0]["switching"])


def fingerprints(database: Database) -> dict[str, str]:
    """Return the fingerprint of every document."""
    return {row["id"]: row["fingerprint"] for row in database.read("all_cards")}


def headings(database: Database, doc_id: str) -> list[Heading]:
    """Return a document's headings in the order in which they were stored."""
    return headings_of(database, [doc_id]).get(doc_id, [])


def headings_of(database: Database, doc_ids: Sequence[str]) -> dict[str, list[Heading]]:
    """Return the headings of documents by document."""
    return {
        row["id"]: [Heading(*heading) for heading in json.loads(row["headings"])]
        for row in database.read("layouts", ids=list(doc_ids))
    }


def chunks(database: Database, chunk_ids: Sequence[str]) -> list[Chunk]:
    """Return chunks in the order asked."""
    rows = database.read("chunks", ids=list(chunk_ids)) if chunk_ids else []
    return _ordered({row["id"]: chunk(row) for row in rows}, chunk_ids)


def chunks_of(database: Database, doc_ids: Sequence[str], size: int) -> list[Chunk]:
    """Return a group of documents' chunks in reading order."""
    rows = database.read("chunks_of", ids=list(doc_ids), size=size) if doc_ids else []
    groups = _grouped((chunk(row) for row in rows), lambda c: c.doc_id)
    return [c for doc_id in doc_ids for c in groups.get(doc_id, [])]


def children(database: Database, parent_ids: Sequence[str], size: int) -> list[Chunk]:
    """Return a group of parents' children in reading order."""
    rows = database.read("children", ids=list(parent_ids), size=size) if parent_ids else []
    groups = _grouped((chunk(row) for row in rows), lambda c: c.parent_id or "")
    return [c for parent_id in parent_ids for c in groups.get(parent_id, [])]


def families(database: Database, parent_ids: Sequence[str]) -> list[Chunk]:
    """Return parents, each followed by all its children."""
    rows = database.read("families", ids=list(parent_ids)) if parent_ids else []
    groups: defaultdict[str, list[Chunk]] = defaultdict(list)
    for c in map(chunk, rows):
        groups[c.parent_id or c.chunk_id].append(c)
    ordered = [sorted(groups[p], key=_parents_first) for p in parent_ids if p in groups]
    return [c for group in ordered for c in group]


def all_chunks(database: Database, doc_id: str) -> list[Chunk]:
    """Return all groups of a document, parents first, each in reading order."""
    return chunks_by_document(database, [doc_id]).get(doc_id, [])


def chunks_by_document(database: Database, doc_ids: Sequence[str]) -> dict[str, list[Chunk]]:
    """Return all groups of documents by document, parents first, each in reading order."""
    groups: defaultdict[str, list[Chunk]] = defaultdict(list)
    for row in database.read("chunks_of_documents", ids=list(doc_ids)):
        groups[row["doc_id"]].append(chunk(row))
    return {doc_id: sorted(group, key=_parents_first) for doc_id, group in groups.items()}


def batches(doc_ids: Sequence[str], size: int = 16) -> Iterator[list[str]]:
    """Yield so many documents at a time: few round trips, few texts in memory."""
    for start in range(0, len(doc_ids), size):
        yield list(doc_ids[start : start + size])


def summaries(database: Database, summary_ids: Sequence[str] | None = None) -> list[Summary]:
    """Return summaries in the order asked, or all by document and place."""
    if summary_ids is None:
        return _by_place(summary(row) for row in database.read("all_summaries"))
    rows = database.read("summaries", ids=list(summary_ids)) if summary_ids else []
    return _ordered({row["id"]: summary(row) for row in rows}, summary_ids)


def summaries_of(database: Database, doc_id: str) -> list[Summary]:
    """Return a document's summaries by place."""
    rows = database.read("summaries_of_document", id=doc_id)
    return _by_place(summary(row) for row in rows)


def counts(database: Database) -> Counts:
    """Return how many of each are stored; `vectors` counts distinct ones."""
    sizes = {row["size"]: row["n"] for row in database.read("chunk_sizes")}
    row = database.read("counts")[0]
    return Counts(chunks=dict(sorted(sizes.items(), reverse=True)), **row.data())


def count_foreign(database: Database) -> int:
    """Return how many nodes of other programs are called Document, Chunk, Summary or Entity.

    The database's own counts say at once whether there may be any; only then are nodes read.
    """
    n = database.read("count_public")[0]["n"]
    ours = sum(database.beside(name).read("count_ours")[0]["n"] for name in bases(database))
    return int(database.read("count_foreign")[0]["n"]) if n > ours else 0


def bases(database: Database) -> list[str]:
    """Return the names of the knowledge bases of the database; empty for the one without."""
    parts = (row["label"].partition("_") for row in database.read("labels"))
    names = {name for kind, _, name in parts if kind == "KgragKnowledgeBase"}
    return sorted(name for name in names if not name or is_base_name(name))


def chunk(row: Row) -> Chunk:
    """Return the chunk of a row."""
    return Chunk(
        row["id"], row["doc_id"], row["size"], row["index"], row["start"], row["end"],
        row["text"], row["parent_id"], tuple(row["heading_path"]),
    )  # fmt: skip


def summary(row: Row) -> Summary:
    """Return the summary of a row."""
    return Summary(
        row["id"], row["doc_id"], row["start"], row["end"], row["text"], row["level"],
        row["source"], tuple(row["target_ids"]),
    )  # fmt: skip


def _gone(database: Database) -> StoreError:
    return StoreError(
        f"{database.address}: the knowledge base was deleted meanwhile: open it again"
    )


def _cards(database: Database, doc_ids: Sequence[str] | None) -> dict[str, Row]:
    if doc_ids is None:
        rows = database.read("all_cards")
    else:
        rows = database.read("cards", ids=list(doc_ids)) if doc_ids else []
    return {row["id"]: row for row in rows}


def _with_text(database: Database, cards: Mapping[str, Row]) -> dict[str, Document]:
    ids = sorted(cards)
    if not ids:
        return {}
    layouts = {row["id"]: row["segments"] for row in database.read("layouts", ids=ids)}
    parents: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for row in database.read("texts", ids=ids):
        parents[row["id"]].append((row["index"], row["text"]))
    return {
        doc_id: _document(
            card,
            text="".join(text for _, text in sorted(parents[doc_id])),
            segments=layouts.get(doc_id, "[]"),
        )
        for doc_id, card in cards.items()
    }


def _document(card: Row, *, text: str = "", segments: str = "[]") -> Document:
    return Document(
        doc_id=card["id"],
        title=card["title"],
        text=text,
        file=card["file"] or "",
        media_type=card["media_type"],
        content_hash=card["content_hash"],
        segments=tuple(Segment(*segment) for segment in json.loads(segments)),
        warnings=tuple(card["warnings"]),
        metadata=json.loads(card["metadata"]),
    )


def _ordered(found: dict[str, _T], ids: Iterable[str]) -> list[_T]:
    return [found[i] for i in ids if i in found]


def _grouped(found: Iterable[Chunk], key: Callable[[Chunk], str]) -> dict[str, list[Chunk]]:
    groups: defaultdict[str, list[Chunk]] = defaultdict(list)
    for c in sorted(found, key=lambda c: c.position):
        groups[key(c)].append(c)
    return groups


def _parents_first(c: Chunk) -> tuple[bool, int, int]:
    return (c.parent_id is not None, -c.size, c.position)


def _by_place(found: Iterable[Summary]) -> list[Summary]:
    return sorted(found, key=lambda s: (s.doc_id, s.start, s.end, s.summary_id))
