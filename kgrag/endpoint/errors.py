"""Turn whatever a request to an endpoint raises into an error of ours that tells what to do."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from kgrag.endpoint.address import CHAT, ENCODER, RERANKER, Place, Table
from kgrag.endpoint.faults import Fault, IsSize, Kind, fault_of, is_too_large, is_too_long
from kgrag.errors import (
    BrokenOffError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)

TOO_LONG = "too long"  # kind of a ModelOutputError: fewer or shorter texts may do
_LONGEST = 400  # characters of a whole text that is ours but ends in what an endpoint said

# The class of an error, and its text: {told} is what the endpoint said, {place} its name, {key}
# where its key stands, {tried} how often it was asked, {asked} the wait that it wants.
_Error = tuple[Callable[[str], ModelError], str]
_too_long = partial(ModelOutputError, kind=TOO_LONG)
_malformed = partial(ModelOutputError, kind="malformed")

_NO_VECTORS = (
    "is embedding.base_url that of an OpenAI-compatible server, and embedding.model an encoder?"
)
_SAME: Mapping[Kind, _Error] = {
    "money": (ModelUnavailableError, "{told}; the account has nothing left: top it up"),
    "key": (
        ModelUnavailableError,
        "{told}; check the key in {key}, and that it may use {table}.model",
    ),
}
_OF_CHAT: Mapping[Kind, _Error] = {
    **_SAME,
    "often": (RateLimitError, "{told}; asked too often"),
    "busy": (TransientModelError, "{told}"),
    "model": (ModelUnavailableError, "{told}; check llm.model"),
    "path": (ModelUnavailableError, "{told}; check llm.base_url and llm.model"),
    "size": (
        _too_long,
        "{told}; the prompt is too long for the model: lower extract.passage_chars or"
        " answer.context_tokens",
    ),
    "withheld": (
        partial(ModelOutputError, kind="filtered"),
        "{told}; the endpoint's filter withheld it",
    ),
    "refused": (ModelError, "{told}"),
    "unconnected": (ModelUnreachableError, "{place}: no connection ({told})"),
    "late": (BrokenOffError, "{place}: no answer in time; llm.timeout_s allows more"),
    "given up": (BrokenOffError, "{told}"),
    "malformed": (BrokenOffError, "{place}: the call broke off ({error}: {told})"),
    "broken": (BrokenOffError, "{place}: the call broke off ({error}: {told})"),
}
_OF_ENCODER: Mapping[Kind, _Error] = {
    **_SAME,
    "often": (
        RateLimitError,
        "{told}; asked too often{asked}: lower embedding.concurrency, or try again later; what was"
        " answered is kept",
    ),
    "busy": (TransientModelError, "{told} {tried}; try again later; what was answered is kept"),
    "model": (
        ModelUnavailableError,
        "{told}; check embedding.model (GET {url}/models lists what is served)",
    ),
    "no encoder": (
        ModelUnavailableError,
        "{told}; embedding.model must be an encoder, not a chat model",
    ),
    "path": (
        ModelUnavailableError,
        "{told}; there is no {url}/embeddings: check embedding.base_url (it often ends in /v1);"
        " not every chat endpoint has encoders",
    ),
    "size": (
        _too_long,
        "{told}; too much at once: lower embedding.batch_texts or embedding.batch_tokens",
    ),
    "refused": (ModelError, "{told}; check the settings in [embedding]"),
    "unconnected": (
        ModelUnreachableError,
        "{place}: no connection ({told}) {tried}; is the server up, and embedding.base_url right?",
    ),
    "late": (
        TransientModelError,
        "{place}: no answer in time {tried}; raise embedding.timeout_s, or lower"
        " embedding.batch_texts or embedding.concurrency",
    ),
    "given up": (TransientModelError, "{told} {tried}; try again"),
    "malformed": (
        _malformed,
        "{place} gives an answer that is not whole JSON ({told}); " + _NO_VECTORS,
    ),
    "broken": (
        TransientModelError,
        "{place}: the connection broke off ({error}: {told}) {tried}; try again",
    ),
}
_OF_RERANKER: Mapping[Kind, _Error] = {
    **_SAME,
    "often": (RateLimitError, "{told}; asked too often{asked}"),
    "busy": (TransientModelError, "{told} {tried}"),
    "model": (ModelUnavailableError, "{told}; check rerank.model"),
    "no encoder": (ModelUnavailableError, "{told}; rerank.model must be a reranker"),
    "path": (
        ModelUnavailableError,
        "{told}; there is no {url}/rerank: check rerank.base_url, and that a reranker is served",
    ),
    "size": (_too_long, "{told}; too much at once: lower rerank.candidates"),
    "refused": (
        ModelError,
        '{told}; check the settings in [rerank] (text-embeddings-inference wants provider = "tei")',
    ),
    "unconnected": (
        ModelUnreachableError,
        "{place}: no connection ({told}) {tried}; is the server up, and rerank.base_url right?",
    ),
    "late": (
        TransientModelError,
        "{place}: no answer in time {tried}; raise rerank.timeout_s, or lower rerank.candidates",
    ),
    "malformed": (_malformed, "{place} gives an answer that is not whole JSON ({told})"),
    "broken": (
        TransientModelError,
        "{place}: the connection broke off ({error}: {told}) {tried}",
    ),
}


@dataclass(frozen=True, slots=True)
class _Use:
    """What is told apart, and said, of one use of endpoints."""

    is_size: IsSize
    errors: Mapping[Kind, _Error]


_USES: Mapping[str, _Use] = MappingProxyType(
    {
        CHAT.name: _Use(is_too_long, _OF_CHAT),
        ENCODER.name: _Use(is_too_large, _OF_ENCODER),
        RERANKER.name: _Use(is_too_large, _OF_RERANKER),
    }
)


def mapped(exc: Exception, place: Place, table: Table) -> ModelError | None:
    """Return our error for one raised while asking an endpoint; None for any other error.

    Args:
        exc: Of openai, of the HTTP library below it, or of reading the answer.
        place: Whom to name.
        table: The settings to name: `CHAT`, `ENCODER` or `RERANKER`.
    """
    if isinstance(exc, ModelError):
        exc.args = tuple(place.shown(arg, most=_LONGEST) for arg in exc.args)
        return exc
    use = _USES[table.name]
    fault = fault_of(exc, place, is_size=use.is_size)
    return None if fault is None else _error(fault, place, table, use.errors)


def malformed(place: Place, what: str) -> ModelOutputError:
    """Return the error for an answer that is not one of vectors.

    Args:
        place: Whom to name.
        what: What came instead, without the key.
    """
    return _malformed(f"{place} gives {what}; {_NO_VECTORS}")


def _error(fault: Fault, place: Place, table: Table, errors: Mapping[Kind, _Error]) -> ModelError:
    make, text = errors.get(fault.kind, errors["refused"])
    wait = fault.retry_after_s
    error = make(
        text.format(
            told=fault.told,
            error=fault.error,
            place=place,
            url=place.url,
            table=table.name,
            tried=place.tried,
            key=f"the environment variable {place.key_env}"
            if place.key_env
            else f"{table.name}.api_key_env",
            asked="" if wait is None else f" (it asks to wait {wait:.10g} s)",
        )
    )
    if isinstance(error, TransientModelError):
        error.retry_after_s = wait
    return error
