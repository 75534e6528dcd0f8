"""Bounds on what verifying one answer may take: answers, calls of a model, seconds."""

import time
from collections.abc import Callable
from dataclasses import replace

from kgrag.errors import BudgetExceededError
from kgrag.llm.chat import ChatModel, Completion, OnText, Request


class Budget:
    """What is left for one question; the time runs from when it is made."""

    def __init__(
        self,
        *,
        max_rounds: int,
        max_calls: int,
        timeout_s: float,
        calls: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Begin.

        Args:
            max_rounds: Answers at most, the first included; at least 1.
            max_calls: Calls of a model at most; at least 1.
            timeout_s: Seconds at most; a call under way is ended then.
            calls: Tells how many calls the question has made so far.
            clock: Seconds, rising; of `time.monotonic`, as deadlines are.

        Raises:
            ValueError: If a bound is out of range.
        """
        if max_rounds < 1 or max_calls < 1 or timeout_s <= 0:
            bounds = f"{max_rounds} rounds, {max_calls} calls, {timeout_s} s"
            raise ValueError(f"a budget needs positive bounds, got {bounds}")
        self._max_rounds = max_rounds
        self._max_calls = max_calls
        self._timeout_s = timeout_s
        self._calls = calls
        self._clock = clock
        self._deadline = clock() + timeout_s

    def why_no_call(self) -> str:
        """Return why no further call may be made; empty while one may."""
        if self._calls() >= self._max_calls:
            return f"all {self._max_calls} calls are used (verify.max_calls)"
        if self._clock() >= self._deadline:
            return f"the {self._timeout_s:g} s are over (verify.timeout_s)"
        return ""

    @property
    def deadline(self) -> float:
        """Return the moment, on the clock, at which the time is over."""
        return self._deadline

    def why_no_round(self, rounds: int) -> str:
        """Return why no further answer may be tried; empty while one may.

        Args:
            rounds: Answers given so far.
        """
        if rounds >= self._max_rounds:
            return f"{rounds} of {self._max_rounds} answers are given (verify.max_rounds)"
        return self.why_no_call()

    def bound(self, model: ChatModel) -> ChatModel:
        """Return a model that makes no call once calls or time are used up.

        A call that is under way when the time is over ends then.

        Every call after the first answer goes through one of these, those of a further attempt
        too, so that the bounds hold exactly.
        """
        return _Bounded(model, self)


class _Bounded:
    """A chat model that a budget holds back."""

    def __init__(self, model: ChatModel, budget: Budget) -> None:
        self._model = model
        self._budget = budget

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        reason = self._budget.why_no_call()
        if reason:
            told = f"no further call of {self.name!r} for this question: {reason}"
            raise BudgetExceededError(told)
        timed = replace(request, deadline=self._budget.deadline)
        return self._model.complete(timed, on_text=on_text)
