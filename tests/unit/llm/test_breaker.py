"""Not asking a model that cannot be had, and waiting for one that may come back."""

import threading
from dataclasses import replace

import pytest

from kgrag.errors import (
    BudgetExceededError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm.breaker import Breaker, Circuit
from kgrag.llm.chat import Message, Request
from kgrag.testing.scripted import ScriptedChat

PATIENT = Request((Message("user", "问"),), "answer")
QUESTION = replace(PATIENT, deadline=1e9)
BUSY = TransientModelError("busy (after 5 attempts)")
WRONG_KEY = ModelUnavailableError("wrong key: set X_KEY")
GONE = ModelUnavailableError("no connection (after 5 attempts)")
GONE.__cause__ = ModelUnreachableError("no connection")


class Time:
    """A clock that goes on when somebody sleeps, or is set by hand."""

    now = 0.0

    def clock(self):
        """Return seconds."""
        return self.now

    def sleep(self, seconds):
        """Let seconds pass."""
        self.now += seconds


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def circuit(time):
    return Circuit(clock=time.clock, sleep=time.sleep)


def breaker(circuit, script, trials=()):
    """Return a breaker with its model and the model of its trials."""
    inner, trial = ScriptedChat(script), ScriptedChat(trials)
    return Breaker(inner, trial=trial, circuit=circuit), inner, trial


def attempt(model, request=QUESTION):
    """Return what a call gives: its text, or the error's class."""
    try:
        return model.complete(request).text
    except ModelError as exc:
        return type(exc)


@pytest.mark.parametrize("request_", [PATIENT, QUESTION], ids=["patient", "question"])
def test_complete_fails_at_once_when_a_wrong_key_was_found(circuit, time, request_):
    """The model is asked once, and everyone is told the same; to wait would not help."""
    model, inner, _ = breaker(circuit, [WRONG_KEY, "好"])
    for _ in range(1000):
        with pytest.raises(ModelUnavailableError, match="wrong key: set X_KEY"):
            model.complete(request_)
    assert (len(inner.requests), time.now) == (1, 0.0)


def test_a_question_fails_at_once_when_three_calls_in_a_row_failed(circuit, time):
    """What survived all retries three times will survive the next, too."""
    model, inner, _ = breaker(circuit, [BUSY, RateLimitError("slow"), BUSY, "好"])
    assert [attempt(model) for _ in range(3)] == [
        TransientModelError, RateLimitError, TransientModelError,
    ]  # fmt: skip
    with pytest.raises(ModelUnavailableError, match=r"3 calls in a row failed.*busy"):
        model.complete(QUESTION)
    assert (len(inner.requests), time.now) == (3, 0.0)


@pytest.mark.parametrize(
    "answer", ["好", ModelOutputError("bad", kind="invalid"), ModelError("too long")]
)
def test_complete_goes_on_when_the_endpoint_answers_between_failures(circuit, answer):
    """A bad answer, or a refusal of one request, shows that the endpoint is there."""
    model, _, _ = breaker(circuit, [BUSY, BUSY, answer, BUSY, BUSY, "好"])
    assert [attempt(model) for _ in range(6)][-1] == "好"


def test_trials_come_after_ten_seconds_then_thirty_then_sixty(circuit, time):
    """One call finds out whether the endpoint is back; the others do not wait for it."""
    model, inner, trial = breaker(circuit, [GONE, "好"], [BUSY, BUSY, BUSY, "回"])
    attempt(model)
    outcomes = []
    for now in (9.0, 10.0, 39.0, 40.0, 99.0, 100.0, 159.0, 160.0, 161.0):
        time.now = now
        outcomes.append((attempt(model), len(trial.requests)))
    gone, busy = ModelUnavailableError, TransientModelError
    assert outcomes == [
        (gone, 0), (busy, 1), (gone, 1), (busy, 2), (gone, 2), (busy, 3), (gone, 3),
        ("回", 4), ("好", 4),
    ]  # fmt: skip
    assert len(inner.requests) == 2


@pytest.mark.parametrize("error", [BUSY, GONE, RateLimitError("slow")])
def test_a_call_that_can_wait_outlasts_a_short_outage(circuit, time, error):
    """It failed, waits for a trial, and is answered by it."""
    model, _, trial = breaker(circuit, [error], [BUSY, "好"])
    assert model.complete(PATIENT).text == "好"
    assert time.now == 40.0
    assert len(trial.requests) == 2


def test_a_call_that_can_wait_fails_with_its_own_error_when_two_trials_failed(circuit, time):
    """And after that nobody waits: those who never tried hear why at once."""
    model, inner, trial = breaker(circuit, [GONE], [BUSY, BUSY])
    with pytest.raises(ModelUnavailableError) as caught:
        model.complete(PATIENT)
    assert caught.value is GONE
    assert time.now == 40.0
    for _ in range(100):
        with pytest.raises(ModelUnavailableError, match="no connection"):
            model.complete(PATIENT)
    assert (len(inner.requests), len(trial.requests), time.now) == (1, 2, 40.0)


def test_calls_that_wait_go_on_when_a_trial_was_answered(time):
    """All of them, with all their tries."""
    resting, back = threading.Barrier(3, timeout=60), threading.Event()

    def sleep(seconds):
        if not back.is_set():
            resting.wait()
            time.now = 10.0
            resting.wait()
        else:
            threading.Event().wait(0.001)

    def try_again(request):
        back.set()
        return "回"

    circuit = Circuit(clock=time.clock, sleep=sleep)
    circuit.failed(BUSY, since=0.0, can_wait=True)
    model, inner, trial = breaker(circuit, ["好"] * 3, try_again)
    texts = []
    threads = [
        threading.Thread(target=lambda: texts.append(model.complete(PATIENT).text))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(texts) == ["回", "好", "好"]
    assert (len(inner.requests), len(trial.requests)) == (2, 1)


def test_a_call_fails_by_itself_when_others_are_answered(circuit, time):
    """The endpoint is there: it is this request that cannot be answered."""

    def fail(request):
        time.now += 100
        circuit.succeeded(since=60.0)
        return BUSY

    model, inner, _ = breaker(circuit, fail)
    assert attempt(model, PATIENT) is TransientModelError
    assert (len(inner.requests), time.now) == (1, 100.0)


def test_a_call_waits_when_others_are_answered_that_began_before(circuit, time):
    """An endpoint that goes down may still finish what it had begun."""

    def fail(request):
        time.now += 8
        circuit.succeeded(since=0.0)
        return BUSY

    model, _, _ = breaker(circuit, fail, ["好"])
    assert model.complete(PATIENT).text == "好"


def test_a_call_does_not_wait_again_and_again(circuit, time):
    """However often others are answered in between."""

    def fail(request):
        time.now += 8
        return BUSY

    def refuse(request):
        circuit.succeeded(since=time.now - 9)
        return BUSY

    model, inner, _ = breaker(circuit, fail, refuse)
    assert attempt(model, PATIENT) is TransientModelError
    assert len(inner.requests) == 3


def test_a_call_somebody_reads_does_not_wait(circuit, time):
    """A part may have been shown."""
    model, _, _ = breaker(circuit, [BUSY])
    with pytest.raises(TransientModelError):
        model.complete(PATIENT, on_text=len)
    assert time.now == 0.0


def test_calls_ended_by_their_own_deadline_say_nothing_of_the_endpoint(circuit, time):
    """Nor do calls that were not sent."""
    time.now = 5.0
    model, _, _ = breaker(circuit, [BUSY, BUSY, BUSY, BudgetExceededError("spent"), "好"])
    late = replace(PATIENT, deadline=5.0)
    assert [attempt(model, late) for _ in range(3)] == [TransientModelError] * 3
    assert attempt(model) is BudgetExceededError
    assert attempt(model) == "好"


def test_a_wrong_key_found_by_a_trial_ends_the_waiting(circuit, time):
    """An endpoint that comes back may refuse."""
    model, _, _ = breaker(circuit, [BUSY], [WRONG_KEY])
    with pytest.raises(ModelUnavailableError, match="wrong key"):
        model.complete(PATIENT)
    assert attempt(model, PATIENT) is ModelUnavailableError
    assert time.now == 10.0


def test_the_circuit_stays_closed_after_a_trial_was_answered(circuit, time):
    """Failures are counted from anew."""
    model, inner, _ = breaker(circuit, [GONE, BUSY, BUSY, "好"], ["回"])
    attempt(model)
    time.now = 10.0
    assert [attempt(model) for _ in range(4)] == [
        "回", TransientModelError, TransientModelError, "好",
    ]  # fmt: skip
    assert len(inner.requests) == 4


def test_a_circuit_opens_for_all_who_share_it(circuit):
    """Stages at the same endpoint learn from each other."""
    first, _, _ = breaker(circuit, [GONE])
    second, inner, _ = breaker(circuit, ["好"])
    assert attempt(first) is attempt(second) is ModelUnavailableError
    assert inner.requests == []


def test_no_call_is_made_where_none_is_wanted():
    """When a run was stopped."""

    def stopped():
        raise ModelUnavailableError("stopped")

    model, inner, _ = breaker(Circuit(check=stopped), ["好"])
    with pytest.raises(ModelUnavailableError, match="stopped"):
        model.complete(PATIENT)
    assert inner.requests == []


def test_a_wait_for_an_endpoint_is_explained_once(caplog):
    """Whoever takes in a folder sees why nothing moves; a question that fails says so itself."""
    circuit = Circuit(clock=lambda: 100.0, sleep=lambda _: None)
    for _ in range(2):
        circuit.failed(TransientModelError("away"), since=0.0, can_wait=True)
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    assert "away; waiting for the endpoint to come back" in caplog.text
    caplog.clear()
    other = Circuit(clock=lambda: 100.0, sleep=lambda _: None)
    for _ in range(4):
        other.failed(TransientModelError("away"), since=0.0)
    assert not caplog.records
