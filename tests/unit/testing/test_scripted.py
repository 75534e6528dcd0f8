from kgrag.llm.chat import Completion, Message, Request
from kgrag.testing.scripted import ScriptedChat

REQUEST = Request((Message("user", "问题"),), "answer")


def test_answers_come_in_order_and_requests_are_kept():
    """What a test scripts is what the code gets."""
    model = ScriptedChat(["甲", Completion("乙", "other", "length")])
    assert model.complete(REQUEST).text == "甲"
    assert model.complete(REQUEST).finish == "length"
    assert model.requests == [REQUEST, REQUEST]


def test_a_function_answers_by_request():
    """For tests that do not care about the order of calls."""
    model = ScriptedChat(lambda request: request.messages[0].content * 2)
    assert model.complete(REQUEST).text == "问题问题"
