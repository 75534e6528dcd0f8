"""Replace what a stored document says: its facts and mentions, and what it says of itself."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from kgrag.metadata import Metadata
from kgrag.store.checks import check_encoder
from kgrag.store.contents import NodeVector
from kgrag.store.neo4j import write
from kgrag.store.neo4j.base import Base, begin, finish
from kgrag.store.neo4j.connection import Transaction
from kgrag.store.neo4j.document_knowledge import DocumentKnowledge, read_knowledge
from kgrag.store.neo4j.embeddings import embed_nodes, keys_of
from kgrag.store.neo4j.graph_write import cite
from kgrag.store.neo4j.nodes import chunk_of, layout_of, stored
from kgrag.store.neo4j.typed_write import lead_references, read_said, write_typed
from kgrag.store.texts import metadata_of, metadata_text
from kgrag.types import Fact, Mention


@dataclass(frozen=True, slots=True)
class Said:
    """What a document says from now on.

    Attributes:
        facts: All of them.
        mentions: All of them.
        vectors: Of facts that have another vector than before, or had none.
        metadata: What it says of itself; None for what it said.
        title: Its title; None for the one that it has.
        embedder: Identity of the encoder that made the vectors; empty where it is not known.
    """

    facts: Sequence[Fact]
    mentions: Sequence[Mention]
    vectors: Sequence[NodeVector] = ()
    metadata: Metadata | None = None
    title: str | None = None
    embedder: str = ""


def replace_knowledge(tx: Transaction, doc_id: str, said: Said) -> None:
    """Let a stored document say something else; where that is what it says, nothing is written.

    Raises:
        NotFoundError: If the document is not held.
        ModelMismatchError: If the vectors are of another encoder than is recorded.
    """
    base = begin(tx)
    write.check_held(tx, doc_id)
    check_encoder(said.embedder, tx.run("setting", key="embedder")[0]["value"])
    known, wanted = read_knowledge(tx.run, doc_id), DocumentKnowledge()
    wanted.add(said.facts, said.mentions)
    write.check_evidence(tx, doc_id, wanted.chunk_ids() - known.chunk_ids())
    keys = keys_of(tx, doc_id)
    lost = [n for n, (kind, _) in keys.items() if kind == "fact" and n not in wanted.ends]
    vectors = [v for v in said.vectors if keys.get(v.node_id, ("", ""))[1] != v.key]
    node_id = tx.run("layout", id=doc_id)[0]["node_id"]
    is_described = _describe(tx, base, doc_id, said)
    if wanted == known and not lost and not vectors and not is_described:
        return
    tx.run("unstage", id=doc_id)
    write.write_document_knowledge(tx, base, doc_id, known, wanted, known.mention_rows())
    base.keys |= {keys[node][1] for node in (*lost, *(v.node_id for v in vectors)) if node in keys}
    embed_nodes(tx, doc_id, [("fact", node, None) for node in lost])
    write.add_vectors(tx, base, doc_id, vectors)
    cite(tx, doc_id)
    if is_described or wanted != known:
        write_typed(tx, base, read_said(tx, doc_id, wanted))
    if is_described:
        lead_references(tx, [node_id, tx.run("layout", id=doc_id)[0]["node_id"]])
    tx.run("revise_document", id=doc_id)
    finish(tx, base)


def _describe(tx: Transaction, base: Base, doc_id: str, said: Said) -> bool:
    """Write title and metadata where they are others, and what follows; return whether they are."""
    held = tx.run("described", id=doc_id)[0]
    title = held["title"] if said.title is None else said.title
    metadata = metadata_of(held["metadata"]) if said.metadata is None else said.metadata
    if title == held["title"] and metadata_text(metadata) == held["metadata"]:
        return False
    properties = stored(title, json.loads(held["properties"]), metadata)
    if title != held["title"]:
        chunks = [chunk_of(row) for row in tx.run("chunks_of_documents", ids=[doc_id])]
        properties["layout"] = layout_of(title, chunks)
        tx.run("head_chunks", id=doc_id, title=title)
        base.dead_terms += write.add_terms(tx, base, chunks, title)
    tx.run("describe_document", id=doc_id, properties=properties)
    return True
