"""A chat model that a program gives: one for every stage, in the place of configured ones."""

from kgrag.config import ModelConfig
from kgrag.errors import KgragError, ModelError
from kgrag.llm.calls import Calls
from kgrag.llm.chat import ChatModel, Completion, OnText, Request
from kgrag.llm.ledger import Cached, Recorded
from kgrag.llm.limits import Limited, Limits, Stop


class GivenModels:
    """The same model for every stage, with the methods of `kgrag.llm.models.Models`.

    Its answers are kept and its calls stand in the ledger as those of configured models; it is
    held to the limits of `[llm]`. To try again is its own matter.
    """

    def __init__(self, model: ChatModel, *, calls: Calls, limits: ModelConfig) -> None:
        """Wrap a model.

        Args:
            model: Safe to call from as many threads as `limits` allows calls at a time.
            calls: Keeps answers and the ledger; stays open.
            limits: Its calls at a time, calls and tokens a minute.
        """
        self._stop = Stop()
        allowed = Limits(
            concurrency=limits.concurrency,
            requests_per_minute=limits.requests_per_minute,
            tokens_per_minute=limits.tokens_per_minute,
            sleep=self._stop.sleep,
            check=self._stop.check,
        )
        limited = Limited(Recorded(_Guarded(model), calls=calls), limits=allowed)
        self._parameters = {"given": _class_of(model)}
        self._model = Cached(limited, calls=calls, parameters=self._parameters)

    def is_configured(self, stage: str) -> bool:
        """Return whether a stage has a model: each has this one."""
        return True

    def model_name(self, stage: str) -> str:
        """Return the name of a stage's model."""
        return self._model.name

    def are_together(self, one: str, other: str) -> bool:
        """Return whether two stages ask the same model: they do."""
        return True

    def parameters(self, stage: str) -> dict[str, str]:
        """Return what an answer depends on besides model and request, for the cache's key."""
        return dict(self._parameters)

    def of(self, stage: str) -> ChatModel:
        """Return the model of a stage."""
        return self._model

    def stop(self) -> None:
        """Let calls under way end, but none wait or begin; may be repeated."""
        self._stop.set()

    def close(self) -> None:
        """Do nothing: the model is its owner's to close."""


class _Guarded:
    """A chat model whose errors are kgrag's."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    @property
    def name(self) -> str:
        return self._model.name

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        try:
            completion = self._model.complete(request, on_text=on_text)
        except KgragError:
            raise
        except Exception as exc:
            raise ModelError(
                f"the model {self.name}, given as {_class_of(self._model)}, failed: "
                f"{type(exc).__name__}: {exc}"
            ) from exc
        if not isinstance(completion, Completion):
            raise ModelError(
                f"the model {self.name}, given as {_class_of(self._model)}, returned "
                f"{type(completion).__name__} instead of a Completion"
            )
        return completion


def _class_of(model: object) -> str:
    return f"{type(model).__module__}.{type(model).__qualname__}"
