"""When a request is tried again."""

from typing import Any

import pytest

from kgrag.endpoint.retrying import Retry, asks_too_long, retrying
from kgrag.errors import ModelError, RateLimitError, TransientModelError

BUSY = TransientModelError("busy")


def run(script, *, draw=0.5, attempts=5, **options):
    """Return (what came of a script of errors and values, pauses)."""
    left = list(script)
    slept: list[float] = []

    def call():
        step = left.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step

    tries = retrying(attempts=attempts, sleep=slept.append, random=lambda: draw, **options)
    try:
        return tries(call), slept
    except BaseException as exc:
        return exc, slept


def test_pauses_are_a_random_share_that_doubles_up_to_a_minute():
    """Callers who failed together do not come back together."""
    assert run([BUSY, BUSY, BUSY, "好"]) == ("好", [0.5, 1.0, 2.0])
    assert run([*[BUSY] * 9, "好"], attempts=10, draw=1.0)[1] == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_pause_is_what_the_endpoint_asks_for():
    """Up to two minutes, of a server that is down as well."""
    script = [RateLimitError("slow", retry_after_s=s) for s in (7.0, 120.0, 0.0)]
    assert run([*script, "好"]) == ("好", [7.0, 120.0, 0.0])
    assert run([TransientModelError("down", retry_after_s=120.0), "好"]) == ("好", [120.0])
    assert run([TransientModelError("down", retry_after_s=121.0), "好"]) == ("好", [0.5])


def test_a_refusal_that_names_no_pause_takes_the_one_that_is_set():
    """Other failures do not; providers count requests by the minute."""
    assert run([RateLimitError("slow"), BUSY, "好"], unsaid_s=20.0) == ("好", [20.0, 1.0])


def test_an_endpoint_that_asks_to_wait_too_long_is_an_error_at_once():
    """A quota of a day is no pause."""
    daily = RateLimitError("daily", retry_after_s=86_400)
    assert asks_too_long(daily)
    assert not asks_too_long(RateLimitError("slow", retry_after_s=120.0))
    assert run([daily, "好"]) == (daily, [])


@pytest.mark.parametrize("error", [ModelError("400"), KeyError("bug"), KeyboardInterrupt()])
def test_what_another_try_cannot_mend_is_raised_at_once(error):
    """As it is."""
    assert run([error, "好"]) == (error, [])


def test_the_last_failure_is_raised():
    """After as many calls as are allowed."""
    last = TransientModelError("still busy")
    assert run([BUSY, BUSY, last, "好"], attempts=3) == (last, [0.5, 1.0])


def test_nobody_waits_beyond_the_deadline():
    """The second pause would end there."""
    options = {"clock": lambda: 100.0}
    assert run([BUSY, BUSY, "好"], deadline=101.0, **options) == (BUSY, [0.5])
    assert run([BUSY, BUSY, "好"], deadline=101.1, **options) == ("好", [0.5, 1.0])


def test_what_is_hopeless_is_not_tried_again():
    """Though it may pass."""
    assert run([BUSY, "好"], is_hopeless=lambda error: error is BUSY) == (BUSY, [])


def test_every_pause_is_told_before_it_begins():
    """A wait that nobody explains is a bug."""
    told: list[Any] = []
    run([BUSY, BUSY, "好"], note=told.append)
    assert told == [Retry(BUSY, 1, 0.5), Retry(BUSY, 2, 1.0)]
