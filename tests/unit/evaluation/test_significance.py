"""Intervals and p-values: exact where they can be worked out, and right as often as they say."""

import numpy as np
import pytest

from kgrag.evaluation.significance import differences, intervals, mean_intervals, sign_flip_p


def test_an_interval_of_equal_values_is_their_value():
    """Whatever is drawn, the mean is the same."""
    assert mean_intervals(np.full((5, 2), 0.25)).tolist() == [[0.25, 0.25], [0.25, 0.25]]


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


def test_a_p_value_is_1_where_systems_are_alike_and_never_0():
    """The observed pattern is one of those drawn."""
    assert sign_flip_p(np.zeros((3, 1))).tolist() == [1.0]
    assert sign_flip_p(np.ones((200, 1)), resamples=99).tolist() == [0.01]


def test_p_values_of_systems_that_are_alike_are_small_as_seldom_as_they_say():
    """One of twenty is below 0.05."""
    noise = np.random.default_rng(3).normal(size=(40, 600))

    assert 0.03 <= np.mean(sign_flip_p(noise, resamples=1000) < 0.05) <= 0.07


def test_resamples_are_drawn_in_batches_of_bounded_size(monkeypatch):
    """However they are batched, all are drawn."""
    monkeypatch.setattr("kgrag.evaluation.significance._CELLS", 250)
    values = np.array([[0.0], [1.0]] * 50)

    assert mean_intervals(values).ravel() == pytest.approx([0.40, 0.60], abs=0.011)
    assert sign_flip_p(values - 0.5).tolist() == [1.0]


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((0, 2))])
def test_a_shape_that_has_no_means_is_refused(values):
    """It says which shape is wanted, and which was given."""
    for of in (mean_intervals, sign_flip_p):
        with pytest.raises(ValueError, match=r"\(n, m\)"):
            of(values)


def test_a_measure_is_of_the_questions_that_have_it():
    """Spans of one question of two; the others stay apart."""
    scores = [{"R@1": 1.0, "span@9": 0.5}, {"R@1": 1.0}]

    assert intervals(scores) == {"R@1": (1.0, 1.0), "span@9": (0.5, 0.5)}
    assert intervals([]) == {}


def test_differences_count_wins_ties_and_losses_of_the_second_system():
    """B is better on one of four questions, worse on two."""
    a = [{"R": 0.0}, {"R": 1.0}, {"R": 1.0}, {"R": 0.5}]
    b = [{"R": 1.0}, {"R": 0.0}, {"R": 0.5}, {"R": 0.5}]
    found = differences(a, b)["R"]

    assert (found.n, found.mean_a, found.mean_b) == (4, 0.625, 0.5)
    assert (found.difference, found.wins, found.ties, found.losses) == (-0.125, 1, 1, 2)
    assert found.low < found.difference < found.high
    assert found.p == 1  # every pattern of 1, -1 and -0.5 reaches 0.5
