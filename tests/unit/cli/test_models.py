"""The commands for encoder models, and those that ask a chat model, against a local server."""

import json

import pytest

from kgrag.embedding.catalog import ModelCard
from kgrag.embedding.model_folder import ModelFolder
from kgrag.testing.server import FakeServer
from tests.fixtures.kit import kgrag, kgrag_in, run

CONFIG = """
[embedding]
model = "hash"
[llm]
base_url = "{base_url}"
model = "stand-in"
concurrency = 2
price_in = 1000000
price_cached = 0
price_out = 1000000
currency = "CNY"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a document that a stand-in for a model has read."""
    folder = tmp_path_factory.mktemp("cli-models")
    (folder / "a.txt").write_text(
        "A省绿色工厂实施方案\n一、目标\n到2025年，A省创建绿色工厂500家。\n", "utf-8"
    )
    with FakeServer() as server:
        (folder / "kgrag.toml").write_text(CONFIG.format(base_url=server.base_url), "utf-8")
        assert run(folder, "ingest", str(folder / "a.txt")).exit_code == 0
        yield folder


def test_ask_shows_answer_quote_and_verdict(folder):
    """The quote stands behind each citation: the answer is in the model's words."""
    done = run(folder, "ask", "A省创建绿色工厂多少家？")
    assert done.exit_code == 0, done.output
    assert "[1] A省绿色工厂实施方案" in done.stdout
    assert "“" in done.stdout
    assert "核验（cov）：通过" in done.stdout


def test_ask_explain_shows_every_step_with_its_calls(folder):
    """Also what was retrieved and what it took."""
    done = run(folder, "ask", "A省创建绿色工厂多少家？", "--explain", "--verify", "cov-paper")
    for step in (
        "retrieve",
        "generate (1 calls)",
        "verify (1 calls)",
        "used",
    ):
        assert f"── {step}" in done.stdout


def test_ask_json_has_verdict_checks_and_steps(folder):
    done = run(folder, "ask", "A省创建绿色工厂多少家？", "--json")
    answer = json.loads(done.stdout)
    assert answer["verdict"]["passed"] is True
    assert answer["checks"]
    assert answer["steps"][0]["name"] == "retrieve"


def test_ask_exits_1_where_the_model_is_away(folder, tmp_path):
    """The answer is quoted instead, and the exit code tells."""
    (tmp_path / "kgrag.toml").write_text(
        CONFIG.format(base_url="http://127.0.0.1:9/v1") + "attempts = 1\n", "utf-8"
    )
    done = kgrag_in(tmp_path, "ask", "A省创建绿色工厂多少家？", "--kb", folder / "kb")
    assert done.exit_code == 1
    assert "500家" in done.stdout
    assert "quoted by rule instead" in done.stderr


def test_ask_for_a_model_that_is_not_configured_is_refused(folder, tmp_path):
    (tmp_path / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    done = kgrag_in(tmp_path, "ask", "问题", "--kb", folder / "kb", "--writer", "model")
    assert done.exit_code == 1
    assert "no chat model is configured" in done.stderr


def test_chat_answers_line_by_line_and_understands_what_leans_on_before(folder):
    """/new forgets, /quit ends; what was understood is shown."""
    lines = "A省创建绿色工厂多少家？\n由谁牵头？\n/new\n由谁牵头？\n/quit\n不会问到\n"
    done = run(folder, "chat", "--writer", "quotes", typed=lines)
    assert done.exit_code == 0, done.output
    assert done.stderr.count("understood as: ") == 1
    assert "不会问到" not in done.output


def test_stats_cost_adds_up_calls_tokens_and_money(folder):
    """By stage; the price is one a token here."""
    done = run(folder, "stats", "--cost", "--json")
    found = json.loads(done.stdout)
    extract = next(row for row in found["stages"] if row["stage"] == "extract")
    assert extract["calls"] == 1
    assert extract["cost"] == extract["in"] + extract["out"] > 0
    table = run(folder, "stats", "--cost").stdout
    assert "extract" in table
    assert "CNY" in table


def test_prompts_prints_all_of_them_or_those_named(folder):
    """A person can read what a model is sent."""
    every = kgrag_in(folder, "prompts").stdout
    one = kgrag_in(folder, "prompts", "cov", "--language", "zh").stdout
    assert "═══ cov (en)" in every
    assert one.startswith("═══ cov (zh)")
    assert "$question" in one
    unknown = kgrag_in(folder, "prompts", "nothing")
    assert unknown.exit_code == 1
    assert "there are" in unknown.stderr


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of encoder models."""
    monkeypatch.setenv("KGRAG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


def install(cache, name, **settings):
    """Put a model's card and a file where models are installed."""
    (cache / name).mkdir(parents=True)
    (cache / name / "model.onnx").write_bytes(bytes(2_000_000))
    used = {"dimension": 384, "precision": "int8", "n_bytes": 2_000_000, **settings}
    ModelFolder(cache / name).write_card(ModelCard(name=name, **used))


def test_models_list_shows_how_models_are_used_and_where_they_are(cache):
    """One line each, those that could be pulled with the command for it."""
    install(cache, "mine", pooling="last", languages="en", licence="MIT")
    lines = kgrag("models", "list").stdout.splitlines()

    assert " ".join(lines[0].split()) == ("name format dimension bytes languages licence where")
    place = cache / "mine"
    assert " ".join(lines[2].split()).startswith("mine onnx 384 2000000 en MIT")
    assert str(place)[:50] in lines[2]
    assert lines[3].endswith("not installed: kgrag models pull bge-small-zh")


def test_models_list_shows_what_is_damaged(cache):
    """A card that cannot be read, and a file that was cut: what, and the command that mends it."""
    install(cache, "bge-small-zh")
    (cache / "bge-small-zh" / "card.json").write_text("{")
    install(cache, "mine", n_bytes=2_000_001)
    done = kgrag("models", "list")
    assert done.exit_code == 0
    notes = done.stderr.splitlines()
    assert notes[0].startswith("note: bge-small-zh: cannot read the model card ")
    assert notes[0].endswith("Remedy: kgrag models pull bge-small-zh")
    assert "2,000,000 bytes, and had 2,000,001 when it was installed" in notes[1]
    damaged, *_ = json.loads(kgrag("models", "list", "--json").stdout)
    assert (damaged["name"], damaged["dimension"]) == ("bge-small-zh", None)
    assert damaged["folder"] == str(cache / "bge-small-zh")


def test_models_remove_takes_a_model_away_once(cache):
    """The second time it is not there, and what is there is named."""
    install(cache, "mine")
    install(cache, "other")
    done = kgrag("models", "remove", "mine")
    again = kgrag("models", "remove", "mine")

    assert (done.exit_code, done.stdout) == (0, "removed mine\n")
    assert again.exit_code == 1
    assert "installed: other" in again.stderr


def test_models_add_passes_what_the_user_says(cache, tmp_path, monkeypatch):
    """And only that: the rest is read from the folder; what came of it is shown."""
    said = {}

    def add_model(path, **settings):
        said.update(settings)
        return ModelCard(name="m", dimension=8, query_instruction="q: ", precision="float32")

    monkeypatch.setattr("kgrag.embedding.add.add_model", add_model)
    words = ["--file", "onnx/a.onnx", "--pooling", "last", "--max-tokens", "9"]
    done = kgrag("models", "add", tmp_path, *words)

    assert {key: value for key, value in said.items() if value is not None} == {
        "file": "onnx/a.onnx",
        "pooling": "last",
        "max_tokens": 9,
        "replace": False,
    }
    assert "m: 8 dimensions, pooling mean, float32, 512 tokens" in done.stdout
    assert "  query: instruction q: " in done.stdout
