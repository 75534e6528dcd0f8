"""Which texts are encoded, and that none is encoded twice."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelError
from kgrag.ids import embedding_key, entity_id, fact_id
from kgrag.ingestion.embed import NodeText, embed, texts_to_embed
from kgrag.ingestion.vector_set import VectorSet
from kgrag.qualifiers import Qualifiers
from kgrag.store.contents import DocumentBundle
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.text.titles import CITING_PREDICATES
from kgrag.types import Chunk, Document, Entity, Evidence, Fact, Summary
from tests.fixtures.double import Double

TEXT = "第一章总则。节能。减排。"
DOCUMENT = Document("d", "节能方案", TEXT, "d.txt", "txt", "00")
PARENT = Chunk("d:24:0", "d", 24, 0, 0, 12, TEXT, None, ("第一章", "总则"))
LEAVES = (
    Chunk("d:8:0", "d", 8, 0, 0, 6, TEXT[:6], "d:24:0", ("第一章", "总则")),
    Chunk("d:8:1", "d", 8, 1, 6, 12, TEXT[6:], "d:24:0"),
)
SUMMARY = Summary("s", "d", 0, 6, "总述", "document", "import")
BUNDLE = DocumentBundle(DOCUMENT, "", chunks=(PARENT, *LEAVES), summaries=(SUMMARY,))


class Encoder(Double):
    """Notes what it is given; has the name of the encoder of `make`."""

    name = "test"

    def __init__(self):
        self.given = []

    def embed(self, texts, task):
        """Return a unit vector for each text."""
        self.given += [(text, task) for text in texts]
        return np.eye(8, dtype=np.float32)[[len(text) % 8 for text in texts]]


class InContext(Encoder):
    """Encodes spans, too: the vector points to the place where a span begins."""

    def embed_spans(self, texts, spans):
        """Return a unit vector for each span."""
        self.given += [
            (text, [text[slice(*s)] for s in of]) for text, of in zip(texts, spans, strict=True)
        ]
        return [np.eye(32, dtype=np.float32)[[s for s, _ in of]] for of in spans]


def fact(subject, predicate, object_):
    s, o = (Entity(entity_id(name), name) for name in (subject, object_))
    spot = Evidence("d", 0, 6, LEAVES[0].chunk_id, "m")
    return Fact(fact_id(s.entity_id, predicate, o.entity_id), s, predicate, o, (spot,))


def test_a_summary_has_its_title_before_it_once():
    """One that named nobody has it in its text; its vector is that of what it says."""
    named = replace(SUMMARY, text="节能方案：总述")
    (text,) = texts_to_embed(replace(BUNDLE, chunks=(), summaries=(named,)), VectorSet((8,)))
    assert text == NodeText("s", "summary", "节能方案\n总述")


def test_chunks_and_summaries_follow_their_title_and_facts_stand_alone():
    """A triple is the same text in every document."""
    stated = fact("工信部", "牵头", "节能")
    assert texts_to_embed(replace(BUNDLE, facts=(stated,)), VectorSet((8,))) == [
        NodeText("d:8:0", "chunk", "节能方案\n第一章 总则\n第一章总则。"),
        NodeText("d:8:1", "chunk", "节能方案\n\n节能。减排。"),
        NodeText("s", "summary", "节能方案\n总述"),
        NodeText(stated.fact_id, "fact", "工信部 牵头 节能"),
    ]
    assert texts_to_embed(DocumentBundle(DOCUMENT, ""), VectorSet((8,))) == []


@pytest.mark.parametrize(
    ("sizes", "ids"),
    [((24,), ["d:24:0"]), ((8,), ["d:8:0", "d:8:1"]), ((24, 8), ["d:24:0", "d:8:0", "d:8:1"])],
)
def test_chunks_of_the_sizes_that_carry_vectors_are_encoded(sizes, ids):
    """No others are, whatever groups a document has."""
    texts = texts_to_embed(DocumentBundle(DOCUMENT, "", chunks=BUNDLE.chunks), VectorSet(sizes))
    assert [text.node_id for text in texts] == ids


def test_facts_without_vectors_are_not_encoded():
    """Where facts are to carry none."""
    bundle = DocumentBundle(DOCUMENT, "", facts=(fact("工信部", "牵头", "节能"),))
    assert texts_to_embed(bundle, VectorSet((8,), facts=False)) == []


@pytest.mark.parametrize("predicate", sorted(CITING_PREDICATES))
def test_facts_by_which_documents_cite_each_other_are_not_encoded(predicate):
    """No route looks for them by their vector."""
    bundle = DocumentBundle(DOCUMENT, "", facts=(fact("办法", predicate, "方案"),))
    assert texts_to_embed(bundle, VectorSet((8,))) == []


def stated_by(extractor, kind=""):
    """Return a fact with evidence of one kind by one extractor."""
    plain = fact("森林覆盖率", "目标为", "2025年达到39%")
    spot = replace(plain.evidence[0], extractor=extractor, qualifiers=Qualifiers(kind))
    return replace(plain, evidence=(spot,))


def test_figures_by_rule_are_encoded_by_their_indicator():
    """Its name, which many documents share; other facts by rule have their clause's vector."""
    figure, duty = stated_by("rules", "target"), stated_by("rules", "duty")
    assert texts_to_embed(DocumentBundle(DOCUMENT, "", facts=(figure,)), VectorSet((8,))) == [
        NodeText(figure.fact_id, "fact", "森林覆盖率")
    ]
    assert texts_to_embed(DocumentBundle(DOCUMENT, "", facts=(duty,)), VectorSet((8,))) == []
    by_model = DocumentBundle(DOCUMENT, "", facts=(stated_by("m", "target"),))
    assert texts_to_embed(by_model, VectorSet((8,))) == [
        NodeText(figure.fact_id, "fact", "森林覆盖率 目标为 2025年达到39%")
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_a_fact_in_several_wordings_is_encoded_once(order):
    """In the smallest of them, whatever their order."""
    one, other = fact("工信部", "牵头", "办法"), fact("《工信部》", "牵头", "办法")
    assert one.fact_id == other.fact_id
    bundle = DocumentBundle(DOCUMENT, "", facts=[one, other][::order])
    assert texts_to_embed(bundle, VectorSet((8,))) == [
        NodeText(one.fact_id, "fact", "《工信部》 牵头 办法")
    ]


def test_what_the_store_knows_is_not_encoded_again(tmp_path, make):
    """Equal texts are encoded once; every node gets the numbers."""
    encoder = Encoder()
    bundle = make.bundle("a", "工信部印发办法")
    (known,) = (v for v in bundle.vectors if v.kind == "document")
    with closing(SQLiteStore.open(tmp_path)) as store:
        store.upsert_document(bundle, source="/a.txt")
        new = [NodeText(name, "fact", "甲 是 乙") for name in ("f1", "f2")]
        old = NodeText("c1", "chunk", "工信部印发办法")
        found = embed([*new, old], embedder=encoder, store=store)

    assert encoder.given == [("甲 是 乙", "passage")]
    assert [(v.node_id, v.kind) for v in found] == [("f1", "fact"), ("f2", "fact"), ("c1", "chunk")]
    assert found[0].key == found[1].key == embedding_key("test", "甲 是 乙")
    assert found[2].vector is not None
    assert known.vector is not None
    assert np.array_equal(found[2].vector, known.vector)


class Known:
    """Holds the vectors that it was given."""

    def __init__(self, nodes=()):
        self.nodes = nodes

    def vectors(self, keys):
        """Return those that are there."""
        return {v.key: v.vector for v in self.nodes if v.key in keys}


def test_late_chunks_are_encoded_within_title_and_parent():
    """Each context is read once, with the spans of all chunks that carry vectors."""
    encoder = InContext()
    texts = texts_to_embed(BUNDLE, VectorSet((24, 8), late=True))
    nodes = embed(texts, embedder=encoder, store=Known())

    assert encoder.given == [
        ("节能方案\n总述", "passage"),
        (f"节能方案\n{TEXT}", [TEXT, TEXT[:6], TEXT[6:]]),
    ]
    assert [v.node_id for v in nodes] == ["d:24:0", "d:8:0", "d:8:1", "s"]
    assert [int(np.argmax(v.vector)) for v in nodes[:3] if v.vector is not None] == [5, 5, 11]


def test_late_vectors_are_kept_by_context_and_span():
    """Equal texts in other places have vectors of their own; a known one is not made again."""
    other = replace(BUNDLE, document=replace(DOCUMENT, title="减排方案"))
    texts = [t for b in (BUNDLE, other) for t in texts_to_embed(b, VectorSet((8,), late=True))]
    nodes = embed(texts, embedder=InContext(), store=Known())
    assert len({v.key for v in nodes}) == len(nodes) == 6
    assert all(
        v.key != embedding_key("test", t.text) for v, t in zip(nodes, texts, strict=True) if t.span
    )

    encoder = InContext()
    again = embed(texts, embedder=encoder, store=Known(nodes[1:]))
    assert encoder.given == [(f"节能方案\n{TEXT}", [TEXT[:6]])]
    assert [v.key for v in again] == [v.key for v in nodes]


def test_an_encoder_that_cannot_encode_spans_is_refused():
    """With what to choose instead."""
    texts = texts_to_embed(BUNDLE, VectorSet((8,), late=True))
    with pytest.raises(ModelError, match="hash-64 does not: choose an installed model"):
        embed(texts, embedder=HashEmbedder(64), store=Known())


def test_texts_to_embed_when_a_chunk_begins_within_a_table():
    """The header row stands before it in what is encoded; the chunk stays as it is."""
    text = "| 指标 | 2025年 |\n| --- | --- |\n| 产值 | 5 |\n| 税收 | 3 |\n"
    at = text.index("| 税收")
    document = Document("d", "规划", text, "a.txt", "txt", "0" * 64)
    piece = Chunk("d:256:1", "d", 256, 1, at, len(text), text[at:])
    bundle = DocumentBundle(document, "", chunks=(piece,))

    (found,) = texts_to_embed(bundle, VectorSet((256,), facts=False))

    assert found.text == "规划\n\n| 指标 | 2025年 |\n| 税收 | 3 |\n"
