from dataclasses import replace

import pytest

from kgrag.verification.indicator import Thresholds, Verification, sigma, unmet

EDGE = {
    "reference_correctness": 0.27,
    "correctness": 0.25,
    "citation_accuracy": 0.5,
    "truthfulness": 0.92,
    "bias": 0.71,
    "conciseness": 0.5,
}
HOLDS = Verification(EDGE, "false", "绿色工厂有多少家？")


def scored(**scores):
    return replace(HOLDS, scores=EDGE | scores)


def test_sigma_holds_at_the_thresholds():
    """CoV-RAG, footnote 2: two bounds are included, two are not."""
    assert sigma(HOLDS)
    assert unmet(HOLDS) == []


@pytest.mark.parametrize(
    "scores",
    [
        {"reference_correctness": 0.28},
        {"correctness": 0.26},
        {"bias": 0.7},
        {"truthfulness": 0.93},
    ],
)
def test_sigma_fails_where_one_score_is_past_its_threshold(scores):
    """Every condition must hold."""
    assert not sigma(scored(**scores))
    assert len(unmet(scored(**scores))) == 1


@pytest.mark.parametrize("judgement", ["true", "unclear"])
def test_sigma_fails_where_the_answer_is_not_judged_false(judgement):
    """Unclear is not false."""
    assert not sigma(replace(HOLDS, judgement=judgement))


def test_sigma_fails_without_a_revised_question():
    """There is nothing to retrieve with; scores and judgement call for it all the same."""
    bare = replace(HOLDS, revised_question="")
    assert not sigma(bare)
    assert unmet(bare) == []


@pytest.mark.parametrize("name", ["citation_accuracy", "conciseness"])
@pytest.mark.parametrize("score", [0.0, 1.0])
def test_sigma_does_not_look_at_citations_and_conciseness(name, score):
    """Footnote 2 does not name them."""
    assert sigma(scored(**{name: score}))


def test_sigma_of_the_papers_examples(made):
    """Retrieved again in Table 13 and 14; not in Table 7, whose references are good."""
    assert sigma(Verification(made.table_13, "false", "Which team?"))
    table_7 = {"reference_correctness": 0.99, "correctness": 0.51, "truthfulness": 0.01}
    assert not sigma(scored(**table_7, bias=0.97))


def test_thresholds_can_be_others():
    """They are data."""
    assert sigma(scored(reference_correctness=0.5), Thresholds(reference_correctness=0.5))


@pytest.mark.parametrize(
    ("references", "judgement", "holds"),
    [(0.27, "unclear", True), (0.27, "false", True), (0.28, "unclear", False), (0, "true", False)],
)
def test_an_answer_that_found_nothing_is_judged_by_its_references(references, judgement, holds):
    """It has no content that could be biased or untrue."""
    scores = EDGE | {"reference_correctness": references, "truthfulness": 1.0, "bias": 0.0}
    assert sigma(Verification(scores, judgement, "有多少家？"), found=False) is holds
