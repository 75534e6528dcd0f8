"""Limits for verifying one answer: answers, model calls, seconds."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from kgrag.errors import BudgetExceededError
from kgrag.llm.chat import ChatModel, Completion, OnText, Request
from kgrag.llm.middleware import Wrapper


class Budget:
    """Remaining budget of one question; time runs from construction."""

    def __init__(
        self,
        *,
        max_rounds: int,
        max_calls: int,
        timeout_s: float,
        calls: Callable[[], int],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start the clock.

        Args:
            max_rounds: Most answers, including the first; at least 1.
            max_calls: Most model calls; at least 1.
            timeout_s: Most seconds; a running call is cancelled then.
            calls: Returns the number of calls so far.
            clock: Monotonic seconds; must be that of `time.monotonic` for deadlines.

        Raises:
            ValueError: If a limit is out of range.
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
        """Return why no further call is allowed; empty if one is."""
        if self._calls() >= self._max_calls:
            return f"all {self._max_calls} calls are used (verify.max_calls)"
        if self._clock() >= self._deadline:
            return f"the {self._timeout_s:g} s are over (verify.timeout_s)"
        return ""

    @property
    def deadline(self) -> float:
        """Return the time, on the clock, at which the budget ends."""
        return self._deadline

    def why_no_round(self, rounds: int) -> str:
        """Return why no further answer is allowed after so many; empty if one is."""
        if rounds >= self._max_rounds:
            return f"{rounds} of {self._max_rounds} answers are given (verify.max_rounds)"
        return self.why_no_call()

    def bound(self, model: ChatModel) -> ChatModel:
        """Return a model that makes no call once calls or time are used up.

        A running call ends with the time. Every call after the first answer goes through such a
        model, including those of further attempts.
        """
        return _Bounded(model, self)


@dataclass(eq=False, repr=False)
class _Bounded(Wrapper):
    """A chat model within a budget."""

    budget: Budget

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        reason = self.budget.why_no_call()
        if reason:
            told = f"no further call of {self.name!r} for this question: {reason}"
            raise BudgetExceededError(told)
        timed = replace(request, deadline=self.budget.deadline)
        return self.model.complete(timed, on_text=on_text)
