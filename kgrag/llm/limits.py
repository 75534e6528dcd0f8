"""Keep within what an endpoint allows: calls at a time, calls and tokens a minute."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from kgrag.errors import BudgetExceededError, ModelUnavailableError, RateLimitError
from kgrag.llm.chat import ChatModel, Completion, OnText, Request
from kgrag.llm.endpoint import LONGEST_ASKED_S
from kgrag.llm.tokens import estimate_request

_MINUTE_S = 60.0
_TINY_S = 1e-6  # lost to rounding: who slept as told must not be told to sleep on
_log = logging.getLogger(__name__)
_LONGEST_PAUSE_S = 60.0  # without Retry-After
_WEIGHT = 0.1  # of the newest answer in the mean length of answers


class Entry:
    """One use; its amount may be corrected when the true one is known."""

    __slots__ = ("amount", "at")

    def __init__(self, at: float, amount: float) -> None:
        self.at = at
        self.amount = amount


class Budget:
    """An amount that may be used in any 60 seconds: a sliding window.

    Whatever way the provider cuts its minutes, it never sees more than the limit in one of them.
    Not safe for threads: `Limits` guards it.
    """

    def __init__(self, limit: float) -> None:
        """Begin unused.

        Args:
            limit: Most in 60 seconds; 0 for no limit.
        """
        self._limit = limit
        self._entries: deque[Entry] = deque()

    def wait(self, now: float, amount: float) -> float:
        """Return the seconds until so much may be used; 0 for at once.

        More than the whole limit may be used when nothing else is in the window: it would never
        be possible otherwise.
        """
        while self._entries and now - self._entries[0].at >= _MINUTE_S - _TINY_S:
            self._entries.popleft()
        if not self._limit:
            return 0.0
        over = sum(entry.amount for entry in self._entries) + amount - self._limit
        wait = 0.0
        for entry in self._entries:
            if over <= 0:
                break
            over -= entry.amount
            wait = entry.at + _MINUTE_S - now
        return wait

    def use(self, now: float, amount: float) -> Entry:
        """Enter a use and return it, for correction."""
        entry = Entry(now, amount)
        self._entries.append(entry)
        return entry


class Stop:
    """Lets calls wait until it is set; from then on nothing waits and nothing is begun."""

    def __init__(self) -> None:
        self._set = threading.Event()

    def set(self) -> None:
        """End all that waits, now and later."""
        self._set.set()

    def check(self) -> None:
        """Return if calls may go on.

        Raises:
            ModelUnavailableError: If it is set.
        """
        if self._set.is_set():
            raise ModelUnavailableError("stopped: no further call is made")

    def sleep(self, seconds: float) -> None:
        """Wait.

        Raises:
            ModelUnavailableError: As soon as it is set.
        """
        self._set.wait(seconds)
        self.check()


@dataclass(frozen=True, slots=True)
class Permit:
    """Leave for one call.

    Attributes:
        epoch: How often the endpoint had refused when the call began.
        tokens: What it takes from the tokens of a minute.
        prompt: Tokens sent, as estimated.
    """

    epoch: int
    tokens: Entry
    prompt: int


class Limits:
    """What may be under way at an endpoint, shared by all who call it; safe for threads.

    The calls at a time adapt as TCP's window does: a refusal (429) halves them and makes all
    callers pause, a window full of successes adds one, up to what is configured. Refusals of
    calls that began before the last halving say nothing new and halve nothing.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        requests_per_minute: int = 0,
        tokens_per_minute: int = 0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        check: Callable[[], object] = lambda: None,
    ) -> None:
        """Begin with everything allowed.

        Args:
            concurrency: Most calls at a time, at least 1.
            requests_per_minute: Calls begun in any 60 seconds; 0 for no limit.
            tokens_per_minute: Tokens in and out in any 60 seconds; 0 for no limit.
            clock: Gives seconds.
            sleep: Waits the given seconds.
            check: Called before each call; raises where no further one is wanted.
        """
        self._most = self._allowed = concurrency
        self._requests = Budget(requests_per_minute)
        self._tokens = Budget(tokens_per_minute)
        self._clock = clock
        self._sleep = sleep
        self._check = check
        self._door = threading.Lock()  # held by the one caller who waits to be let in next
        self._changed = threading.Condition()
        self._under_way = 0
        self._epoch = 0
        self._refused = 0  # times in a row
        self._successes = 0  # since `_allowed` changed
        self._paused_until = float("-inf")
        self._mean_answer = 0.0  # tokens

    @property
    def allowed(self) -> int:
        """Return how many calls may be under way now."""
        return self._allowed

    def enter(self, prompt: int, *, deadline: float | None = None) -> Permit:
        """Wait until a call may begin, and begin it.

        Args:
            prompt: Tokens that it sends, as estimated.
            deadline: Moment on the clock up to which it is waited; None to wait as long as needed.

        Raises:
            BudgetExceededError: If it may not begin before the deadline.
        """
        with self._at_the_door(deadline):
            while True:
                self._check()
                with self._changed:
                    while self._under_way >= self._allowed:
                        if not self._changed.wait(self._left(deadline)):
                            raise _no_place()
                    now, tokens = self._clock(), prompt + self._mean_answer
                    wait = max(
                        self._paused_until - now,
                        self._requests.wait(now, 1),
                        self._tokens.wait(now, tokens),
                    )
                    if wait <= 0:
                        self._under_way += 1
                        self._requests.use(now, 1)
                        return Permit(self._epoch, self._tokens.use(now, tokens), prompt)
                    if deadline is not None and now + wait >= deadline:
                        raise _no_place()
                self._sleep(wait)

    @contextmanager
    def _at_the_door(self, deadline: float | None) -> Iterator[None]:
        left = self._left(deadline)
        if not self._door.acquire(timeout=-1 if left is None else left):
            raise _no_place()
        try:
            yield
        finally:
            self._door.release()

    def _left(self, deadline: float | None) -> float | None:
        return None if deadline is None else max(0.0, deadline - self._clock())

    def leave(self) -> None:
        """End a call, whatever came of it."""
        with self._changed:
            self._under_way -= 1
            self._changed.notify()

    def answered(self, permit: Permit, completion: Completion) -> None:
        """Take note of an answer: of its true tokens, and that the endpoint did not refuse."""
        usage = completion.usage
        with self._changed:
            permit.tokens.amount = usage.prompt + usage.completion
            self._mean_answer += _WEIGHT * (usage.completion - self._mean_answer)
            if permit.epoch == self._epoch:
                self._refused = 0
            self._successes += 1
            if self._allowed < self._most and self._successes >= self._allowed:
                self._allowed += 1
                self._successes = 0
                self._changed.notify()

    def refused(self, permit: Permit, retry_after_s: float | None) -> None:
        """Take note that the endpoint was asked too often.

        Args:
            permit: Of the call that was refused.
            retry_after_s: The pause that it asks for; None where it does not.
        """
        with self._changed:
            permit.tokens.amount = 0
            if permit.epoch == self._epoch:
                self._epoch += 1
                self._refused += 1
                self._allowed = max(1, self._allowed // 2)
                self._successes = 0
            elif retry_after_s is None:
                return
            if retry_after_s is None:
                pause = min(_LONGEST_PAUSE_S, 2.0 ** min(self._refused - 1, 6))
            else:  # a call that is to wait too long fails, and so will the next
                pause = retry_after_s if retry_after_s <= LONGEST_ASKED_S else 0.0
            self._paused_until = max(self._paused_until, self._clock() + pause)
            _log.info("asked too often: %d at a time, after %.1f s", self._allowed, pause)


class Limited:
    """A chat model that is asked no more than its limits allow."""

    def __init__(self, model: ChatModel, *, limits: Limits) -> None:
        self._model = model
        self._limits = limits

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer, when its turn has come; see `ChatModel.complete`.

        Raises:
            BudgetExceededError: If its turn does not come before the request's deadline.
        """
        permit = self._limits.enter(estimate_request(request), deadline=request.deadline)
        try:
            completion = self._model.complete(request, on_text=on_text)
        except RateLimitError as exc:
            self._limits.refused(permit, exc.retry_after_s)
            raise
        else:
            self._limits.answered(permit, completion)
            return completion
        finally:
            self._limits.leave()


def _no_place() -> BudgetExceededError:
    return BudgetExceededError(
        "no further call was sent: its turn did not come in the time for this question"
        " (verify.timeout_s; llm.concurrency and llm.requests_per_minute make it wait)"
    )
