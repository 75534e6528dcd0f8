"""Reading answers that may be anything."""

import pytest

from kgrag.errors import TransientModelError
from kgrag.llm.chat import Usage
from kgrag.llm.protocol import Piece, read_answer, read_event, read_usage


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
