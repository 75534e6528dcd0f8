"""Experiments: per-question scores and their means, checked against an independent scorer."""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from kgrag.evaluation.experiment import document_key, evaluate
from kgrag.evaluation.queries import GoldQuery, read_queries
from kgrag.evaluation.runs import RunResult, write_run

SCORER = Path(__file__).resolve().parents[4] / "shared" / "score_run.py"


def test_evaluate_scores_a_question_without_results_zero():
    """It stays in the average: one perfect question and one that is missing give one half."""
    queries = [
        GoldQuery("1", "a", ("d",), {"d": ((0, 10),)}),
        GoldQuery("2", "b", ("d",), {"d": ((0, 10),)}),
    ]
    report = evaluate({"1": [RunResult(doc_id="d", start=0, end=10)]}, queries)
    means = report.groups[0].means

    assert report.n_unanswered == 1
    assert set(report.queries[1].scores.values()) == {0.0}
    assert {means[name] for name in ("R@1", "all@5", "docMRR", "span@1000", "MRR")} == {0.5}
    assert report.queries[1].scores.keys() == report.queries[0].scores.keys()


def test_evaluate_ranks_distinct_documents():
    """Three chunks of one document take one place, not three."""
    hits = [RunResult(doc_id=doc) for doc in ("x", "x", "x", "a")]
    report = evaluate({"1": hits}, [GoldQuery("1", "?", ("a",))], ks=(2,), budgets=())

    assert report.queries[0].scores == {
        "P@2": 0.5,
        "R@2": 1.0,
        "F1@2": 2 / 3,
        "hit@2": 1.0,
        "all@2": 1.0,
        "nDCG@2": pytest.approx(0.6309297535714575),  # 1 / log2(3)
        "docMRR": 0.5,
    }


def test_evaluate_averages_kinds_apart_and_span_measures_over_questions_with_spans():
    """`all` comes first, kinds follow as they appear, a measure's mean leaves out who lacks it."""
    queries = [
        GoldQuery("1", "a", ("d",), {"d": ((0, 4),)}, "goal"),
        GoldQuery("2", "b", ("e",), {}, "cites"),
    ]
    run = {"1": [RunResult(doc_id="d", start=0, end=2)], "2": []}
    groups = evaluate(run, queries, ks=(1,), budgets=(10,)).groups

    assert [(group.kind, group.n_queries) for group in groups] == [
        ("all", 2),
        ("goal", 1),
        ("cites", 1),
    ]
    assert [group.means["R@1"] for group in groups] == [0.5, 1.0, 0.0]
    assert groups[0].means["span@10"] == 0.5
    assert "span@10" not in groups[2].means


@pytest.mark.parametrize(
    ("doc_id", "file", "gold", "expected"),
    [
        ("dc001", "b/x.txt", {"dc001"}, "dc001"),
        ("d-9", "b/dc001.txt", {"dc001"}, "dc001"),
        ("d-9", "b\\dc001.txt", {"dc001"}, "dc001"),
        ("d-9", "in/corpus.jsonl#p00006", {"p00006"}, "p00006"),
        ("d-9", "in/corpus.jsonl#v1.2", {"v1.2"}, "v1.2"),
        ("d-9", "in/corpus.jsonl#p00006", {"corpus"}, "d-9"),
        ("d-9", "b/dc001.txt", {"dc002"}, "d-9"),
        ("d-9", "", {"dc001"}, "d-9"),
    ],
)
def test_document_key_matches_id_stem_or_record(doc_id, file, gold, expected):
    """A gold id is a document's id, its file's stem, or its record's id."""
    assert document_key(RunResult(doc_id=doc_id, file=file), gold) == expected


def test_evaluate_finds_gold_spans_by_the_stem_of_the_file():
    """Spans, too, are looked up under the gold id."""
    query = GoldQuery("1", "?", ("dc001",), {"dc001": ((0, 4),)})
    hit = RunResult(doc_id="d-9", file="in/dc001.txt", start=2, end=6)
    scores = evaluate({"1": [hit]}, [query]).queries[0].scores

    assert (scores["R@1"], scores["span@1000"], scores["prec@1000"]) == (1, 0.5, 0.5)


def test_evaluate_refuses_cuts_below_one():
    """A rank or budget of 0 has no meaning."""
    with pytest.raises(ValueError, match="at least 1"):
        evaluate({}, [], ks=(0,))


def test_evaluate_has_an_empty_group_when_there_are_no_questions():
    """No questions are no error; there are no means."""
    assert evaluate({}, []).groups[0].means == {}


def random_experiment(rng: random.Random, folder: Path) -> dict[str, list[RunResult]]:
    """Write random questions and a random run that lacks some of them; return the run."""
    docs = [f"d{i}" for i in range(12)]
    rows = []
    run = {}
    for number in range(40):
        gold = rng.sample(docs, rng.randint(0, 3))
        spans = {doc: [random_span(rng) for _ in range(rng.randint(1, 3))] for doc in gold}
        row: dict[str, object] = {"id": f"q{number}", "question": "?", "kind": rng.choice("ab")}
        with_spans = rng.random() < 0.7
        row |= {"gold_docs": gold, "gold_spans": spans} if with_spans else {"gold_ids": gold}
        rows.append(row)
        if rng.random() < 0.8:
            hits = [(rng.choice(docs), *random_span(rng)) for _ in range(rng.randint(0, 30))]
            run[f"q{number}"] = [
                RunResult(doc_id=doc, file=f"in/{doc}.txt", start=start, end=end)
                for doc, start, end in hits
            ]
    lines = "\n".join(json.dumps(row) for row in rows)
    (folder / "queries.jsonl").write_text(lines, encoding="utf-8")
    write_run(folder / "run.jsonl", run)
    return run


def random_span(rng: random.Random) -> tuple[int, int]:
    """Return a span of at most 900 characters."""
    start = rng.randint(0, 3000)
    return start, start + rng.randint(1, 900)


@pytest.mark.skipif(not SCORER.exists(), reason="the independent scorer is not beside the project")
@pytest.mark.parametrize("seed", range(4))
def test_evaluate_agrees_with_the_independent_scorer(tmp_path, seed):
    """Every number that the other program prints is ours, to its last digit."""
    run = random_experiment(random.Random(seed), tmp_path)
    command = [sys.executable, SCORER, tmp_path / "run.jsonl", tmp_path / "queries.jsonl", "--json"]
    theirs = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    report = evaluate(run, read_queries(tmp_path / "queries.jsonl").queries)
    ours = {group.kind: group for group in report.groups}

    assert ours.keys() == theirs.keys()
    for kind, expected in theirs.items():
        assert ours[kind].n_queries == expected.pop("n")
        assert len(expected) == 14
        means = {name: round(100 * ours[kind].means[name], 1) for name in expected}
        assert means == expected
