"""`kgrag eval experiment` and `compare` on the sample documents, and the gate that they make."""

import json
from pathlib import Path

import pytest

from kgrag.ingestion.samples import questions_file
from tests.fixtures.plain_samples import put_plain_samples
from tests.unit.cli.conftest import kgrag

# What grim found: kgrag search --batch QUESTIONS --system grim --top-k 20 --out samples_grim.trec
BASELINE = Path(__file__).parents[2] / "fixtures" / "samples_grim.trec"
NONE = '{"id": "q", "question": "?", "gold_docs": []}\n'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A knowledge base of the samples, and what an experiment of two systems wrote of it."""
    folder = tmp_path_factory.mktemp("eval")
    (folder / "kgrag.toml").write_text('[embedding]\nmodel = "hash"\n', "utf-8")
    put_plain_samples(folder / "docs")
    assert kgrag(folder, "ingest", folder / "docs", "--kb", folder / "kb").exit_code == 0
    done = experiment(folder, "--systems", "bm25,grim", "--out", folder / "out", "--trec")
    assert done.exit_code == 0, done.output
    (folder / "out" / "stdout.md").write_text(done.stdout, "utf-8")
    assert "2 questions of" in done.stderr
    return folder


def experiment(folder, *words):
    return kgrag(
        folder, "eval", "experiment", "--set", "样本", folder / "kb", questions_file(), *words
    )


def compare(folder, a, b, *words):
    return kgrag(folder, "eval", "compare", a, b, "--queries", questions_file(), *words)


def test_experiment_prints_a_table_and_writes_reports_and_runs(folder):
    """The same table in Markdown and on a page; gold and runs in TREC's form where asked for."""
    out = folder / "out"
    table = (out / "stdout.md").read_text("utf-8")
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]

    assert rows[0][:3] == ["system", "n", "P"]
    assert rows[0][-3:] == ["ms p50", "ms p99", "characters"]
    assert [row[:2] for row in rows[2:]] == [["bm25", "10"], ["grim", "10"]]
    assert (out / "report.md").read_text("utf-8") == table
    assert all(f"<td>{cell}" in (out / "report.html").read_text("utf-8") for cell in rows[3])
    assert sorted(path.name for path in out.glob("样本*")) == [
        *("样本.bm25.jsonl", "样本.bm25.trec", "样本.grim.jsonl", "样本.grim.trec", "样本.qrels"),
    ]


def test_experiment_as_json_has_every_question_with_intervals_latency_and_size(folder):
    """By set, by system; the interval holds the mean."""
    done = experiment(folder, "--systems", "bm25", "--measures", "R@3,hit@1", "--json")
    told = json.loads(done.stdout)["样本"]["bm25"]
    low, high = told["intervals"]["R@3"]

    assert len(told["queries"]) == 10
    assert low <= told["groups"]["all"]["scores"]["R@3"] <= high
    assert 0 < told["latency_ms"]["p50"] <= told["latency_ms"]["p99"]
    assert told["characters"] > 0


def test_grim_is_not_worse_than_what_it_found_before(folder):
    """The gate: whoever makes retrieval significantly worse on the samples fails here."""
    done = compare(folder, BASELINE, folder / "out" / "样本.grim.trec")

    assert done.exit_code == 0, done.output


def test_compare_exits_1_where_the_second_run_is_significantly_worse(folder, tmp_path):
    """A run that lacks eight of ten questions loses them; the other way round it wins them."""
    grim = folder / "out" / "样本.grim.jsonl"
    lines = grim.read_text("utf-8").splitlines(keepends=True)
    (tmp_path / "less.jsonl").write_text("".join(lines[:2]), "utf-8")
    done = compare(folder, grim, tmp_path / "less.jsonl", "--measures", "R@5")

    assert done.exit_code == 1
    assert done.stdout.splitlines()[1].split()[-3:] == ["0", "2", "8"]
    assert "less.jsonl lacks 8 of 10 questions" in done.stderr
    assert "less.jsonl is significantly worse (p < 0.05): R@5" in done.stderr
    assert compare(folder, tmp_path / "less.jsonl", grim, "--measures", "R@5").exit_code == 0
    assert compare(folder, grim, tmp_path / "less.jsonl", "--alpha", "0.001").exit_code == 0


def test_compare_as_json_has_differences_and_what_is_worse(folder):
    """A run is as good as itself; qrels do for gold, and TREC's form for a run."""
    out = folder / "out"
    done = kgrag(
        *(folder, "eval", "compare", out / "样本.grim.trec", out / "样本.grim.jsonl"),
        *("--queries", out / "样本.qrels", "--json"),
    )
    told = json.loads(done.stdout)

    assert (done.exit_code, told["worse"]) == (0, [])
    assert {(of["p"], of["wins"], of["ties"]) for of in told["measures"].values()} == {(1, 0, 10)}


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["experiment", "--set", "a", "kb", "none.jsonl"], 1, "no question has gold"),
        (["experiment", "--set", "a", "kb", "gone.jsonl"], 2, "does not exist"),
        (["experiment", "--set", "a", "nowhere", "QUESTIONS"], 1, "nowhere"),
        (["experiment", "--set", "a/b", "kb", "QUESTIONS"], 2, "a name of its own"),
        (["experiment", "--set", "a", "kb", "QUESTIONS", "--trec"], 2, "--trec needs --out"),
        (["experiment", "--set", "a", "kb", "QUESTIONS", "--systems", ","], 2, "commas"),
        (["experiment", "--set", "a", "kb", "QUESTIONS", "--measures", "R5"], 1, "no measure 'R5'"),
        (["experiment", "--set", "a", "kb", "QUESTIONS", "--out", "kgrag.toml/x"], 1, "toml/x"),
        (["compare", "RUN", "none.jsonl", "--queries", "QUESTIONS"], 1, "none.jsonl:1: 'results'"),
        (
            ["compare", "RUN", "other.jsonl", "--queries", "QUESTIONS"],
            1,
            "none of the 10",
        ),
        (["compare", "RUN", "RUN", "--queries", "QUESTIONS", "--measures", "R@0"], 1, "'R@0'"),
    ],
)
def test_what_is_wrong_is_told(folder, words, code, says):
    """2 for usage, 1 for failure; what, where and the remedy on stderr."""
    (folder / "none.jsonl").write_text(NONE, "utf-8")
    (folder / "other.jsonl").write_text('{"id": "x", "results": []}\n', "utf-8")
    paths = {"RUN": folder / "out" / "样本.grim.jsonl", "QUESTIONS": questions_file()}
    files = ("kb", "none.jsonl", "gone.jsonl", "other.jsonl", "nowhere", "kgrag.toml/x")
    paths |= {name: folder / name for name in files}
    done = kgrag(folder, "eval", *(paths.get(word, word) for word in words))

    assert done.exit_code == code, done.output
    assert says in done.stderr
