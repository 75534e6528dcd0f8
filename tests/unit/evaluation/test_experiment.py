"""Trials of systems, and comparisons of runs."""

import pytest

from kgrag.errors import EvaluationError
from kgrag.evaluation.experiment import Trial, compare, try_system
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.runs import RunResult
from kgrag.evaluation.scores import cuts_of, evaluate
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


def test_latency_is_told_as_percentiles_in_milliseconds():
    """Of 1 to 101 ms the 50th is 51, the 99th 100."""
    seconds = tuple(ms / 1000 for ms in range(1, 102))
    trial = Trial("x", {}, evaluate({}, []), {}, seconds)

    assert trial.latency_ms == pytest.approx((51, 100))


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
