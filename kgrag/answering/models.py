"""Models of one question, with counted and limited calls."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from kgrag.answer.answer import Step
from kgrag.config import VerifyConfig
from kgrag.errors import ModelError
from kgrag.llm.chat import ChatModel, Stage
from kgrag.llm.middleware import Counted
from kgrag.verification.budget import Budget


class StageModels(Protocol):
    """Models by stage; implemented by `kgrag.llm.models.Models`."""

    def of(self, stage: str) -> ChatModel:
        """Return the model of a stage.

        Raises:
            ModelError: If it is not available.
        """
        ...

    def are_together(self, one: str, other: str) -> bool:
        """Return whether two stages use the same endpoint."""
        ...


class QuestionModels:
    """Models of one question; calls are counted and limited."""

    def __init__(
        self, stages: StageModels, *, max_rounds: int, max_calls: int, timeout_s: float
    ) -> None:
        """Initialise; the time starts now.

        Args:
            stages: Models by stage.
            max_rounds: Maximum number of answers.
            max_calls: Maximum number of calls, also of cached answers.
            timeout_s: Seconds after which no further call is made.
        """
        self._stages = stages
        self._max_calls = max_calls
        self._counted: dict[Stage, Counted] = {}
        self.budget = Budget(
            max_rounds=max_rounds,
            max_calls=max_calls,
            timeout_s=timeout_s,
            calls=lambda: self.calls,
        )

    @property
    def calls(self) -> int:
        """Number of calls so far."""
        return sum(model.calls for model in self._counted.values())

    @property
    def left(self) -> int:
        """Number of calls left."""
        return max(0, self._max_calls - self.calls)

    def of(self, stage: Stage) -> ChatModel:
        """Return the model of a stage.

        Raises:
            ModelError: If it is not available.
        """
        if stage not in self._counted:
            self._counted[stage] = Counted(self._stages.of(stage))
        return self.budget.bound(self._counted[stage])

    def answers_like(self, stage: Stage) -> bool:
        """Return whether the answer's model has the same endpoint as a stage's."""
        return self._stages.are_together(stage, "answer")

    def usage(self) -> str:
        """Return the usage in words."""
        sent = [c for m in self._counted.values() for _, c in m.completions if not c.from_cache]
        came = sum(len(m.completions) for m in self._counted.values())
        prompt, answer = sum(c.usage.prompt for c in sent), sum(c.usage.completion for c in sent)
        parts = [f"{self.calls} calls"]
        if came > len(sent):
            parts.append(f"{came - len(sent)} of them from the cache")
        if self.calls > came:
            parts.append(f"{self.calls - came} without an answer")
        return f"{', '.join(parts)}; {prompt} tokens in, {answer} out"


def reading_model(stages: StageModels, bounds: VerifyConfig) -> ChatModel:
    """Return the model that reads a question which is only searched, within a question's limits.

    Args:
        stages: Models by stage.
        bounds: Maximum calls and seconds.

    Raises:
        ModelError: If it is not available.
    """
    models = QuestionModels(
        stages, max_rounds=1, max_calls=bounds.max_calls, timeout_s=bounds.timeout_s
    )
    return models.of("analyse")


class StoppedError(ModelError):
    """A model failed at a step that an answer needs.

    Attributes:
        steps: Steps until then, the failed one included.
    """

    def __init__(self, error: ModelError, steps: Sequence[Step]) -> None:
        super().__init__(str(error))
        self.steps = tuple(steps)


@contextmanager
def stopped_after(steps: Sequence[Step]) -> Iterator[None]:
    """Add the steps before it to a model's error.

    Raises:
        StoppedError: For every error of a model; its steps come after those given.
    """
    try:
        yield
    except ModelError as exc:
        further = exc.steps if isinstance(exc, StoppedError) else ()
        raise StoppedError(exc, (*steps, *further)) from exc
