from dataclasses import replace

import pytest

from kgrag.answer.answer import Step, VerdictStatus
from kgrag.errors import ModelError, StoreError
from kgrag.verification.loop import Assessment, Revision, improve, unverified


def assessment(rank, *, passed=False, revised="另一问？"):
    status: VerdictStatus = "passed" if passed else "failed"
    return Assessment(
        status, (rank,), {"mean": rank}, f"rank {rank}", Step("verify", f"{rank}", 1),
        revise=lambda tried: Revision(revised),
    )  # fmt: skip


@pytest.fixture
def run(made):
    """Run the loop over assessments, with attempts named by number."""

    def run(*assessments, rounds=9, tries=None, supported=None):
        supported = supported or [True] * 9
        numbered = [made.attempt(f"{n}[1]。", supported=supported[n]) for n in range(9)]
        tries = tries or made.tries(*numbered[1:])
        left = iter(assessments)
        budget = made.budget(made.chat([]), rounds=rounds)
        done = improve(
            "m", made.question, numbered[0], tries, check=lambda _: next(left), budget=budget
        )
        return done, tries

    return run


def test_an_answer_that_passes_ends_the_loop(run):
    """Nothing is tried again."""
    done, tries = run(assessment(1, passed=True))
    assert done.verdict.passed
    assert (done.verdict.rounds, tries.wordings) == (1, [])
    assert [step.name for step in done.steps] == ["verify"]


def test_the_next_answer_is_retrieved_with_the_revision(run):
    """Its own steps stand among those of the loop."""
    done, tries = run(assessment(0), assessment(1, passed=True))
    assert tries.wordings == ["另一问？"]
    assert done.answer.text == "1[1]。"
    assert [step.name for step in done.steps] == ["verify", "revise", "generate", "verify"]
    assert done.verdict.rounds == 2
    assert done.verdict.revised_question == "另一问？"


def test_the_best_answer_stands_where_none_passes(run):
    """Not the last one; the verdict says that it did not pass, and why it ended."""
    done, _ = run(
        assessment(0), assessment(2, revised="三问？"), assessment(1, revised="四问？"), rounds=3
    )
    assert done.answer.text == "1[1]。"
    assert not done.verdict.passed
    assert done.verdict.scores == {"mean": 2}
    assert done.verdict.rounds == 3
    assert "max_rounds" in done.verdict.reason
    assert done.steps[-1].name == "stop"


def test_offline_checks_decide_between_equals_then_the_earlier_stays(run):
    """A sentence that is not in its cited text speaks against an answer."""
    same = (assessment(1), assessment(1, revised="三问？"), assessment(1, revised="四问？"))
    done, _ = run(*same, rounds=3, supported=[False] + [True] * 8)
    assert done.answer.text == "1[1]。"


@pytest.mark.parametrize(
    "revised", ["到2025年，云岭省创建多少家绿色工厂？", " 到２０２５年,云岭省创建多少家绿色工厂"]
)
def test_a_revision_that_is_the_question_itself_ends_the_loop(run, revised):
    """The same words, or the same but for marks and width, would find the same."""
    done, tries = run(assessment(0, revised=revised))
    assert tries.wordings == []
    assert "已经试过" in done.verdict.reason


def test_a_revision_that_was_tried_ends_the_loop(run):
    """It cannot go round between two wordings."""
    done, tries = run(assessment(0), assessment(1))
    assert tries.wordings == ["另一问？"]
    assert done.verdict.rounds == 2


def test_no_revision_ends_the_loop_with_its_reason(run):
    """The first answer stands."""
    done, _ = run(assessment(0, revised=""))
    assert done.answer.text == "0[1]。"
    assert done.verdict.revised_question == ""


@pytest.mark.parametrize("error", [ModelError("busy"), StoreError("locked")])
def test_an_answer_is_kept_where_trying_again_fails(run, made, error):
    """What was found is not lost, and the asker sees why there is no more."""
    done, _ = run(assessment(0), tries=made.tries(error))
    assert done.answer.text == "0[1]。"
    assert f"再次作答未成功：{error}" in done.verdict.reason
    assert done.verdict.rounds == 1


def test_an_answer_that_may_stand_passes_in_the_end_for_its_own_reason(run):
    """Within the loop it did not: another wording might have found something."""
    done, _ = run(replace(assessment(0), may_stand=True), rounds=1)
    assert done.verdict.status == "passed"
    assert done.verdict.reason == "rank 0"
    assert done.steps[-1].name == "stop"


def test_an_unverified_answer_stands_but_does_not_pass():
    """Its reason begins so that a reader knows."""
    found = unverified(ModelError("no"), rank=(0.0,), calls=2)
    assert found.status == "unverified"
    assert found.reason == "not verified: no"
    assert found.step.calls == 2
    assert found.revise(()).question == ""
