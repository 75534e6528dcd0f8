"""Replace what a stored document says: its facts and mentions, and what it says of itself."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgrag.language.document_nodes import node_id
from kgrag.language.text import normalize_name
from kgrag.metadata import Metadata
from kgrag.store.contents import NodeVector
from kgrag.store.sqlite.changes import ALL_PARTS, Part
from kgrag.store.sqlite.embeddings import add_vectors
from kgrag.store.sqlite.reconcile import Affected
from kgrag.store.sqlite.rows import add_knowledge
from kgrag.store.sqlite.seals import part_sum
from kgrag.store.sqlite.statements import run, run_each
from kgrag.store.texts import metadata_of, metadata_text
from kgrag.types import Fact, Mention


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
