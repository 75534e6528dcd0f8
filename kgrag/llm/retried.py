"""Try again what failed in a way that may pass."""

import logging
import random
import time
from collections.abc import Callable

from kgrag.errors import (
    ModelError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm.chat import Accept, ChatModel, Completion, OnText, Request
from kgrag.llm.limited import LONGEST_ASKED_S

_log = logging.getLogger(__name__)
_LONGEST_S = 60.0  # of a pause that we choose


class Retried:
    """A chat model that tries again after TransientModelError and RateLimitError.

    Pauses are random below 1, 2, 4, ... 60 s ("full jitter", so that callers who failed together
    do not come back together), or what Retry-After says. Where that is more than 120 s, or a pause
    would go beyond the request's deadline, the call fails instead.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        attempts: int = 5,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        random: Callable[[], float] = random.random,
    ) -> None:
        """Wrap a model.

        Args:
            model: What is called.
            attempts: Tries in all, at least 1.
            clock: Gives seconds, as requests' deadlines count them.
            sleep: Waits so many seconds.
            random: Gives a number in [0, 1).
        """
        self._model = model
        self._attempts = attempts
        self._clock = clock
        self._sleep = sleep
        self._random = random

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    def complete(
        self, request: Request, *, accept: Accept | None = None, on_text: OnText | None = None
    ) -> Completion:
        """Return the model's answer; see `ChatModel.complete`.

        Raises:
            ModelUnavailableError: If no connection came about, whenever it was tried, or the
                endpoint asks to wait for more than 120 s.
            TransientModelError: If the last try failed, too, or an answer broke off of which the
                reader has seen a part already.
        """
        shown = False

        def showing(piece: str) -> None:
            nonlocal shown
            shown = True
            if on_text is not None:
                on_text(piece)

        on_piece = None if on_text is None else showing
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._model.complete(request, accept=accept, on_text=on_piece)
            except TransientModelError as exc:
                if shown:
                    raise TransientModelError(f"the answer broke off; ask again. {exc}") from exc
                pause = self._pause(exc, attempt)
                if pause > LONGEST_ASKED_S:
                    # not from exc: it would count as what may pass while somebody waits
                    raise _asks_too_long(exc, pause) from exc.__cause__
                if attempt >= self._attempts or self._is_over(request, pause):
                    raise _last(exc, attempt) from exc
                _log.info("attempt %d failed, next in %.1f s: %s", attempt, pause, exc)
            self._sleep(pause)

    def _is_over(self, request: Request, pause: float) -> bool:
        """Return whether no time is left after a pause."""
        return request.deadline is not None and self._clock() + pause >= request.deadline

    def _pause(self, exc: TransientModelError, attempt: int) -> float:
        asked = exc.retry_after_s if isinstance(exc, RateLimitError) else None
        if asked is not None:
            return asked
        return self._random() * min(_LONGEST_S, 2.0 ** (attempt - 1))


def _asks_too_long(exc: TransientModelError, pause: float) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"{exc}; it asks to wait {pause:,.0f} s: try again then, or name another model or "
        "endpoint in [llm]; what was answered is kept"
    )


def _last(exc: TransientModelError, attempts: int) -> ModelError:
    """Return the error that a call ends with, which says how often it was tried."""
    told = f"{exc} (after {attempts} {'attempt' if attempts == 1 else 'attempts'})"
    if isinstance(exc, ModelUnreachableError):
        return ModelUnavailableError(f"{told}; is the server up, and llm.base_url right?")
    if isinstance(exc, RateLimitError):
        remedy = "; lower llm.concurrency or set llm.requests_per_minute"
        return RateLimitError(told + remedy, retry_after_s=exc.retry_after_s)
    return TransientModelError(told)
