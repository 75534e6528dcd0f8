"""Turn whatever a request for vectors raises into an error of ours that tells what to do."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kgrag.errors import (
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    RateLimitError,
    TransientModelError,
)

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
_NOT_OF_SIZE = (401, 402, 403, 404, 405, 429)
_NOT_CONNECTED = frozenset(["ConnectError", "ConnectTimeout", "ProxyError"])
_TRANSPORT = frozenset(["httpx", "httpx2", "httpcore", "httpcore2", "h11", "ssl", "anyio"])
_HIDDEN = "***"
_SHOWN = 200  # characters of what an endpoint said in an error's text
_SHORTEST_PART = 8  # of a key with dots in it that is hidden by itself


@dataclass(frozen=True, slots=True)
class Place:
    """An endpoint, as errors speak of it.

    Attributes:
        url: Its address.
        model: The model that is asked for.
        attempts: Tries that each request has.
        key_env: The environment variable that the key comes from; empty for none.
        key: The key, which no text may show; empty for none.
    """

    url: str
    model: str
    attempts: int = 1
    key_env: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"Place({self.model!r} at {self.url!r})"

    def __str__(self) -> str:
        return f"{self.model} at {self.url}"

    @property
    def tried(self) -> str:
        """Return how often a request was tried, in words."""
        return f"(after {self.attempts} {'attempt' if self.attempts == 1 else 'attempts'})"

    def shown(self, said: object) -> str:
        """Return the start of what an endpoint said, on one line and without the key.

        The key is hidden first: cut in the middle, it would not be found.
        """
        return " ".join(self._hide(str(said)).split())[:_SHOWN]

    def tells(self, exc: BaseException) -> bool:
        """Return whether the key stands in an error, or in one that led to it."""
        return any(self._hide(text) != text for e in _chain(exc) for text in (str(e), repr(e)))

    def _hide(self, text: str) -> str:
        parts = [part for part in self.key.split(".") if len(part) >= _SHORTEST_PART]
        for secret in filter(None, [self.key, *parts]):
            text = text.replace(secret, _HIDDEN)
        return text


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
    names = [type(e).__name__ for e in _chain(exc)]
    reason = place.shown(list(_chain(exc))[-1])
    if not _NOT_CONNECTED.isdisjoint(names):
        return ModelUnavailableError(
            f"{place}: no connection ({reason}) {place.tried}; is the server up, and"
            " embedding.base_url right?"
        )
    if isinstance(exc, openai.APITimeoutError) or any("Timeout" in name for name in names):
        return TransientModelError(
            f"{place}: no answer in time {place.tried}; raise embedding.timeout_s, or lower"
            " embedding.batch_texts or embedding.concurrency"
        )
    for link, name in zip(_chain(exc), names, strict=True):
        if name.endswith("DecodeError"):  # what led to it says nothing: StopIteration: 0
            return malformed(place, f"an answer that is not whole JSON ({place.shown(link)})")
    if isinstance(exc, openai.OpenAIError) or _is_transport(exc):
        return TransientModelError(
            f"{place}: the connection broke off ({names[-1]}: {reason}) {place.tried}; try again"
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
        asked = f" (it asks to wait {wait} s)" if wait else ""
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


def said_by(exc: Exception, place: Place) -> str:
    """Return what the endpoint said with an error of openai's, on one line, without the key."""
    match getattr(exc, "body", None):
        case None:
            return place.shown(exc)
        case {"message": str(message), **rest} if message:
            codes = ", ".join(f"{name} {value}" for name, value in rest.items() if value)
            told = place.shown(message)
            return f"{told} ({place.shown(codes)})" if codes else told
        case body:
            return place.shown(body)


def _is_transport(exc: BaseException) -> bool:
    """Say whether an error is one of the HTTP library's, which openai does not always wrap."""
    return any(kind.__module__.partition(".")[0] in _TRANSPORT for kind in type(exc).__mro__)


def _chain(exc: BaseException) -> Iterator[BaseException]:
    """Yield an error and what led to it, latest first."""
    seen: set[int] = set()
    link: BaseException | None = exc
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__
