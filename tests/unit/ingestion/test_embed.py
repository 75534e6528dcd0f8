"""Vectors of chunks, summaries and facts: which, in which order, and by another model."""

import json
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelError
from kgrag.ids import embedding_key, entity_id, fact_id
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.embed import Encoding, NodeText, embed, texts_to_embed
from kgrag.ingestion.reembed import Reembedding
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


def fact(subject, predicate, object_):
    s, o = (Entity(entity_id(name), name) for name in (subject, object_))
    spot = Evidence("d", 0, 6, LEAVES[0].chunk_id, "m")
    return Fact(fact_id(s.entity_id, predicate, o.entity_id), s, predicate, o, (spot,))


def test_a_summary_has_its_title_before_it_once():
    """One that named nobody has it in its text; its vector is that of what it says."""
    named = replace(SUMMARY, text="节能方案：总述")
    (text,) = texts_to_embed(replace(BUNDLE, chunks=(), summaries=(named,)), 8)
    assert text == NodeText("s", "summary", "节能方案\n总述")


def test_chunks_and_summaries_follow_their_title_and_facts_stand_alone():
    """A triple is the same text in every document."""
    stated = fact("工信部", "牵头", "节能")
    assert texts_to_embed(replace(BUNDLE, facts=(stated,)), 8) == [
        NodeText("d:8:0", "chunk", "节能方案\n第一章 总则\n第一章总则。"),
        NodeText("d:8:1", "chunk", "节能方案\n\n节能。减排。"),
        NodeText("s", "summary", "节能方案\n总述"),
        NodeText(stated.fact_id, "fact", "工信部 牵头 节能"),
    ]
    assert texts_to_embed(DocumentBundle(DOCUMENT, ""), 8) == []


@pytest.mark.parametrize("predicate", sorted(CITING_PREDICATES))
def test_facts_by_which_documents_cite_each_other_are_not_encoded(predicate):
    """No route looks for them by their vector."""
    bundle = DocumentBundle(DOCUMENT, "", facts=(fact("办法", predicate, "方案"),))
    assert texts_to_embed(bundle, 8) == []


def stated_by(extractor, kind=""):
    """Return a fact with evidence of one kind by one extractor."""
    plain = fact("森林覆盖率", "目标为", "2025年达到39%")
    spot = replace(plain.evidence[0], extractor=extractor, qualifiers=Qualifiers(kind))
    return replace(plain, evidence=(spot,))


def test_figures_by_rule_are_encoded_by_their_indicator():
    """Its name, which many documents share; other facts by rule have their clause's vector."""
    figure, duty = stated_by("rules", "target"), stated_by("rules", "duty")
    assert texts_to_embed(DocumentBundle(DOCUMENT, "", facts=(figure,)), 8) == [
        NodeText(figure.fact_id, "fact", "森林覆盖率")
    ]
    assert texts_to_embed(DocumentBundle(DOCUMENT, "", facts=(duty,)), 8) == []
    by_model = DocumentBundle(DOCUMENT, "", facts=(stated_by("m", "target"),))
    assert texts_to_embed(by_model, 8) == [
        NodeText(figure.fact_id, "fact", "森林覆盖率 目标为 2025年达到39%")
    ]


@pytest.mark.parametrize("order", [1, -1])
def test_a_fact_in_several_wordings_is_encoded_once(order):
    """In the smallest of them, whatever their order."""
    one, other = fact("工信部", "牵头", "办法"), fact("《工信部》", "牵头", "办法")
    assert one.fact_id == other.fact_id
    bundle = DocumentBundle(DOCUMENT, "", facts=[one, other][::order])
    assert texts_to_embed(bundle, 8) == [NodeText(one.fact_id, "fact", "《工信部》 牵头 办法")]


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


def test_begin_when_a_text_of_an_earlier_batch_is_still_being_encoded():
    """It is not encoded again: batches are those of a run that waits for each."""
    batches: list[tuple[list[str], Future[Any]]] = []

    def encode(texts):
        batches.append((list(texts), Future()))
        return batches[-1][1]

    a, b, c = (NodeText(f"d:{text}", "chunk", text) for text in ("甲", "乙乙", "丙丙丙"))
    encoding = Encoding(encode, "test", Known())
    first, second = encoding.begin([[a, b]]), encoding.begin([[b], [c]])
    assert [texts for texts, _ in batches] == [["甲", "乙乙"], ["丙丙丙"]]
    batches[1][1].set_result(Encoder().embed(["丙丙丙"], "passage"))
    assert not first.is_done
    assert not second.is_done
    batches[0][1].set_result(Encoder().embed(["甲", "乙乙"], "passage"))
    assert [[int(np.asarray(n.vector).argmax()) for n in group] for group in first.result()] == [
        [1, 2]
    ]
    assert [[int(np.asarray(n.vector).argmax()) for n in group] for group in second.result()] == [
        [2],
        [3],
    ]


def test_texts_to_embed_when_a_chunk_begins_within_a_table():
    """The header row stands before it in what is encoded; the chunk stays as it is."""
    text = "| 指标 | 2025年 |\n| --- | --- |\n| 产值 | 5 |\n| 税收 | 3 |\n"
    at = text.index("| 税收")
    document = Document("d", "规划", text, "a.txt", "txt", "0" * 64)
    piece = Chunk("d:256:1", "d", 256, 1, at, len(text), text[at:])
    bundle = DocumentBundle(document, "", chunks=(piece,))

    (found,) = texts_to_embed(bundle, 256)

    assert found.text == "规划\n\n| 指标 | 2025年 |\n| 税收 | 3 |\n"


SIZES = ChunkSizes(2048, (1024, 512, 256))


@dataclass
class Counting:
    """A stand-in that counts what it encodes, and breaks down when it is told to."""

    inner: HashEmbedder
    texts: list[str] = field(default_factory=list)
    most: int = 10**9

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def embed(self, texts, task):
        """Encode, unless it is too much."""
        if len(self.texts) + len(texts) > self.most:
            raise ModelError("broken down")
        self.texts += texts
        return self.inner.embed(texts, task)


@pytest.fixture
def docs(tmp_path):
    """Files of some chunks each."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for i in range(5):
        lines = [f"第{i}号方案\n一、目标\n"]
        lines += [f"到20{n:02}年，第{i}号工厂达到{n}家。" for n in range(60)]
        (folder / f"{i}.txt").write_text("\n".join(lines), "utf-8")
    return folder


@pytest.fixture
def base(tmp_path, docs):
    """A knowledge base of them, with vectors of 64."""
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as base:
        assert not base.ingest([docs]).failed
        yield base


def change(base, encoder, sizes=SIZES):
    """Return the change of a knowledge base to an encoder."""
    return Reembedding(base.store, encoder, sizes)


def exported(base, *left_out):
    """Return the lines of an export without some kinds of records."""
    records = [record for record in base.export() if record["record"] not in left_out]
    return [json.dumps(record, ensure_ascii=False, sort_keys=True) for record in records]


def test_run_leaves_what_ingestion_with_the_other_encoder_leaves(tmp_path, base, docs):
    """Record for record; sources stay, and ingesting the same again does nothing."""
    rest, sources = exported(base, "vector", "embedding", "meta"), base.store.sources()
    report = change(base, HashEmbedder(32)).run()

    assert (report.before, report.after, report.documents) == ("hash-64", "hash-32", 5)
    assert report.changed
    assert (report.resumed, report.dropped) == (0, "")
    assert exported(base, "vector", "embedding", "meta") == rest
    assert base.store.sources() == sources
    assert base.verify() == []
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(32)) as again:
        assert again.ingest([docs]).counts == {"unchanged": 5}
        assert again.search("第3号工厂 2025年", system="vector", top_k=1)
        left = exported(again)
    with KnowledgeBase.open(tmp_path / "fresh", embedder=HashEmbedder(32)) as fresh:
        fresh.ingest([docs])
        assert exported(fresh) == left


def test_run_goes_on_where_an_earlier_one_broke_down(base, monkeypatch):
    """Until then the old vectors answer; nothing is encoded twice."""
    monkeypatch.setattr("kgrag.ingestion.reembed._BATCH_TEXTS", 1)
    before = exported(base)
    whole = Counting(HashEmbedder(32))
    n_texts = change(base, whole).plan().texts
    whole.texts.clear()
    first = Counting(HashEmbedder(32), most=n_texts // 2)
    with pytest.raises(ModelError, match="broken down"):
        change(base, first).run()

    assert exported(base) == before
    assert 0 < len(base.store.staged.doc_ids()) < 5
    plan = change(base, whole).plan()
    whole.texts.clear()
    report = change(base, whole).run()
    assert plan.texts == report.encoded == len(whole.texts)
    assert report.resumed + plan.documents == 5
    assert len(first.texts) + len(whole.texts) == n_texts
    assert len({*first.texts, *whole.texts}) == n_texts


def test_run_drops_what_is_half_done_for_another_encoder(base, monkeypatch):
    """And says so; so does the plan, which drops nothing."""
    monkeypatch.setattr("kgrag.ingestion.reembed._BATCH_TEXTS", 1)
    with pytest.raises(ModelError):
        change(base, Counting(HashEmbedder(32), most=8)).run()
    assert change(base, HashEmbedder(16)).plan().dropped == "hash-32"
    assert base.store.staged.doc_ids()
    report = change(base, HashEmbedder(16)).run()

    assert (report.dropped, report.resumed) == ("hash-32", 0)
    assert base.store.get_meta("embedder") == "hash-16"
    assert base.store.staged.meta() is None


@dataclass
class Told(Counting):
    """Tells people of its languages, which decide no vector."""

    languages: str = "zh"


def test_run_keeps_what_is_staged_where_only_what_people_are_told_differs(base, monkeypatch):
    """And records what holds at the end."""
    monkeypatch.setattr("kgrag.ingestion.reembed._BATCH_TEXTS", 1)
    first = Counting(HashEmbedder(32), most=8)
    with pytest.raises(ModelError):
        change(base, first).run()
    n_staged = len(base.store.staged.doc_ids())
    second = Told(HashEmbedder(32))
    report = change(base, second).run()

    assert n_staged > 0
    assert (report.dropped, report.resumed) == ("", n_staged)
    assert not {*first.texts} & {*second.texts}
    assert base.store.get_meta("languages") == "zh"


def test_run_has_nothing_to_do_where_all_vectors_are_there(base, monkeypatch):
    """It clears away what was begun, and tells what an older kgrag did not record."""
    monkeypatch.setattr("kgrag.ingestion.reembed._BATCH_TEXTS", 1)
    with pytest.raises(ModelError):
        change(base, Counting(HashEmbedder(32), most=8)).run()
    base.store.set_meta({"embedder_settings": "{}"})
    encoder, counter = Counting(HashEmbedder(64)), base.store.change_counter()
    report = change(base, encoder).run()

    assert not report.changed
    assert (report.encoded, encoder.texts, report.dropped) == (0, [], "hash-32")
    assert base.store.staged.meta() is None
    assert base.store.change_counter() == counter
    assert json.loads(base.store.get_meta("embedder_settings")) == {
        "dimension": "64",
        "model": "hash-64",
    }


def test_run_with_the_same_encoder_encodes_what_is_missing(base):
    """Chunks of another size are to have vectors: those of other nodes are taken over."""
    before = {r["node_id"]: r["key"] for r in base.export() if r["record"] == "vector"}
    encoder = Counting(HashEmbedder(64))
    report = change(base, encoder, ChunkSizes(2048, (1024, 512))).run()
    after = {r["node_id"]: r["key"] for r in base.export() if r["record"] == "vector"}

    assert report.changed
    assert {node.split(":")[1] for node in after if ":" in node} == {"512"}
    assert after.items() >= {(n, k) for n, k in before.items() if ":256:" not in n}
    assert report.encoded == len(encoder.texts) == len(set(after.values()) - set(before.values()))
    assert base.verify() == []


def test_run_encodes_documents_that_come_meanwhile(base, tmp_path, docs):
    """They have vectors of the old encoder until the switch."""
    (docs / "late.txt").write_text("第9号方案\n到2026年建成9家。", "utf-8")

    class Slow(Counting):
        def embed(self, texts, task):
            if not self.texts:
                with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as other:
                    assert other.ingest([docs]).counts == {"unchanged": 5, "added": 1}
            return super().embed(texts, task)

    report = change(base, Slow(HashEmbedder(32))).run()

    assert report.documents == 6
    assert base.store.counts().documents == 6
    assert base.verify() == []
    nodes = [v for card in base.documents() for v in base.store.bundle(card.doc_id).vectors]
    assert {v.vector.size for v in nodes} == {32}


def test_an_ingestion_that_goes_on_after_the_switch_is_told(base, docs):
    """Its vectors are those of the encoder before."""
    change(base, HashEmbedder(32)).run()
    (docs / "late.txt").write_text("第9号方案", "utf-8")
    with pytest.raises(ModelError, match="hash-32"):
        base.ingest([docs])
    assert base.store.get_meta("embedder") == "hash-32"
    assert base.verify() == []


def test_plan_counts_texts_once_and_stores_nothing(base):
    """Equal texts are one; about how long a sample tells, all of them for a few."""
    before, encoder = exported(base), Counting(HashEmbedder(32))
    plan = change(base, encoder).plan()
    vectors = [r for r in base.export() if r["record"] == "vector"]

    assert (plan.before, plan.after, plan.documents) == ("hash-64", "hash-32", 5)
    assert plan.texts == len({r["key"] for r in vectors})
    assert plan.seconds > 0
    assert plan.dropped == ""
    assert exported(base) == before
    assert base.store.staged.meta() is None
    assert change(base, HashEmbedder(64)).plan().texts == 0


def test_plan_encodes_no_more_than_a_sample(base, monkeypatch):
    """Drawn from all texts; the first of it once more, for what is loaded once."""
    monkeypatch.setattr("kgrag.ingestion.reembed._SAMPLE", 4)
    encoder = Counting(HashEmbedder(32))
    assert change(base, encoder).plan().texts > 8
    assert len(encoder.texts) == 5
    assert len(set(encoder.texts)) == 4


def test_progress_tells_documents(base):
    """Each before it is read, and the end."""
    seen = []
    change(base, HashEmbedder(32)).run(progress=lambda *state: seen.append(state))

    assert [done for _, done, _ in seen] == [0, 1, 2, 3, 4, 5]
    assert {total for *_, total in seen} == {5}
    assert {Path(file).name for file, *_ in seen[:-1]} == {f"{i}.txt" for i in range(5)}
