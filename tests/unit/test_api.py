"""The knowledge base as programs use it: calls, limits, what ingest is given."""

import json
import math
import re
from pathlib import Path

import pytest

from kgrag import Filter
from kgrag.answering.follow_up import Turn
from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig, ExtractConfig, ModelConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import (
    ConfigError,
    GarbledTextError,
    IngestionError,
    KgragError,
    ModelMismatchError,
    NotFoundError,
    StoreUnavailableError,
)
from kgrag.ingestion.reembed import Reembedding
from kgrag.ingestion.report import Outcome
from kgrag.limits import MOST_QUESTION_CHARS
from kgrag.llm.models import calls_file, keeping_calls
from kgrag.maintenance import intake
from kgrag.maintenance.intake import Intake, extract_settings, requests_of
from tests.fixtures.kit import kgrag, run, shared_folder

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
    assert any("没有使用向量模型" in note for note in answer.notes)


@pytest.mark.parametrize(
    "call",
    [
        lambda base: base.search(QUESTION, system="none"),
        lambda base: base.ask(QUESTION, writer="model"),
        lambda base: base.ask(QUESTION, verify="none at all"),
        lambda base: base.ask(QUESTION, template="none"),
        lambda base: base.retry_failed(),
    ],
)
def test_what_is_not_there_or_not_configured_is_a_config_error(base, call):
    """Names that are not known, models that nobody configured."""
    with pytest.raises(ConfigError):
        call(base)


def test_a_filter_holds_search_and_ask_to_documents(base):
    within = Filter(documents=("乙规划",))
    assert {hit.chunk.text[:3] for hit in base.search(QUESTION, within=within)} == {"乙规划"}
    assert {c.title for c in base.ask("占比达到多少？", within=within).citations} == {"乙规划"}


@pytest.mark.parametrize(
    "call",
    [
        lambda base: base.search(QUESTION, top_k=0),
        lambda base: base.ask(QUESTION, top_k=0),
        lambda base: base.search(QUESTION, top_k=-1),
        lambda base: base.ask(QUESTION, top_k=10**9),
        lambda base: base.graph("甲方案", hops=0),
        lambda base: base.query("SELECT 1", max_rows=0),
    ],
)
def test_numbers_that_make_no_sense_are_refused(base, call):
    with pytest.raises(KgragError, match=r"\d"):
        call(base)


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


LONGEST = "绿" * MOST_QUESTION_CHARS
TOO_LONG = LONGEST + "绿"
NO_COUNT = [0, -1, 2**63, 10**5000, math.inf, math.nan, True, 3.0, "3"]
NO_TIME = [0, -1.0, math.inf, math.nan, True, 1e300, "3"]


small = shared_folder({"a": "甲方案\n一、目标\n到2030年建成绿色工厂9家。\n"})


@pytest.fixture
def small_base(small):
    with KnowledgeBase.open(small / "kb", create=False, embedder=HashEmbedder()) as small_base:
        yield small_base


@pytest.mark.parametrize(
    "asked",
    [
        lambda small_base, text: small_base.search(text),
        lambda small_base, text: small_base.ask(text),
        lambda small_base, text: small_base.graph(text),
    ],
)
def test_a_question_is_read_up_to_a_length(small_base, asked):
    """Longer ones cost more than their length: 30,000 equal characters took 3 s, and so on."""
    with pytest.raises(ValueError, match="has 4,001 characters") as caught:
        asked(small_base, TOO_LONG)
    assert isinstance(caught.value, KgragError)


def test_the_longest_question_is_searched_and_asked(small_base):
    assert small_base.search(LONGEST)
    assert small_base.ask(LONGEST).question == LONGEST


def test_a_question_that_is_too_long_is_an_error_of_every_command(small):
    """Exit code 1, what is too long and the remedy; no traceback."""
    for command in ("search", "ask", "graph"):
        done = run(small, command, TOO_LONG)
        assert done.exit_code == 1
        assert "at most 4,000 are read: shorten it" in done.stderr


def test_a_question_of_a_chat_that_is_too_long_does_not_end_it(small):
    done = run(small, "chat", typed=f"{TOO_LONG}\n到2030年建成绿色工厂多少家？\n")
    assert done.exit_code == 1
    assert "has 4,001 characters" in done.stderr
    assert "9家" in done.stdout


@pytest.mark.parametrize("number", NO_COUNT, ids=lambda n: str(type(n).__name__))
def test_counts_that_make_no_sense_are_refused_at_entry(small_base, number):
    """None reaches tantivy, SQLite or a loop."""
    for asked in (
        lambda: small_base.search("绿色", top_k=number),
        lambda: small_base.ask("绿色", top_k=number),
        lambda: small_base.graph("绿色工厂", hops=number),
        lambda: small_base.graph("绿色工厂", limit=number),
        lambda: small_base.query("SELECT 1", max_rows=number),
    ):
        with pytest.raises(ValueError, match="must be a whole number from 1 to"):
            asked()


@pytest.mark.parametrize("seconds", NO_TIME)
def test_times_that_make_no_sense_are_refused_at_entry(small_base, seconds):
    with pytest.raises(ValueError, match="must be seconds above 0"):
        small_base.query("SELECT 1", timeout_s=seconds)


@pytest.mark.parametrize("value", ["inf", "nan", "0", "-1", str(2**63), "1.5"])
def test_numbers_that_make_no_sense_are_errors_of_usage(small, value):
    """Exit code 2, before anything is opened."""
    for words in (
        ("search", "绿色", "--top-k", value),
        ("ask", "绿色", "--top-k", value),
        ("graph", "绿色", "--hops", value),
        ("query", "SELECT 1", "--limit", value),
    ):
        assert run(small, *words).exit_code == 2, words


@pytest.mark.parametrize("value", ["inf", "nan", "0", "-1", "1e300"])
def test_a_timeout_that_makes_no_sense_is_an_error_of_usage(small, value):
    done = run(small, "query", "SELECT 1", "--timeout", value)
    assert done.exit_code == 2
    assert "timeout" in done.stderr


HALVES = "绿色\udce5工厂"


@pytest.mark.parametrize(
    "asked",
    [
        lambda small_base: small_base.search(HALVES),
        lambda small_base: small_base.ask(HALVES),
        lambda small_base: small_base.ask("绿色工厂", history=[Turn("绿色", HALVES)]),
        lambda small_base: small_base.ask("绿色工厂", within=Filter(regions=(HALVES,))),
        lambda small_base: small_base.search("绿色工厂", within=Filter(documents=(HALVES,))),
        lambda small_base: small_base.graph(HALVES),
        lambda small_base: small_base.query(f"SELECT '{HALVES}'"),
        lambda small_base: small_base.find_document(HALVES),
        lambda small_base: small_base.delete(HALVES),
        lambda small_base: small_base.search("??????????"),
        lambda small_base: small_base.ask("?2025??????????"),
        lambda small_base: small_base.ask("\ufffd\ufffd\ufffd\ufffd几个"),
    ],
)
def test_a_text_that_was_damaged_on_its_way_is_refused(small_base, asked):
    """It would find nothing, and "not found" would be said of a question that nobody asked."""
    with pytest.raises(GarbledTextError, match="PYTHONUTF8=1"):
        asked(small_base)


@pytest.mark.parametrize(
    "question", ["?", "绿色工厂有几家？？？", "What???", "甲\ufffd方案九家???"]
)
def test_marks_of_a_question_do_not_make_it_a_damaged_one(small_base, question):
    """More is left of it than is lost, or it is not known that anything was."""
    small_base.search(question)


def test_chat_goes_on_after_a_question_that_came_in_damaged(small):
    """Each line is one question; exit code 1 says that not all were answered."""
    lines = "??????\n\ufeff绿色工厂有几家？\n".encode() + b"\xc2\xcc\xc9\xab\n"
    done = run(small, "chat", typed=lines)
    assert done.exit_code == 1
    assert "绿色工厂9家" in done.stdout
    assert done.stderr.count("PYTHONUTF8=1") == 2


def test_calls_are_kept_in_the_folder_of_the_knowledge_base():
    """They move and go with it."""
    assert calls_file("archive/kb", Config()) == Path("archive/kb/calls.db")


def test_calls_of_a_server_are_kept_in_the_users_cache(monkeypatch):
    """One file for each address; the address may hold a password, so it is not the name."""
    monkeypatch.setenv("KGRAG_CACHE", "cache")
    files = [calls_file(f"neo4j://me:secret@{host}:7687", Config()) for host in ("a", "b")]

    assert len(set(files)) == 2
    assert {file.parent for file in files} == {Path("cache")}
    assert all(file.name.startswith("calls-") and "secret" not in file.name for file in files)


def test_calls_are_kept_where_the_settings_say():
    """A file that several knowledge bases share."""
    config = Config(llm=ModelConfig(calls="shared.db"))

    assert calls_file("kb", config) == calls_file("bolt://x", config) == Path("shared.db")


def test_keeping_calls_names_the_file_of_a_knowledge_base_to_come():
    """What a sample pays before the first ingest is found by it."""
    config = keeping_calls(Config(), "kb")

    assert calls_file("elsewhere", config) == calls_file("kb", Config())


def test_extract_settings_follow_the_configuration():
    """The meta-model is read where its types are asked for."""
    settings = extract_settings(Config(extract=ExtractConfig("separate", "free", "no.toml", 900)))

    assert (settings.calls, settings.facts, settings.meta_model) == ("separate", "free", None)
    assert settings.passage_chars == 900
    assert extract_settings(Config()).meta_model is not None
    with pytest.raises(ConfigError, match=r"no\.toml"):
        extract_settings(Config(extract=ExtractConfig(meta_model="no.toml")))


def test_requests_of_a_file_hold_its_text(tmp_path):
    """Without a model: what would be sent can be read first."""
    (tmp_path / "a.txt").write_text("节能方案\n到2030年，节能量达到5万吨标准煤。\n" * 200, "utf-8")
    requests = list(requests_of(tmp_path / "a.txt", Config()))

    assert len(requests) == 2
    assert all("5万吨标准煤" in r.messages[-1].content for r in requests)


def test_requests_of_a_file_that_cannot_be_read_say_why(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"no pdf")

    with pytest.raises(IngestionError, match=r"a\.pdf"):
        list(requests_of(tmp_path / "a.pdf", Config()))


def test_ingest_never_writes_over_an_encoder_that_is_switched_meanwhile(tmp_path, monkeypatch):
    """What another process records after the look at it stays; new vectors are refused."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.txt").write_text(f"{name}方案\n推进节能。", "utf-8")
    check = vars(intake)["check_encoder"]

    def late(given, recorded):
        check(given, recorded)
        if recorded:
            with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(32)) as other:
                Reembedding(other.store, HashEmbedder(32), other.sizes).run()

    monkeypatch.setattr(intake, "check_encoder", late)
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as base:
        assert base.ingest([tmp_path / "a.txt"], model="none").counts == {"added": 1}
        assert base.store.get_meta("embedder") == "hash-64"
        with pytest.raises(ModelMismatchError, match="hash-32"):
            base.ingest([tmp_path / "b.txt"], model="none")
        assert base.store.get_meta("embedder") == "hash-32"
        assert '"dimension": "32"' in (base.store.get_meta("embedder_settings") or "")
        assert base.verify() == []


FACT = {"passage_id": "a", "triples": [["节能方案", "目标", "5万吨标准煤"]]}
SUMMARY = {"doc": "a", "start": 0, "end": 9, "summary": "节能五万吨"}


@pytest.mark.parametrize("command", ["import-facts", "import-summaries"])
def test_an_import_says_how_long_it_took(tmp_path, command):
    record = FACT if command == "import-facts" else SUMMARY
    (tmp_path / "a.txt").write_text("节能方案\n到2030年，节能量达到5万吨标准煤。\n", "utf-8")
    (tmp_path / "given.jsonl").write_text(json.dumps(record), "utf-8")
    kgrag("ingest", tmp_path / "a.txt", "--kb", tmp_path / "kb")
    done = kgrag(command, tmp_path / "given.jsonl", "--kb", tmp_path / "kb")

    assert done.exit_code == 0
    assert re.search(r"^seconds +\d+\.\d", done.stdout, re.M)
