"""Requests to endpoints of chat models, encoders and rerankers: client, errors, retries."""

import logging
import math
import random
import re
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import replace
from email.utils import parsedate_to_datetime
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from kgrag.errors import (
    BrokenOffError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm.address import CHAT, ENCODER, RERANKER, Place, Table, chain, read_key

if TYPE_CHECKING:
    import openai
    import tenacity

_T = TypeVar("_T")
_log = logging.getLogger(__name__)

TOO_LONG = "too long"  # kind of a ModelOutputError: fewer or shorter texts may be accepted
LONGEST_ASKED_S = 120.0  # longest pause that an endpoint may request
_LONGEST_S = 60.0  # longest pause that we choose
_LONGEST_TEXT = 400  # characters of our errors that quote an endpoint
_LOCAL = frozenset(["localhost", "127.0.0.1", "::1"])
_CONNECT_S = 10.0  # maximum time for a connection
_CONNECT_SHARE = 0.8  # its maximum share of the time for an answer


def open_client(place: Place, *, timeout_s: float) -> "openai.OpenAI":
    """Return a client without retries that ignores OpenAI's environment variables.

    `timeout_s` is for an answer, or each piece of a streamed one.
    """
    import openai

    # Shorter for connecting, so that the two errors can be distinguished.
    timeout = openai.Timeout(timeout_s, connect=min(_CONNECT_SHARE * timeout_s, _CONNECT_S))
    client = openai.OpenAI(
        base_url=place.url,
        api_key=place.key or "none",  # empty would take OPENAI_API_KEY
        max_retries=0,
        timeout=timeout,
        http_client=openai.DefaultHttpxClient(
            timeout=timeout,
            trust_env=urlsplit(place.url).hostname not in _LOCAL,  # no proxy to this machine
        ),
    )
    client.organization = client.project = None  # from the environment, for OpenAI's own
    return client


# Faults that endpoints state in words only, with providers' codes (GLM: 1113 arrears, 1211 unknown
# model, 1261 prompt too long, 1301 unsafe).
_NO_MONEY = re.compile(
    r"insufficient[_ ](account[_ ])?(quota|balance)|exceeded_current_quota|account balance|arrear"
    r"|billing_(hard_limit|not_active)|余额不足|欠费|\b1113\b",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"api[_ -]?key", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model[_ ]not[_ ](found|exist)|model\b.{0,80}\b(does not exist|not found)|模型不存在|\b1211\b",
    re.IGNORECASE,
)
_NO_ENCODER = re.compile(
    r"(not|n't) support.{0,20}embedding|not an embedding model|embeddings? (is|are) not supported",
    re.IGNORECASE,
)
# SiliconFlow and TEI "batch size 64 > maximum allowed batch size 32", DashScope "batch size is
# invalid, it should not be larger than 10", Jina "can contain at most 512 items", OpenAI "maximum
# context length is 8192 tokens" and "max 300000 tokens per request", TEI "must have less than 512
# tokens", Ollama "exceeds the context length", llama.cpp "input is too large to process" (with
# 500). "took too long" does not match.
_TOO_MUCH = re.compile(
    r"batch size|at most \d+ items|(?<!took )too long|too large to process|input too large"
    r"|too many (inputs|items|texts|tokens)|context[_ ]length|context window|tokens per request"
    r"|(less|more|fewer) than \d+ tokens"
    r"|max(imum)?\b((?!output|completion).){0,30}\b(context|length|tokens|inputs)"
    r"|largest allowed|input length|超长|长度超过|\b1261\b",
    re.IGNORECASE,
)
_WITHHELD = re.compile(
    r"content[_ ]?filter|data_?inspection_?failed|content_policy|敏感内容|\b1301\b", re.IGNORECASE
)
_TOO_OFTEN = re.compile(r"rate[_ ]?limit|too many requests|\b429\b", re.IGNORECASE)
_BUSY = (408, 409, 425)
_NOT_CONNECTED = frozenset(["ConnectError", "ConnectTimeout", "ProxyError"])
_TRANSPORT = frozenset(["httpx", "httpx2", "httpcore", "httpcore2", "h11", "ssl", "anyio"])

# Class and text of the error for each kind of fault: {told} is the endpoint's message with its
# name, {place} its name, {key} where its key is set, {error} the class of the first error.
_ERRORS: Mapping[str, tuple[Callable[[str], ModelError], str]] = {
    "money": (ModelUnavailableError, "{told}; the account has nothing left: top it up"),
    "key": (ModelUnavailableError, "{told}; check the key in {key}, and that it may use {model}"),
    "often": (RateLimitError, "{told}; asked too often"),
    "busy": (TransientModelError, "{told}"),
    "model": (ModelUnavailableError, "{told}; check {model}"),
    "no encoder": (ModelUnavailableError, "{told}"),
    "path": (ModelUnavailableError, "{told}"),
    "size": (partial(ModelOutputError, kind=TOO_LONG), "{told}"),
    "withheld": (partial(ModelOutputError, kind="filtered"), "{told}; the filter withheld it"),
    "refused": (ModelError, "{told}"),
    "unconnected": (ModelUnreachableError, "{place}: no connection ({told})"),
    "late": (BrokenOffError, "{place}: no answer in time"),
    "given up": (BrokenOffError, "{told}"),  # in the middle of a stream
    "malformed": (
        partial(ModelOutputError, kind="malformed"),
        "{place} gives an answer that is not whole JSON ({told})",
    ),
    "broken": (BrokenOffError, "{place}: the {call} broke off ({error}: {told})"),
}
# Kinds of fault that mean another one: malformed is an interrupted stream of a chat.
_OF_CHATS = {"no encoder": "refused", "malformed": "broken"}
_OF_OTHERS = {"withheld": "refused"}
_NO_VECTORS = (
    "is embedding.base_url that of an OpenAI-compatible server, and embedding.model an encoder?"
)
_REMEDIES: Mapping[str, Mapping[str, str]] = {
    CHAT.name: {
        "path": "; check llm.base_url and llm.model",
        "size": "; the prompt is too long for the model: lower extract.passage_chars or"
        " answer.context_tokens",
        "late": "; llm.timeout_s allows more",
    },
    ENCODER.name: {
        "often": ": lower embedding.concurrency, or try again later; what was answered is kept",
        "busy": "; try again later; what was answered is kept",
        "model": " (GET {url}/models lists what is served)",
        "no encoder": "; embedding.model must be an encoder, not a chat model",
        "path": "; there is no {url}/embeddings: check embedding.base_url (it often ends in /v1);"
        " not every chat endpoint has encoders",
        "size": "; too much at once: lower embedding.batch_texts or embedding.batch_tokens",
        "refused": "; check the settings in [embedding]",
        "unconnected": "; is the server up, and embedding.base_url right?",
        "late": "; raise embedding.timeout_s, or lower embedding.batch_texts or"
        " embedding.concurrency",
        "given up": "; try again",
        "malformed": "; " + _NO_VECTORS,
        "broken": "; try again",
    },
    RERANKER.name: {
        "no encoder": "; rerank.model must be a reranker",
        "path": "; there is no {url}/rerank: check rerank.base_url, and that a reranker is served",
        "size": "; too much at once: lower rerank.candidates",
        "refused": "; check the settings in [rerank] (text-embeddings-inference wants"
        ' provider = "tei")',
        "unconnected": "; is the server up, and rerank.base_url right?",
        "late": "; raise rerank.timeout_s, or lower rerank.candidates",
    },
}


def mapped(exc: Exception, place: Place, table: Table) -> ModelError | None:
    """Return our error for an error of a request to an endpoint; None for other errors.

    `exc` is of openai, the HTTP library below it, or of parsing; `table` selects the remedies:
    `CHAT`, `ENCODER` or `RERANKER`.
    """
    if isinstance(exc, ModelError):
        exc.args = tuple(place.shown(arg, most=_LONGEST_TEXT) for arg in exc.args)
        return exc
    fault = _fault_of(exc, place)
    if fault is None:
        return None
    kind, told, error, wait = fault
    is_chat = table is CHAT
    kind = (_OF_CHATS if is_chat else _OF_OTHERS).get(kind, kind)
    make, text = _ERRORS[kind]
    if not is_chat:  # `Retried` adds this for chat models
        if kind == "often":
            text += "" if wait is None else f" (it asks to wait {wait:.10g} s)"
        elif isinstance(make, type) and issubclass(make, TransientModelError):
            text += f" {in_words(place.attempts)}"
    variable = f"the environment variable {place.key_env}"
    made = make(
        (text + _REMEDIES[table.name].get(kind, "")).format(
            told=told,
            error=error,
            place=place,
            url=place.url,
            model=f"{table.name}.model",
            call="call" if is_chat else "connection",
            key=variable if place.key_env else f"{table.name}.api_key_env",
        )
    )
    if isinstance(made, TransientModelError):
        made.retry_after_s = wait
    return made


def attempt(call: Callable[[], _T], place: Place, table: Table) -> _T:
    """Call a function that sends a request, with errors converted by `mapped`."""
    try:
        return call()
    except Exception as exc:
        error = mapped(exc, place, table)
        if error is None:
            raise
        cause = None if error is exc or place.tells(exc) else exc
    # Outside of the handler, so that the original, which may contain the key, is not its context.
    raise error from cause


def malformed(place: Place, what: str) -> ModelOutputError:
    """Return the error for an encoder's answer without vectors."""
    return ModelOutputError(f"{place} gives {what}; {_NO_VECTORS}", kind="malformed")


def in_words(attempts: int) -> str:
    """Return the number of attempts in words, for errors."""
    return f"(after {attempts} {'attempt' if attempts == 1 else 'attempts'})"


class _Fault(NamedTuple):
    """The fault of a request: its kind, a key of `_ERRORS`, and a message without the key."""

    kind: str
    told: str
    error: str = ""  # name of the class of the first error
    retry_after_s: float | None = None


def _broken_stream(said: str, place: Place) -> _Fault:
    often = "often" if _TOO_OFTEN.search(said) else "given up"
    return _Fault("money" if _NO_MONEY.search(said) else often, f"{place} broke off: {said}")


def _fault_of(exc: Exception, place: Place) -> _Fault | None:
    """Return the fault of an error; None for an error of another origin."""
    import openai

    if isinstance(exc, openai.APIStatusError):
        said = said_by(exc, place)
        wait = _retry_after(exc.response.headers, now=time.time())
        told = f"{place} answers {exc.status_code}: {said}"
        return _Fault(kind_of(exc.status_code, said), told, retry_after_s=wait)
    links = list(chain(exc))

    def fault(kind: str, link: BaseException) -> _Fault:
        return _Fault(kind, place.shown(link), type(link).__name__)

    if any(type(link).__name__ in _NOT_CONNECTED for link in links):
        return fault("unconnected", links[-1])
    if any("Timeout" in type(link).__name__ for link in links):
        return fault("late", links[-1])
    if isinstance(exc, openai.APIError) and exc.body is not None:  # in the middle of a stream
        return _broken_stream(said_by(exc, place), place)
    # openai does not always wrap the errors of the HTTP library.
    modules = {kind.__module__.partition(".")[0] for kind in type(exc).__mro__}
    of_library = isinstance(exc, openai.OpenAIError) or bool(modules & _TRANSPORT)
    for link in links if of_library else [exc]:
        if any(kind.__name__.endswith("DecodeError") for kind in type(link).__mro__):
            return fault("malformed", link)  # its cause is not informative: StopIteration: 0
    return fault("broken", links[-1]) if of_library else None


def kind_of(status: int, said: str) -> str:
    """Classify a status and message as a key of `_ERRORS`.

    >>> kind_of(429, "余额不足 (code 1113)"), kind_of(400, "maximum context length is 8192")
    ('money', 'size')
    """
    is_busy = status in _BUSY
    meanings = (
        ("money", status == 402 or (status in (400, 403, 429) and _NO_MONEY.search(said))),
        ("often", status == 429),
        # 424: TEI, of a model that is no encoder
        ("no encoder", _NO_ENCODER.search(said) or status == 424),
        ("model", status in (400, 404) and _NO_MODEL.search(said)),
        ("key", status in (401, 403) or (status == 400 and _NO_KEY.search(said))),
        ("path", status in (404, 405, 501)),
        ("size", status == 413 or (not is_busy and _TOO_MUCH.search(said))),
        ("busy", status >= 500 or is_busy),
        ("withheld", _WITHHELD.search(said)),
    )
    return next((kind for kind, fits in meanings if fits), "refused")


def said_by(exc: Exception, place: Place) -> str:
    """Return the endpoint's message in an error of openai, on one line, without the key.

    Codes are included: some providers distinguish faults by nothing else.
    """
    match getattr(exc, "body", None):
        case None:
            return place.shown(exc)
        case {"message": str(message), **rest} if message:
            codes = ", ".join(f"{name} {value}" for name, value in rest.items() if value)
            told = place.shown(message)
            return f"{told} ({place.shown(codes)})" if codes else told
        case body:
            return place.shown(body)


def _retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the seconds to wait in response headers, if any; dates are relative to `now`."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            wait = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        if math.isfinite(wait):
            return max(0.0, wait)
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now)
    except (ValueError, OverflowError):
        return None


def retrying(
    *,
    attempts: int,
    deadline: float | None = None,
    unsaid_s: float | None = None,
    is_hopeless: Callable[[TransientModelError], bool] = lambda error: False,
    note: Callable[[TransientModelError, int, float], object] = lambda *_: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> "tenacity.Retrying":
    """Return a caller that repeats calls after TransientModelError, raising the last error.

    Pauses are random below 1, 2, 4, ... 60 s ("full jitter", to spread simultaneous failures), or
    as long as the endpoint requests, or `unsaid_s` after a RateLimitError without a request. It
    gives up after the last attempt, when an endpoint with rate limits requests more than 120 s,
    when `is_hopeless`, or when the pause would end beyond the deadline on the clock. `note` is
    called before each pause with the error, the attempt's number from 1, the seconds.
    """
    import tenacity

    def error_of(state: tenacity.RetryCallState) -> TransientModelError:
        return cast(TransientModelError, cast(Any, state.outcome).exception())

    def pause(state: tenacity.RetryCallState) -> float:
        error = error_of(state)
        asked = error.retry_after_s
        if isinstance(error, RateLimitError):
            asked = unsaid_s if asked is None else asked
        elif asked is not None and asked > LONGEST_ASKED_S:
            asked = None  # try a server that is down for an hour sooner
        longest = min(_LONGEST_S, 2.0 ** (state.attempt_number - 1))
        return random.random() * longest if asked is None else asked

    def is_over(state: tenacity.RetryCallState) -> bool:
        if state.attempt_number >= attempts or asks_too_long(error_of(state)):
            return True
        return deadline is not None and clock() + state.upcoming_sleep >= deadline

    return tenacity.Retrying(
        retry=tenacity.retry_if_exception(
            lambda error: isinstance(error, TransientModelError) and not is_hopeless(error)
        ),
        wait=pause,
        stop=is_over,
        sleep=lambda seconds: cast(None, sleep(seconds)),
        before_sleep=lambda state: cast(
            None, note(error_of(state), state.attempt_number, state.upcoming_sleep)
        ),
        reraise=True,
    )


def asks_too_long(error: TransientModelError) -> bool:
    """Return whether a rate-limited endpoint requests more than the longest pause.

    >>> asks_too_long(RateLimitError("daily quota", retry_after_s=86_400))
    True
    """
    wait = error.retry_after_s
    return isinstance(error, RateLimitError) and wait is not None and wait > LONGEST_ASKED_S


class Posting:
    """Posts JSON to an endpoint, with retries; thread-safe.

    Attributes:
        place: The endpoint; with its key after the first request.
    """

    def __init__(
        self,
        place: Place,
        table: Table,
        *,
        timeout_s: float,
        unsaid_s: float | None = None,
        within_s: float | None = None,
    ) -> None:
        """Store the settings; no client is created, and no key read, before the first request.

        `timeout_s` is for an answer, `within_s` for starting attempts; for `unsaid_s` see
        `retrying`.
        """
        self.place = place
        self._table = table
        self._timeout_s = timeout_s
        self._unsaid_s = unsaid_s
        self._within_s = within_s
        self._lock = threading.Lock()
        self._client: openai.OpenAI | None = None

    def __call__(self, body: Mapping[str, object]) -> object:
        """Return the JSON of the answer.

        Raises:
            ModelUnavailableError: If the endpoint cannot be reached, or refuses the key or model.
            ModelError: As `mapped` returns it.
        """
        client = self._opened()

        def post() -> object:
            return client.post(self._table.path, cast_to=object, body=body)

        tries = retrying(
            attempts=self.place.attempts,
            deadline=None if self._within_s is None else time.monotonic() + self._within_s,
            unsaid_s=self._unsaid_s,
            note=self._note,
        )
        try:
            return tries(attempt, post, self.place, self._table)
        except ModelUnreachableError as exc:
            raise ModelUnavailableError(str(exc)) from exc.__cause__

    def _note(self, error: TransientModelError, _: int, pause_s: float) -> None:
        if isinstance(error, RateLimitError):  # explain the wait
            told = "%s is asked too often (429); pause in seconds: %g"
            _log.warning(told, self.place, pause_s)

    def _opened(self) -> "openai.OpenAI":
        with self._lock:
            if self._client is None:
                self.place = replace(self.place, key=read_key(self.place))
                self._client = open_client(self.place, timeout_s=self._timeout_s)
                # Encoders have no method to close.
                weakref.finalize(self, self._client.close)
            return self._client
