"""Chat models whose calls are kept: every answer is paid once, every call stands in the ledger."""

import json
import threading
import time
from collections.abc import Mapping, Sequence

from kgrag.errors import BrokenOffError, BudgetExceededError, ModelError
from kgrag.ids import digest
from kgrag.llm.calls import CACHED, CallRecord, Calls
from kgrag.llm.chat import OK, ChatModel, Completion, OnText, Request, Usage, outcome_of
from kgrag.llm.tokens import estimate_request, estimate_tokens, material_chars

_JUDGED_S = 5.0  # to read an answer takes far less; who never says what came of it blocks nobody
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

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; see `ChatModel.complete`.

        Raises:
            StoreError: If the ledger cannot be written.
        """
        begun = time.monotonic()
        shown: list[str] = []

        def showing(piece: str) -> None:
            shown.append(piece)
            if on_text is not None:
                on_text(piece)

        def record(usage: Usage, outcome: str) -> int:
            seconds = time.monotonic() - begun
            return self._calls.record(
                record_of(request, self.name, usage=usage, seconds=seconds, outcome=outcome)
            )

        try:
            reads_along = on_text is not None or request.streamed
            completion = self._model.complete(request, on_text=showing if reads_along else None)
        except BudgetExceededError:  # nothing was sent
            raise
        except BaseException as exc:  # an answer that is interrupted has been paid for as well
            record(_charged(request, shown) if _was_sent(exc) else Usage(), outcome_of(exc))
            raise
        number = record(completion.usage, OK)

        def amend(outcome: str) -> None:
            if outcome != OK:
                self._calls.amend(number, outcome)

        return completion.reporting_to(amend)


def _charged(request: Request, shown: Sequence[str]) -> Usage:
    """Return what a call took that broke off, as estimated."""
    return Usage(estimate_request(request), estimate_tokens("".join(shown)), estimated=True)


def _was_sent(error: BaseException) -> bool:
    """Return whether a call that brought no answer may have been charged."""
    return isinstance(error, BrokenOffError) or not isinstance(error, ModelError)


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


class _Lead:
    """The call that is made for a request, for equal ones to wait for.

    Attributes:
        answered: Set when the call has ended.
        judged: Set when it is known what came of its answer.
    """

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.judged = threading.Event()

    def end(self) -> None:
        """Let the others go on."""
        self.answered.set()
        self.judged.set()

    def wait(self, left_s: float | None) -> bool:
        """Wait until it is known what came of it, and return whether it was in time."""
        if not self.answered.wait(left_s):
            return False
        self.judged.wait(_JUDGED_S if left_s is None else min(left_s, _JUDGED_S))
        return True


class Cached:
    """A chat model that pays for each answer once, over all runs that share the file.

    Only answers that are reported to have been of use are kept, and of requests about a document
    those that were cut or ran in circles: who reads the document again is told so at once, and
    asks for less. (A question that is asked again is tried again, and so is a request `anew`.)
    Equal requests that are under way at the same time are sent once: the others wait until the
    answer is kept.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        calls: Calls,
        parameters: Mapping[str, str],
        limit: str = "",
    ) -> None:
        """Wrap a model.

        Args:
            model: Whom to ask.
            calls: Keeps the answers.
            parameters: What an answer depends on besides model and request.
            limit: Longest answer, where `parameters` do not tell it: one that was cut there is
                asked for again with another.
        """
        self._model = model
        self._calls = calls
        self._limit = limit
        self._parameters = dict(parameters)
        self._lock = threading.Lock()
        self._leads: dict[str, _Lead] = {}

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    def key(self, request: Request) -> str:
        """Return the key under which the answer to a request is kept."""
        return request_key(request, model=self.name, parameters=self._parameters)

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the kept answer, or else the model's; see `ChatModel.complete`.

        Raises:
            StoreError: If the file of kept answers cannot be read or written.
        """
        key = self.key(request)
        lead, waited = self._lead(key, request.deadline)
        try:
            completion = self._kept(key, request, waited=waited)
            if completion is not None:
                self._end(key, lead)
                return completion
            completion = self._model.complete(request, on_text=on_text)
        except BaseException:
            self._end(key, lead)
            raise
        lead.answered.set()
        answer = completion

        def keep(outcome: str) -> None:
            try:
                if outcome == OK:
                    self._calls.keep(key, answer)  # before anything else can happen to it
                elif request.doc_id and outcome in _CUT:
                    self._calls.keep(_cut_key(key, request, self._limit), answer)
            finally:
                self._end(key, lead)

        return completion.reporting_to(keep)

    def _lead(self, key: str, deadline: float | None) -> tuple[_Lead, bool]:
        """Return when no equal call is under way, and whether one was.

        Raises:
            BudgetExceededError: If the others are not done before the deadline.
        """
        waited_for: _Lead | None = None
        while True:
            with self._lock:
                other = self._leads.get(key)
                if other is None or other is waited_for:
                    mine = self._leads[key] = _Lead()
                    return mine, waited_for is not None
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not other.wait(left):
                told = "the same call is under way, and not done in the time for this question"
                raise BudgetExceededError(f"{told} (verify.timeout_s)")
            waited_for = other

    def _end(self, key: str, lead: _Lead) -> None:
        with self._lock:
            if self._leads.get(key) is lead:
                del self._leads[key]
        lead.end()

    def _kept(self, key: str, request: Request, *, waited: bool) -> Completion | None:
        """Return the answer that is kept, good or cut; None where the model is to be asked.

        Args:
            key: Of the request.
            request: What is asked.
            waited: Whether another caller was just answered, whose answer is as fresh as any.
        """
        former = self._former_key(request)
        kept = None
        if not request.fresh or waited:
            kept = self._calls.answer(key) or (self._calls.answer(former) if former else None)
        if kept is not None:
            usage = kept.usage

            def hit(outcome: str) -> None:
                if outcome == OK:
                    self._calls.record(
                        record_of(request, self.name, usage=usage, seconds=0.0, outcome=CACHED)
                    )

            return kept.reporting_to(hit)
        if request.anew or not request.doc_id:
            return None
        cut = self._calls.answer(_cut_key(key, request, self._limit))
        if cut is None and former:
            cut = self._calls.answer(_cut_key(former, request))
        return cut

    def _former_key(self, request: Request) -> str:
        """Return the key of what a former version asked for the same; empty for none.

        What is asked once more after a bad answer is asked in the present words.
        """
        return self.key(request.former) if request.former and not request.added else ""


def _cut_key(key: str, request: Request, limit: str = "") -> str:
    """Return where a bad answer is kept.

    A good answer to what was corrected is kept for the question; a bad one for itself, and for
    the limit that cut it where the settings leave that to the provider.
    """
    return digest("cut", key, str(request.added), *filter(None, [limit]), length=32)
