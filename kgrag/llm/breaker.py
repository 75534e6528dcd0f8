"""Stop asking a model that cannot be had, so that a long run does not wait for each call."""

import threading
import time
from collections.abc import Callable

from kgrag.errors import ModelError, ModelUnavailableError, TransientModelError
from kgrag.llm.chat import Accept, ChatModel, Completion, OnText, Request

_IN_A_ROW = 3  # calls that fail, each after all its tries, before the endpoint counts as down
_REST_S = 60.0


class Circuit:
    """What is known of an endpoint's health, shared by all who call it; safe for threads.

    It opens on a ModelUnavailableError, or when three calls in a row failed with
    TransientModelError. While it is open, calls fail at once; every `rest_s` seconds one is let
    through, so that a process that goes on for long finds an endpoint that came back.
    """

    def __init__(
        self, *, rest_s: float = _REST_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Begin closed.

        Args:
            rest_s: Seconds between the calls that are let through while it is open.
            clock: Gives seconds.
        """
        self._rest_s = rest_s
        self._clock = clock
        self._lock = threading.Lock()
        self._failed = 0  # in a row
        self._why: str | None = None  # set while it is open
        self._next_try = 0.0

    def check(self) -> None:
        """Return if a call may be made.

        Raises:
            ModelUnavailableError: If the circuit is open; says why it was opened.
        """
        with self._lock:
            if self._why is None:
                return
            now = self._clock()
            if now < self._next_try:
                raise ModelUnavailableError(self._why)
            self._next_try = now + self._rest_s

    def succeeded(self) -> None:
        """Take note of an answer, good or bad: the endpoint is there."""
        with self._lock:
            self._failed, self._why = 0, None

    def failed(self, error: ModelUnavailableError | TransientModelError) -> None:
        """Take note of a call that failed for good."""
        with self._lock:
            self._failed += 1
            if isinstance(error, ModelUnavailableError):
                self._open(str(error))
            elif self._failed >= _IN_A_ROW:
                self._open(f"{self._failed} calls in a row failed, the last with: {error}")

    def _open(self, why: str) -> None:
        self._why = self._why or why  # the first reason is the one to mend
        self._next_try = self._clock() + self._rest_s


class Breaker:
    """A chat model that is not asked while its circuit is open."""

    def __init__(self, model: ChatModel, *, circuit: Circuit) -> None:
        self._model = model
        self._circuit = circuit

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    def complete(
        self, request: Request, *, accept: Accept | None = None, on_text: OnText | None = None
    ) -> Completion:
        """Return the model's answer; see `ChatModel.complete`.

        Raises:
            ModelUnavailableError: At once, while the circuit is open.
        """
        self._circuit.check()
        try:
            completion = self._model.complete(request, accept=accept, on_text=on_text)
        except (ModelUnavailableError, TransientModelError) as exc:
            self._circuit.failed(exc)
            raise
        except ModelError:
            self._circuit.succeeded()
            raise
        self._circuit.succeeded()
        return completion
