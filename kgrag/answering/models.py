"""Models of one question, with counted and limited calls."""

from kgrag.config import VerifyConfig
from kgrag.llm.chat import ChatModel, Stage
from kgrag.llm.middleware import Counted
from kgrag.llm.models import Models
from kgrag.verification.budget import Budget


class QuestionModels:
    """Models of one question; calls are counted and limited."""

    def __init__(self, stages: Models, limits: VerifyConfig) -> None:
        """Initialise; the time starts now.

        Args:
            stages: Models by stage.
            limits: Maximum number of answers and of calls, also of cached answers; seconds after
                which no further call is made.
        """
        self._stages = stages
        self._max_calls = limits.max_calls
        self._counted: dict[Stage, Counted] = {}
        self.budget = Budget(
            max_rounds=limits.max_rounds or 1,
            max_calls=limits.max_calls,
            timeout_s=limits.timeout_s,
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
