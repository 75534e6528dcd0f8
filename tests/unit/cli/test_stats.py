"""What the command that counts tells of cost."""

import json
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.llm.chat import Request, Usage
from kgrag.llm.ledger import Calls

OWN = "http://localhost:8000/v1"


@pytest.fixture
def costs(tmp_path):
    """Return a function that gives the costs of a million tokens in, by model, under settings."""
    kept = tmp_path / "calls.db"
    calls = Calls.open(kept)
    for model in ("deepseek-chat", "own"):
        calls.record(
            Request((), "answer"), model, usage=Usage(1_000_000), seconds=1.0, outcome="ok"
        )
    calls.close()
    settings = tmp_path / "kgrag.toml"
    kb = tmp_path / "kb"

    def run(text, *options):
        settings.write_text(
            f'[embedding]\nmodel = "hash"\n[llm]\ncalls = "{kept}"\n{text}', "utf-8"
        )
        words = ["--config", str(settings), "stats", "--cost", "--kb", str(kb), *options]
        return CliRunner().invoke(main, words)

    def of(text):
        done = run(text, "--json")
        assert done.exit_code == 0, done.output
        return {row["model"]: row["cost"] for row in json.loads(done.stdout)["stages"]}

    return SimpleNamespace(of=of, run=run)


def test_a_provider_costs_what_its_list_says(costs):
    """Also models that are no longer configured."""
    assert costs.of('provider = "glm"\n') == {"deepseek-chat": 2.0, "own": None}


def test_own_prices_go_first(costs):
    """Of the model that is configured."""
    assert costs.of('provider = "deepseek"\nprice_in = 7\n')["deepseek-chat"] == 7.0


@pytest.mark.parametrize(
    "text",
    [
        f'base_url = "{OWN}"\nmodel = "deepseek-chat"\n',
        f'provider = "deepseek"\n[llm.answer]\nbase_url = "{OWN}"\nmodel = "deepseek-chat"\n',
        f'base_url = "{OWN}"\nmodel = "deepseek-chat"\n[llm.verify]\nprovider = "deepseek"\n',
    ],
)
def test_an_endpoint_of_ones_own_does_not_cost_what_the_provider_does(costs, text):
    """What nobody said is shown as not known, whichever stage asks it."""
    assert costs.of(text)["deepseek-chat"] is None
    assert "no price is known for deepseek-chat" in costs.run(text).stderr
