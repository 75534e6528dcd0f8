"""Keeping within what an endpoint allows."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.errors import (
    BudgetExceededError,
    ModelOutputError,
    ModelUnavailableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.llm.limits import Budget, Limited, Limits, Stop
from kgrag.llm.tokens import estimate_request
from kgrag.testing.scripted import ScriptedChat

REQUEST = Request((Message("user", "问" * 100),), "answer")
PROMPT = estimate_request(REQUEST)


def test_wait_is_none_when_there_is_no_limit():
    """0 stands for no limit."""
    budget = Budget(0)
    budget.use(0.0, 1e9)
    assert budget.wait(0.0, 1e9) == 0.0


def test_wait_lasts_until_enough_has_left_the_window():
    """Two uses of 40 in a limit of 100: 60 more must wait for the first to be a minute old."""
    budget = Budget(100)
    budget.use(0.0, 40)
    budget.use(10.0, 40)
    assert budget.wait(20.0, 20) == 0.0
    assert budget.wait(20.0, 60) == 40.0
    assert budget.wait(20.0, 100) == 50.0


def test_wait_lets_more_than_the_limit_in_when_it_is_alone():
    """It would wait for ever otherwise."""
    budget = Budget(100)
    assert budget.wait(0.0, 500) == 0.0
    budget.use(0.0, 500)
    assert budget.wait(1.0, 1) == 59.0
    assert budget.wait(60.0, 500) == 0.0


def test_wait_counts_the_corrected_amount():
    """What was estimated before the call is corrected after it."""
    budget = Budget(100)
    entry = budget.use(0.0, 100)
    entry.amount = 30
    assert budget.wait(1.0, 70) == 0.0
    assert budget.wait(1.0, 71) == 59.0


@given(st.lists(st.tuples(st.floats(0, 30), st.floats(0.1, 40)), max_size=40))
def test_no_minute_holds_more_than_the_limit(uses):
    """Whoever waits as told never uses more than 100 in any 60 seconds."""
    budget, now, used = Budget(100), 0.0, []
    for idle, amount in uses:
        now += idle
        while (wait := budget.wait(now, amount)) > 0:
            now += wait
        budget.use(now, amount)
        used.append((now, amount))
        assert sum(a for at, a in used if now - at < 60 - 1e-6) <= 100 + 1e-6


def test_sleep_ends_as_soon_as_it_is_set():
    """Whoever waits hears that it is over; so does whoever would begin."""
    stop = Stop()
    stop.check()
    with ThreadPoolExecutor(1) as pool:
        sleeping = pool.submit(stop.sleep, 600)
        stop.set()
        with pytest.raises(ModelUnavailableError, match="stopped"):
            sleeping.result(60)
    with pytest.raises(ModelUnavailableError, match="stopped"):
        stop.check()


def test_sleep_waits_where_it_is_not_set():
    """A pause is a pause, as long as it should be."""
    waited = []
    stop = Stop()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threading.Event, "wait", lambda event, seconds: waited.append(seconds))
        stop.sleep(0.02)
    assert waited == [0.02]


class Time:
    """A clock that goes on when somebody sleeps."""

    def __init__(self):
        self.now = 0.0
        self.slept = []

    def clock(self):
        """Return seconds."""
        return self.now

    def sleep(self, seconds):
        """Let seconds pass at once."""
        self.slept.append(seconds)
        self.now += seconds


def limited(script, **options):
    time = Time()
    limits = Limits(**{"concurrency": 8} | options, clock=time.clock, sleep=time.sleep)
    return Limited(ScriptedChat(script), limits=limits), limits, time


def refused(model):
    with pytest.raises(RateLimitError):
        model.complete(REQUEST)


def test_complete_really_has_as_many_calls_under_way_as_configured():
    """32 calls meet inside the model: none waits for another to end."""
    barrier = threading.Barrier(32, timeout=60)

    def meet(request):
        barrier.wait()
        return "好"

    model = Limited(ScriptedChat(meet), limits=Limits(concurrency=32))
    with ThreadPoolExecutor(64) as pool:
        texts = [c.text for c in pool.map(model.complete, [REQUEST] * 64)]
    assert texts == ["好"] * 64


def test_complete_never_has_more_calls_under_way_than_configured():
    """Three of many callers at a time."""
    lock, counts = threading.Lock(), [0, 0]

    def count(request):
        with lock:
            counts[0] += 1
            counts[1] = max(counts)
        threading.Event().wait(0.001)
        with lock:
            counts[0] -= 1
        return "好"

    model = Limited(ScriptedChat(count), limits=Limits(concurrency=3))
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(model.complete, [REQUEST] * 60))
    assert counts[1] == 3


def test_a_refusal_halves_the_calls_at_a_time_and_successes_bring_them_back():
    """8, 4, 2, 1, 1 going down; going up, a window full of successes adds one."""
    model, limits, _ = limited([RateLimitError("slow")] * 4 + ["好"] * 40)
    seen = []
    for _ in range(4):
        refused(model)
        seen.append(limits.allowed)
    assert seen == [4, 2, 1, 1]
    up = []
    for _ in range(40):
        model.complete(REQUEST)
        up.append(limits.allowed)
    assert up[:7] == [2, 2, 3, 3, 3, 4, 4]
    assert up[27:] == [8] * 13


def test_a_refusal_makes_all_wait_as_long_as_the_endpoint_says():
    """The next caller begins when Retry-After is over, and no sooner."""
    model, _, time = limited([RateLimitError("slow", retry_after_s=7.5), "好"])
    refused(model)
    model.complete(REQUEST)
    assert time.slept == [7.5]


def test_refusals_without_a_time_make_pauses_that_double():
    """1, 2, 4 seconds; after a success, 1 again."""
    slow = RateLimitError("slow")
    model, _, time = limited([slow, slow, slow, "好", slow, "好"])
    for _ in range(3):
        refused(model)
    model.complete(REQUEST)
    refused(model)
    model.complete(REQUEST)
    assert time.slept == [1.0, 2.0, 4.0, 1.0]


def test_refusals_of_calls_that_were_under_way_together_halve_once():
    """One moment of being too fast is one piece of news, however many calls it hits."""
    limits = Limits(concurrency=8)
    passes = [limits.enter(1) for _ in range(8)]
    for one in passes:
        limits.refused(one, None)
        limits.leave()
    assert limits.allowed == 4


def test_complete_keeps_to_the_calls_of_a_minute():
    """Two a minute: the third begins when the first is a minute old."""
    model, _, time = limited(["好"] * 5, requests_per_minute=2)
    for _ in range(5):
        model.complete(REQUEST)
    assert time.slept == [60.0, 60.0]


def test_complete_keeps_to_the_tokens_of_a_minute_as_they_really_were():
    """Estimated before; after the answer the endpoint's own count stands."""
    small = Completion("好", "m", usage=Usage(1, 1))
    model, _, time = limited([small] * 20, tokens_per_minute=2 * PROMPT)
    for _ in range(20):
        model.complete(REQUEST)
    assert time.slept == []
    large = Completion("好", "m", usage=Usage(PROMPT, PROMPT))
    model, _, time = limited([large] * 2, tokens_per_minute=2 * PROMPT)
    for _ in range(2):
        model.complete(REQUEST)
    assert time.slept == [60.0]


@pytest.mark.parametrize(
    "error",
    [TransientModelError("500"), ModelOutputError("bad", kind="empty"), KeyboardInterrupt()],
)
def test_complete_gives_its_place_back_whatever_happens(error):
    """A call that fails must not take a place for ever."""

    class Failing:
        name = "failing"

        def complete(self, request, *, on_text=None):
            raise error

    limits = Limits(concurrency=1)
    for _ in range(3):
        with pytest.raises(type(error)):
            Limited(Failing(), limits=limits).complete(REQUEST)
    assert limits.allowed == 1


def test_complete_counts_an_answer_as_answered_whatever_comes_of_it():
    """Its tokens were used, and the endpoint did not refuse."""
    model, limits, _ = limited([RateLimitError("slow"), "好"], concurrency=2)
    refused(model)
    assert limits.allowed == 1
    model.complete(REQUEST).report("malformed")
    assert limits.allowed == 2


def test_a_pause_beyond_the_deadline_is_not_begun():
    """The call is not sent, and the place in the row is free again."""
    slow = RateLimitError("slow", retry_after_s=30)
    model, _, time = limited([slow, "好", "好"])
    refused(model)
    with pytest.raises(BudgetExceededError, match="turn did not come"):
        model.complete(replace(REQUEST, deadline=30.0))
    assert time.slept == []
    assert model.complete(replace(REQUEST, deadline=30.1)).text == "好"
    assert time.slept == [30.0]


def test_a_place_is_not_waited_for_beyond_the_deadline():
    """Neither by the next in the row, nor by those behind."""
    limits = Limits(concurrency=1)
    limits.enter(1)
    late = time.monotonic() + 0.05

    def enter(_):
        with pytest.raises(BudgetExceededError):
            limits.enter(1, deadline=late)

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(enter, range(3), timeout=60)) == [None] * 3
    limits.leave()
    limits.enter(1, deadline=time.monotonic() + 60)


def test_no_call_begins_where_none_is_wanted():
    """When a run was stopped."""

    def stopped():
        raise ModelUnavailableError("stopped")

    with pytest.raises(ModelUnavailableError, match="stopped"):
        Limits(concurrency=1, check=stopped).enter(1)


def test_a_refusal_that_asks_for_too_long_makes_nobody_wait():
    """The call fails, and so may the next: sooner than after a pause that is too short anyway."""
    model, _, time = limited([RateLimitError("daily quota", retry_after_s=86_400), "好"])
    refused(model)
    assert model.complete(REQUEST).text == "好"
    assert time.slept == []
