"""Middleware for chat models: ledger, limits, retries, circuit breaker, cache, counters.

Each is a chat model around another one; `kgrag.llm.models` combines them.
"""

import logging
import math
import threading
import time
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kgrag.errors import (
    BrokenOffError,
    BudgetExceededError,
    ModelError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm.chat import (
    OK,
    ChatModel,
    Completion,
    OnText,
    Request,
    StageUsage,
    Usage,
    outcome_of,
)
from kgrag.llm.endpoint import LONGEST_ASKED_S, asks_too_long, in_words, retrying
from kgrag.llm.ledger import CACHED, Calls, cut_key, request_key
from kgrag.llm.structured import Reader
from kgrag.llm.tokens import estimate_request, estimate_tokens

_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class Wrapper:
    """A chat model around another one."""

    model: ChatModel

    @property
    def name(self) -> str:
        """Return the model's name."""
        return self.model.name


class Clock:
    """The clock of waiting calls; once stopped, nothing waits and no call starts."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def now(self) -> float:
        """Return seconds, on the clock of requests' deadlines."""
        return time.monotonic()

    def stop(self) -> None:
        """End all waiting, now and later; may be repeated."""
        self._stopped.set()

    def check(self) -> None:
        """Raise ModelUnavailableError if it is stopped."""
        if self._stopped.is_set():
            raise ModelUnavailableError("stopped: no further call is made")

    def sleep(self, seconds: float) -> None:
        """Wait; raise ModelUnavailableError as soon as it is stopped."""
        self._stopped.wait(seconds)
        self.check()


@dataclass(eq=False, repr=False)
class Recorded(Wrapper):
    """Records every call in the ledger, successful or not.

    Where a call timed out, broke off or was interrupted, the tokens sent and streamed are
    estimated.
    """

    calls: Calls

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; StoreError if the ledger cannot be written."""
        begun, reader = time.monotonic(), Reader(on_text)

        def record(usage: Usage, outcome: str) -> int:
            seconds = time.monotonic() - begun
            return self.calls.record(
                request, self.name, usage=usage, seconds=seconds, outcome=outcome
            )

        try:
            reads_along = on_text is not None or request.streamed
            completion = self.model.complete(request, on_text=reader if reads_along else None)
        except BudgetExceededError:  # nothing was sent
            raise
        except BaseException as exc:
            charged = Usage()
            if isinstance(exc, BrokenOffError) or not isinstance(exc, ModelError):
                answered = estimate_tokens(reader.shown)
                charged = Usage(estimate_request(request), answered, estimated=True)
            record(charged, outcome_of(exc))
            raise
        number = record(completion.usage, OK)

        def amend(outcome: str) -> None:
            if outcome != OK:
                self.calls.amend(number, outcome)

        return completion.reporting_to(amend)


_MINUTE_S = 60.0
_TINY_S = 1e-6  # rounding tolerance of waits
_LONGEST_PAUSE_S = 60.0  # without Retry-After
_WEIGHT = 0.1  # of the newest answer in the mean length of answers


@dataclass(slots=True)
class _Use:
    at: float
    amount: float  # an estimate until the actual one is known


class Window:
    """A sliding limit for any 60 seconds, however the provider counts its minutes.

    A limit of 0 is none. Not thread-safe: `Limits` locks it.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._uses: deque[_Use] = deque()

    def wait(self, now: float, amount: float) -> float:
        """Return the seconds until so much may be used; 0 for at once.

        More than the limit is allowed if nothing else is in use: otherwise it would never be.
        """
        while self._uses and now - self._uses[0].at >= _MINUTE_S - _TINY_S:
            self._uses.popleft()
        if not self._limit:
            return 0.0
        over = sum(use.amount for use in self._uses) + amount - self._limit
        wait = 0.0
        for use in self._uses:
            if over <= 0:
                break
            over -= use.amount
            wait = use.at + _MINUTE_S - now
        return wait

    def use(self, now: float, amount: float) -> _Use:
        """Add a use and return it, for correction."""
        self._uses.append(_Use(now, amount))
        return self._uses[-1]


class _Permit(NamedTuple):
    epoch: int  # refusals of the endpoint when the call started
    tokens: _Use


class Limits:
    """Shared limits of calls to an endpoint; thread-safe.

    Concurrency adapts as TCP's window does: a refusal (429) halves it and makes all callers pause,
    a window full of successes adds one, up to the configured value. Refusals of calls that started
    before the last halving are not counted again.
    """

    def __init__(
        self,
        clock: Clock,
        concurrency: int,
        requests_per_minute: int = 0,
        tokens_per_minute: int = 0,
    ) -> None:
        """Start with the maximum of concurrent calls, and of calls and tokens in any 60 s.

        0 means no limit, except for concurrency.
        """
        self._clock = clock
        self._most = self.allowed = concurrency
        self._requests = Window(requests_per_minute)
        self._tokens = Window(tokens_per_minute)
        self._door = threading.Lock()  # of the next caller to enter
        self._changed = threading.Condition()
        self._under_way = 0
        self._epoch = 0
        self._refused = 0  # times in a row
        self._successes = 0  # since `allowed` changed
        self._paused_until = -math.inf
        self._mean_answer = 0.0  # tokens

    def enter(self, prompt: int, *, deadline: float | None = None) -> _Permit:
        """Wait until a call that sends `prompt` tokens may start, and start it.

        Raises:
            BudgetExceededError: If it may not start before the deadline.
            ModelUnavailableError: If the clock was stopped.
        """
        if not self._door.acquire(timeout=self._left(deadline)):
            raise _no_place()
        try:
            while True:
                self._clock.check()
                with self._changed:
                    while self._under_way >= self.allowed:
                        if not self._changed.wait(self._left(deadline)):
                            raise _no_place()
                    now, tokens = self._clock.now(), prompt + self._mean_answer
                    wait = max(
                        self._paused_until - now,
                        self._requests.wait(now, 1),
                        self._tokens.wait(now, tokens),
                    )
                    if wait <= 0:
                        self._under_way += 1
                        self._requests.use(now, 1)
                        return _Permit(self._epoch, self._tokens.use(now, tokens))
                    if deadline is not None and now + wait >= deadline:
                        raise _no_place()
                self._clock.sleep(wait)
        finally:
            self._door.release()

    def _left(self, deadline: float | None) -> float:
        left = math.inf if deadline is None else max(0.0, deadline - self._clock.now())
        return min(left, threading.TIMEOUT_MAX)

    def leave(self) -> None:
        """End a call, successful or not."""
        with self._changed:
            self._under_way -= 1
            self._changed.notify()

    def answered(self, permit: _Permit, usage: Usage) -> None:
        """Record an answer and its actual tokens."""
        with self._changed:
            permit.tokens.amount = usage.prompt + usage.completion
            self._mean_answer += _WEIGHT * (usage.completion - self._mean_answer)
            if permit.epoch == self._epoch:
                self._refused = 0
            self._successes += 1
            if self.allowed < self._most and self._successes >= self.allowed:
                self.allowed += 1
                self._successes = 0
                self._changed.notify()

    def refused(self, permit: _Permit, retry_after_s: float | None) -> None:
        """Record a rate-limit refusal, and the requested pause, if any."""
        with self._changed:
            permit.tokens.amount = 0
            if permit.epoch == self._epoch:
                self._epoch += 1
                self._refused += 1
                self.allowed = max(1, self.allowed // 2)
                self._successes = 0
            elif retry_after_s is None:
                return
            if retry_after_s is None:
                pause = min(_LONGEST_PAUSE_S, 2.0 ** min(self._refused - 1, 6))
            else:  # after a request for a longer pause calls fail instead
                pause = retry_after_s if retry_after_s <= LONGEST_ASKED_S else 0.0
            self._paused_until = max(self._paused_until, self._clock.now() + pause)
            _log.info("asked too often: %d at a time, after %.1f s", self.allowed, pause)


def _no_place() -> BudgetExceededError:
    return BudgetExceededError(
        "no further call was sent: its turn did not come in the time for this question"
        " (verify.timeout_s; llm.concurrency and llm.requests_per_minute make it wait)"
    )


@dataclass(eq=False, repr=False)
class Limited(Wrapper):
    """Calls the model within its limits."""

    limits: Limits

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; BudgetExceededError if it cannot start before the deadline."""
        permit = self.limits.enter(estimate_request(request), deadline=request.deadline)
        try:
            completion = self.model.complete(request, on_text=on_text)
        except RateLimitError as exc:
            self.limits.refused(permit, exc.retry_after_s)
            raise
        else:
            self.limits.answered(permit, completion.usage)
            return completion
        finally:
            self.limits.leave()


@dataclass(eq=False, repr=False)
class Retried(Wrapper):
    """Repeats a call after TransientModelError, up to `attempts` times; see `retrying`."""

    clock: Clock
    attempts: int = 5

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; see `ChatModel.complete`.

        Raises:
            ModelUnavailableError: If no attempt connected, or the endpoint requests a pause of more
                than 120 s.
            TransientModelError: If the last attempt failed, or an answer broke off after its reader
                got a part.
        """
        reader = Reader(on_text)
        tries = retrying(
            attempts=self.attempts,
            deadline=request.deadline,
            is_hopeless=lambda error: bool(reader.shown),
            note=lambda error, attempt, pause_s: _log.info(
                "attempt %d failed, next in %.1f s: %s", attempt, pause_s, error
            ),
            clock=self.clock.now,
            sleep=self.clock.sleep,
        )
        try:
            return tries(self.model.complete, request, on_text=on_text and reader)
        except TransientModelError as exc:
            if reader.shown:
                raise TransientModelError(f"the answer broke off; ask again. {exc}") from exc
            if asks_too_long(exc):
                told = (
                    f"{exc}; it asks to wait {exc.retry_after_s:,.0f} s: try again then, or name"
                    " another model or endpoint in [llm]; what was answered is kept"
                )
                # not from exc, which would count as temporary
                raise ModelUnavailableError(told) from exc.__cause__
            told = f"{exc} {in_words(tries.statistics['attempt_number'])}"
            if isinstance(exc, ModelUnreachableError):
                told += "; is the server up, and llm.base_url right?"
                raise ModelUnavailableError(told) from exc
            if isinstance(exc, RateLimitError):
                told += "; lower llm.concurrency or set llm.requests_per_minute"
                raise RateLimitError(told, retry_after_s=exc.retry_after_s) from exc
            raise TransientModelError(told) from exc


_IN_A_ROW = 3  # calls that fail after all attempts, before the endpoint counts as down
_RESTS_S = (10.0, 30.0, 60.0)  # before the first trial, the second, and each further one
_PATIENCE = 2  # failed trials before callers stop waiting
_TICK_S = 0.5  # between checks of waiting callers


class Circuit:
    """A circuit breaker for an endpoint, shared by all callers; thread-safe.

    It opens on a ModelUnavailableError; when three calls in a row failed with TransientModelError;
    and when one that can wait did, and no answered call started in the second half of its duration.
    While it is open, only trials are made, after 10 s, 30 s, and then every 60 s. If the cause is
    temporary, callers that can wait continue when a trial was answered, and fail when the second
    was not; all others fail at once.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._lock = threading.Lock()
        self._failed = 0  # in a row
        self._why = ""  # not empty while it is open
        self._may_pass = False
        self._trials = 0  # that failed
        self._next_trial = 0.0
        self._answered = -math.inf  # start of the latest answered call

    def enter(self, *, can_wait: bool) -> bool:
        """Wait until a call may be made; return whether it is a trial.

        Raises:
            ModelUnavailableError: If none may be made, with the reason for opening.
        """
        while True:
            self.clock.check()
            with self._lock:
                if not self._why:
                    return False
                wait = self._next_trial - self.clock.now()
                if wait <= 0:
                    self._rest()
                    return True
                if not (can_wait and self._may_pass and self._trials < _PATIENCE):
                    raise ModelUnavailableError(self._why)
            self.clock.sleep(min(wait, _TICK_S))

    def succeeded(self, *, since: float) -> None:
        """Record an answer, good or bad, to a call that started at `since`."""
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
        """Record a call that started at `since` and failed after all attempts.

        Returns:
            Whether the call may be answered later: the endpoint is down temporarily.
        """
        unavailable = isinstance(error, ModelUnavailableError)
        may_pass = isinstance(error.__cause__ if unavailable else error, TransientModelError)
        with self._lock:
            self._failed += 1
            silent = self._answered <= (since + self.clock.now()) / 2
            is_down = unavailable or self._failed >= _IN_A_ROW
            if trial:
                self._trials += 1
                self._rest()
            if not may_pass or (not trial and (is_down or (can_wait and silent))):
                self._open(error, may_pass=may_pass, waits=can_wait)
            return may_pass and (silent or trial)

    def _open(self, error: ModelError, *, may_pass: bool, waits: bool) -> None:
        if self._why and not self._may_pass:
            return  # keep the first permanent reason
        is_new = not self._why
        self._may_pass = may_pass
        self._why = str(error)
        if isinstance(error, TransientModelError):
            calls = "1 call" if self._failed == 1 else f"{self._failed} calls in a row"
            self._why = f"{calls} failed, the last with: {error}"
        if is_new:
            self._rest()
            if may_pass and waits:  # explain the wait
                _log.warning("%s; waiting for the endpoint to come back", self._why)

    def _rest(self) -> None:
        self._next_trial = self.clock.now() + _RESTS_S[min(self._trials, len(_RESTS_S) - 1)]


@dataclass(eq=False, repr=False)
class Breaker(Wrapper):
    """Does not call the model while its circuit is open.

    Calls without deadline and reader wait for an endpoint to recover. The model of trials is the
    same, without retries.
    """

    trial: ChatModel
    circuit: Circuit

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; see `ChatModel.complete`.

        Raises:
            ModelUnavailableError: While the circuit is open; for calls that can wait after two
                failed trials.
        """
        circuit, can_wait = self.circuit, request.deadline is None and on_text is None
        failures: list[ModelError] = []  # of this call, each after all attempts
        while True:
            try:
                trial = circuit.enter(can_wait=can_wait)
            except ModelUnavailableError as exc:
                first = (*failures, exc)[0]
                raise first from first.__cause__
            begun = circuit.clock.now()
            try:
                model = self.trial if trial else self.model
                completion = model.complete(request, on_text=on_text)
            except BudgetExceededError:  # not the endpoint's fault
                raise
            except (ModelUnavailableError, TransientModelError) as exc:
                if request.deadline is not None and circuit.clock.now() >= request.deadline:
                    raise  # ended by the call's deadline
                later = circuit.failed(exc, since=begun, can_wait=can_wait, trial=trial)
                if not trial:
                    failures.append(exc)
                if not (can_wait and later) or len(failures) > _PATIENCE:
                    raise
            except ModelError:
                circuit.succeeded(since=begun)
                raise
            else:
                circuit.succeeded(since=begun)
                return completion


_JUDGED_S = 5.0  # maximum wait for a report; parsing an answer takes far less
_CUT = ("truncated", "repeating")  # kinds of failure that the same request would repeat


class _Lead:
    """The call in progress that equal requests wait for."""

    def __init__(self) -> None:
        self.answered = threading.Event()
        self.judged = threading.Event()  # its outcome was reported

    def wait(self, left_s: float) -> bool:
        """Wait for the outcome, and return whether it was in time."""
        if self.answered.wait(left_s):
            self.judged.wait(min(left_s, _JUDGED_S))
        return self.answered.is_set()


@dataclass(eq=False, repr=False)
class Cached(Wrapper):
    """Pays for each answer once, over all runs that share the file.

    Answers reported as `OK` are cached, and for requests about a document those that were truncated
    or repeat themselves: the next reader of the document learns this at once, and asks for less. (A
    question is tried again, and so is a request `anew`.) Equal concurrent requests are sent once:
    the others wait until the answer is cached.
    """

    calls: Calls
    parameters: Mapping[str, str]  # further inputs of an answer
    # Longest answer, where it is not a parameter: a truncated one is asked for again with another.
    limit: str = ""
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _leads: dict[str, _Lead] = field(init=False, default_factory=dict)

    def key(self, request: Request) -> str:
        """Return the cache key of a request."""
        return request_key(request, model=self.name, parameters=self.parameters)

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the cached answer, or the model's; StoreError if the file cannot be used."""
        key = self.key(request)
        lead, waited = self._lead(key, request.deadline)
        try:
            kept = self._kept(key, request, waited=waited)
            if kept is not None:
                self._end(key, lead)
                return kept
            answer = self.model.complete(request, on_text=on_text)
        except BaseException:
            self._end(key, lead)
            raise
        lead.answered.set()

        def keep(outcome: str) -> None:
            try:
                if outcome == OK:
                    self.calls.keep(key, answer)
                elif request.doc_id and outcome in _CUT:
                    self.calls.keep(cut_key(key, request, self.limit), answer)
            finally:
                self._end(key, lead)

        return answer.reporting_to(keep)

    def _lead(self, key: str, deadline: float | None) -> tuple[_Lead, bool]:
        """Wait until no equal call is in progress; return the lead, and whether there was one.

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
            left = math.inf if deadline is None else max(0.0, deadline - time.monotonic())
            if not other.wait(min(left, threading.TIMEOUT_MAX)):
                told = "the same call is under way, and not done in the time for this question"
                raise BudgetExceededError(f"{told} (verify.timeout_s)")
            waited_for = other

    def _end(self, key: str, lead: _Lead) -> None:
        with self._lock:
            if self._leads.get(key) is lead:
                del self._leads[key]
        lead.answered.set()
        lead.judged.set()

    def _kept(self, key: str, request: Request, *, waited: bool) -> Completion | None:
        """Return the cached answer, good or truncated; None to ask the model.

        After waiting for another caller its answer counts as fresh.
        """
        kept = None if request.fresh and not waited else self.calls.answer(key)
        if kept is not None:
            usage = kept.usage

            def hit(outcome: str) -> None:
                if outcome == OK:
                    self.calls.record(request, self.name, usage=usage, seconds=0.0, outcome=CACHED)

            return kept.reporting_to(hit)
        if request.anew or not request.doc_id:
            return None
        return self.calls.answer(cut_key(key, request, self.limit))


@dataclass(eq=False, repr=False)
class Counted(Wrapper):
    """Collects the model's completions, oldest first, and counts calls.

    Failed calls and unusable answers count, since they took time and may have been paid; calls that
    were not sent for lack of budget do not. Answers from the cache count, too.
    """

    calls: int = field(init=False, default=0)
    failed: list[ModelError] = field(init=False, default_factory=list)
    completions: list[tuple[Request, Completion]] = field(init=False, default_factory=list)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; see `ChatModel.complete`."""
        with self._lock:
            self.calls += 1
        try:
            completion = self.model.complete(request, on_text=on_text)
        except BudgetExceededError:
            with self._lock:
                self.calls -= 1
            raise
        except ModelError as exc:
            with self._lock:
                self.failed.append(exc)
            raise
        with self._lock:
            self.completions.append((request, completion))
        return completion

    def reset(self) -> None:
        """Count from 0 again."""
        with self._lock:
            self.calls, self.failed, self.completions = 0, [], []


class Meter:
    """Sums the usage of several models; unlike `Counted` without answers."""

    def __init__(self) -> None:
        self._spent: defaultdict[str, StageUsage] = defaultdict(StageUsage)
        self._lock = threading.Lock()

    @property
    def spent(self) -> Mapping[str, StageUsage]:
        """Return the usage so far, by stage."""
        with self._lock:
            return dict(self._spent)

    def add(self, stage: str, completion: Completion) -> None:
        """Add one answer."""
        usage, one = completion.usage, StageUsage(kept=1)
        if not completion.from_cache:
            one = StageUsage(1, 0, usage.prompt, usage.completion, usage.cached)
        with self._lock:
            self._spent[stage] += one


@dataclass(eq=False, repr=False)
class Metered(Wrapper):
    """Counts the model's answers for a stage."""

    meter: Meter
    stage: str

    def complete(self, request: Request, *, on_text: OnText | None = None) -> Completion:
        """Return the model's answer; see `ChatModel.complete`."""
        completion = self.model.complete(request, on_text=on_text)
        if not completion.from_cache:  # paid, usable or not
            self.meter.add(self.stage, completion)
            return completion

        def used(outcome: str) -> None:
            if outcome == OK:
                self.meter.add(self.stage, completion)

        return completion.reporting_to(used)
