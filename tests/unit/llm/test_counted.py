import pytest

from kgrag.errors import BudgetExceededError, ModelOutputError, TransientModelError
from kgrag.llm.chat import Message, Request
from kgrag.llm.counted import Counted
from kgrag.testing.scripted import ScriptedChat

REQUEST = Request((Message("user", "问"),), "answer")


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

    def refuse(_):
        raise ModelOutputError("no", kind="malformed")

    with pytest.raises(ModelOutputError):
        model.complete(REQUEST, accept=refuse)
    assert model.calls == 1


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
