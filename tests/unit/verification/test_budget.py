from typing import Any

import pytest

from kgrag.errors import BudgetExceededError
from kgrag.llm.chat import Message, Request
from kgrag.testing.scripted import ScriptedChat
from kgrag.verification.budget import Budget

REQUEST = Request((Message("user", "问"),), "verify")


def budget_of(*, rounds=2, calls=2, used=0, now=0.0):
    times = iter([0.0])
    return Budget(
        max_rounds=rounds,
        max_calls=calls,
        timeout_s=60,
        calls=lambda: used,
        clock=lambda: next(times, now),
    )


@pytest.mark.parametrize(
    ("rounds", "used", "now", "named"),
    [
        (1, 1, 59.9, ""),
        (2, 1, 0.0, "max_rounds"),
        (1, 2, 0.0, "max_calls"),
        (1, 1, 60.0, "timeout_s"),
    ],
)
def test_budget_tells_which_bound_holds_back(rounds, used, now, named):
    """Answers, calls and seconds are each used up at their bound."""
    reason = budget_of(used=used, now=now).why_no_round(rounds)
    assert named in reason
    assert bool(reason) is bool(named)


def test_calls_do_not_depend_on_rounds():
    """The last answer that may be given may still be checked."""
    assert budget_of(rounds=1).why_no_call() == ""


def test_bound_model_answers_until_the_budget_is_spent():
    """The call after the last is refused and not sent."""
    chat = ScriptedChat(["甲", "乙", "丙"], name="m")
    budget = Budget(max_rounds=2, max_calls=2, timeout_s=60, calls=lambda: len(chat.requests))
    bound = budget.bound(chat)
    pieces: list[Any] = []
    assert bound.name == "m"
    assert bound.complete(REQUEST, on_text=pieces.append).text == "甲"
    assert bound.complete(REQUEST).text == "乙"
    with pytest.raises(BudgetExceededError, match="all 2 calls"):
        bound.complete(REQUEST)
    assert len(chat.requests) == 2
    assert pieces == ["甲"]


@pytest.mark.parametrize("bounds", [(0, 1, 1.0), (1, 0, 1.0), (1, 1, 0.0)])
def test_budget_refuses_bounds_that_allow_nothing(bounds):
    """A mistake in a setting is found at once."""
    rounds, calls, seconds = bounds
    with pytest.raises(ValueError, match="positive"):
        Budget(max_rounds=rounds, max_calls=calls, timeout_s=seconds, calls=lambda: 0)


def test_bound_model_tells_each_call_when_the_time_is_over():
    """So that a call under way ends, too."""
    chat = ScriptedChat(["甲"])
    budget = Budget(max_rounds=1, max_calls=1, timeout_s=60, calls=lambda: 0, clock=lambda: 7.0)
    budget.bound(chat).complete(REQUEST)
    assert chat.requests[0].deadline == budget.deadline == 67.0
