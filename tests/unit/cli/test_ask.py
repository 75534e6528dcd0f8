from dataclasses import replace
from typing import Any

import pytest

from kgrag.answer.answer import Answer, Step, Verdict
from kgrag.answer.citation import Citation
from kgrag.cli.ask import is_done, print_answer

PATH = ("一、目标", "长标题" * 20)
CITATION = Citation(1, "d-1", "甲方案", "a.pdf", PATH, 3, 5, 9, "500家", "d-1:256:0")


def answer(question, *, verdict=None, method="m", steps=()):
    told = Answer.of_text(question, "500家[1]。", [CITATION], method)
    return replace(told, verdict=verdict, steps=steps)


def test_what_stands_around_an_answer_is_in_the_questions_language(capsys):
    """An analyst reads one language at a time."""
    verdict = Verdict("cov", "failed", reason="数字不符", rounds=2)
    print_answer(answer("目标是多少？", verdict=verdict), explain=False)
    said = capsys.readouterr().out
    assert "a.pdf，第 3 页，第 5 至 9 个字符" in said
    assert "核验（cov）：未通过，请对照引文；共作答 2 次: 数字不符" in said
    print_answer(answer("What is the target?", verdict=verdict), explain=False)
    said = capsys.readouterr().out
    assert "a.pdf, page 3, characters 5-9" in said
    assert "verified (cov): not passed, look at the quotes; 2 answers: 数字不符" in said


def test_a_heading_that_is_a_whole_provision_is_cut(capsys):
    """The path is to be read at a glance."""
    print_answer(answer("问"), explain=False)
    assert f"一、目标 › {'长标题' * 9}长标…\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("verdict", "fallback", "done"),
    [
        (None, False, True),
        (Verdict("cov", "failed", reason="judged false"), False, True),
        (Verdict("cov", "unverified", reason="not verified: malformed"), False, False),
        (None, True, False),
    ],
)
def test_an_answer_is_done_where_model_and_check_did_their_part(verdict, fallback, done):
    """The exit code tells."""
    assert is_done(replace(answer("问", verdict=verdict), fallback=fallback)) is done


def test_no_words_of_a_model_are_taken_for_what_became_of_an_answer(capsys):
    """A reason or a step may begin as those of kgrag do."""
    verdict = Verdict("cov", "failed", reason="not verified: 数字不符")
    found = answer("问", verdict=verdict, steps=(Step("fall back", "left out: all"),))
    assert is_done(found)
    print_answer(found, explain=False)
    said = capsys.readouterr().out
    assert "核验（cov）：未通过，请对照引文: not verified: 数字不符" in said
    assert "未能核验" not in said


def test_an_answer_that_could_not_be_verified_says_so_once(capsys):
    """The reason is shown without the words that stand before it."""
    verdict = Verdict("cov", "unverified", reason="not verified: malformed")
    print_answer(answer("问", verdict=verdict), explain=False)
    assert "未能核验（cov）: malformed" in capsys.readouterr().out


def test_json_has_the_keys_that_it_always_had():
    """Programs read them; a verdict tells whether it passed."""
    verdict = Verdict("cov", "unverified", reason="not verified: malformed")
    found: Any = answer("问", verdict=verdict, steps=(Step("verify", "", 1, True),)).to_dict()
    assert list(found) == [
        "question", "text", "citations", "found", "method", "notes", "checks", "verdict", "steps",
        "repointed", "blocks",
    ]  # fmt: skip
    assert found["verdict"] == {
        "method": "cov",
        "passed": False,
        "scores": {},
        "reason": "not verified: malformed",
        "revised_question": "",
        "rounds": 1,
        "problem": None,
    }
    assert list(found["verdict"])[:2] == ["method", "passed"]
    assert found["steps"] == [{"name": "verify", "detail": "", "calls": 1}]


def test_json_has_scores_as_a_mapping():
    """Whatever kind of mapping the verdict has."""
    found: Any = answer("问", verdict=Verdict("cov", "passed", scores={"bias": 0.1})).to_dict()
    assert found["verdict"]["scores"] == {"bias": 0.1}


def test_scores_stand_among_the_steps_only(capsys):
    """They say little to an analyst."""
    verdict = Verdict("cov", "passed", scores={"bias": 0.1}, reason="judged true")
    print_answer(answer("问", verdict=verdict), explain=False)
    assert "0.1" not in capsys.readouterr().out


def test_checks_without_a_model_are_not_called_verification(capsys):
    """They look at numbers, dates and names only."""
    print_answer(answer("问", verdict=Verdict("none", "passed")), explain=False)
    said = capsys.readouterr().out
    assert "离线检查：通过" in said
    assert "核验" not in said
