"""Tell from what a request raises what is wrong with the endpoint, the key or the request."""

import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Literal

from kgrag.endpoint.address import Place, chain

Kind = Literal[
    "money",  # the account is empty: no try will help
    "often",  # asked too often
    "busy",  # the server fails in a way that may pass
    "key",
    "model",  # not known there
    "no encoder",  # a model that gives no vectors
    "path",  # nothing answers at the address
    "size",  # more, or longer texts, than are taken at once
    "withheld",  # by a filter
    "refused",  # for another reason
    "unconnected",
    "late",
    "given up",  # by the endpoint, in the middle of an answer
    "malformed",  # an answer that is no JSON
    "broken",  # a connection that broke off
]
IsSize = Callable[[int, str], bool]

# What endpoints say in words only; where a provider has a number for it, that too (GLM: 1113
# arrears, 1211 unknown model, 1261 prompt too long, 1301 unsafe).
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
_PROMPT_TOO_LONG = re.compile(
    r"context[_ ]length|context window|too long|max(imum)? (context|length)|input length|超长"
    r"|\b1261\b",
    re.IGNORECASE,
)
# Of texts to encode: SiliconFlow and TEI "batch size 64 > maximum allowed batch size 32", DashScope
# "batch size is invalid, it should not be larger than 10", Jina "can contain at most 512 items",
# OpenAI "maximum context length is 8192 tokens" and "max 300000 tokens per request", TEI "must have
# less than 512 tokens", Ollama "exceeds the context length", llama.cpp "input is too large to
# process" (with 500).
_TEXTS_TOO_LARGE = re.compile(
    r"batch size|at most \d+ items|too (large|long)|too many (inputs|items|texts|tokens)"
    r"|context[_ ]length|tokens per request|(less|more|fewer) than \d+ tokens"
    r"|max(imum)?\b.{0,30}\b(length|tokens|inputs)|largest allowed|range of input length"
    r"|超长|长度超过|\b1261\b",
    re.IGNORECASE,
)
_WITHHELD = re.compile(
    r"content[_ ]?filter|data_?inspection_?failed|content_policy|敏感内容|\b1301\b", re.IGNORECASE
)
_TOO_OFTEN = re.compile(r"rate[_ ]?limit|too many requests|\b429\b", re.IGNORECASE)
_BUSY = (408, 409, 425)
_NOT_OF_SIZE = (401, 402, 403, 404, 405, 429)
_NOT_CONNECTED = frozenset(["ConnectError", "ConnectTimeout", "ProxyError"])
_TRANSPORT = frozenset(["httpx", "httpx2", "httpcore", "httpcore2", "h11", "ssl", "anyio"])


@dataclass(frozen=True, slots=True)
class Fault:
    """What went wrong with one request.

    Attributes:
        kind: What it is.
        told: What the endpoint said, with its name and status, or else the error's words; without
            the key.
        error: Name of the class of the error that came first.
        retry_after_s: Seconds that the endpoint asks to wait; None where it does not.
    """

    kind: Kind
    told: str
    error: str = ""
    retry_after_s: float | None = None


def fault_of(exc: Exception, place: Place, *, is_size: IsSize) -> Fault | None:
    """Return what an error says of an endpoint; None for an error that is not an endpoint's.

    Args:
        exc: Of openai, of the HTTP library below it, or of reading the answer.
        place: Who was asked.
        is_size: Tells from status and words whether too much was sent.
    """
    import openai

    if isinstance(exc, openai.APIStatusError):
        said = said_by(exc, place)
        kind = kind_of(exc.status_code, said, is_size=is_size)
        wait = retry_after(exc.response.headers, now=time.time())
        return Fault(kind, f"{place} answers {exc.status_code}: {said}", retry_after_s=wait)
    *_, first = chain(exc)
    if is_unconnected(exc):
        return _told("unconnected", first, place)
    if is_late(exc):
        return _told("late", first, place)
    if isinstance(exc, openai.APIError) and exc.body is not None:  # told in the midst of a stream
        return _of_event(said_by(exc, place), place)
    is_of_library = isinstance(exc, openai.OpenAIError) or is_transport(exc)
    for link in chain(exc) if is_of_library else [exc]:
        if _is_of_decoding(link):  # what led to it says nothing: StopIteration: 0
            return _told("malformed", link, place)
    return _told("broken", first, place) if is_of_library else None


def kind_of(status: int, said: str, *, is_size: IsSize) -> Kind:
    """Return what a status and the words with it mean.

    >>> kind_of(429, "余额不足 (code 1113)", is_size=is_too_long)
    'money'
    """
    if status == 402 or (status in (400, 403, 429) and _NO_MONEY.search(said)):
        return "money"
    if status == 429:
        return "often"
    if _NO_ENCODER.search(said) or status == 424:  # 424: TEI, of a model that is no encoder
        return "no encoder"
    if status in (400, 404) and _NO_MODEL.search(said):
        return "model"
    if status in (401, 403) or (status == 400 and _NO_KEY.search(said)):
        return "key"
    if status in (404, 405, 501):
        return "path"
    return _kind_of_rest(status, said, is_size)


def _kind_of_rest(status: int, said: str, is_size: IsSize) -> Kind:
    if is_size(status, said):
        return "size"
    if status >= 500 or status in _BUSY:
        return "busy"
    return "withheld" if _WITHHELD.search(said) else "refused"


def is_too_long(status: int, said: str) -> bool:
    """Return whether a chat model says that the prompt is too long for it.

    A server that took too long says so with a status of its own.

    >>> is_too_long(400, "maximum context length is 8192"), is_too_long(504, "took too long")
    (True, False)
    """
    is_about_time = status >= 500 or status in _BUSY
    return status == 413 or (not is_about_time and bool(_PROMPT_TOO_LONG.search(said)))


def is_too_large(status: int, said: str) -> bool:
    """Return whether an encoder says that it was sent too many or too long texts.

    >>> is_too_large(400, "batch size is invalid, it should not be larger than 10")
    True
    >>> is_too_large(429, "max tokens per minute")
    False
    """
    return status == 413 or (status not in _NOT_OF_SIZE and bool(_TEXTS_TOO_LARGE.search(said)))


def _of_event(said: str, place: Place) -> Fault:
    told = f"{place} broke off: {said}"
    if _NO_MONEY.search(said):
        return Fault("money", told)
    return Fault("often" if _TOO_OFTEN.search(said) else "given up", told)


def _told(kind: Kind, exc: BaseException, place: Place) -> Fault:
    return Fault(kind, place.shown(exc), error=type(exc).__name__)


def said_by(exc: Exception, place: Place) -> str:
    """Return what the endpoint said with an error of openai's, on one line, without the key.

    Codes are kept: some providers tell apart by nothing else.
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


def is_unconnected(exc: BaseException) -> bool:
    """Return whether an error says that no connection was found."""
    return any(type(link).__name__ in _NOT_CONNECTED for link in chain(exc))


def is_late(exc: BaseException) -> bool:
    """Return whether an error says that time was up."""
    return any("Timeout" in type(link).__name__ for link in chain(exc))


def _is_of_decoding(exc: BaseException) -> bool:
    """Return whether an error says that what came is no JSON, or no UTF-8."""
    return any(kind.__name__.endswith("DecodeError") for kind in type(exc).__mro__)


def is_transport(exc: BaseException) -> bool:
    """Return whether an error is one of the HTTP library's, which openai does not always wrap."""
    return any(kind.__module__.partition(".")[0] in _TRANSPORT for kind in type(exc).__mro__)


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return the seconds to wait that response headers ask for; None where they do not.

    Args:
        headers: With names in lower case, or blind to case.
        now: Unix time, to which a date is compared.

    >>> retry_after({"retry-after": "1.5"}, now=0)
    1.5
    """
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
