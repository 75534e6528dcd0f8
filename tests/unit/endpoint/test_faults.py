"""What endpoints say, told apart; requests that really fail are tested with their callers."""

import email.utils
import json

import pytest

from kgrag.endpoint.address import Place
from kgrag.endpoint.faults import (
    fault_of,
    is_late,
    is_too_large,
    is_too_long,
    is_transport,
    is_unconnected,
    kind_of,
    retry_after,
    said_by,
)

KEY = "k-0123456789abcdef"
PLACE = Place("http://x/v1", "m", KEY, "SOME_KEY")


def caused(exc, cause):
    exc.__cause__ = cause
    return exc


def named(name, module):
    """Return an error of another library's class."""
    return type(name, (Exception,), {"__module__": module})("x")


def told(body):
    """Return an error as openai raises it."""
    error = ValueError("Error code: 429")
    error.body = body  # type: ignore[attr-defined]
    return error


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (413, "Request Entity Too Large"),
        (413, "input batch size 473 > maximum allowed batch size 64"),
        (422, "batch size 33 > maximum allowed batch size 32"),
        (400, "Value error, batch size is invalid, it should not be larger than 10.: input"),
        (400, "Each input list can contain at most 512 items."),
        (400, "This model's maximum context length is 8192 tokens, however you requested 9000"),
        (400, "Requested 400000 tokens, max 300000 tokens per request"),
        (400, "Input validation error: `inputs` must have less than 512 tokens. Given: 785"),
        (400, "the input length exceeds the context length"),
        (400, "Range of input length should be [1, 8192]"),
        (500, "input is too large to process. increase the physical batch size"),
    ],
)
def test_is_too_large_knows_what_providers_say(status, said):
    """Of too many texts, and of too long ones."""
    assert is_too_large(status, said)


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (429, "Rate limit reached: max tokens per minute"),
        (401, "token too long"),
        (404, "model not found"),
        (400, "unknown field dimensions"),
        (503, "too many requests"),
        (500, "internal error"),
    ],
)
def test_is_too_large_leaves_other_faults_alone(status, said):
    """To send less would not help."""
    assert not is_too_large(status, said)


@pytest.mark.parametrize("is_size", [is_too_long, is_too_large])
@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (402, "", "money"),
        (403, "AUTHZ_INSUFFICIENT_BALANCE: Insufficient account balance", "money"),
        (403, "Sorry, your account balance is insufficient (code 30001)", "money"),
        (429, "insufficient_quota", "money"),
        (400, "Arrearage: your account is in arrears", "money"),
        (429, "您的账户已用尽 (code 1113)", "money"),
        (429, "slow down", "often"),
        (500, "insufficient_quota", "busy"),
        (425, "too early", "busy"),
        (400, "无此模型 (code 1211)", "model"),
        (404, "model 'm' not found, try pulling it first", "model"),
        (400, "the model does not support embeddings", "no encoder"),
        (501, "not implemented", "path"),
        (400, "输入过多 (code 1261)", "size"),
        (400, "maximum context length is 8192 tokens", "size"),
        (400, "不当内容 (code 1301)", "withheld"),
        (400, "unknown field", "refused"),
    ],
)
def test_kind_of_tells_the_same_of_chat_models_and_encoders(status, said, kind, is_size):
    """Words decide where a status has several meanings; GLM has numbers of its own."""
    assert kind_of(status, said, is_size=is_size) == kind


@pytest.mark.parametrize("status", [408, 409, 425, 500, 504])
def test_a_server_that_took_too_long_has_not_been_sent_too_long_a_prompt(status):
    """It may be faster the next time."""
    assert kind_of(status, "the request took too long", is_size=is_too_long) == "busy"


def test_fault_of_leaves_other_errors_alone():
    """An error in the code is not the endpoint's, whatever led to it."""
    assert fault_of(ZeroDivisionError(), PLACE, is_size=is_too_large) is None
    of_caller = caused(KeyError("facts"), json.JSONDecodeError("x", "", 0))
    assert fault_of(of_caller, PLACE, is_size=is_too_large) is None


def test_fault_of_names_the_damage_and_not_what_led_to_it():
    """Of an answer that is no JSON, the JSON library's own words: not `StopIteration: 0`."""
    try:
        json.loads("<html>")
    except ValueError as exc:
        fault = fault_of(exc, PLACE, is_size=is_too_long)
    assert fault
    assert (fault.kind, fault.error) == ("malformed", "JSONDecodeError")
    assert fault.told.startswith("Expecting value")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"message": "欠费", "code": "1113", "param": None}, "欠费 (code 1113)"),
        ({"message": "欠费"}, "欠费"),
        ({"message": ""}, "{'message': ''}"),
        ("no\n JSON", "no JSON"),
        (None, "Error code: 429"),
        ({"message": f"bad {KEY}", "code": KEY}, "bad *** (code ***)"),
        ("x" * 1000, "x" * 200),
    ],
)
def test_said_by_is_in_words_where_the_endpoint_says_some(body, said):
    """The message, then codes, by which alone some providers tell apart; short, without the key."""
    assert said_by(told(body), PLACE) == said


def test_kinds_of_errors_are_known_by_name():
    """Of whichever HTTP library openai uses, wrapped or not."""
    refused = caused(ValueError("x"), named("ConnectError", "httpx"))
    late = caused(ValueError("x"), named("ReadTimeout", "httpcore"))
    assert [is_unconnected(e) for e in (refused, late)] == [True, False]
    assert [is_late(e) for e in (refused, late)] == [False, True]
    assert is_transport(named("ReadError", "httpx2._exceptions"))
    assert not is_transport(named("ReadError", "builtins"))
    assert not is_transport(refused)


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "2"}, 2.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": email.utils.formatdate(1_000_030, usegmt=True)}, 30.0),
        ({"retry-after": email.utils.formatdate(999_000, usegmt=True)}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_reads_seconds_milliseconds_and_dates(headers, expected):
    """A date is compared with now; what cannot be read is left out."""
    assert retry_after(headers, now=1_000_000) == expected
