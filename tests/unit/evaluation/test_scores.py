"""Experiments: per-question scores and their means, against numbers worked out by hand."""

import pytest

from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.runs import RunResult
from kgrag.evaluation.scores import document_key, evaluate


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
    assert {means[name] for name in ("R@1", "all@5", "MRR@10", "span@1000", "MRR")} == {0.5}
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
        "MRR@2": 0.5,
        "P": 0.5,
        "R": 1.0,
        "F1": 2 / 3,
    }


def test_evaluate_measures_all_that_was_returned_as_equations_8_to_10():
    """TP 1, FP 2, FN 1: P = 1/3, R = 1/2, F1 = 2/5; the mean of F1 is not F1 of the means."""
    queries = [GoldQuery("1", "?", ("a", "b")), GoldQuery("2", "?", ("a",))]
    run = {"1": [RunResult(doc_id=doc) for doc in ("x", "a", "y")], "2": [RunResult(doc_id="a")]}
    report = evaluate(run, queries)
    first, mean = report.queries[0].scores, report.groups[0].means

    assert [first[name] for name in ("P", "R", "F1")] == pytest.approx([1 / 3, 1 / 2, 2 / 5])
    assert [mean[name] for name in ("P", "R", "F1")] == pytest.approx([2 / 3, 3 / 4, 7 / 10])


def test_evaluate_tells_source_and_target_apart_where_there_are_two_gold_documents():
    """Means are over questions with two gold documents; one that is missing has neither."""
    queries = [
        GoldQuery("1", "?", ("s", "t")),
        GoldQuery("2", "?", ("s", "t")),
        GoldQuery("3", "?", ("s",)),
    ]
    run = {"1": [RunResult(doc_id=doc) for doc in ("t", "s")], "3": [RunResult(doc_id="s")]}
    report = evaluate(run, queries, ks=(1, 2), budgets=())
    means = report.groups[0].means

    assert "both@1" not in report.queries[2].scores
    assert [means[f"{name}@1"] for name in ("both", "source-only", "target-only")] == [0, 0, 0.5]
    assert [means[f"{name}@2"] for name in ("both", "source-only", "target-only")] == [0.5, 0, 0]


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


def test_evaluate_gives_the_numbers_of_an_example_worked_out_by_hand():
    """Three questions, one of them missing from the run; in percent, as an independent scorer.

    q1: gold is d1, 100 to 300 and 900 to 1000, and d2, 0 to 100. In 1000 characters stand d1 0 to
    200, d3 0 to 300, and 500 characters of d1 150 to 1150: 200 of 400 gold characters. In 2000 all
    1000 of it, and d2 50 to 150: 200 + 100 + 50 = 350 of 400, in 1600 characters.
    q2: gold is d4, 0 to 500; d5 comes before d4 0 to 500. All in 1000 characters, of 600.
    """
    queries = [
        GoldQuery("q1", "?", ("d1", "d2"), {"d1": ((100, 300), (900, 1000)), "d2": ((0, 100),)}),
        GoldQuery("q2", "?", ("d4",), {"d4": ((0, 500),)}),
        GoldQuery("q3", "?", ("d1",), {"d1": ((0, 10),)}),
    ]
    spans = {
        "q1": [("d1", 0, 200), ("d3", 0, 300), ("d1", 150, 1150), ("d2", 50, 150)],
        "q2": [("d5", 0, 100), ("d4", 0, 500)],
    }
    run = {
        query: [RunResult(doc_id=doc, start=start, end=end) for doc, start, end in results]
        for query, results in spans.items()
    }
    means = evaluate(run, queries).groups[0].means
    expected = {
        "R@1": 100 * (1 / 2 + 0 + 0) / 3,  # 16.7
        "R@2": 100 * (1 / 2 + 1 + 0) / 3,  # 50.0
        "R@5": 100 * (1 + 1 + 0) / 3,  # 66.7
        "all@5": 100 * (1 + 1 + 0) / 3,  # 66.7
        "span@1000": 100 * (200 / 400 + 1 + 0) / 3,  # 50.0
        "prec@1000": 100 * (200 / 1000 + 500 / 600 + 0) / 3,  # 34.4
        "span@2000": 100 * (350 / 400 + 1 + 0) / 3,  # 62.5
        "prec@2000": 100 * (350 / 1600 + 500 / 600 + 0) / 3,  # 35.1
        "MRR": 100 * (1 + 1 / 2 + 0) / 3,  # 50.0
    }

    assert {name: 100 * means[name] for name in expected} == pytest.approx(expected)
