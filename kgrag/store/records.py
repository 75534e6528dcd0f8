"""The records of `Store.export`: one function for each kind, so that every store writes alike."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from kgrag.json_ready import as_dict
from kgrag.store.decisions import Decision
from kgrag.store.texts import segment_rows
from kgrag.types import Chunk, Document, Entity, Evidence, Heading, Summary
from kgrag.vectors.vector import Vector

Record = dict[str, object]

# The order of an export: documents by id; settings by key; chunks by document, size (largest
# first) and position; summaries by id; entities by id; entity names by entity, document, name and
# type; facts by id; evidence by fact, document, start, end, extractor, chunk and qualifiers;
# mentions by entity and the same; vectors by node and document; embeddings by key; corrections by
# document and field; decisions by kind and names. Texts compare by their UTF-8 bytes.


def document_record(document: Document, fingerprint: str, headings: Sequence[Heading]) -> Record:
    """Return the record of a document, without its file."""
    return {
        "record": "document",
        **as_dict(document, without=("file", "segments", "metadata")),
        "fingerprint": fingerprint,
        "properties": dict(sorted(document.properties.items())),
        "metadata": document.metadata.to_record(),
        "segments": segment_rows(document.segments),
        "headings": [[h.start, h.end, h.level, h.text] for h in headings],
    }


def meta_record(key: str, value: str) -> Record:
    """Return the record of a setting."""
    return {"record": "meta", "key": key, "value": value}


def chunk_record(chunk: Chunk) -> Record:
    """Return the record of a chunk."""
    return {"record": "chunk"} | chunk.to_dict()


def summary_record(summary: Summary) -> Record:
    """Return the record of a summary."""
    return {"record": "summary"} | summary.to_dict()


def entity_record(entity: Entity) -> Record:
    """Return the record of an entity, named as most documents name it."""
    return {"record": "entity"} | entity.to_dict()


def entity_name_record(entity: Entity, doc_id: str) -> Record:
    """Return the record of an entity as a document names it."""
    return {"record": "entity-name", "doc_id": doc_id} | entity.to_dict()


def fact_record(fact_id: str, subject_id: str, predicate: str, object_id: str) -> Record:
    """Return the record of a fact, worded as most documents word it."""
    return {
        "record": "fact",
        "fact_id": fact_id,
        "subject_id": subject_id,
        "predicate": predicate,
        "object_id": object_id,
    }


def evidence_record(fact_id: str, evidence: Evidence, predicate: str) -> Record:
    """Return the record of a fact's evidence, with the wording of the text."""
    return {"record": "evidence", "fact_id": fact_id, "predicate": predicate} | _place(evidence)


def mention_record(entity_id: str, evidence: Evidence) -> Record:
    """Return the record of a place where an entity is named without a fact."""
    return {"record": "mention", "entity_id": entity_id, **_place(evidence)}


def vector_record(node_id: str, kind: str, doc_id: str, key: str) -> Record:
    """Return the record of a node's embedding."""
    return {"record": "vector", "node_id": node_id, "kind": kind, "doc_id": doc_id, "key": key}


def embedding_record(key: str, vector: Vector) -> Record:
    """Return the record of an embedding: the hash of its `float32` numbers, little endian."""
    numbers = np.asarray(vector, dtype="<f4")
    return {
        "record": "embedding",
        "key": key,
        "dimension": numbers.size,
        "sha256": hashlib.sha256(numbers.tobytes()).hexdigest(),
    }


def correction_record(doc_id: str, field: str, value: str) -> Record:
    """Return the record of a person's corrections of a document, stored or not."""
    return {"record": "correction", "doc_id": doc_id, "field": field, "value": value}


def decision_record(decision: Decision) -> Record:
    """Return the record of what a person decided on two names."""
    return {"record": "decision"} | decision.to_dict()


def decided_records(
    corrections: Mapping[str, Mapping[str, str]], decisions: Iterable[Decision]
) -> Iterator[Record]:
    """Yield the records of what a person decided, in order."""
    for doc_id, fields in corrections.items():
        for field, value in fields.items():
            yield correction_record(doc_id, field, value)
    yield from map(decision_record, decisions)


def _place(evidence: Evidence) -> Record:
    qualifiers = evidence.qualifiers.to_record()
    return {**as_dict(evidence, without=("qualifiers",)), "qualifiers": qualifiers}
