"""Experiments: significance, scores, reports."""

import numpy as np
import pytest

from kgrag.errors import EvaluationError
from kgrag.evaluation.experiment import (
    Difference,
    Trial,
    compare,
    differences,
    mean_intervals,
    sign_flip_p,
    try_system,
)
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.report import (
    comparison_table,
    markdown,
)
from kgrag.evaluation.runs import RunResult
from kgrag.evaluation.scores import (
    GroupScores,
    QueryScores,
    Report,
    cuts_of,
    document_key,
    evaluate,
)
from kgrag.results import ScoredChunk
from kgrag.types import Chunk

QUERIES = [GoldQuery(str(i), f"{i}?", ("d",), {"d": ((0, 4),)}) for i in range(4)]
HIT = ScoredChunk(Chunk("c", "d", 256, 0, 0, 4, "绿色工厂"), 1.0, ())


def test_a_trial_times_each_question_once_and_leaves_the_first_search_out():
    """What is opened by the first search is no question's cost; four characters of three."""
    asked: list[str] = []

    def search(question: str) -> list[ScoredChunk]:
        asked.append(question)
        return [] if question == "3?" else [HIT]

    trial = try_system("grim", search, QUERIES, measures=["R@7", "span@3"])

    assert asked == ["0?", "0?", "1?", "2?", "3?"]
    assert len(trial.seconds) == 4
    assert (trial.characters, trial.means["R@7"], trial.means["span@3"]) == (3, 0.75, 0.75 * 0.75)
    assert trial.intervals["R@7"][0] < 0.75 < trial.intervals["R@7"][1]


def test_compare_keeps_the_order_of_measures_and_leaves_out_those_of_no_question():
    """There are no pairs of documents here."""
    run = {"0": [RunResult("d", start=0, end=4)]}
    found = compare(run, {}, QUERIES, measures=["span@9", "both@2", "R@1"])

    assert list(found) == ["span@9", "R@1"]
    assert (found["R@1"].difference, found["R@1"].losses, found["R@1"].ties) == (-0.25, 1, 3)


@pytest.mark.parametrize("measure", ["R", "F1", "MRR", "MRR@10", "source-only@2", "prec@900"])
def test_measures_are_known_by_name_and_cut(measure):
    """With a cut, or without where everything that was returned counts."""
    cuts_of([measure])


@pytest.mark.parametrize("measure", ["hit", "R@", "R@0", "R@x", "R@1.5", "span", "both", "@5", ""])
def test_what_is_no_measure_is_refused_with_those_there_are(measure):
    """The remedy is their list."""
    with pytest.raises(EvaluationError, match="nDCG"):
        cuts_of([measure])


def test_an_interval_is_that_of_the_binomial_distribution():
    """Half of 100 questions right: 2.5 % of resamples have 40 or fewer right, 97.5 % 60."""
    ends = mean_intervals(np.array([[0.0], [1.0]] * 50)).ravel()

    assert ends == pytest.approx([0.40, 0.60], abs=0.011)


def test_intervals_hold_the_true_mean_as_often_as_they_say():
    """Of 400 samples of 60 questions, about 95 % (the percentile interval is a little narrow)."""
    samples = (np.random.default_rng(7).random((60, 400)) < 0.6).astype(float)
    low, high = mean_intervals(samples, resamples=1000)

    assert 0.91 <= np.mean((low <= 0.6) & (high >= 0.6)) <= 0.98


def test_a_p_value_is_the_share_of_sign_patterns_that_reach_what_was_observed():
    """Of 16 patterns of four equal differences 2 reach their sum; of 1, 2, 3 and -1 it is 6."""
    values = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 3.0], [0.1, -1.0]])

    assert sign_flip_p(values) == pytest.approx([2 / 16, 6 / 16], abs=0.02)


def test_p_values_of_systems_that_are_alike_are_small_as_seldom_as_they_say():
    """One of twenty is below 0.05."""
    noise = np.random.default_rng(3).normal(size=(40, 600))

    assert 0.03 <= np.mean(sign_flip_p(noise, resamples=1000) < 0.05) <= 0.07


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((0, 2))])
def test_a_shape_that_has_no_means_is_refused(values):
    """It says which shape is wanted, and which was given."""
    for of in (mean_intervals, sign_flip_p):
        with pytest.raises(ValueError, match=r"\(n, m\)"):
            of(values)


def test_differences_count_wins_ties_and_losses_of_the_second_system():
    """B is better on one of four questions, worse on two."""
    a = [{"R": 0.0}, {"R": 1.0}, {"R": 1.0}, {"R": 0.5}]
    b = [{"R": 1.0}, {"R": 0.0}, {"R": 0.5}, {"R": 0.5}]
    found = differences(a, b)["R"]

    assert (found.n, found.mean_a, found.mean_b) == (4, 0.625, 0.5)
    assert (found.difference, found.wins, found.ties, found.losses) == (-0.125, 1, 1, 2)
    assert found.low < found.difference < found.high
    assert found.p == 1  # every pattern of 1, -1 and -0.5 reaches 0.5


def trial(system: str, means: dict[str, float]) -> Trial:
    """A trial of one question, which had one result of five characters in 10 ms."""
    report = Report((QueryScores("1", "", 1, means),), (GroupScores("all", 1, means),), 0)
    intervals = {name: (mean - 0.1, mean + 0.1) for name, mean in means.items()}
    return Trial(system, {"1": [RunResult("d", text="一二三四五")]}, report, intervals, (0.01,))


def test_an_experiment_in_markdown_has_a_table_a_set_with_intervals():
    """In percent; a measure that no question of a set has is left out; | is no border."""
    found = {"甲": [trial("a|b", {"R@5": 0.5})]}

    assert markdown(found, measures=["R@5", "span@2000"]) == (
        "## 甲\n\n"
        "| system | n | R@5 | ms p50 | ms p99 | characters |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        "| a\\|b | 1 | 50.0 [40.0, 60.0] | 10.0 | 10.0 | 5 |"
    )


def test_a_comparison_shows_shares_in_percent_and_counts():
    """The difference with its sign."""
    found = {"R@5": Difference(8, 0.5, 0.25, -0.5, 0.125, 0.0312, 1, 4, 3)}

    assert comparison_table(found).splitlines()[1].split() == [
        *("R@5", "8", "50.0", "25.0", "-25.0", "[-50.0,", "+12.5]", "0.0312", "1", "4", "3"),
    ]


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
