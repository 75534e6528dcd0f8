"""Chat models whose calls are kept: every answer is paid once, every call stands in the ledger."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kgrag.errors import BrokenOffError, BudgetExceededError, ModelError, ModelOutputError
from kgrag.ids import digest
from kgrag.llm.calls import CACHED, OK, CallRecord, Calls
from kgrag.llm.chat import Accept, ChatModel, Completion, OnText, Request, Usage
from kgrag.llm.tokens import estimate_request, estimate_tokens, material_chars

_CUT = ("truncated", "repeating")  # kinds of failure: the same request would end the same way


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


def request_key(request: Request, *, model: str, parameters: Mapping[str, str]) -> str:
    """Return the key of a request's answer: a hash of all that the answer depends on.

    Stage and document are left out, so that equal text is paid once; so are messages that were
    added after a bad answer (`Request.added`), so that the corrected answer is found by the
    question itself.

    Args:
        request: What is asked.
        model: Name of the model.
        parameters: What else decides the answer, e.g. endpoint and temperature.
    """
    schema = json.dumps(request.schema, ensure_ascii=False, sort_keys=True)
    settings = [part for name in sorted(parameters) for part in (name, parameters[name])]
    asked = request.messages[: len(request.messages) - request.added]
    messages = [part for message in asked for part in (message.role, message.content)]
    return digest(
        "answer",
        model,
        *(str(len(settings)), *settings),
        *(schema, request.schema_name, str(request.max_tokens)),
        *messages,
        length=32,
    )


class Cached:
    """A chat model that pays for each answer once, over all runs that share the file.

    Only answers that `accept` let pass are kept, and of requests about a document those that were
    cut or ran in circles: who reads the document again is told so at once, and asks for less.
    (A question that is asked again is tried again, and so is a request `anew`.) Equal requests
    that are under way at the same time are sent once: the others wait for the answer.
    """

    def __init__(self, model: ChatModel, *, calls: Calls, parameters: Mapping[str, str]) -> None:
        self._model = model
        self._calls = calls
        self._parameters = dict(parameters)
        self._lock = threading.Lock()
        self._under_way: dict[str, threading.Event] = {}

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    def key(self, request: Request) -> str:
        """Return the key under which the answer to a request is kept."""
        return request_key(request, model=self.name, parameters=self._parameters)

    def complete(
        self, request: Request, *, accept: Accept | None = None, on_text: OnText | None = None
    ) -> Completion:
        """Return the kept answer, or else the model's; see `ChatModel.complete`.

        Raises:
            ModelOutputError: If the answer cannot be used; at once where it was cut before.
            StoreError: If the file of kept answers cannot be read or written.
        """
        key = self.key(request)
        # a good answer to what was corrected is kept for the question; a bad one for itself
        cut_key = digest("cut", key, str(request.added), length=32)

        def keeping(completion: Completion) -> None:
            if accept is not None:
                try:
                    accept(completion)
                except ModelOutputError as exc:
                    if request.doc_id and exc.kind in _CUT:
                        self._calls.keep(cut_key, completion)
                    raise
            self._calls.keep(key, completion)  # before anything else can happen to it

        with self._alone(key, request.deadline):
            kept = self._kept(key, request, accept)
            if kept is not None:
                if on_text is not None:
                    on_text(kept.text)
                return kept
            self._check_cut(cut_key, request, accept)
            return self._model.complete(request, accept=keeping, on_text=on_text)

    @contextmanager
    def _alone(self, key: str, deadline: float | None) -> Iterator[None]:
        """Let one caller in at a time; the next one finds the answer, or tries for itself.

        Raises:
            BudgetExceededError: If the others are not done before the deadline.
        """
        while True:
            with self._lock:
                other = self._under_way.get(key)
                if other is None:
                    mine = self._under_way[key] = threading.Event()
                    break
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not other.wait(left):
                told = "the same call is under way, and not done in the time for this question"
                raise BudgetExceededError(f"{told} (verify.timeout_s)")
        try:
            yield
        finally:
            with self._lock:
                del self._under_way[key]
            mine.set()

    def _kept(self, key: str, request: Request, accept: Accept | None) -> Completion | None:
        """Return the kept answer; None where there is none, or what reads it has changed."""
        completion = self._calls.answer(key)
        if completion is None:
            return None
        if accept is not None:
            try:
                accept(completion)
            except ModelOutputError:
                return None
        self._calls.record(
            record_of(request, self.name, usage=completion.usage, seconds=0.0, outcome=CACHED)
        )
        return completion

    def _check_cut(self, key: str, request: Request, accept: Accept | None) -> None:
        """Refuse an answer again that was cut before, if it is.

        Raises:
            ModelOutputError: As `accept` does.
        """
        if request.anew or not request.doc_id or accept is None:
            return
        completion = self._calls.answer(key)
        if completion is None:
            return
        try:
            accept(completion)
        except ModelOutputError as exc:
            if exc.kind in _CUT:
                raise
