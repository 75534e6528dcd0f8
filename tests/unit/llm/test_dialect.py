"""What is posted, and what is left out after a refusal."""

from dataclasses import replace

import pytest

from kgrag.llm.chat import Message, Request
from kgrag.llm.dialect import Dialect

REQUEST = Request((Message("user", "问"),), "answer")
SCHEMA = {"type": "object"}
JSON_REQUEST = replace(REQUEST, schema=SCHEMA, schema_name="facts")


def body(dialect, request=REQUEST, *, stream=False):
    return dialect.body(request, model="m", max_tokens=9, temperature=0.5, stream=stream)


def test_body_has_nothing_that_was_not_asked_for():
    """No field but the four that every endpoint knows."""
    assert body(Dialect()) == {
        "model": "m",
        "messages": [{"role": "user", "content": "问"}],
        "max_tokens": 9,
        "temperature": 0.5,
    }


def test_body_takes_the_requests_own_limit_when_it_has_one():
    """A request may want a shorter answer than its stage."""
    assert body(Dialect(), replace(REQUEST, max_tokens=3))["max_tokens"] == 3


def test_body_asks_for_json_by_the_dialects_way():
    """The schema in strict form, any object, or nothing; nothing for plain text."""
    named = {"name": "facts", "schema": SCHEMA, "strict": True}
    wanted = {"type": "json_schema", "json_schema": named}
    assert body(Dialect(), JSON_REQUEST)["response_format"] == wanted
    assert body(Dialect(json="object"), JSON_REQUEST)["response_format"] == {"type": "json_object"}
    assert "response_format" not in body(Dialect(json="none"), JSON_REQUEST)
    assert "response_format" not in body(Dialect(json="object"))


def test_body_asks_a_stream_for_its_usage():
    """Unless the endpoint does not know the field."""
    assert body(Dialect(), stream=True)["stream_options"] == {"include_usage": True}
    assert "stream_options" not in body(Dialect(stream_usage=False), stream=True)


def test_body_can_be_sent_when_a_document_holds_half_a_character():
    """A lone surrogate has no form in UTF-8; one document must not stop for it."""
    message = body(Dialect(), Request((Message("user", "甲\ud800乙"),), "answer"))["messages"][0]
    assert message["content"] == "甲?乙"


@pytest.mark.parametrize(
    ("complaint", "expected"),
    [
        ("Unrecognized request argument: stream_options", Dialect(stream_usage=False)),
        ("Use 'max_completion_tokens' instead", Dialect(limit="max_completion_tokens")),
        ("'temperature' does not support 0", Dialect(temperature=False)),
        ("response_format.type json_schema is unavailable", Dialect(json="object")),
        ("messages must not be empty", None),
    ],
)
def test_without_leaves_out_what_is_complained_of(complaint, expected):
    """One step at a time; None where the refusal is about something else."""
    assert Dialect().without(complaint) == expected


def test_without_ends_when_nothing_is_left_to_leave_out():
    """Schema, object, none: then the same complaint is an error."""
    dialect, steps = Dialect(), []
    while (simpler := dialect.without("response_format is not known")) is not None:
        dialect = simpler
        steps.append(dialect.json)
    assert steps == ["object", "none"]
