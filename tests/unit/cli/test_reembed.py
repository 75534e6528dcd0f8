"""What `kgrag reembed` says."""

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.cli.models import _print_report
from kgrag.ingestion.reembed import ReembedReport
from tests.unit.cli.conftest import run


@pytest.fixture
def folder(tmp_path):
    """A folder with documents, settings, and a knowledge base of them."""
    (tmp_path / "kgrag.toml").write_text('[embedding]\nmodel = "hash-64"\n', "utf-8")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("甲方案\n到2025年创建绿色工厂500家。\n", "utf-8")
    (tmp_path / "docs" / "b.txt").write_text("乙规划\n到2030年占比达到45%。\n", "utf-8")
    assert run(tmp_path, "ingest", tmp_path / "docs").exit_code == 0
    return tmp_path


def test_reembed_changes_the_encoder_and_says_where_settings_name_the_old_one(folder):
    """Searches are refused until they are changed, with the remedy; then they work."""
    done = run(folder, "reembed", "--model", "hash-32")

    assert done.exit_code == 0
    assert re.fullmatch(r"hash-64 → hash-32: 4 texts of 2 documents in \d\.\d s\n", done.stdout)
    assert done.stderr == (
        'note: [embedding] names "hash-64" still: change it to "hash-32", or take it out\n'
    )
    refused = run(folder, "search", "绿色工厂")
    assert refused.exit_code == 1
    assert "dimension 64 instead of 32" in refused.stderr
    assert "kgrag reembed" in refused.stderr
    assert run(folder, "search", "绿色工厂", "--system", "bm25").exit_code == 0
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash-32"\n', "utf-8")
    assert run(folder, "search", "绿色工厂", "--system", "vector").exit_code == 0
    assert run(folder, "ingest", folder / "docs").stdout.endswith("2 unchanged\n")
    assert run(folder, "verify").exit_code == 0


def test_reembed_leaves_an_endpoint_for_a_model_of_this_machine(folder):
    """An endpoint that is gone is not asked for a model that stands here."""
    settings = '[embedding]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\nattempts = 1\n'
    (folder / "kgrag.toml").write_text(settings, "utf-8")
    done = run(folder, "reembed", "--model", "hash-32")

    assert done.exit_code == 0
    assert "hash-64 → hash-32" in done.stdout
    assert '[embedding] names "m" still' in done.stderr
    settings += 'api_key_env = "NO_SUCH_KEY"\nconcurrency = 9\n'
    (folder / "kgrag.toml").write_text(settings, "utf-8")
    assert "hash-32 → hash-64" in run(folder, "reembed", "--model", "hash-64").stdout
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash-64"\ntimeout_s = 9\n')
    assert run(folder, "reembed", "--model", "hash-64").stderr == ""
    (folder / "kgrag.toml").write_text(settings.replace("NO_SUCH_KEY", ""), "utf-8")
    assert "is the server up" in run(folder, "reembed", "--model", "another").stderr


def test_reembed_takes_the_encoder_of_the_settings(folder):
    """Without --model; the second time there is nothing to do."""
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash-32"\n', "utf-8")
    assert "hash-64 → hash-32" in run(folder, "reembed").stdout
    again = run(folder, "reembed")

    assert again.exit_code == 0
    assert again.stdout.startswith("nothing to do: all vectors are those of hash-32")
    assert again.stderr == ""


def test_reembed_applies_other_nodes_to_encode(folder):
    """With the encoder as it is; an unknown size is named."""
    settings = '[embedding]\nmodel = "hash-64"\nsizes = [512, 256]\n'
    (folder / "kgrag.toml").write_text(settings, "utf-8")
    refused = run(folder, "ingest", folder / "docs")
    assert refused.exit_code == 1
    told = "embedding.sizes is 512, 256, but this knowledge base has vectors of chunks of 256: run"
    assert refused.stderr.count(told) == 1
    for command in ("search", "ask"):  # by what is there
        found = run(folder, command, "绿色工厂")
        assert found.exit_code == 0
        assert found.stderr.count(f"note: {told} `kgrag reembed`") == 1
    done = run(folder, "reembed")

    assert done.stdout.startswith("hash-64: 0 texts of 2 documents")  # one chunk is all of a text
    assert run(folder, "ingest", folder / "docs").exit_code == 0
    assert "embedding.sizes" not in run(folder, "search", "绿色工厂").stderr
    (folder / "kgrag.toml").write_text(settings.replace("512", "500"), "utf-8")
    wrong = run(folder, "reembed")
    assert wrong.exit_code == 1
    assert "500" in wrong.stderr


def test_reembed_dry_run_says_how_much_and_changes_nothing(folder):
    """In words, or as JSON."""
    plan = run(folder, "reembed", "--model", "hash-32", "--dry-run")

    assert re.fullmatch(
        r"hash-64 → hash-32: 4 texts of 2 documents to encode, \d+ characters; about \d\.\d s\n",
        plan.stdout,
    )
    as_json = run(folder, "reembed", "--model", "hash-32", "--dry-run", "--json")
    record = json.loads(as_json.stdout)
    assert (record["after"], record["texts"], record["documents"]) == ("hash-32", 4, 2)
    assert run(folder, "search", "绿色工厂").exit_code == 0
    assert json.loads(run(folder, "reembed", "--json").stdout)["changed"] is False


def test_reembed_dry_run_says_when_nothing_is_to_be_done(folder):
    """As the run itself does; no texts to encode is not the same: vectors may have to go."""
    plan = run(folder, "reembed", "--dry-run")
    assert plan.stdout == run(folder, "reembed").stdout
    assert plan.stdout.startswith("nothing to do: all vectors are those of hash-64")
    assert json.loads(run(folder, "reembed", "--dry-run", "--json").stdout)["changed"] is False

    (folder / "kgrag.toml").write_text("[embedding]\nsizes = [512, 256]\n", "utf-8")
    other = run(folder, "reembed", "--dry-run")
    assert other.stdout.startswith("hash-64: 0 texts of 2 documents to encode")


def test_reembed_says_what_a_run_before_it_had_done(capsys):
    """In documents: texts are counted for this run."""
    done: dict[str, Any] = {
        "documents": 9,
        "encoded": 70,
        "dropped": "",
        "changed": True,
        "seconds": 1.0,
    }
    _print_report(ReembedReport(before="a", after="b", resumed=4, **done), as_json=False)

    said = "a → b: 70 texts of 9 documents (4 documents done by an earlier run) in 1.0 s\n"
    assert capsys.readouterr().out == said


def test_reembed_of_no_knowledge_base_or_by_no_model_is_refused(folder):
    """Nothing is made; the command that installs a model is told."""
    nowhere = CliRunner().invoke(main, ["reembed", "--kb", str(folder / "none")])
    assert nowhere.exit_code == 1
    assert "no knowledge base" in nowhere.stderr
    assert not (folder / "none").exists()
    unknown = run(folder, "reembed", "--model", "nosuch")
    assert unknown.exit_code == 1
    assert "kgrag models add PATH --name nosuch" in unknown.stderr
    assert run(folder, "search", "绿色工厂").exit_code == 0
