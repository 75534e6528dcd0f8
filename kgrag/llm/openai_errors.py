"""Turn whatever a call of an endpoint raises into an error of ours that tells what to do."""

import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from kgrag.errors import (
    BrokenOffError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)

# What endpoints say in words only; where a provider has a number for it, that too (GLM: 1113
# arrears, 1211 unknown model, 1261 prompt too long, 1301 unsafe).
_NO_MONEY = re.compile(
    r"insufficient[_ ](quota|balance)|exceeded_current_quota|account balance|arrear"
    r"|billing_(hard_limit|not_active)|余额不足|欠费|\b1113\b",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"api[_ -]?key", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model[_ ]not[_ ](found|exist)|model\b.{0,80}\bdoes not exist|模型不存在|\b1211\b",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[_ ]length|context window|too long|max(imum)? (context|length)|input length|超长"
    r"|\b1261\b",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[_ ]?filter|data_?inspection_?failed|content_policy|敏感内容|\b1301\b", re.IGNORECASE
)
_TOO_OFTEN = re.compile(r"rate[_ ]?limit|too many requests|\b429\b", re.IGNORECASE)
_NOT_CONNECTED = frozenset(["ConnectError", "ConnectTimeout", "ProxyError"])
_TRANSPORT = frozenset(["httpx", "httpx2", "httpcore", "httpcore2", "h11", "ssl", "anyio"])
_HIDDEN = "***"
_SHOWN = 200  # characters of what an endpoint said in an error's text
_LONGEST = 400  # characters of a whole text that is ours but ends in what an endpoint said
_SHORTEST_PART = 8  # of a key with dots in it that is hidden by itself


@dataclass(frozen=True, slots=True)
class Place:
    """An endpoint, as errors speak of it.

    Attributes:
        url: Its address.
        model: The model that is asked for.
        key: The key, which no text may show; empty for none.
        key_env: The environment variable that it comes from; empty for none.
    """

    url: str
    model: str
    key: str = ""
    key_env: str = ""

    def hide(self, text: str) -> str:
        """Return text without the key, and without the parts of a key that has dots.

        >>> Place("", "", "k-12345678").hide("bad key k-12345678")
        'bad key ***'
        """
        parts = [part for part in self.key.split(".") if len(part) >= _SHORTEST_PART]
        for secret in filter(None, [self.key, *parts]):
            text = text.replace(secret, _HIDDEN)
        return text

    def shown(self, said: object, *, most: int = _SHOWN) -> str:
        """Return the start of what an endpoint said, on one line and without the key.

        The key is hidden first: cut in the middle, it would not be found.
        """
        return " ".join(self.hide(str(said)).split())[:most]

    def tells(self, exc: BaseException) -> bool:
        """Return whether the key stands in an error, or in one that led to it."""
        return any(self.hide(text) != text for e in _chain(exc) for text in (str(e), repr(e)))


def mapped(exc: Exception, place: Place) -> ModelError | None:
    """Return our error for one raised while calling an endpoint; None for what is none of its.

    Args:
        exc: Of openai, of the HTTP library below it, or of reading the answer.
        place: Whom to name.
    """
    import openai

    if isinstance(exc, ModelError):
        exc.args = tuple(place.shown(arg, most=_LONGEST) for arg in exc.args)
        return exc
    if isinstance(exc, openai.APIStatusError):
        return _of_status(exc.status_code, said_by(exc, place), exc.response.headers, place)
    where = f"{place.model} at {place.url}"
    names = [type(e).__name__ for e in _chain(exc)]
    if not _NOT_CONNECTED.isdisjoint(names):
        reason = place.shown(list(_chain(exc))[-1])
        return ModelUnreachableError(f"{where}: no connection ({reason})")
    if isinstance(exc, openai.APITimeoutError) or any("Timeout" in name for name in names):
        return BrokenOffError(f"{where}: no answer in time; llm.timeout_s allows more")
    if isinstance(exc, openai.APIError) and exc.body is not None:  # told in the midst of a stream
        return _of_event(said_by(exc, place), place)
    if isinstance(exc, openai.OpenAIError | UnicodeDecodeError) or _is_transport(exc):
        reason = place.shown(list(_chain(exc))[-1])
        return BrokenOffError(f"{where}: the call broke off ({names[-1]}: {reason})")
    return None


def _of_status(status: int, said: str, headers: Mapping[str, str], place: Place) -> ModelError:
    told = f"{place.model} at {place.url} answers {status}: {said}"
    key = f"the environment variable {place.key_env}" if place.key_env else "llm.api_key_env"
    if status == 402 or (status in (400, 403, 429) and _NO_MONEY.search(said)):
        return ModelUnavailableError(f"{told}; the account has nothing left: top it up")
    if status == 429:
        wait = retry_after(headers, now=time.time())
        return RateLimitError(f"{told}; asked too often", retry_after_s=wait)
    if status >= 500 or status in (408, 409, 425):
        return TransientModelError(told)
    if status in (400, 404) and _NO_MODEL.search(said):
        return ModelUnavailableError(f"{told}; check llm.model")
    if status in (401, 403) or (status == 400 and _NO_KEY.search(said)):
        return ModelUnavailableError(
            f"{told}; check the key in {key}, and that it may use llm.model"
        )
    if status in (404, 405):
        return ModelUnavailableError(f"{told}; check llm.base_url and llm.model")
    if status == 413 or _TOO_LONG.search(said):
        remedy = "lower extract.passage_chars or answer.context_tokens"
        too_long = f"{told}; the prompt is too long for the model: {remedy}"
        return ModelOutputError(too_long, kind="too long")
    if _FILTERED.search(said):
        return ModelOutputError(f"{told}; the endpoint's filter withheld it", kind="filtered")
    return ModelError(told)


def _of_event(said: str, place: Place) -> ModelError:
    told = f"{place.model} at {place.url} broke off: {said}"
    if _NO_MONEY.search(said):
        return ModelUnavailableError(f"{told}; the account has nothing left: top it up")
    return RateLimitError(told) if _TOO_OFTEN.search(said) else BrokenOffError(told)


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


def _is_transport(exc: BaseException) -> bool:
    """Say whether an error is one of the HTTP library's, which openai does not always wrap."""
    kinds = type(exc).__mro__
    return any(kind.__module__.partition(".")[0] in _TRANSPORT for kind in kinds) or any(
        kind.__name__ == "JSONDecodeError" for kind in kinds
    )


def _chain(exc: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it, latest first."""
    seen: set[int] = set()
    link: BaseException | None = exc
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__
