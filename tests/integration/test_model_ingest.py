"""Taking in with a model behind a local server that stands in: what a user sees, and pays."""

import json
import subprocess
import sys

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig, ModelConfig
from kgrag.testing.reply import Reply, stand_in
from kgrag.testing.server import FakeServer
from tests.fixtures import extent
from tests.fixtures.kit import run


@pytest.fixture
def folder(tmp_path):
    """Three documents of some passages each."""
    (tmp_path / "docs").mkdir()
    for name in "abc":
        write(tmp_path / "docs", name, 250)
    return tmp_path


def write(folder, name, n_lines):
    text = "".join(f"{name}地区第{n}家企业到2030年减排{n}万吨。\n" for n in range(n_lines))
    (folder / f"{name}.txt").write_text(f"{name}地区减排方案\n{text}", "utf-8")


def settings(folder, url, **llm):
    """Write settings that name the server."""
    rows = {"base_url": url, "model": "stand-in", "attempts": 1, "timeout_s": 60, **llm}
    lines = [f"{key} = {json.dumps(value)}" for key, value in rows.items()]
    text = "\n".join(['[embedding]\nmodel = "hash"', "[llm]", *lines])
    (folder / "kgrag.toml").write_text(text, "utf-8")


def test_ingest_tells_what_the_model_gave_and_took(folder):
    """Calls, tokens, cost, facts; the second run asks nothing."""
    with FakeServer() as server:
        settings(folder, server.base_url, price_in=2.0, price_out=8.0, currency="CNY")
        done = run(folder, "ingest", folder / "docs", "--json")
        assert done.exit_code == 0, done.output
        model = json.loads(done.stdout)["model"]
        spent = model["spent"]["extract"]
        assert spent["calls"] == server.paid == model["passages"]
        assert model["facts"] > 0
        assert model["summaries"] > 0
        paid = spent["prompt_tokens"] * 2 / 1e6 + spent["completion_tokens"] * 8 / 1e6
        assert model["cost"]["CNY"] == pytest.approx(paid)

        again = run(folder, "ingest", folder / "docs")
        assert "3 unchanged" in again.stdout
        assert server.paid == spent["calls"]
        assert run(folder, "verify").exit_code == 0


def test_ingest_of_text_that_was_paid_for_pays_nothing(folder):
    """A knowledge base that was thrown away is made again from the kept answers."""
    with FakeServer() as server:
        settings(folder, server.base_url, calls=str(folder / "kept.db"))
        run(folder, "ingest", folder / "docs")
        paid = server.paid
        first = run(folder, "export").stdout
        for file in (folder / "kb").glob("kgrag.db*"):
            file.unlink()
        done = run(folder, "ingest", folder / "docs")

        assert f"calls 0, kept {paid}," in done.stdout
        assert server.paid == paid
        assert run(folder, "export").stdout == first


@pytest.mark.parametrize(
    ("calls", "sample"), [("separate", 16), ("combined", 10)][: extent.of(2, 1)]
)
def test_dry_run_after_a_sample_predicts_what_the_run_takes(folder, calls, sample):
    """Within 15 % of the ledger; what the sample paid is not paid again."""
    for i, name in enumerate("defghijklmn"):
        write(folder / "docs", name, 60 + 20 * i)
    with FakeServer() as server:
        settings(folder, server.base_url)
        with (folder / "kgrag.toml").open("a", encoding="utf-8") as file:
            file.write(f'\n[extract]\ncalls = "{calls}"\n')
        words = ("--dry-run", "--sample", sample, "--json")
        done = run(folder, "ingest", folder / "docs", *words)
        assert done.exit_code == 0, done.output
        plan = json.loads(done.stdout)
        assert plan["counts"] == {"added": 14}
        assert sum(p["kept"] for p in plan["predictions"].values()) == server.paid == sample
        assert sum(s["calls"] for s in plan["sampled"].values()) == sample

        done = run(folder, "ingest", folder / "docs", "--json")
        spent = json.loads(done.stdout)["model"]["spent"]
        assert plan["predictions"].keys() == spent.keys()
        assert all(p["basis"] >= 4 for p in plan["predictions"].values())
        for name in ("calls", "prompt_tokens", "completion_tokens"):
            predicted = sum(p[name] for p in plan["predictions"].values())
            paid = sum(s[name] for s in spent.values())
            assert predicted == pytest.approx(paid, rel=0.0 if name == "calls" else 0.15)


def test_dry_run_asks_and_makes_nothing(folder):
    """Without a sample the prediction is by rule of thumb, and says so."""
    with FakeServer() as server:
        settings(folder, server.base_url)
        done = run(folder, "ingest", folder / "docs", "--dry-run")

        assert done.exit_code == 0, done.output
        assert "3 added" in done.stdout
        assert "rule of thumb" in done.stdout
        assert "no price is known" in done.stdout
        assert server.requests == []
        assert not (folder / "kb").exists()


def test_ingest_when_some_answers_are_bad_can_be_retried(folder):
    """The passage is told, marked and counted; exit code 1; --retry-failed completes it."""
    bad = True

    def reply(body):
        hit = bad and "第200家" in str(body["messages"])
        return Reply("抱歉，我无法回答。") if hit else stand_in(body)

    with FakeServer(reply) as server:
        settings(folder, server.base_url)
        done = run(folder, "ingest", folder / "docs")
        assert done.exit_code == 1
        assert "3 added" in done.stdout
        assert done.stderr.count("in part: ") == 3
        assert "3 passages could not be read (3 refused)" in done.stderr
        assert run(folder, "verify").exit_code == 0

        done = run(folder, "ingest", folder / "docs")
        assert done.exit_code == 1
        assert done.stderr.count("1 passage(s) could not be read before: ") == 3
        assert run(folder, "ingest", folder / "docs", "--no-model").exit_code == 0

        bad = False
        paid = server.paid
        done = run(folder, "ingest", "--retry-failed")
        assert done.exit_code == 0, done.output
        assert "3 retried" in done.stdout
        assert server.paid == paid + 3
        assert "nothing to do" in run(folder, "ingest", "--retry-failed").stdout


def test_ingest_when_the_server_is_not_there_stores_what_rules_find(folder, monkeypatch):
    """One message after two trials, exit code 1; the passages wait for --retry-failed."""
    monkeypatch.setattr("kgrag.llm.middleware._RESTS_S", (0.05, 0.05, 60.0))
    with FakeServer() as server:
        url = server.base_url
    settings(folder, url)
    done = run(folder, "ingest", folder / "docs")

    assert done.exit_code == 1
    assert "3 added" in done.stdout
    assert done.stderr.count("the model could not be asked") == 1
    assert "passages gave" not in done.stdout
    assert "--retry-failed" in done.stderr
    with FakeServer() as server:
        settings(folder, server.base_url)
        # another address is no other model: the marks are still good
        assert run(folder, "ingest", "--retry-failed").exit_code == 0
        assert "3 unchanged" in run(folder, "ingest", folder / "docs").stdout


def test_ingest_when_the_key_is_missing_names_its_variable(folder, monkeypatch):
    """What rules find is stored; the user reads which variable to set."""
    monkeypatch.delenv("KGRAG_TEST_KEY", raising=False)
    settings(folder, "http://localhost:9/v1", api_key_env="KGRAG_TEST_KEY")
    done = run(folder, "ingest", folder / "docs")

    assert done.exit_code == 1
    assert "3 added" in done.stdout
    assert "KGRAG_TEST_KEY" in done.stderr


def test_ingest_without_the_model_asks_nothing(folder):
    """--no-model takes in by rules; what a model has read before stays."""
    with FakeServer() as server:
        settings(folder, server.base_url)
        assert run(folder, "ingest", folder / "docs", "--no-model").exit_code == 0
        assert server.requests == []
        assert "3 replaced" in run(folder, "ingest", folder / "docs").stdout
        read = run(folder, "export").stdout
        assert "3 unchanged" in run(folder, "ingest", folder / "docs", "--no-model").stdout
        assert run(folder, "export").stdout == read


@pytest.mark.parametrize(
    "options",
    [(), ("--retry-failed", "--dry-run"), ("--retry-failed", "--no-model"), ("x", "--sample", "3")],
)
def test_ingest_refuses_options_that_contradict_each_other(folder, options):
    """Usage errors, before anything is opened."""
    settings(folder, "http://localhost:9/v1")

    assert run(folder, "ingest", *options).exit_code == 2
    assert not (folder / "kb").exists()


def test_retry_without_a_model_names_the_setting(folder):
    """There is nobody to ask."""
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    run(folder, "ingest", folder / "docs")
    done = run(folder, "ingest", "--retry-failed")

    assert done.exit_code == 1
    assert "[llm]" in done.stderr


def test_nothing_of_models_is_opened_where_none_is_configured(folder):
    """No file of calls, and none of the modules that ask models."""
    code = (
        "import sys; from kgrag.api import KnowledgeBase; "
        "from kgrag.embedding.hashing import HashEmbedder\n"
        "with KnowledgeBase.open(sys.argv[1], embedder=HashEmbedder(64)) as base:\n"
        "    base.ingest(sys.argv[2:]); base.plan(sys.argv[2:])\n"
        "print(*sorted(m for m in sys.modules if m.startswith('openai') or m in "
        "('kgrag.llm.client', 'kgrag.ingestion.enrich', "
        "'kgrag.ingestion.reading')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder / "kb"), str(folder / "docs")],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == ""
    assert not (folder / "kb" / "calls.db").exists()


def test_the_api_takes_in_with_a_model_and_shows_its_calls(folder):
    """Progress names calls; the ledger is at hand; closing releases what was opened."""
    told = []
    with FakeServer() as server:
        config = Config(
            embedding=EmbeddingConfig("hash"), llm=ModelConfig(base_url=server.base_url, model="m")
        )
        with KnowledgeBase.open(folder / "kb", config=config) as base:
            base.ingest([folder / "docs"], progress=lambda *args: told.append(args))
            [total] = base.calls.totals()
            assert total.sent == server.paid
            assert base.models.is_configured("answer")
    names = [name for name, _, _ in told]
    assert any(name.endswith(f"c.txt, {server.paid} calls") for name in names)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)
