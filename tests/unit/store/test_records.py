"""The records of an export: their keys, and values as JSON has them."""

import hashlib
import json
import struct
from typing import Any

import numpy as np
import pytest

from kgrag.metadata import Metadata
from kgrag.qualifiers import Qualifiers
from kgrag.store import records
from kgrag.store.decisions import Decision
from kgrag.types import Chunk, Document, Entity, Evidence, Heading, Segment, Summary

SPOT = Evidence("d", 1, 2, "d:8:0", "rules", 0.5, Qualifiers("target", value="5", year="2025"))
PLACE = {
    "doc_id": "d", "start": 1, "end": 2, "extractor": "rules", "chunk_id": "d:8:0",
    "confidence": 0.5, "qualifiers": {"kind": "target", "value": "5", "year": "2025"},
}  # fmt: skip
NUMBERS = hashlib.sha256(struct.pack("<2f", 0.6, 0.8)).hexdigest()
EXPECTED: list[tuple[Any, dict[str, Any]]] = [
    (
        records.document_record(
            Document(
                "d", "题", "文", "/a/b.txt", "txt", "00", (Segment(0, 1, "page", 1),), ("w",),
                {"b": "2", "a": "1"}, Metadata(issuers=("云岭省人民政府",), issued="2022-03"),
            ),
            "fp",
            [Heading(0, 1, 2, "一")],
        ),
        {
            "record": "document", "doc_id": "d", "title": "题", "media_type": "txt",
            "content_hash": "00", "fingerprint": "fp", "warnings": ["w"],
            "properties": {"a": "1", "b": "2"},
            "metadata": {"issuers": ["云岭省人民政府"], "issued": "2022-03"},
            "segments": [[0, 1, "page", 1]],
            "headings": [[0, 1, 2, "一"]], "text": "文",
        },
    ),
    (records.meta_record("k", "v"), {"record": "meta", "key": "k", "value": "v"}),
    (
        records.chunk_record(Chunk("d:8:0", "d", 8, 0, 1, 2, "文", "d:24:0", ("一", "二"))),
        {
            "record": "chunk", "chunk_id": "d:8:0", "doc_id": "d", "size": 8, "position": 0,
            "start": 1, "end": 2, "parent_id": "d:24:0", "heading_path": ["一", "二"],
            "text": "文",
        },
    ),
    (
        records.summary_record(Summary("s", "d", 1, 2, "述", "chunk", "import", ("d:24:0",))),
        {
            "record": "summary", "summary_id": "s", "doc_id": "d", "start": 1, "end": 2,
            "level": "chunk", "source": "import", "target_ids": ["d:24:0"], "text": "述",
        },
    ),
    (
        records.entity_record(Entity("e", "名", "law")),
        {"record": "entity", "entity_id": "e", "name": "名", "type": "law"},
    ),
    (
        records.entity_name_record(Entity("e", "名", "law"), "d"),
        {"record": "entity-name", "entity_id": "e", "doc_id": "d", "name": "名", "type": "law"},
    ),
    (
        records.fact_record("f", "e1", "有", "e2"),
        {
            "record": "fact", "fact_id": "f", "subject_id": "e1", "predicate": "有",
            "object_id": "e2",
        },
    ),
    (
        records.evidence_record("f", SPOT, "有"),
        {"record": "evidence", "fact_id": "f", **PLACE, "predicate": "有"},
    ),
    (records.mention_record("e", SPOT), {"record": "mention", "entity_id": "e", **PLACE}),
    (
        records.vector_record("d:8:0", "chunk", "d", "k"),
        {"record": "vector", "node_id": "d:8:0", "kind": "chunk", "doc_id": "d", "key": "k"},
    ),
    (
        records.embedding_record("k", np.array([0.6, 0.8], np.float32)),
        {"record": "embedding", "key": "k", "dimension": 2, "sha256": NUMBERS},
    ),
    (
        records.correction_record("d", "region", "云岭省"),
        {"record": "correction", "doc_id": "d", "field": "region", "value": "云岭省"},
    ),
    (
        records.decision_record(Decision("merge", "省林业局", "云岭省林业局")),
        {"record": "decision", "kind": "merge", "name": "省林业局", "into": "云岭省林业局"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("record", "expected"), EXPECTED, ids=[e["record"] for _, e in EXPECTED])
def test_record_has_these_keys(record, expected):
    """A reader of an export may rely on them; no tuple, no path."""
    assert json.loads(json.dumps(record)) == record == expected


def test_a_parent_has_no_parent():
    """None, as JSON's null."""
    assert records.chunk_record(Chunk("d:24:0", "d", 24, 0, 0, 1, "文"))["parent_id"] is None


def test_embedding_is_hashed_as_32_bit_little_endian_numbers():
    """Whatever the byte order and stride of the array."""
    big = np.array([0.6, 0.0, 0.8, 0.0], ">f4")[::2]
    assert records.embedding_record("k", big)["sha256"] == NUMBERS
