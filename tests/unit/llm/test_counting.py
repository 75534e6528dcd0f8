"""Counting calls and adding up what they take."""

import pytest

from kgrag.errors import BudgetExceededError, TransientModelError
from kgrag.llm.chat import OK, Completion, Message, Request, Usage
from kgrag.llm.counting import Counted, Meter, Metered, StageUsage
from kgrag.testing.scripted import ScriptedChat

REQUEST = Request((Message("user", "甲"),), "extract")
PAID = Completion("一", "m", usage=Usage(10, 4, 3))


def test_each_completion_is_counted_with_its_request():
    """One call, one entry, in order."""
    model = Counted(ScriptedChat(["甲", "乙"]))
    for _ in range(2):
        model.complete(REQUEST)
    assert [c.text for _, c in model.completions] == ["甲", "乙"]
    assert model.calls == 2


def test_an_answer_that_is_refused_counts():
    """It was paid for."""
    model = Counted(ScriptedChat(["坏"]))
    model.complete(REQUEST).report("malformed")
    assert (model.calls, len(model.completions)) == (1, 1)


def test_a_call_that_fails_counts():
    """It was made, and may have been paid for, though nothing came back."""
    model = Counted(ScriptedChat([TransientModelError("away"), "好"]))
    with pytest.raises(TransientModelError):
        model.complete(REQUEST)
    model.complete(REQUEST)
    assert model.calls == 2
    assert len(model.completions) == 1


def test_a_call_beyond_the_budget_does_not_count():
    """It was not sent."""
    model = Counted(ScriptedChat([BudgetExceededError("spent")]))
    with pytest.raises(BudgetExceededError):
        model.complete(REQUEST)
    assert model.calls == 0


def test_meter_adds_up_by_stage():
    """Calls and tokens of every answer; what an earlier run paid adds no tokens."""
    meter = Meter()
    kept = Completion("二", "m", usage=Usage(7, 7), from_cache=True)
    script = ScriptedChat([PAID, PAID, kept])
    model = Metered(script, meter, stage="extract")

    model.complete(REQUEST).report(OK)
    Metered(script, meter, stage="summarize").complete(REQUEST).report(OK)
    model.complete(REQUEST).report(OK)

    assert meter.spent == {
        "extract": StageUsage(1, 1, 10, 4, 3),
        "summarize": StageUsage(1, 0, 10, 4, 3),
    }
    assert model.name == "scripted"


def test_meter_counts_answers_that_cannot_be_used():
    """They were paid for; a kept answer that is refused is asked for anew and counts then."""
    meter = Meter()
    kept = Completion("二", "m", usage=Usage(7, 7), from_cache=True)
    model = Metered(ScriptedChat([PAID, kept]), meter, stage="extract")

    for _ in range(2):
        model.complete(REQUEST).report("invalid")

    assert meter.spent == {"extract": StageUsage(1, 0, 10, 4, 3)}


def test_spent_adds_up():
    """Each number by itself; tokens are what is priced."""
    assert StageUsage(1, 2, 3, 4, 5) + StageUsage(10, 20, 30, 40, 50) == StageUsage(
        11, 22, 33, 44, 55
    )
    assert StageUsage(1, 2, 3, 4, 5).usage == Usage(3, 4, 5)
