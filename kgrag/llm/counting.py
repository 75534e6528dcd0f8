"""Count the calls of one question, and add up what a run takes, by stage."""

import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from kgrag.errors import BudgetExceededError
from kgrag.llm.chat import OK, ChatModel, Completion, OnText, Request, Usage


class Counted:
    """A chat model that remembers the completions that it gave, oldest first.

    Calls that failed count, and answers that could not be used: they took time and may have been
    paid for. Calls that were not sent because a question had used up its budget do not.

    Attributes:
        completions: What came back so far.
    """

    def __init__(self, model: ChatModel) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._calls = 0
        self.completions: list[tuple[Request, Completion]] = []

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    @property
    def calls(self) -> int:
        """Return how many calls were made, failed ones and those from the cache included."""
        return self._calls

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; see `ChatModel.complete`."""
        with self._lock:
            self._calls += 1
        try:
            completion = self._model.complete(request, on_text=on_text)
        except BudgetExceededError:
            with self._lock:
                self._calls -= 1
            raise
        with self._lock:
            self.completions.append((request, completion))
        return completion


@dataclass(frozen=True, slots=True)
class StageUsage:
    """Calls and their tokens.

    Attributes:
        calls: Answers that were paid for, also those that could not be used.
        kept: Answers that had been paid for before; they add no tokens.
        prompt: Tokens sent.
        completion: Tokens answered.
        cached: Those of `prompt` that the endpoint had in its own cache.
    """

    calls: int = 0
    kept: int = 0
    prompt: int = 0
    completion: int = 0
    cached: int = 0

    @property
    def usage(self) -> Usage:
        """Return the tokens as prices are put on them."""
        return Usage(self.prompt, self.completion, self.cached)

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, with the names that `--json` gives."""
        return {
            "calls": self.calls,
            "kept": self.kept,
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "cached_tokens": self.cached,
        }

    def __add__(self, other: "StageUsage") -> "StageUsage":
        """Return both together."""
        return StageUsage(
            self.calls + other.calls,
            self.kept + other.kept,
            self.prompt + other.prompt,
            self.completion + other.completion,
            self.cached + other.cached,
        )


class Meter:
    """Adds up over all models that it is given to; unlike `Counted` it keeps no answers."""

    def __init__(self) -> None:
        self._spent: defaultdict[str, StageUsage] = defaultdict(StageUsage)
        self._lock = threading.Lock()

    @property
    def spent(self) -> Mapping[str, StageUsage]:
        """Return what was spent so far, by stage."""
        with self._lock:
            return dict(self._spent)

    def add(self, stage: str, completion: Completion) -> None:
        """Add one answer."""
        usage = completion.usage
        one = (
            StageUsage(kept=1)
            if completion.from_cache
            else StageUsage(1, 0, usage.prompt, usage.completion, usage.cached)
        )
        with self._lock:
            self._spent[stage] += one


class Metered:
    """A chat model whose answers a meter counts."""

    def __init__(self, model: ChatModel, meter: Meter, *, stage: str) -> None:
        """Wrap a model.

        Args:
            model: Whom to ask.
            meter: Counts.
            stage: Whose model it is, whatever stage a request names: its price counts.
        """
        self._model = model
        self._meter = meter
        self._stage = stage

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; see `ChatModel.complete`."""
        completion = self._model.complete(request, on_text=on_text)
        if not completion.from_cache:  # paid, whether it can be used or not
            self._meter.add(self._stage, completion)
            return completion

        def used(outcome: str) -> None:
            if outcome == OK:
                self._meter.add(self._stage, completion)

        return completion.reporting_to(used)
