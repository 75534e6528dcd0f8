"""The knowledge base as programs use it, on two documents and with the stand-in encoder."""

from pathlib import Path

import pytest

from kgrag import Filter
from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ConfigError, KgragError, NotFoundError, StoreUnavailableError
from kgrag.evaluation.queries import GoldQuery
from kgrag.ingestion.report import Outcome
from kgrag.maintenance.intake import Intake

TEXTS = {
    "a.txt": "甲方案\n根据《乙规划》，到2025年创建绿色工厂500家。\n",
    "b.txt": "乙规划\n到2030年占比达到45%。\n",
}
QUESTION = "创建绿色工厂多少家？"


@pytest.fixture
def folder(tmp_path):
    """A folder of two files."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for name, text in TEXTS.items():
        (docs / name).write_text(text, "utf-8")
    return docs


@pytest.fixture
def base(tmp_path, folder):
    """A knowledge base of them."""
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as base:
        base.ingest([folder])
        yield base


def titles(documents):
    return [document.title for document in documents]


def test_open_makes_a_new_one_unless_it_must_be_there(tmp_path):
    """With `create` off, nothing appears."""
    with pytest.raises(StoreUnavailableError):
        KnowledgeBase.open(tmp_path / "none", create=False)
    assert not (tmp_path / "none").exists()
    KnowledgeBase.open(tmp_path / "new").close()
    with KnowledgeBase.open(tmp_path / "new", create=False) as base:
        assert base.documents() == []


def test_what_is_taken_in_can_be_looked_at_and_deleted(base, folder):
    """Cards by file, found by name; counts, rows and export agree."""
    assert titles(base.documents()) == ["甲方案", "乙规划"]
    assert base.documents()[0].text == ""
    assert base.find_document("b.txt") == base.find_document("乙规划")
    assert base.counts().documents == 2
    assert base.query("SELECT count(*) AS n FROM kg_documents") == [{"n": 2}]
    exported = [r["title"] for r in base.export() if r["record"] == "document"]
    assert sorted(exported) == ["乙规划", "甲方案"]
    entity, facts = base.graph("甲方案")
    assert [(entity.name, f.predicate, f.object.name) for f in facts] == [
        ("甲方案", "引用", "乙规划")
    ]
    assert base.verify() == []

    assert base.delete("甲方案").title == "甲方案"
    assert titles(base.documents()) == ["乙规划"]
    with pytest.raises(NotFoundError):
        base.find_document("甲方案")
    assert base.ingest([str(folder)]).counts == {"added": 1, "unchanged": 1}


def test_documents_come_by_file(tmp_path):
    """Whatever they hold, and in whatever order they came."""
    files = [tmp_path / f"{name}.txt" for name in "cfaedb"]
    for file in files:
        file.write_text(f"{file.stem}方案", "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(8)) as base:
        base.ingest(files)
        assert titles(base.documents()) == [f"{name}方案" for name in "abcdef"]


def test_plan_says_what_ingest_would_do(tmp_path, folder):
    """And does nothing."""
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as base:
        items = base.plan([folder]).outcomes
        assert [item.status for item in items if isinstance(item, Outcome)] == ["added"] * 2
        assert base.documents() == []


@pytest.mark.parametrize("kind", [str, Path])
def test_a_plain_string_or_path_is_one_path(tmp_path, folder, monkeypatch, kind):
    """Not its letters: `/` would be the whole disk, and `.` the working folder."""
    monkeypatch.chdir(folder.parent)
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as base:
        planned = base.plan(kind("docs")).outcomes
        assert [item.status for item in planned if isinstance(item, Outcome)] == ["added"] * 2
        assert base.ingest(kind("docs")).counts == {"added": 2}
        asked: list[list[Path]] = []
        monkeypatch.setattr(Intake, "retry_failed", lambda _, paths, **__: asked.append(paths))
        base.retry_failed(kind("docs"))
        assert asked == [[Path("docs")]]


def test_search_and_ask_take_what_settings_leave_open(base):
    """As many results as are asked for, by the system that is named."""
    assert len(base.search(QUESTION)) == 2
    assert len(base.search(QUESTION, top_k=1)) == 1
    assert base.search(QUESTION, system="bm25", top_k=1)[0].chunk.text.startswith("甲方案")
    answer = base.ask(QUESTION)
    assert (answer.method, answer.found) == ("extractive", True)
    assert "500家" in answer.text
    assert any("no encoder model" in note for note in answer.notes)
    assert base.notes() == list(answer.notes)


@pytest.mark.parametrize(
    "call",
    [
        lambda base: base.search(QUESTION, system="none"),
        lambda base: base.search(QUESTION, analysis="model"),
        lambda base: base.ask(QUESTION, writer="model"),
        lambda base: base.ask(QUESTION, verify="none at all"),
        lambda base: base.ask(QUESTION, template="none"),
        lambda base: base.query_from(QUESTION),
        lambda base: base.retry_failed(),
    ],
)
def test_what_is_not_there_or_not_configured_is_a_config_error(base, call):
    """Names that are not known, models that nobody configured."""
    with pytest.raises(ConfigError):
        call(base)


def test_a_filter_holds_search_and_ask_to_documents(base):
    """By the exported name."""
    within = Filter(documents=("乙规划",))
    assert {hit.chunk.text[:3] for hit in base.search(QUESTION, within=within)} == {"乙规划"}
    assert {c.title for c in base.ask("占比达到多少？", within=within).citations} == {"乙规划"}


@pytest.mark.parametrize(
    "call",
    [
        lambda base: base.search(QUESTION, top_k=0),
        lambda base: base.ask(QUESTION, top_k=0),
        lambda base: base.run({}, system="bm25", top_k=0),
        lambda base: base.evaluate([], systems=["bm25"], top_k=-1),
        lambda base: base.evaluate([], systems=[], top_k=0),
        lambda base: base.search(QUESTION, top_k=-1),
        lambda base: base.ask(QUESTION, top_k=10**9),
        lambda base: base.graph("甲方案", hops=0),
        lambda base: base.query("SELECT 1", max_rows=0),
    ],
)
def test_numbers_that_make_no_sense_are_refused(base, call):
    """With the bounds."""
    with pytest.raises(KgragError, match=r"\d"):
        call(base)


def test_systems_are_scored_on_questions_with_gold(base):
    """The same questions for each; a run is the files found for each question."""
    query = GoldQuery("q", QUESTION, gold_docs=("a",))
    seen = []
    reports = base.evaluate(
        [query], systems=["bm25", "grim"], ks=(1,), progress=lambda *step: seen.append(step)
    )
    assert sorted(reports) == ["bm25", "grim"]
    assert {name for name, *_ in seen} == {"bm25", "grim"}
    (found,) = base.run({"q": QUESTION}, system="bm25", top_k=1).values()
    assert len(found) == 1


def test_the_encoder_is_the_one_that_vectors_are_of(tmp_path, base):
    """Whatever a new knowledge base would get; reembed changes it."""
    assert base.embedder.name == "hash-64"
    with KnowledgeBase.open(tmp_path / "kb", create=False) as other:
        assert other.embedder.name == "hash-64"
    chosen = Config(embedding=EmbeddingConfig(model="hash-32"))
    with KnowledgeBase.open(tmp_path / "kb", create=False, config=chosen) as other:
        assert other.reembed_plan().after == "hash-32"
        assert other.reembed().changed
        assert other.embedder.name == "hash-32"
    assert base.store.get_meta("embedder") == "hash-32"
