"""Reading a document back as the bundle that it was stored from, with what was added since."""

import sqlite3

from kgrag.store.bundles import StatedFact, assemble_knowledge
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.store.sqlite.embeddings import from_blob
from kgrag.store.sqlite.read import all_chunks, documents, get_meta, headings, summaries_of
from kgrag.types import Entity, Evidence, Fact, Mention

_PLACE = "e.doc_id, e.start, e.end, e.chunk_id, e.extractor, e.confidence"


def read_bundle(
    connection: sqlite3.Connection, doc_id: str, *, embedder: str | None = None
) -> DocumentBundle | None:
    """Return everything that a document brings, or None if it is not held.

    Args:
        connection: To read with.
        doc_id: The document.
        embedder: Encoder of its vectors; the recorded one for None.
    """
    row = connection.execute(
        "SELECT fingerprint FROM documents WHERE doc_id = ?", (doc_id,)
    ).fetchone()
    if row is None:
        return None
    facts, mentions = _knowledge(connection, doc_id)
    return DocumentBundle(
        document=documents(connection, [doc_id])[0],
        fingerprint=row[0],
        headings=headings(connection, doc_id),
        chunks=all_chunks(connection, doc_id),
        summaries=summaries_of(connection, doc_id),
        facts=facts,
        mentions=mentions,
        vectors=_vectors(connection, doc_id),
        embedder=(get_meta(connection, "embedder") or "") if embedder is None else embedder,
    )


def _knowledge(connection: sqlite3.Connection, doc_id: str) -> tuple[list[Fact], list[Mention]]:
    names = connection.execute(
        "SELECT entity_id, name, type FROM entity_names WHERE doc_id = ?", (doc_id,)
    )
    stated = connection.execute(
        f"SELECT e.fact_id, f.subject_id, e.predicate, f.object_id, {_PLACE}"
        " FROM evidence e JOIN facts f USING (fact_id) WHERE e.doc_id = ?",
        (doc_id,),
    )
    mentioned = connection.execute(
        f"SELECT e.entity_id, {_PLACE} FROM mentions e WHERE e.doc_id = ?", (doc_id,)
    )
    return assemble_knowledge(
        names=[Entity(*row) for row in names],
        stated=[StatedFact(f, s, p, o, Evidence(*place)) for f, s, p, o, *place in stated],
        mentioned=[(entity_id, Evidence(*place)) for entity_id, *place in mentioned],
    )


def _vectors(connection: sqlite3.Connection, doc_id: str) -> list[NodeVector]:
    rows = connection.execute(
        "SELECT n.node_id, n.kind, n.key, e.vector FROM node_vectors n"
        " JOIN embeddings e USING (key) WHERE n.doc_id = ? ORDER BY n.number",
        (doc_id,),
    )
    return [NodeVector(node, kind, key, from_blob(blob)) for node, kind, key, blob in rows]
