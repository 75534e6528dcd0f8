"""Errors of the endpoint as errors of ours."""

import importlib
import json
from types import SimpleNamespace
from typing import Any

import openai
import pytest

from kgrag.endpoint import errors
from kgrag.endpoint.address import CHAT, ENCODER, RERANKER, Place
from kgrag.errors import (
    BrokenOffError,
    KgragError,
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)

KEY = "k-0123456789abcdef"
PLACE = Place("http://x/v1", "some-model", KEY, "SOME_KEY")
NO_REQUEST: Any = None


def mapped(exc, place, table=CHAT):
    return errors.mapped(exc, place, table)


def response(status: int, headers: dict[str, str] | None = None) -> Any:
    """Return what openai's errors read of a response."""
    return SimpleNamespace(status_code=status, headers=headers or {}, request=None)


def status_error(status, message="", headers=None, **fields):
    """Return the error that openai raises for a status."""
    body = {"message": message, **fields}
    return openai.APIStatusError(
        f"Error code: {status} - {body}", response=response(status, headers), body=body
    )


def caused(exc, cause):
    exc.__cause__ = cause
    return exc


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (status_error(429, "slow down"), RateLimitError, "asked too often"),
        (status_error(429, code="insufficient_quota"), ModelUnavailableError, "top it up"),
        (status_error(429, "账户余额不足", code="1113"), ModelUnavailableError, "top it up"),
        (status_error(429, "当前并发过高", code="1302"), RateLimitError, "1302"),
        (status_error(402, "Insufficient Balance"), ModelUnavailableError, "top it up"),
        (status_error(400, "Access denied", code="Arrearage"), ModelUnavailableError, "top it up"),
        (status_error(500, "oops"), TransientModelError, "answers 500"),
        (status_error(503), TransientModelError, "503"),
        (status_error(408), TransientModelError, "408"),
        (status_error(409), TransientModelError, "409"),
        (status_error(401, "bad key"), ModelUnavailableError, "variable SOME_KEY"),
        (status_error(403, "no access"), ModelUnavailableError, "variable SOME_KEY"),
        (status_error(400, "API key not valid"), ModelUnavailableError, "variable SOME_KEY"),
        (status_error(404, "Not Found"), ModelUnavailableError, "llm.base_url and llm.model"),
        (status_error(405), ModelUnavailableError, "llm.base_url"),
        (
            status_error(404, "The model `some-model` does not exist"),
            ModelUnavailableError,
            "check llm.model",
        ),
        (status_error(400, "模型不存在", code="1211"), ModelUnavailableError, "check llm.model"),
        (status_error(400, "Model Not Exist"), ModelUnavailableError, "check llm.model"),
        (
            status_error(400, "maximum context length is 8192"),
            ModelOutputError,
            "extract.passage_chars or answer.context_tokens",
        ),
        (status_error(413), ModelOutputError, "too long for the model"),
        (status_error(422, "messages: field required"), ModelError, "field required"),
        (status_error(400, "系统检测到敏感内容", code="1301"), ModelOutputError, "withheld"),
        (status_error(418, "teapot"), ModelError, "teapot"),
    ],
)
def test_a_status_becomes_the_error_that_tells_what_to_do(error, kind, text):
    """What may pass, what needs the user's hand, and what is wrong with this request alone."""
    found = mapped(error, PLACE)
    assert type(found) is kind
    assert text in str(found)
    assert "some-model at http://x/v1" in str(found)


def test_an_error_without_a_key_variable_names_the_setting():
    """An endpoint of one's own that turns out to want a key."""
    assert "llm.api_key_env" in str(mapped(status_error(401), Place("http://x", "m")))


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (
            status_error(429, "已无余额可用", code="1113"),
            ModelUnavailableError,
            "some-model at http://x/v1 answers 429: 已无余额可用 (code 1113); the account has"
            " nothing left: top it up",
        ),
        (status_error(401, "bad key"), ModelUnavailableError, "it may use embedding.model"),
        (status_error(500, "oops"), TransientModelError, "oops (after 1 attempt); try again later"),
        (
            status_error(429, headers={"retry-after": "3600"}),
            RateLimitError,
            "asked too often (it asks to wait 3600 s): lower embedding.concurrency",
        ),
        (status_error(400, code="1301"), ModelError, "check the settings in [embedding]"),
        (
            caused(openai.APIConnectionError(request=NO_REQUEST), ValueError("refused")),
            TransientModelError,
            "broke off (ValueError: refused) (after 1 attempt)",
        ),
    ],
)
def test_an_error_of_an_encoder_names_its_own_settings(error, kind, text):
    """The same faults, with remedies of their own."""
    found = mapped(error, PLACE, ENCODER)
    assert type(found) is kind
    assert text in str(found)


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (status_error(402), ModelUnavailableError, "top it up"),
        (status_error(401), ModelUnavailableError, "SOME_KEY, and that it may use rerank.model"),
        (status_error(404), ModelUnavailableError, "there is no http://x/v1/rerank: check rerank."),
        (status_error(424), ModelUnavailableError, "rerank.model must be a reranker"),
        (status_error(422, "missing field texts"), ModelError, 'wants provider = "tei"'),
        (status_error(413), ModelOutputError, "lower rerank.candidates"),
        (status_error(429), RateLimitError, "asked too often"),
        (status_error(500, "oops"), TransientModelError, "oops (after 1 attempt)"),
        (openai.APITimeoutError(request=NO_REQUEST), TransientModelError, "rerank.timeout_s"),
        (json.JSONDecodeError("no JSON", "<html>", 0), ModelOutputError, "not whole JSON"),
    ],
)
def test_an_error_of_a_reranker_names_its_own_settings(error, kind, text):
    """The same faults, once more."""
    found = mapped(error, PLACE, RERANKER)
    assert isinstance(found, kind)
    assert text in str(found)


@pytest.mark.parametrize("status", [429, 503])
def test_a_passing_fault_carries_the_pause_that_is_asked_for(status):
    """Of a server that is down for a while, too."""
    error = status_error(status, headers={"retry-after": "3"})
    assert mapped(error, PLACE, ENCODER).retry_after_s == 3.0


def test_a_rate_limit_carries_the_pause_that_is_asked_for():
    """None where the endpoint does not say."""
    assert mapped(status_error(429, headers={"retry-after": "3"}), PLACE).retry_after_s == 3.0
    assert mapped(status_error(429), PLACE).retry_after_s is None


ConnectError = type("ConnectError", (Exception,), {"__module__": "httpx"})
ReadError = type("ReadError", (Exception,), {"__module__": "httpx"})
ReadTimeout = type("ReadTimeout", (Exception,), {"__module__": "httpx2._exceptions"})


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (
            caused(openai.APIConnectionError(request=NO_REQUEST), ConnectError("refused")),
            ModelUnreachableError,
            "no connection (refused)",
        ),
        (
            caused(openai.APIConnectionError(request=NO_REQUEST), ReadError("reset")),
            BrokenOffError,
            "broke off (ReadError: reset)",
        ),
        (openai.APITimeoutError(request=NO_REQUEST), BrokenOffError, "llm.timeout_s"),
        (ReadTimeout("slow"), BrokenOffError, "llm.timeout_s"),
        (ReadError("reset"), BrokenOffError, "broke off"),
        (json.JSONDecodeError("no JSON", "<html>", 0), BrokenOffError, "broke off"),
        (
            openai.APIError("x", NO_REQUEST, body={"message": "overloaded"}),
            BrokenOffError,
            "overloaded",
        ),
        (openai.APIError("x", NO_REQUEST, body={"code": "429"}), RateLimitError, "429"),
        (
            openai.APIError("x", NO_REQUEST, body="insufficient_quota"),
            ModelUnavailableError,
            "top it up",
        ),
    ],
)
def test_an_error_without_a_status_becomes_what_it_means(error, kind, text):
    """Also where the HTTP library's own error comes through, as it does from streams."""
    found = mapped(error, PLACE)
    assert type(found) is kind
    assert text in str(found)


def below(*kinds):
    """Return classes with all their subclasses, at any depth."""
    found = list(kinds)
    for kind in found:
        found += [k for k in kind.__subclasses__() if k not in found]
    return found


def http_errors():
    """Return every exception class of the HTTP library that openai uses."""
    library = openai.DefaultHttpxClient.__mro__[1].__module__.partition(".")[0]
    http = importlib.import_module(library)
    return below(http.HTTPError, http.StreamError, http.InvalidURL)


@pytest.mark.parametrize(
    "kind", [*below(openai.OpenAIError), *http_errors()], ids=lambda kind: kind.__name__
)
def test_no_error_of_openai_or_the_http_library_leaks(kind):
    """Each of their classes, also those that later versions add, becomes one of ours."""
    error = kind.__new__(kind)  # their ways to be made differ too much
    status = getattr(kind, "status_code", 500)
    error.__dict__.update(body=None, response=response(status), status_code=status)
    assert isinstance(mapped(error, PLACE), ModelError)
    assert isinstance(mapped(error, PLACE, ENCODER), ModelError)
    assert isinstance(mapped(error, PLACE, RERANKER), ModelError)


def test_mapped_leaves_alone_what_is_not_the_endpoints():
    """A caller's own error in the midst of a stream is the caller's."""
    assert mapped(BrokenPipeError("pager closed"), PLACE) is None
    assert mapped(KgragError("ours"), PLACE) is None
    assert mapped(KeyError("bug"), PLACE) is None


OPENINGS = sorted({*range(40), *range(140, 210), *range(330, 410)})


@pytest.mark.parametrize(
    "make",
    [
        lambda said: status_error(401, said),
        lambda said: status_error(500, "oops", code=said),
        lambda said: openai.APIStatusError(said, response=response(502), body=said),
        lambda said: openai.APIStatusError(said, response=response(502), body=None),
        lambda said: openai.APIError("x", NO_REQUEST, body={"message": said}),
        lambda said: caused(openai.APIConnectionError(request=NO_REQUEST), ConnectError(said)),
        lambda said: ReadError(said),
        lambda said: TransientModelError(f"the answer has no choices: {said}"),
    ],
)
def test_no_text_holds_a_part_of_the_key(make):
    """Wherever the text is cut: the key is hidden first."""
    for before in OPENINGS:
        for table in (CHAT, ENCODER):
            text = str(mapped(make("x" * before + " " + KEY + " y" * 300), PLACE, table))
            assert KEY[:6] not in text, before
            assert len(text) < 700


@pytest.mark.parametrize(
    "error",
    [
        status_error(401, f"Incorrect key {KEY}"),
        status_error(500, f"trace: {KEY}"),
        status_error(418, KEY),
        openai.APIError("x", NO_REQUEST, body={"message": KEY}),
        caused(openai.APIConnectionError(request=NO_REQUEST), ConnectError(f"bad header {KEY}")),
        caused(openai.APIConnectionError(request=NO_REQUEST), ReadError(f"bad header {KEY}")),
        TransientModelError(f"no choices: {KEY}"),
    ],
)
def test_no_text_holds_the_key(error):
    """Wherever it was echoed."""
    found = mapped(error, PLACE)
    assert KEY not in str(found) + repr(found)
    assert "***" in str(found)
