"""`kgrag dataset` on the sample documents: files, counts, refusals."""

import json
import re

import pytest
from click.testing import CliRunner

from kgrag.cli.main import main
from kgrag.evaluation.queries import read_queries
from kgrag.testing import FakeServer, Reply
from tests.fixtures.plain_samples import put_plain_samples
from tests.unit.cli.conftest import run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A knowledge base of the samples, and questions of it."""
    made = tmp_path_factory.mktemp("dataset")
    (made / "kgrag.toml").write_text('[embedding]\nmodel = "hash-64"\n', "utf-8")
    put_plain_samples(made / "docs")
    assert run(made, "ingest", made / "docs").exit_code == 0
    assert run(made, "dataset", "generate", "--out", made / "q.jsonl").exit_code == 0
    return made


def test_generate_writes_questions_and_says_how_many(folder):
    """What is printed are the lines of the file, by kind."""
    out = folder / "few.jsonl"
    done = run(folder, "dataset", "generate", "--out", out, "--n", 6, "--seed", 3)
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert done.exit_code == 0
    assert f"{out}: 6 questions" in done.stdout
    assert len(lines) == 6
    for line in lines:
        assert set(line) >= {"id", "question", "kind", "gold_docs", "gold_spans", "answers"}
        n = sum(other["kind"] == line["kind"] for other in lines)
        assert f"  {line['kind']}: {n}" in done.stdout.splitlines()


def test_generate_makes_the_kinds_that_are_asked_for(folder):
    out = folder / "kinds.jsonl"
    done = run(folder, "dataset", "generate", "--out", out, "--kinds", "number,list", "--json")
    kinds = {json.loads(line)["kind"] for line in out.read_text("utf-8").splitlines()}
    assert kinds == set(json.loads(done.stdout)["kinds"]) == {"number", "list"}


def test_an_unknown_kind_is_refused(folder):
    done = run(folder, "dataset", "generate", "--out", folder / "x.jsonl", "--kinds", "riddle")
    assert done.exit_code == 2
    assert "riddle" in done.stderr


def test_what_is_left_out_has_no_gold(folder):
    out = folder / "left.jsonl"
    words = ("--kinds", "unanswerable", "--leave-out", "云岭省碳达峰实施方案")
    assert run(folder, "dataset", "generate", "--out", out, *words).exit_code == 0
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert lines
    assert all(line["gold_docs"] == [] for line in lines)


def test_the_questions_can_be_measured(folder):
    """By the command that they are made for."""
    assert read_queries(folder / "q.jsonl").queries
    words = ("--queries", folder / "q.jsonl", "--systems", "bm25", "--json")
    done = run(folder, "eval", "retrieval", *words)
    assert done.exit_code == 0
    assert json.loads(done.stdout)["systems"]["bm25"]["groups"]["all"]["n_queries"] >= 10


@pytest.mark.parametrize("form", ["pairs", "instructions", "verification"])
def test_export_writes_a_line_a_sample(folder, form):
    out = folder / f"{form}.jsonl"
    words = ("--queries", folder / "q.jsonl", "--format", form, "--out", out)
    done = run(folder, "dataset", "export", *words)
    lines = out.read_text("utf-8").splitlines()
    assert done.exit_code == 0
    assert done.stdout == f"{out}: {len(lines)} samples\n"
    assert all(json.loads(line) for line in lines)


@pytest.mark.parametrize("ranks", ["0-3", "5-2", "x", "3"])
def test_ranks_that_are_none_are_refused(folder, ranks):
    words = ("--queries", folder / "q.jsonl", "--format", "pairs", "--out", folder / "r.jsonl")
    done = run(folder, "dataset", "export", *words, "--ranks", ranks)
    assert done.exit_code == 2
    assert "3-30" in done.stderr


def answering(body):
    """Make a question of the first figure of a passage, and answer it from there."""
    told = "\n".join(message["content"] for message in body["messages"])
    figure = re.search(r"[^，。；：\n]*?(\d+(?:\.\d+)?%)", told.split("文段：\n")[-1])
    if figure is None:
        return Reply('{"question": "", "answer": "", "evidence": ""}')
    if "问题：\n" in told:
        return Reply(json.dumps({"answer": figure[1]}))
    made = {"question": f"云岭省的{figure[0]}吗？", "answer": figure[1], "evidence": figure[0]}
    return Reply(json.dumps(made, ensure_ascii=False))


def test_a_configured_model_makes_the_questions(folder):
    """One of each parent that it can ask about; the counts are those of the file."""
    out, settings = folder / "model.jsonl", folder / "model.toml"
    with FakeServer(answering) as server:
        settings.write_text(
            f'[embedding]\nmodel = "hash-64"\n[llm]\nbase_url = "{server.base_url}"\nmodel = "m"\n',
            "utf-8",
        )
        words = ["--config", settings, "dataset", "generate", "--kb", folder / "kb", "--out", out]
        done = CliRunner().invoke(main, [str(word) for word in [*words, "--n", 4, "--json"]])
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    told = json.loads(done.stdout)
    assert done.exit_code == 0
    assert told["kinds"] == {"lookup": len(lines)}
    assert 1 <= len(lines) <= 4
    assert all(line["answers"][0] in line["question"] for line in lines)
    assert len({line["parent"] for line in lines}) == len(lines)
    assert len(server.requests) >= 2 * len(lines)
