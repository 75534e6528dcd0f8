"""When a request that failed is tried again, and when not."""

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import tenacity

from kgrag.errors import RateLimitError, TransientModelError

LONGEST_ASKED_S = 120.0  # that an endpoint may ask to wait: nobody waits longer for an answer
_LONGEST_S = 60.0  # of a pause that we choose


@dataclass(frozen=True, slots=True)
class Retry:
    """A try that failed, with another to come.

    Attributes:
        error: What it failed with.
        attempt: Its number, from 1.
        pause_s: Seconds until the next.
    """

    error: TransientModelError
    attempt: int
    pause_s: float


def retrying(
    *,
    attempts: int,
    deadline: float | None = None,
    unsaid_s: float | None = None,
    is_hopeless: Callable[[TransientModelError], bool] = lambda error: False,
    note: Callable[[Retry], object] = lambda retry: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
    random: Callable[[], float] = random.random,
) -> tenacity.Retrying:
    """Return what calls a function until it gives something, and raises what it failed with last.

    It is called again after a TransientModelError. Pauses are random below 1, 2, 4, ... 60 s
    ("full jitter", so that callers who failed together do not come back together), or what the
    endpoint asks for. After the last attempt, where an endpoint that is asked too often asks to
    wait more than 120 s, or where a pause would go beyond the deadline, nobody waits.

    Args:
        attempts: Calls in all, at least 1.
        deadline: Moment on the clock; None for none.
        unsaid_s: Pause after a refusal for being asked too often that names none; None for a
            random one.
        is_hopeless: Whether to give up whatever else is allowed.
        note: Told of every pause before it begins.
        clock: Gives seconds.
        sleep: Waits the given seconds.
        random: Gives a number in [0, 1).
    """

    def pause(state: tenacity.RetryCallState) -> float:
        return _pause(_error_of(state), state.attempt_number, unsaid_s, random)

    def is_over(state: tenacity.RetryCallState) -> bool:
        if state.attempt_number >= attempts or asks_too_long(_error_of(state)):
            return True
        return deadline is not None and clock() + state.upcoming_sleep >= deadline

    def wait(seconds: float) -> None:
        sleep(seconds)

    def before(state: tenacity.RetryCallState) -> None:
        note(Retry(_error_of(state), state.attempt_number, state.upcoming_sleep))

    return tenacity.Retrying(
        retry=tenacity.retry_if_exception(
            lambda error: isinstance(error, TransientModelError) and not is_hopeless(error)
        ),
        wait=pause,
        stop=is_over,
        sleep=wait,
        before_sleep=before,
        reraise=True,
    )


def asks_too_long(error: TransientModelError) -> bool:
    """Return whether an endpoint that is asked too often wants to rest longer than is waited.

    >>> asks_too_long(RateLimitError("daily quota", retry_after_s=86_400))
    True
    """
    wait = error.retry_after_s
    return isinstance(error, RateLimitError) and wait is not None and wait > LONGEST_ASKED_S


def _error_of(state: tenacity.RetryCallState) -> TransientModelError:
    """Return what a call failed with that is to be tried again."""
    error = state.outcome.exception() if state.outcome else None
    if not isinstance(error, TransientModelError):
        raise TypeError(f"only a TransientModelError is tried again, got {error!r}")
    return error


def _pause(
    error: TransientModelError,
    attempt: int,
    unsaid_s: float | None,
    random: Callable[[], float],
) -> float:
    """Return the seconds to wait after a failed attempt.

    A server that is down for an hour is tried sooner; one that counts requests means what it says.
    """
    asked = error.retry_after_s
    if isinstance(error, RateLimitError):
        asked = unsaid_s if asked is None else asked
    elif asked is not None and asked > LONGEST_ASKED_S:
        asked = None
    return random() * min(_LONGEST_S, 2.0 ** (attempt - 1)) if asked is None else asked
