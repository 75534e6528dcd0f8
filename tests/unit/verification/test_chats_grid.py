import json

import pytest

from kgrag.verification.chats_grid import CHATS_GRID, MEASURES


def check_json(*scores):
    return json.dumps(dict(zip(MEASURES, scores, strict=True)))


@pytest.fixture
def run(made):
    """Run the loop over scripted answers of the model."""

    def run(script, *, first=None, tries=(), **bounds):
        chat = made.chat(script)
        tries = made.tries(*tries)
        budget = made.budget(chat, **({"rounds": 5} | bounds))
        done = CHATS_GRID.verify(
            made.question,
            first or made.attempt(),
            tries,
            language="zh",
            model=chat,
            budget=budget,
        )
        return done, chat, tries

    return run


def test_an_answer_above_the_bound_passes_at_once(run):
    """Chats-Grid, section III.C: the mean of the four exceeds 0.85."""
    done, chat, tries = run([check_json(1.0, 0.8, 0.9, 0.71)])
    assert done.verdict.passed
    assert done.verdict.method == "chats-grid"
    assert tries.wordings == []
    assert chat.requests[0].schema_name == "self_check"


def test_an_answer_at_the_bound_does_not_pass(run):
    """It must exceed 85 %."""
    done, _, _ = run([check_json(0.85, 0.85, 0.85, 0.85)], rounds=1)
    assert not done.verdict.passed


def test_a_failing_answer_has_the_question_rewritten_and_tried_again(run, made):
    """Rewritten from the question and the answer so far; the original is what is checked."""
    script = [check_json(0.5, 0.5, 0.5, 0.5), "“绿色工厂创建几家？”\n", check_json(1, 1, 1, 1)]
    done, chat, tries = run(script, tries=[made.attempt("600家[1]。")])
    assert tries.wordings == ["绿色工厂创建几家？"]
    assert done.answer.text == "600家[1]。"
    assert done.verdict.passed
    rewrite = chat.requests[1]
    assert rewrite.schema is None
    assert "500家" in rewrite.messages[1].content
    assert made.question in chat.requests[2].messages[1].content


def test_a_loop_that_never_passes_ends_after_its_rounds_with_the_best(run, made):
    """Five answers, four rewritings; the third was the best."""
    means = [0.1, 0.2, 0.8, 0.3, 0.4]
    script = []
    for n, mean in enumerate(means):
        script += [check_json(mean, mean, mean, mean), f"问法{n}？"]
    done, chat, tries = run(script, tries=[made.attempt(f"{n}[1]。") for n in range(1, 5)])
    assert done.answer.text == "2[1]。"
    assert not done.verdict.passed
    assert done.verdict.rounds == 5
    assert done.verdict.scores == dict.fromkeys(MEASURES, 0.8)
    assert "自查 0.80" in done.verdict.reason
    assert len(tries.wordings) == 4
    assert len(chat.requests) == 9  # the last rewriting would lead nowhere and is not asked for


def test_nothing_found_stands_where_another_wording_finds_nothing_either(run, made):
    """Two checks and one rewriting; before, it was rejected after five answers."""
    nothing = made.attempt("未找到。", found=False)
    silent = check_json(1, 0.2, 0, 0)
    done, chat, tries = run([silent, "二问？", silent], first=nothing, tries=[nothing])
    assert done.verdict.passed
    assert "文件中没有答案" in done.verdict.reason
    assert (len(chat.requests), tries.wordings) == (3, ["二问？"])


def test_nothing_found_fails_where_the_references_hold_the_answer(run, made):
    """Context recall says so: the model overlooked it."""
    nothing = made.attempt("未找到。", found=False)
    overlooked = check_json(0, 0.9, 0, 0)
    done, _, _ = run([overlooked, "二问？", overlooked], first=nothing, tries=[nothing], rounds=2)
    assert not done.verdict.passed


def test_an_answer_that_another_wording_finds_replaces_nothing_found(run, made):
    """It has the better mean."""
    nothing = made.attempt("未找到。", found=False)
    script = [check_json(1, 0, 0, 0), "二问？", check_json(1, 1, 1, 1)]
    done, _, _ = run(script, first=nothing, tries=[made.attempt("500家[1]。")])
    assert (done.answer.text, done.verdict.passed) == ("500家[1]。", True)


def test_rewritings_know_what_was_tried(run, made):
    """So that the model does not say the same again."""
    low = check_json(0, 0, 0, 0)
    done, chat, _ = run([low, "二问？", low, "二问"], tries=[made.attempt("2[1]。")])
    assert "二问？" in chat.requests[3].messages[1].content
    assert "已经试过" in done.verdict.reason


def test_calls_are_bounded(run, made):
    """The call after the last is not made."""
    low = check_json(0, 0, 0, 0)
    done, chat, _ = run([low, "二问？"], tries=[made.attempt("2[1]。")], calls=2)
    assert len(chat.requests) == 2
    assert done.answer.text == "500家[1]。"  # the second could not be checked
    assert "max_calls" in str(done.steps)


@pytest.mark.parametrize("bad", ["没有JSON", check_json(1, 1, 1, 2)])
def test_a_malformed_self_check_lets_the_answer_stand(run, bad):
    """Not passed, not verified, no exception."""
    done, chat, _ = run([bad, bad])
    assert len(chat.requests) == 2
    assert done.answer.text == "500家[1]。"
    assert done.verdict.reason.startswith("not verified: ")


@pytest.mark.parametrize("bad", ["一\n二\n三", "长" * 301])
def test_a_rewriting_that_is_no_question_ends_the_loop(run, bad):
    """It is asked for twice, then the answer stands with its scores."""
    done, chat, tries = run([check_json(0, 0, 0, 0), bad, bad])
    assert len(chat.requests) == 3
    assert tries.wordings == []
    assert "没有得到改写的问题" in done.verdict.reason
