"""The models of one question: counted by stage, held back by a budget."""

from collections.abc import Callable

from kgrag.llm.chat import ChatModel, Stage
from kgrag.llm.counted import Counted
from kgrag.verification.budget import Budget

ModelOf = Callable[[Stage], ChatModel]


class QuestionModels:
    """The models of one question; every call counts, and none goes beyond the bounds."""

    def __init__(
        self, model_of: ModelOf, *, max_rounds: int, max_calls: int, timeout_s: float
    ) -> None:
        """Keep where models come from; the time runs from now.

        Args:
            model_of: Gives the model of a stage.
            max_rounds: Answers at most.
            max_calls: Calls at most, answers from the cache included.
            timeout_s: Seconds after which no further call is made.
        """
        self._model_of = model_of
        self._counted: dict[Stage, Counted] = {}
        self.budget = Budget(
            max_rounds=max_rounds,
            max_calls=max_calls,
            timeout_s=timeout_s,
            calls=lambda: self.calls,
        )

    @property
    def calls(self) -> int:
        """Return how many calls were made so far."""
        return sum(model.calls for model in self._counted.values())

    def of(self, stage: Stage) -> ChatModel:
        """Return the model of a stage.

        Raises:
            ModelError: If it cannot be had.
        """
        if stage not in self._counted:
            self._counted[stage] = Counted(self._model_of(stage))
        return self.budget.bound(self._counted[stage])

    def usage(self) -> str:
        """Return what the question took, in words."""
        sent = [c for m in self._counted.values() for _, c in m.completions if not c.from_cache]
        prompt, answer = sum(c.usage.prompt for c in sent), sum(c.usage.completion for c in sent)
        kept = self.calls - len(sent)
        from_cache = f", {kept} of them from the cache" if kept else ""
        return f"{self.calls} calls{from_cache}; {prompt} tokens in, {answer} out"
