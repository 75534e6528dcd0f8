"""Which texts are encoded, and that none is encoded twice."""

from contextlib import closing

import numpy as np
import pytest

from ingestion.embed import embed, texts_to_embed
from kgrag.ids import embedding_key, entity_id, fact_id
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.types import Chunk, Document, Entity, Evidence, Fact, Summary

DOCUMENT = Document("d", "节能方案", "第一章总则。", "d.txt", "txt", "00")
LEAF = Chunk("d:256:0", "d", 256, 0, 0, 6, "第一章总则。", "d:2048:0", ("第一章", "总则"))
SUMMARY = Summary("s", "d", 0, 6, "总述", "document", "import")


class Encoder:
    """Notes what it is given; has the name of the encoder of `make`."""

    name = "test"

    def __init__(self):
        self.given = []

    def embed(self, texts, task):
        """Return a unit vector for each text."""
        self.given += [(text, task) for text in texts]
        return np.eye(8, dtype=np.float32)[[len(text) % 8 for text in texts]]


def fact(subject, predicate, object_):
    s, o = (Entity(entity_id(name), name) for name in (subject, object_))
    spot = Evidence("d", 0, 6, LEAF.chunk_id)
    return Fact(fact_id(s.entity_id, predicate, o.entity_id), s, predicate, o, (spot,))


def test_chunks_and_summaries_follow_their_title_and_facts_stand_alone():
    """A triple is the same text in every document."""
    stated = fact("工信部", "印发", "办法")
    assert texts_to_embed(DOCUMENT, [LEAF], [SUMMARY], [stated]) == [
        ("d:256:0", "chunk", "节能方案\n第一章 总则\n第一章总则。"),
        ("s", "summary", "节能方案\n总述"),
        (stated.fact_id, "fact", "工信部 印发 办法"),
    ]
    assert texts_to_embed(DOCUMENT) == []


@pytest.mark.parametrize("order", [1, -1])
def test_a_fact_in_several_wordings_is_encoded_once(order):
    """In the smallest of them, whatever their order."""
    one, other = fact("工信部", "印发", "办法"), fact("《工信部》", "印发", "办法")
    assert one.fact_id == other.fact_id
    texts = texts_to_embed(DOCUMENT, facts=[one, other][::order])
    assert texts == [(one.fact_id, "fact", "《工信部》 印发 办法")]


def test_what_the_store_knows_is_not_encoded_again(tmp_path, make):
    """Equal texts are encoded once; every node gets the numbers."""
    encoder = Encoder()
    bundle = make.bundle("a", "工信部印发办法")
    (known,) = (v for v in bundle.vectors if v.kind == "document")
    with closing(SQLiteStore.open(tmp_path)) as store:
        store.upsert_document(bundle, source="/a.txt")
        new = [(name, "fact", "甲 是 乙") for name in ("f1", "f2")]
        old = ("c1", "chunk", "工信部印发办法")
        found = embed([*new, old], embedder=encoder, store=store)

    assert encoder.given == [("甲 是 乙", "passage")]
    assert [(v.node_id, v.kind) for v in found] == [("f1", "fact"), ("f2", "fact"), ("c1", "chunk")]
    assert found[0].key == found[1].key == embedding_key("test", "甲 是 乙")
    assert np.array_equal(found[2].vector, known.vector)
