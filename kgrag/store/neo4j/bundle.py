"""Reading a document back as the bundle that it was stored from, with what was added since."""

from kgrag.store.neo4j import read
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.embeddings import to_vector
from kgrag.store.neo4j.graph_read import said_by, stored_knowledge
from kgrag.store.store import DocumentBundle, NodeVector


def read_bundle(database: Database, doc_id: str) -> DocumentBundle | None:
    """Return everything that a document brings, or None if it is not held."""
    fingerprint = read.fingerprint_of(database, doc_id)
    if fingerprint is None:
        return None
    facts, mentions = said_by(doc_id, stored_knowledge(database.read, doc_id))
    nodes = database.read("embedding_keys_of", id=doc_id)
    keys = sorted({row["key"] for row in nodes})
    embedder = read.get_meta(database, "embedder") or ""
    vectors = {row["key"]: to_vector(row["vector"]) for row in database.read("vectors", keys=keys)}
    return DocumentBundle(
        document=read.documents(database, [doc_id])[0],
        fingerprint=fingerprint,
        headings=read.headings(database, doc_id),
        chunks=read.all_chunks(database, doc_id),
        summaries=read.summaries_of(database, doc_id),
        facts=facts,
        mentions=mentions,
        vectors=[
            NodeVector(row["id"], row["kind"], row["key"], vectors[row["key"]]) for row in nodes
        ],
        embedder=embedder,
    )
