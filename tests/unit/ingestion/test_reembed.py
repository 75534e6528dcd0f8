"""Vectors of another encoder, step by step, on a small knowledge base."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelError
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.reembed import Reembedding
from kgrag.ingestion.vector_set import VectorSet

SIZES = ChunkSizes()
LEAVES = VectorSet((SIZES.leaf,))


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


def change(base, encoder, vectors=LEAVES):
    """Return the change of a knowledge base to an encoder."""
    return Reembedding(base.store, encoder, SIZES, vectors)


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


def test_run_keeps_the_vectors_where_other_nodes_are_to_have_them(base, monkeypatch):
    """Documents are looked at again, texts not encoded again; the plan says so, too."""
    monkeypatch.setattr("kgrag.ingestion.reembed._BATCH_TEXTS", 1)
    first = Counting(HashEmbedder(32), most=8)
    with pytest.raises(ModelError):
        change(base, first).run()
    wider = VectorSet((512, SIZES.leaf))
    plan = change(base, HashEmbedder(32), wider).plan()
    second = Counting(HashEmbedder(32))
    report = change(base, second, wider).run()

    assert first.texts
    assert not {*first.texts} & {*second.texts}
    assert (plan.documents, plan.texts) == (5, len(second.texts))
    assert (report.dropped, report.resumed, plan.dropped) == ("", 0, "")
    assert base.store.get_meta("embedded_sizes") == "512,256"
    assert base.verify() == []


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
    """Other sizes carry vectors: those that are there are taken over."""
    before = {r["node_id"]: r["key"] for r in base.export() if r["record"] == "vector"}
    encoder = Counting(HashEmbedder(64))
    vectors = VectorSet((512, SIZES.leaf), facts=False)
    report = change(base, encoder, vectors).run()
    after = {r["node_id"]: r["key"] for r in base.export() if r["record"] == "vector"}

    assert report.changed
    assert {node for node in after if ":512:" in node}
    assert after.items() >= {(n, k) for n, k in before.items() if ":256:" in n}
    assert report.encoded == len(encoder.texts) == len(set(after.values()) - set(before.values()))
    assert base.store.get_meta("embedded_sizes") == "512,256"
    assert base.store.get_meta("embedded_facts") == "no"
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
