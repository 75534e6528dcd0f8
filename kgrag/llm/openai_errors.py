"""Turn whatever a call of an endpoint raises into an error of ours that tells what to do."""

import re
import time
from collections.abc import Mapping

from kgrag.errors import (
    BrokenOffError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.openai_endpoint import (
    Place,
    chain,
    is_late,
    is_transport,
    is_unconnected,
    retry_after,
    said_by,
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
_LONGEST = 400  # characters of a whole text that is ours but ends in what an endpoint said


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
    *_, first = chain(exc)
    if is_unconnected(exc):
        return ModelUnreachableError(f"{place}: no connection ({place.shown(first)})")
    if is_late(exc):
        return BrokenOffError(f"{place}: no answer in time; llm.timeout_s allows more")
    if isinstance(exc, openai.APIError) and exc.body is not None:  # told in the midst of a stream
        return _of_event(said_by(exc, place), place)
    if isinstance(exc, openai.OpenAIError | UnicodeDecodeError) or _is_of_reading(exc):
        reason = f"{type(first).__name__}: {place.shown(first)}"
        return BrokenOffError(f"{place}: the call broke off ({reason})")
    return None


def _of_status(status: int, said: str, headers: Mapping[str, str], place: Place) -> ModelError:
    told = f"{place} answers {status}: {said}"
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
    told = f"{place} broke off: {said}"
    if _NO_MONEY.search(said):
        return ModelUnavailableError(f"{told}; the account has nothing left: top it up")
    return RateLimitError(told) if _TOO_OFTEN.search(said) else BrokenOffError(told)


def _is_of_reading(exc: BaseException) -> bool:
    """Say whether an error is one of the HTTP library's, or of reading JSON."""
    return is_transport(exc) or any(k.__name__ == "JSONDecodeError" for k in type(exc).__mro__)
