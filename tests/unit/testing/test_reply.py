"""What the stand-in server says, in the protocol's form."""

import pytest

from kgrag.llm.chat import Usage
from kgrag.llm.client import read_answer, read_event
from kgrag.testing.reply import Reply, count_tokens, envelope, stand_in, wants_usage

BODY = {"model": "m", "messages": [{"role": "user", "content": "碳达峰 ok"}]}


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("碳", 1), ("碳达峰行动", 3), ("abcdefgh", 2)]
)
def test_count_tokens_rounds_up(text, tokens):
    """0.6 a Chinese character, 0.25 any other."""
    assert count_tokens(text) == tokens


def test_envelope_can_be_read_back():
    """Whole or as an event, with the counts of the stand-in's own rule."""
    reply = Reply("好的", finish_reason="length")
    whole = read_answer(envelope(BODY, reply, "message", {"content": "好的"}))
    assert (whole.text, whole.finish, whole.usage) == ("好的", "length", Usage(3, 2))
    event = read_event(envelope(BODY, reply, "delta", {"content": "好"}))
    assert event.text == "好"


def test_envelope_tells_the_usage_that_it_is_given():
    assert read_answer(envelope(BODY, Reply(usage=Usage(9, 2, 4)), "message", {})).usage == Usage(
        9, 2, 4
    )
    assert "usage" not in envelope(BODY, Reply(usage=None), "message", {})


def test_wants_usage_reads_the_streams_options():
    assert wants_usage({"stream_options": {"include_usage": True}})
    assert not wants_usage({"stream_options": {}})
    assert not wants_usage({})


def test_stand_in_answers_a_text_with_a_text():
    """By rules; see the tests of its answers."""
    assert stand_in(BODY).text == "碳达峰 ok"
