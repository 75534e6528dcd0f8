"""Not asking a model that cannot be had."""

import pytest

from kgrag.errors import (
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm.breaker import Breaker, Circuit
from kgrag.llm.chat import Message, Request
from kgrag.llm.fake import ScriptedChat

REQUEST = Request((Message("user", "问"),), "answer")
BUSY = TransientModelError("busy (after 5 attempts)")


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        """Return seconds."""
        return self.now


def attempt(model):
    """Return what a call gives: its text, or the error's class."""
    try:
        return model.complete(REQUEST).text
    except ModelError as exc:
        return type(exc)


def test_complete_fails_at_once_when_a_call_found_the_model_unavailable():
    """The model is asked once, and everyone is told the same."""
    inner = ScriptedChat([ModelUnavailableError("wrong key: set X_KEY"), "好"])
    model = Breaker(inner, circuit=Circuit(clock=Clock()))
    for _ in range(1000):
        with pytest.raises(ModelUnavailableError, match="wrong key: set X_KEY"):
            model.complete(REQUEST)
    assert len(inner.requests) == 1


def test_complete_fails_at_once_when_three_calls_in_a_row_failed():
    """What survived all retries three times will survive the next, too."""
    inner = ScriptedChat([BUSY, RateLimitError("slow"), BUSY, "好"])
    model = Breaker(inner, circuit=Circuit(clock=Clock()))
    assert [attempt(model) for _ in range(3)] == [
        TransientModelError, RateLimitError, TransientModelError,
    ]  # fmt: skip
    with pytest.raises(ModelUnavailableError, match=r"3 calls in a row failed.*busy"):
        model.complete(REQUEST)
    assert len(inner.requests) == 3


@pytest.mark.parametrize(
    "answer", ["好", ModelOutputError("bad", kind="invalid"), ModelError("too long")]
)
def test_complete_goes_on_when_the_endpoint_answers_between_failures(answer):
    """A bad answer, or a refusal of one request, shows that the endpoint is there."""
    inner = ScriptedChat([BUSY, BUSY, answer, BUSY, BUSY, "好"])
    model = Breaker(inner, circuit=Circuit(clock=Clock()))
    assert [attempt(model) for _ in range(6)][-1] == "好"


def test_complete_tries_once_a_minute_while_the_circuit_is_open():
    """One call finds out whether the endpoint is back; the others do not wait for it."""
    clock = Clock()
    inner = ScriptedChat([ModelUnavailableError("down"), ModelUnavailableError("still"), "好"])
    model = Breaker(inner, circuit=Circuit(clock=clock))
    attempt(model)
    outcomes = []
    for now in (59.0, 60.0, 61.0, 120.0):
        clock.now = now
        outcomes.append((attempt(model), len(inner.requests)))
    unavailable = ModelUnavailableError
    assert outcomes == [(unavailable, 1), (unavailable, 2), (unavailable, 2), ("好", 3)]
    assert Circuit().check() is None


def test_a_circuit_opens_for_all_who_share_it():
    """Stages at the same endpoint learn from each other."""
    circuit = Circuit(clock=Clock())
    first = Breaker(ScriptedChat([ModelUnavailableError("down")]), circuit=circuit)
    second = Breaker(ScriptedChat(["好"]), circuit=circuit)
    assert attempt(first) is attempt(second) is ModelUnavailableError
