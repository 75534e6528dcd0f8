"""Everything that a knowledge base holds as records in a fixed order."""

from collections.abc import Iterator

from kgrag.store import records
from kgrag.store.neo4j import read
from kgrag.store.neo4j.connection import Database
from kgrag.store.neo4j.embeddings import to_vector
from kgrag.store.neo4j.knowledge import statements_in
from kgrag.store.records import Record
from kgrag.types import Entity, Evidence


def export(database: Database) -> Iterator[Record]:
    """Yield every record, first those of documents; no file paths, nothing of the server's."""
    fingerprints = read.fingerprints(database)
    doc_ids = sorted(fingerprints)
    for ids in read.batches(doc_ids):
        headings = read.headings_of(database, ids)
        for document in read.documents(database, ids):
            doc_id = document.doc_id
            fingerprint, found = fingerprints[doc_id], headings.get(doc_id, [])
            yield records.document_record(document, fingerprint, found)
    for key, value in sorted((r["key"], r["value"]) for r in database.read("settings")):
        yield records.meta_record(key, value)
    for ids in read.batches(doc_ids):
        chunks = read.chunks_by_document(database, ids)
        for doc_id in ids:
            for chunk in sorted(chunks.get(doc_id, ()), key=lambda c: (-c.size, c.position)):
                yield records.chunk_record(chunk)
    for summary in sorted(read.summaries(database), key=lambda s: s.summary_id):
        yield records.summary_record(summary)
    yield from _graph(database)
    yield from _vectors(database)


def _graph(database: Database) -> Iterator[Record]:
    for row in database.stream("every_entity"):
        yield records.entity_record(Entity(row["id"], row["name"], row["type"]))
    for row in database.stream("every_name"):
        for way in sorted(row["ways"]):
            doc_id, name, type_ = way
            yield records.entity_name_record(Entity(row["id"], name, type_), doc_id)
    for row in database.stream("every_fact"):
        yield records.fact_record(row["id"], row["subject_id"], row["predicate"], row["object_id"])
    for row in database.stream("every_fact"):
        for s in sorted(statements_in(row), key=lambda s: s[:5]):
            yield records.evidence_record(row["id"], s.evidence(), s.predicate)
    for row in database.stream("every_mention"):
        for place in sorted(row["places"]):
            doc_id, start, end, extractor, chunk_id, confidence = place
            evidence = Evidence(doc_id, start, end, chunk_id, extractor, confidence)
            yield records.mention_record(row["id"], evidence)


def _vectors(database: Database) -> Iterator[Record]:
    rows = [tuple(row) for row in database.stream("every_node_with_embedding")]
    for node_id, kind, doc_id, key in sorted(rows):
        yield records.vector_record(node_id, kind, doc_id, key)
    for row in database.stream("every_embedding"):
        yield records.embedding_record(row["key"], to_vector(row["vector"]))
