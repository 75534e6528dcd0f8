"""Requests and answers in the OpenAI protocol."""

from dataclasses import replace

import pytest

from kgrag.errors import TransientModelError
from kgrag.llm.chat import Message, Request, Usage
from kgrag.llm.protocol import Dialect, Piece, read_answer, read_event, read_usage

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


def whole(message, finish="stop", **others):
    return {"choices": [{"message": message, "finish_reason": finish}], **others}


@pytest.mark.parametrize(
    ("body", "piece"),
    [
        (whole({"content": "是"}), Piece("是", finish="stop")),
        (whole({"content": "是"}, None), Piece("是", finish="stop")),
        (whole({"content": "是"}, "length"), Piece("是", finish="length")),
        (whole({"content": ""}, "sensitive"), Piece("", finish="filter")),
        (whole({"content": "是"}, "tool_calls"), Piece("是", finish="other")),
        (whole({"content": None, "refusal": "不行"}), Piece("不行", finish="filter")),
        (whole({"content": [{"type": "text", "text": "是"}, {}]}), Piece("是", finish="stop")),
        (whole({"content": 5}), Piece("", finish="stop")),
        (whole(None), Piece("", finish="stop")),
        (whole({"content": "是", "reasoning_content": "嗯"}), Piece("是", "嗯", "stop")),
    ],
)
def test_read_answer_gives_words_and_end_of_any_form(body, piece):
    """Providers differ in how they word the end and where they put the text."""
    assert read_answer(body) == piece


@pytest.mark.parametrize(
    "body", [None, "busy", [], {}, {"choices": []}, {"choices": None}, {"error": "busy"}]
)
def test_read_answer_refuses_a_body_without_choices(body):
    """Gateways answer 200 with something else when the model behind them fails."""
    with pytest.raises(TransientModelError, match="no choices"):
        read_answer(body)


@pytest.mark.parametrize("reason", ["network_error", "insufficient_system_resource"])
def test_read_answer_refuses_an_answer_that_the_endpoint_gave_up(reason):
    """Such an answer is a part of one, though its status is 200."""
    with pytest.raises(TransientModelError, match=reason):
        read_answer(whole({"content": "半"}, reason))


def test_read_event_takes_unknown_events_for_nothing():
    """An event of a kind that is not known adds nothing and breaks nothing."""
    assert read_event({"object": "ping"}) == read_event("x") == read_event(None) == Piece()


def test_read_event_takes_usage_from_an_event_without_choices():
    """OpenAI sends the counts after the last words, with an empty list."""
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    assert read_event({"choices": [], "usage": usage}) == Piece(usage=Usage(3, 2))


@pytest.mark.parametrize(
    ("field", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 2}, Usage(9, 2)),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4},
            },
            Usage(9, 2, 4),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 5},
            Usage(9, 2, 5),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 0,
                "prompt_tokens_details": None,
                "cached_tokens": 6,
            },
            Usage(9, 0, 6),
        ),
        ({"prompt_tokens": 0, "completion_tokens": 0}, None),
        ({"prompt_tokens": "9", "completion_tokens": 2}, None),
        ({}, None),
        (None, None),
    ],
)
def test_read_usage_knows_the_ways_of_telling(field, usage):
    """OpenAI's, DeepSeek's and Moonshot's cached tokens; None where counts are missing."""
    assert read_usage(field) == usage
