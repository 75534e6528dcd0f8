"""Turn whatever a request for vectors raises into an error of ours that tells what to do."""

import re
from collections.abc import Mapping

from kgrag.errors import (
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.openai_endpoint import Place, chain, is_late, is_transport, is_unconnected, said_by

TOO_LARGE = "too long"  # kind of a ModelOutputError: fewer or shorter texts may do

# What endpoints say in words only. Of sizes: SiliconFlow and TEI "batch size 64 > maximum allowed
# batch size 32", DashScope "batch size is invalid, it should not be larger than 10", Jina "can
# contain at most 512 items", OpenAI "maximum context length is 8192 tokens" and "max 300000 tokens
# per request", TEI "must have less than 512 tokens", Ollama "exceeds the context length",
# llama.cpp "input is too large to process" (with 500).
_SIZE = re.compile(
    r"batch size|at most \d+ items|too (large|long)|too many (inputs|items|texts|tokens)"
    r"|context[_ ]length|tokens per request|(less|more|fewer) than \d+ tokens"
    r"|max(imum)?\b.{0,30}\b(length|tokens|inputs)|largest allowed|range of input length"
    r"|超长|长度超过",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient[_ ](account[_ ])?(quota|balance)|exceeded_current_quota|arrear"
    r"|billing_(hard_limit|not_active)|余额不足|欠费",
    re.IGNORECASE,
)
_NO_KEY = re.compile(r"api[_ -]?key", re.IGNORECASE)
_NO_MODEL = re.compile(
    r"model[_ ]not[_ ](found|exist)|model\b.{0,80}\b(does not exist|not found)|模型不存在",
    re.IGNORECASE,
)
_NO_ENCODER = re.compile(
    r"(not|n't) support.{0,20}embedding|not an embedding model|embeddings? (is|are) not supported",
    re.IGNORECASE,
)
_WAIT = 30  # characters of a time to wait, or a date
_NOT_OF_SIZE = (401, 402, 403, 404, 405, 429)


def mapped(exc: Exception, place: Place) -> ModelError | None:
    """Return our error for one raised while asking an endpoint; None for what is none of its.

    Args:
        exc: Of openai, of the HTTP library below it, or of reading the answer.
        place: Whom to name.
    """
    import openai

    if isinstance(exc, ModelError):
        return exc
    if isinstance(exc, openai.APIStatusError):
        return _of_status(exc.status_code, said_by(exc, place), exc.response.headers, place)
    *_, first = chain(exc)
    reason = place.shown(first)
    if is_unconnected(exc):
        return ModelUnavailableError(
            f"{place}: no connection ({reason}) {place.tried}; is the server up, and"
            " embedding.base_url right?"
        )
    if is_late(exc):
        return TransientModelError(
            f"{place}: no answer in time {place.tried}; raise embedding.timeout_s, or lower"
            " embedding.batch_texts or embedding.concurrency"
        )
    for link in chain(exc):
        # What led to it says nothing: StopIteration: 0.
        if type(link).__name__.endswith("DecodeError"):
            return malformed(place, f"an answer that is not whole JSON ({place.shown(link)})")
    if isinstance(exc, openai.OpenAIError) or is_transport(exc):
        return TransientModelError(
            f"{place}: the connection broke off ({type(first).__name__}: {reason}) {place.tried};"
            " try again"
        )
    return None


def malformed(place: Place, what: str) -> ModelOutputError:
    """Return the error for an answer that is not one of vectors.

    Args:
        place: Whom to name.
        what: What came instead, without the key.
    """
    return ModelOutputError(
        f"{place} gives {what}; is embedding.base_url that of an OpenAI-compatible server, and"
        " embedding.model an encoder?",
        kind="malformed",
    )


def _of_status(status: int, said: str, headers: Mapping[str, str], place: Place) -> ModelError:
    told = f"{place} answers {status}: {said}"
    key = f"the environment variable {place.key_env}" if place.key_env else "embedding.api_key_env"
    if is_money(status, said):
        return ModelUnavailableError(f"{told}; the account has nothing left: top it up")
    if status == 429:
        wait = headers.get("retry-after", "")
        asked = f" (it asks to wait {place.shown(wait, most=_WAIT)} s)" if wait else ""
        return RateLimitError(
            f"{told}; asked too often{asked}: lower embedding.concurrency, or try again later; what"
            " was answered is kept"
        )
    if _NO_ENCODER.search(said) or status == 424:  # 424: TEI, of a model that is no encoder
        return ModelUnavailableError(
            f"{told}; embedding.model must be an encoder, not a chat model"
        )
    if status in (400, 404) and _NO_MODEL.search(said):
        return ModelUnavailableError(
            f"{told}; check embedding.model (GET {place.url}/models lists what is served)"
        )
    if status in (401, 403) or (status == 400 and _NO_KEY.search(said)):
        return ModelUnavailableError(
            f"{told}; check the key in {key}, and that it may use embedding.model"
        )
    if status in (404, 405, 501):
        return ModelUnavailableError(
            f"{told}; there is no {place.url}/embeddings: check embedding.base_url (it often ends"
            " in /v1); not every chat endpoint has encoders"
        )
    if is_size(status, said):
        return ModelOutputError(
            f"{told}; too much at once: lower embedding.batch_texts or embedding.batch_tokens",
            kind=TOO_LARGE,
        )
    if status >= 500 or status in (408, 409):
        return TransientModelError(
            f"{told} {place.tried}; try again later; what was answered is kept"
        )
    return ModelError(f"{told}; check the settings in [embedding]")


def is_money(status: int, said: str) -> bool:
    """Return whether an endpoint says that the account is empty: no try will help."""
    return status == 402 or (status in (400, 403, 429) and bool(_NO_MONEY.search(said)))


def is_size(status: int, said: str) -> bool:
    """Return whether an endpoint says that it was sent too many or too long texts.

    >>> is_size(400, "batch size is invalid, it should not be larger than 10")
    True
    >>> is_size(429, "max tokens per minute")
    False
    """
    return status == 413 or (status not in _NOT_OF_SIZE and bool(_SIZE.search(said)))
