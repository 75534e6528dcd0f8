"""What the stand-in server says, in the protocol's form."""

import pytest

from kgrag.llm.chat import Usage
from kgrag.llm.client import read_answer, read_event
from kgrag.testing.reply import Reply, count_tokens, envelope

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
