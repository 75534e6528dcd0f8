import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from kgrag.api import KnowledgeBase
from kgrag.cli.main import main
from kgrag.config import Config, ExtractConfig, ModelConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ConfigError, IngestionError, ModelMismatchError
from kgrag.llm.models import calls_file, keeping_calls
from kgrag.maintenance import intake
from kgrag.maintenance.intake import extract_settings, requests_of


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
    """As ingest would."""
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
                intake.reembedding(other.store, HashEmbedder(32), other.sizes, Config()).run()

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


@pytest.mark.parametrize(
    ("command", "record"),
    [("ingest", {}), ("import_facts", FACT), ("import_summaries", SUMMARY)],
)
def test_the_time_that_is_told_has_the_indexes_in_it(tmp_path, monkeypatch, command, record):
    """They take the half of it where there are many; no question waits for them."""
    now = [0.0]
    monkeypatch.setattr(intake, "time", SimpleNamespace(monotonic=lambda: now[0]))
    (tmp_path / "a.txt").write_text("节能方案\n到2030年，节能量达到5万吨标准煤。\n", "utf-8")
    (tmp_path / "given.jsonl").write_text(json.dumps(record), "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(16)) as base:
        if command != "ingest":
            base.ingest([tmp_path / "a.txt"])
        refresh, put = base.store.refresh, base.store.add_knowledge

        def slowly(**sizes):
            now[0] += 405.0
            refresh(**sizes)

        def step(name, done, total):
            now[0] += 100.0

        def added(*given, **more):
            now[0] += 100.0
            put(*given, **more)

        monkeypatch.setattr(base.store, "refresh", slowly)
        monkeypatch.setattr(base.store, "add_knowledge", added)
        if command == "ingest":
            report = base.ingest([tmp_path / "a.txt"], progress=step)
        else:
            report = getattr(base, command)(tmp_path / "given.jsonl")
            assert report.errors == ()

    assert report.index_seconds == 405.0
    assert report.seconds == now[0] > 405.0


@pytest.mark.parametrize("command", ["import-facts", "import-summaries"])
def test_an_import_says_how_long_it_took(tmp_path, command):
    """As ingest does."""
    record = FACT if command == "import-facts" else SUMMARY
    (tmp_path / "a.txt").write_text("节能方案\n到2030年，节能量达到5万吨标准煤。\n", "utf-8")
    (tmp_path / "given.jsonl").write_text(json.dumps(record), "utf-8")
    for given in (["ingest", "a.txt"], [command, "given.jsonl"]):
        words = [given[0], str(tmp_path / given[1]), "--kb", str(tmp_path / "kb")]
        done = CliRunner().invoke(main, words)

    assert done.exit_code == 0
    assert re.search(r"^1 (fact|summary) for 1 document in \d+\.\d s", done.stdout, re.M)
