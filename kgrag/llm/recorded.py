"""Enter every call that is really sent into the ledger."""

import time

from kgrag.errors import BrokenOffError, BudgetExceededError, ModelError, ModelOutputError
from kgrag.llm.calls import OK, CallRecord, Calls
from kgrag.llm.chat import Accept, ChatModel, Completion, OnText, Request, Usage
from kgrag.llm.tokens import estimate_request, estimate_tokens, material_chars


class Recorded:
    """A chat model whose calls stand in the ledger, good or failed.

    Where a call was sent and no count came back, because it timed out, broke off or was
    interrupted, our estimate stands there: of the tokens sent, and of those that were streamed.
    """

    def __init__(self, model: ChatModel, *, calls: Calls) -> None:
        self._model = model
        self._calls = calls

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    def complete(
        self, request: Request, *, accept: Accept | None = None, on_text: OnText | None = None
    ) -> Completion:
        """Return the model's answer; see `ChatModel.complete`.

        Raises:
            StoreError: If the ledger cannot be written.
        """
        begun = time.monotonic()
        usage, came = Usage(), 0.0
        shown: list[str] = []

        def coming(completion: Completion) -> None:
            nonlocal usage, came
            usage, came = completion.usage, time.monotonic()
            if accept is not None:
                accept(completion)

        def showing(piece: str) -> None:
            shown.append(piece)
            if on_text is not None:
                on_text(piece)

        def record(outcome: str) -> None:
            seconds = (came or time.monotonic()) - begun
            self._calls.record(
                record_of(request, self.name, usage=usage, seconds=seconds, outcome=outcome)
            )

        try:
            streamed = None if on_text is None else showing
            completion = self._model.complete(request, accept=coming, on_text=streamed)
        except BudgetExceededError:  # nothing was sent
            raise
        except BaseException as exc:  # an answer that is interrupted has been paid for as well
            if not came and _was_sent(exc):
                answered = estimate_tokens("".join(shown))
                usage = Usage(estimate_request(request), answered, estimated=True)
            record(outcome_of(exc))
            raise
        record(OK)
        return completion


def _was_sent(error: BaseException) -> bool:
    """Return whether a call that brought no answer may have been charged."""
    return isinstance(error, BrokenOffError) or not isinstance(error, ModelError)


def outcome_of(error: BaseException) -> str:
    """Return how the ledger names an error: the kind of a bad answer, or the error's class."""
    return error.kind if isinstance(error, ModelOutputError) else type(error).__name__


def record_of(
    request: Request, model: str, *, usage: Usage, seconds: float, outcome: str
) -> CallRecord:
    """Return the line of the ledger for a call that has just ended."""
    return CallRecord(
        stage=request.stage,
        doc_id=request.doc_id,
        model=model,
        schema_name=request.schema_name,
        usage=usage,
        material_chars=material_chars(request),
        estimated_prompt=estimate_request(request),
        seconds=seconds,
        outcome=outcome,
        at=time.time(),
    )
