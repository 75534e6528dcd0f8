"""Stop asking a model that cannot be had, and wait for one that may come back."""

import logging
import threading
import time
from collections.abc import Callable, Sequence

from kgrag.errors import (
    BudgetExceededError,
    ModelError,
    ModelUnavailableError,
    TransientModelError,
)
from kgrag.llm.chat import ChatModel, Completion, OnText, Request

_log = logging.getLogger(__name__)

_IN_A_ROW = 3  # calls that fail, each after all its tries, before the endpoint counts as down
_RESTS_S = (10.0, 30.0, 60.0)  # before the first trial, the second, and each further one
_PATIENCE = 2  # trials that fail before nobody waits for another
_TICK_S = 0.5  # how often those who wait look whether the trial is done


class Circuit:
    """What is known of an endpoint's health, shared by all who call it; safe for threads.

    It opens on a ModelUnavailableError; when three calls in a row failed with
    TransientModelError; and when one that can wait did, and no call was answered that began in
    the second half of the time that it was tried. While it is open, no call is made but a trial
    after 10 s, 30 s, and then every 60 s. If what opened it may pass, callers who can wait are
    let in when a trial was answered, and fail when the second was not; all others fail at once.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] = time.sleep,
        check: Callable[[], object] = lambda: None,
    ) -> None:
        """Begin closed.

        Args:
            clock: Gives seconds.
            sleep: Waits the given seconds.
            check: Called before each call; raises where no further one is wanted.
        """
        self._clock = clock
        self._sleep = sleep
        self._check = check
        self._lock = threading.Lock()
        self._failed = 0  # in a row
        self._why = ""  # set while it is open
        self._may_pass = False
        self._trials = 0  # that failed
        self._next_trial = 0.0
        self._answered = float("-inf")  # when the latest call began that was

    def now(self) -> float:
        """Return what its clock says."""
        return self._clock()

    def enter(self, *, can_wait: bool) -> bool:
        """Return when a call may be made, and whether it is a trial.

        Args:
            can_wait: Whether the caller waits for an endpoint that may come back.

        Raises:
            ModelUnavailableError: If none may be made; says why the circuit was opened.
        """
        while True:
            self._check()
            with self._lock:
                if not self._why:
                    return False
                wait = self._next_trial - self._clock()
                if wait <= 0:
                    self._rest()
                    return True
                if not (can_wait and self._may_pass and self._trials < _PATIENCE):
                    raise ModelUnavailableError(self._why)
            self._sleep(min(wait, _TICK_S))

    def succeeded(self, *, since: float) -> None:
        """Take note of an answer, good or bad: the endpoint is there.

        Args:
            since: When the call began, by the clock.
        """
        with self._lock:
            self._failed = self._trials = 0
            self._why = ""
            self._answered = max(self._answered, since)

    def failed(
        self,
        error: ModelUnavailableError | TransientModelError,
        *,
        since: float,
        can_wait: bool = False,
        trial: bool = False,
    ) -> bool:
        """Take note of a call that failed for good.

        Args:
            error: What it failed with.
            since: When it began, by the clock.
            can_wait: Whether its caller waits for an endpoint that may come back.
            trial: Whether it was a trial.

        Returns:
            Whether the call may be answered later: the endpoint is down in a way that may pass.
        """
        transient = isinstance(error, TransientModelError)
        may_pass = transient or isinstance(error.__cause__, TransientModelError)
        with self._lock:
            self._failed += 1
            silent = self._answered <= (since + self._clock()) / 2
            if trial:
                self._trials += 1
                self._rest()
            if not may_pass or (not trial and (self._is_down(error) or (can_wait and silent))):
                begins = not self._why
                self._open(error, may_pass=may_pass)
                if begins and may_pass and can_wait:  # a wait that nobody explains is a bug
                    _log.warning("%s; waiting for the endpoint to come back", self._why)
            return may_pass and (silent or trial)

    def _is_down(self, error: ModelError) -> bool:
        return isinstance(error, ModelUnavailableError) or self._failed >= _IN_A_ROW

    def _open(self, error: ModelError, *, may_pass: bool) -> None:
        if not self._why:
            self._rest()
        elif not self._may_pass:
            return  # the first reason that does not pass is the one to mend
        self._may_pass = may_pass
        self._why = str(error)
        if isinstance(error, TransientModelError):
            calls = "1 call" if self._failed == 1 else f"{self._failed} calls in a row"
            self._why = f"{calls} failed, the last with: {error}"

    def _rest(self) -> None:
        self._next_trial = self._clock() + _RESTS_S[min(self._trials, len(_RESTS_S) - 1)]


class Breaker:
    """A chat model that is not asked while its circuit is open.

    Calls without a deadline can wait for an endpoint that comes back, unless somebody reads
    along.
    """

    def __init__(self, model: ChatModel, *, trial: ChatModel, circuit: Circuit) -> None:
        """Wrap a model.

        Args:
            model: What is called.
            trial: The same, but tried once: it finds out whether the endpoint is back.
            circuit: Of the endpoint.
        """
        self._model = model
        self._trial = trial
        self._circuit = circuit

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self._model.name

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; see `ChatModel.complete`.

        Raises:
            ModelUnavailableError: While the circuit is open; at once, or for calls that can wait
                when two trials have failed.
        """
        can_wait = request.deadline is None and on_text is None
        failures: list[ModelError] = []  # of this call, each after all its tries
        while True:
            trial = self._enter(failures, can_wait=can_wait)
            begun = self._circuit.now()
            try:
                completion = (self._trial if trial else self._model).complete(
                    request, on_text=on_text
                )
            except BudgetExceededError:  # says nothing of the endpoint
                raise
            except (ModelUnavailableError, TransientModelError) as exc:
                if self._is_over(request):
                    raise
                later = self._circuit.failed(exc, since=begun, can_wait=can_wait, trial=trial)
                if not trial:
                    failures.append(exc)
                if not (can_wait and later) or len(failures) > _PATIENCE:
                    raise
            except ModelError:
                self._circuit.succeeded(since=begun)
                raise
            else:
                self._circuit.succeeded(since=begun)
                return completion

    def _enter(self, failures: Sequence[ModelError], *, can_wait: bool) -> bool:
        """Return whether the call that may be made is a trial.

        Raises:
            ModelError: What this call failed with first, if none may be made.
        """
        try:
            return self._circuit.enter(can_wait=can_wait)
        except ModelUnavailableError:
            if not failures:
                raise
        raise failures[0]

    def _is_over(self, request: Request) -> bool:
        """Return whether a call was ended by its own deadline, which the endpoint cannot help."""
        return request.deadline is not None and self._circuit.now() >= request.deadline
