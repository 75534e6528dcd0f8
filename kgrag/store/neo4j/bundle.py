"""Reading a document back as the bundle that it was stored from, with what was added since."""

from kgrag.errors import StoreError
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.store.neo4j import read
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.embeddings import to_vector
from kgrag.store.neo4j.graph_read import said_by, stored_knowledge

_TRIES = 5  # at a document that others change meanwhile


def read_bundle(database: Database, doc_id: str) -> DocumentBundle | None:
    """Return everything that a document brings, or None if it is not held.

    It takes several statements: one that changed between them is read again.

    Raises:
        StoreError: If it is changed again and again, or parts of it are missing.
    """
    revision = read.revision_of(database, doc_id)
    for _ in range(_TRIES):
        if revision is None:
            return None
        missing: Exception | None = None
        try:
            bundle = _read(database, doc_id)
        except (LookupError, ValueError) as exc:  # changed while it was read, or damaged
            missing = exc
        after = read.revision_of(database, doc_id)
        if after == revision and missing is None:
            return bundle
        if after == revision:
            raise StoreError(
                f"{database.address}: parts of document {doc_id} are missing: see what "
                "`kgrag verify` says, and ingest it again"
            ) from missing
        revision = after
    raise StoreError(f"{database.address}: document {doc_id} is changed all the time: try later")


def _read(database: Database, doc_id: str) -> DocumentBundle:
    """Return what stands there now.

    Raises:
        LookupError: If something that is named is not there.
        ValueError: If lists do not fit each other.
    """
    document = read.documents(database, [doc_id])[0]
    fingerprint = read.fingerprint_of(database, doc_id)
    facts, mentions = said_by(doc_id, stored_knowledge(database.read, doc_id))
    nodes = database.read("embedding_keys_of", id=doc_id)
    keys = sorted({row["key"] for row in nodes})
    embedder = read.get_meta(database, "embedder") or ""
    vectors = {row["key"]: to_vector(row["vector"]) for row in database.read("vectors", keys=keys)}
    return DocumentBundle(
        document=document,
        fingerprint=fingerprint or "",
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
