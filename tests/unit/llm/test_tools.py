"""Functions on the wire, in JSON, in the file of paid answers and in recordings."""

import json
from dataclasses import replace
from typing import Any

import pytest

from kgrag.errors import ModelUnavailableError
from kgrag.llm.address import Place
from kgrag.llm.chat import OK, Completion, Message, Request, Usage
from kgrag.llm.client import OpenAIChat
from kgrag.llm.ledger import Calls, request_key
from kgrag.llm.middleware import Cached
from kgrag.llm.replay import Player, Recorder, Recording
from kgrag.llm.structured import ask_text
from kgrag.llm.tools import ToolCall
from kgrag.testing.reply import Reply
from kgrag.testing.scripted import ScriptedChat
from kgrag.testing.server import FakeServer

SEARCH = {
    "type": "function",
    "function": {"name": "search", "description": "查找", "parameters": {"type": "object"}},
}
ASKED = (Message("system", "你回答。"), Message("user", "问"))
REQUEST = Request(ASKED, "answer", tools=(SEARCH,))
CALLS = (("search", '{"question": "绿色工厂"}'), ("read", "{}"))
MADE = tuple(ToolCall(f"call-{n}", *call) for n, call in enumerate(CALLS))
RESULTS = (Message("tool", "[3] 甲", call_id="call-0"), Message("tool", "[4] 乙", call_id="call-1"))
AFTER = replace(REQUEST, messages=(*ASKED, Message("assistant", "", MADE), *RESULTS))


@pytest.fixture
def chat():
    """Return a maker of clients, which are closed afterwards."""
    made = []

    def make(server, **options):
        place = Place(server.base_url, "m", "the-key-0123456789", "SOME_KEY")
        made.append(OpenAIChat(place, **{"timeout_s": 60} | options))
        return made[-1]

    yield make
    for model in made:
        model.close()


@pytest.mark.parametrize("streamed", [False, True])
def test_calls_come_as_a_whole_or_in_parts(chat, streamed):
    """The functions are sent; calls are the answer, and nothing of them is text."""
    shown: list[str] = []
    with FakeServer(lambda body: Reply("", calls=CALLS)) as server:
        found = chat(server).complete(REQUEST, on_text=shown.append if streamed else None)
    assert (found.finish, found.calls, found.text) == ("calls", MADE, "")
    assert server.requests[0].body["tools"] == [SEARCH]
    assert shown == []


def test_calls_and_their_results_are_sent_back(chat):
    """In the protocol's form, also once no function is offered any more."""
    with FakeServer(lambda body: Reply("好")) as server:
        chat(server).complete(replace(AFTER, tools=()))
    body = server.requests[0].body
    messages: Any = body["messages"]
    assert "tools" not in body
    assert [call["function"]["name"] for call in messages[2]["tool_calls"]] == ["search", "read"]
    assert messages[3] == {"role": "tool", "content": "[3] 甲", "tool_call_id": "call-0"}


def test_arguments_that_a_server_has_parsed_are_json_again(chat):
    """And a call without an id gets one."""
    call = {"type": "function", "function": {"name": "search", "arguments": {"question": "甲"}}}
    message = {"role": "assistant", "content": None, "tool_calls": [call, {"function": "?"}, 7]}
    raw = json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]})
    with FakeServer(lambda body: Reply(raw=raw)) as server:
        found = chat(server).complete(REQUEST)
    assert found.calls == (ToolCall("call-0", "search", '{"question": "甲"}'),)


def test_a_key_in_arguments_is_hidden(chat):
    """They are shown among the steps of an answer."""
    calls = (("search", '{"question": "the-key-0123456789"}'),)
    with FakeServer(lambda body: Reply("", calls=calls)) as server:
        (call,) = chat(server).complete(REQUEST).calls
    assert "the-key" not in call.arguments


def without_functions(answer, status=400, says="this model does not support tools"):
    """Return replies of an endpoint that refuses functions, and else answers with a text."""

    def reply(body):
        return Reply(says, status=status) if "tools" in body else Reply(answer(body))

    return reply


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (400, "this model does not support tools"),
        (404, "No endpoints found that support tool use"),
        (422, "extra fields not permitted: tools"),
    ],
)
def test_an_endpoint_that_refuses_functions_answers_without(chat, status, says):
    """Earlier calls are told as text; this is remembered."""
    with FakeServer(without_functions(lambda body: "500家[1]。", status, says)) as server:
        model = chat(server)
        assert model.complete(REQUEST).text == model.complete(AFTER).text == "500家[1]。"
    refused, plain, again = (received.body for received in server.requests)
    assert "tools" in refused
    assert plain["messages"] == [{"role": m.role, "content": m.content} for m in ASKED]
    messages: Any = again["messages"]
    assert messages[2]["content"] == 'search {"question": "绿色工厂"}\nread {}'
    assert messages[3] == {"role": "user", "content": "[3] 甲\n\n[4] 乙"}


def test_an_endpoint_that_wants_functions_beside_calls_is_told_calls_as_text(chat):
    """Some refuse results of calls where no function is offered any more."""

    def reply(body):
        bare = "tools" not in body and any(m["role"] == "tool" for m in body["messages"])
        return Reply("the param `tools` must be passed", status=400) if bare else Reply("好")

    with FakeServer(reply) as server:
        assert chat(server).complete(replace(AFTER, tools=())).text == "好"
    sent: Any = server.requests[1].body["messages"]
    roles = [message["role"] for message in sent]
    assert roles == ["system", "user", "assistant", "user"]


def test_a_model_that_is_not_there_is_no_refusal_of_functions(chat):
    """The error is the same as without them."""
    with (
        FakeServer(lambda body: Reply("The model `m` does not exist", status=404)) as server,
        pytest.raises(ModelUnavailableError, match="does not exist"),
    ):
        chat(server).complete(REQUEST)
    assert len(server.requests) == 1


def test_calls_are_an_answer_only_where_functions_are_offered():
    """Else there is none, and it is asked for once more."""
    assert ask_text(ScriptedChat([[CALLS[0]]]), REQUEST).calls
    again = ask_text(ScriptedChat([[CALLS[0]], "好"]), replace(REQUEST, tools=()))
    assert again.text == "好"


def test_keys_are_of_functions_calls_and_results():
    """A request without them has the key that it always had."""

    def key(request):
        return request_key(request, model="m", parameters={})

    other = replace(AFTER, messages=(*AFTER.messages[:-1], replace(RESULTS[1], call_id="x")))
    plain = replace(REQUEST, tools=())
    keys = [key(one) for one in (REQUEST, AFTER, other, plain, replace(AFTER, tools=()))]
    assert len(set(keys)) == 5
    assert key(plain) == "a0038febeae776e923676eb02189b341"


def test_calls_are_kept_and_survive_the_process(tmp_path):
    """They were paid; another process goes on behind them."""
    calls = Calls.open(tmp_path / "calls.db")
    model = Cached(ScriptedChat([list(CALLS)]), calls=calls, parameters={})
    paid = model.complete(REQUEST)
    paid.report(OK)
    calls.close()
    calls = Calls.open(tmp_path / "calls.db")
    kept = Cached(ScriptedChat([]), calls=calls, parameters={}).complete(REQUEST)
    calls.close()
    assert kept.from_cache
    assert (kept.calls, kept.finish, kept.text) == (paid.calls, "calls", "")


def test_calls_are_recorded_and_played(tmp_path):
    """By what was said, called and offered; a line that was edited is refused."""
    path = tmp_path / "said.jsonl"
    script: list[Any] = [Completion("", "m", "calls", Usage(9, 2), calls=MADE), "好"]
    recorder = Recorder(ScriptedChat(script, name="m"), path)
    recorder.complete(REQUEST)
    recorder.complete(AFTER)
    player = Player.read(path)
    assert player.complete(REQUEST).calls == MADE
    assert player.complete(AFTER).text == "好"
    lines = path.read_text("utf-8").splitlines()
    assert Recording.from_line(lines[1]).messages == AFTER.messages
    with pytest.raises(ValueError, match="was changed"):
        Recording.from_line(lines[0].replace("绿色工厂", "绿色园区"))
