import pytest

from kgrag.llm.chat import Message, Request
from kgrag.llm.prompts import fence
from kgrag.llm.tokens import estimate_request, estimate_tokens, material


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("碳达峰碳中和工作" * 100, 0.6, 0.7),
        ("the building of green factories " * 100, 0.2, 0.3),
        ('{"subject": "x", "object": "y"}' * 100, 0.25, 0.5),
    ],
)
def test_tokens_of_a_character_are_in_the_range_that_makers_state(text, least, most):
    """Chinese about 0.65, English about 0.25, JSON between."""
    assert least <= estimate_tokens(text) / len(text) <= most


def test_no_text_has_no_tokens_and_any_text_has_one():
    """Rounded up."""
    assert estimate_tokens("") == 0
    assert estimate_tokens(" ") == 1


def test_a_request_is_its_messages_and_a_few_tokens_each():
    """2 x (4 + 1) + 3; its schema is not counted."""
    messages = (Message("system", "甲"), Message("user", "乙"))
    assert estimate_request(Request(messages, "extract")) == 13
    assert estimate_request(Request(messages, "extract", schema={"type": "object"})) == 13


def test_material_is_what_is_fenced_in_the_users_messages():
    """Not the words around it, not what the system message shows."""
    fences = [fence(text, label="text") for text in ("不算", "甲乙丙", "丁\n戊")]
    messages = (
        Message("system", fences[0]),
        Message("user", f"读：\n{fences[1]}\n{fences[2]}完"),
    )
    assert material(Request(messages, "extract")) == ["甲乙丙", "丁\n戊"]


def test_a_fence_that_a_document_writes_does_not_count_twice():
    """It stands inside the real one."""
    text = fence("甲", label="text") + "乙"
    request = Request((Message("user", fence(text, label="text")),), "extract")
    assert material(request) == [text]


def test_all_is_material_where_nothing_is_fenced():
    """The user's messages as a whole."""
    messages = (Message("system", "读"), Message("user", "甲乙"), Message("user", "丙"))
    assert material(Request(messages, "extract")) == ["甲乙", "丙"]
