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
from kgrag.llm.chat import ChatModel, Completion, OnText, Request
from kgrag.llm.endpoint import asks_too_long, in_words, retrying

_log = logging.getLogger(__name__)


class Retried:
    """A chat model that tries again after TransientModelError and RateLimitError.

    Where an endpoint asks to wait for more than 120 s, or a pause would go beyond the request's
    deadline, the call fails instead; see `kgrag.llm.endpoint.retrying`.
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
            sleep: Waits the given seconds.
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

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
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
        tries = retrying(
            attempts=self._attempts,
            deadline=request.deadline,
            is_hopeless=lambda error: shown,
            note=_note,
            clock=self._clock,
            sleep=self._sleep,
            random=self._random,
        )
        try:
            return tries(self._model.complete, request, on_text=on_piece)
        except TransientModelError as exc:
            if shown:
                raise TransientModelError(f"the answer broke off; ask again. {exc}") from exc
            if asks_too_long(exc):
                # not from exc: it would count as what may pass while somebody waits
                raise _asks_too_long(exc) from exc.__cause__
            raise _last(exc, tries.statistics["attempt_number"]) from exc


def _note(error: TransientModelError, attempt: int, pause_s: float) -> None:
    _log.info("attempt %d failed, next in %.1f s: %s", attempt, pause_s, error)


def _asks_too_long(exc: TransientModelError) -> ModelUnavailableError:
    return ModelUnavailableError(
        f"{exc}; it asks to wait {exc.retry_after_s:,.0f} s: try again then, or name another model"
        " or endpoint in [llm]; what was answered is kept"
    )


def _last(exc: TransientModelError, attempts: int) -> ModelError:
    """Return the error that a call ends with, which says how often it was tried."""
    told = f"{exc} {in_words(attempts)}"
    if isinstance(exc, ModelUnreachableError):
        return ModelUnavailableError(f"{told}; is the server up, and llm.base_url right?")
    if isinstance(exc, RateLimitError):
        remedy = "; lower llm.concurrency or set llm.requests_per_minute"
        return RateLimitError(told + remedy, retry_after_s=exc.retry_after_s)
    return TransientModelError(told)
