"""The client, against a server on this machine."""

import logging
import re
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from kgrag.errors import (
    BrokenOffError,
    BudgetExceededError,
    ModelError,
    ModelUnavailableError,
    TransientModelError,
)
from kgrag.llm import openai_chat
from kgrag.llm.chat import Message, Request, Usage
from kgrag.llm.checks import repeats
from kgrag.llm.openai_chat import OpenAIChat
from kgrag.llm.tokens import estimate_request, estimate_tokens
from kgrag.testing.reply import Reply, count_tokens
from kgrag.testing.server import FakeServer

REQUEST = Request((Message("system", "你是"), Message("user", "问")), "answer")
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}
JSON_REQUEST = Request((Message("user", "问"),), "extract", schema=SCHEMA, schema_name="facts")


@pytest.fixture
def chat():
    """Return a maker of clients, which are closed afterwards."""
    made = []

    def make(server, **options):
        made.append(OpenAIChat(base_url=server.base_url, model="m", **{"timeout_s": 60} | options))
        return made[-1]

    yield make
    for client in made:
        client.close()


def refusing(*fields):
    """Return a reply that complains of the first of the fields that a request has."""

    def reply(body):
        found = next((f for f in fields if f in body or f in str(body.get("response_format"))), "")
        return Reply(f"{found} is not known", status=400) if found else Reply("好")

    return reply


def test_complete_gives_text_end_and_usage(chat):
    """What the endpoint says, cached tokens included."""
    reply = Reply("好", finish_reason="length", usage=Usage(9, 2, 4))
    with FakeServer(lambda body: reply) as server:
        completion = chat(server).complete(REQUEST)
    assert (completion.text, completion.model, completion.finish) == ("好", "m", "length")
    assert completion.usage == Usage(9, 2, 4)
    assert not completion.from_cache


def test_complete_sends_settings_and_key(chat):
    """The request on the wire."""
    with FakeServer(lambda body: Reply("好")) as server:
        chat(server, api_key="k-1", max_tokens=7, temperature=0.25).complete(REQUEST)
    sent = server.requests[0]
    assert sent.headers["authorization"] == "Bearer k-1"
    assert (sent.body["max_tokens"], sent.body["temperature"]) == (7, 0.25)
    messages: Any = sent.body["messages"]
    assert messages[1] == {"role": "user", "content": "问"}


def test_complete_sends_nothing_that_is_meant_for_openai(chat, monkeypatch):
    """Its variables in the environment are no business of another endpoint."""
    for name in ("API_KEY", "ORG_ID", "PROJECT_ID"):
        monkeypatch.setenv(f"OPENAI_{name}", "for-openai-only")
    with FakeServer(lambda body: Reply("好")) as server:
        chat(server).complete(REQUEST)
    assert "for-openai-only" not in str(server.requests[0])


def test_complete_goes_around_proxies_for_this_machine(chat, monkeypatch):
    """A proxy for the world does not lead to a server on this machine."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with FakeServer(lambda body: Reply("好")) as server:
        assert chat(server).complete(REQUEST).text == "好"


def test_complete_estimates_usage_when_the_endpoint_does_not_tell(chat):
    """And says that it is an estimate, streamed or not."""
    expected = Usage(estimate_request(REQUEST), estimate_tokens("好的"), estimated=True)
    with FakeServer(lambda body: Reply("好的", usage=None)) as server:
        assert chat(server).complete(REQUEST).usage == expected
        assert chat(server).complete(REQUEST, on_text=str).usage == expected


def test_complete_streams_piece_by_piece(chat):
    """The pieces make up the answer, and the stream ends with its usage."""
    pieces: list[Any] = []
    with FakeServer(lambda body: Reply("一二三四五六七八九")) as server:
        completion = chat(server).complete(REQUEST, on_text=pieces.append)
    assert pieces == ["一二三四", "五六七八", "九"]
    assert completion.text == "一二三四五六七八九"
    assert completion.finish == "stop"
    assert completion.usage == Usage(count_tokens("你是问"), count_tokens("一二三四五六七八九"))


@pytest.mark.parametrize("on_text", [None, str])
def test_complete_leaves_thoughts_out(chat, on_text):
    """What a model thinks aloud is neither answer nor shown."""
    with FakeServer(lambda body: Reply("<think>是吗？</think>\n是。")) as server:
        assert chat(server).complete(REQUEST, on_text=on_text).text == "是。"


def test_complete_takes_a_whole_answer_when_the_endpoint_does_not_stream(chat):
    """It is shown in one piece then."""
    raw = '{"choices": [{"message": {"content": "好"}, "finish_reason": "stop"}]}'
    headers = {"Content-Type": "application/json"}
    pieces: list[str] = []
    with FakeServer(lambda body: Reply(raw=raw, headers=headers)) as server:
        assert chat(server).complete(REQUEST, on_text=pieces.append).text == "好"
    assert pieces == ["好"]


@pytest.mark.parametrize(
    ("refused", "left_out"),
    [
        (["json_schema"], "response_format"),
        (["response_format"], "response_format"),
        (["stream_options"], "stream_options"),
        (["temperature"], "temperature"),
        (["response_format", "stream_options", "temperature"], "temperature"),
    ],
)
def test_complete_goes_on_without_what_the_endpoint_refuses(chat, caplog, refused, left_out):
    """Found out once per client and said once, as a warning; later calls do not try again."""
    with (
        FakeServer(refusing(*refused)) as server,
        caplog.at_level(logging.WARNING, logger="kgrag.llm.openai_chat"),
    ):
        model = chat(server)
        assert model.complete(JSON_REQUEST, on_text=str).text == "好"
        calls, warnings = len(server.requests), len(caplog.records)
        assert model.complete(JSON_REQUEST, on_text=str).text == "好"
    assert len(server.requests) == calls + 1
    assert len(caplog.records) == warnings == calls - 1
    last = server.requests[-1].body
    assert left_out not in last or last[left_out] == {"type": "json_object"}


def test_complete_names_the_limit_as_newer_models_want_it(chat):
    """OpenAI's reasoning models refuse `max_tokens`."""

    def reply(body):
        wrong = "max_tokens" in body
        return Reply(
            "Use 'max_completion_tokens' instead." if wrong else "好", 400 if wrong else 200
        )

    with FakeServer(reply) as server:
        assert chat(server, max_tokens=7).complete(REQUEST).text == "好"
    assert server.requests[-1].body["max_completion_tokens"] == 7


def test_complete_gives_up_when_the_simplest_form_is_refused(chat):
    """The refusal is raised, not tried for ever."""
    with (
        FakeServer(lambda body: Reply("response_format is not known", status=400)) as server,
        pytest.raises(ModelError, match="response_format is not known"),
    ):
        chat(server).complete(JSON_REQUEST)
    assert len(server.requests) == 3


def test_complete_lets_the_readers_own_error_through(chat):
    """A pager that was closed is no fault of the endpoint."""

    def closed(piece):
        raise BrokenPipeError("pager")

    with FakeServer(lambda body: Reply("好")) as server, pytest.raises(BrokenPipeError):
        chat(server).complete(REQUEST, on_text=closed)


def test_no_error_or_log_tells_the_key(chat, caplog):
    """Nor does what an error was raised from: tracebacks show it."""
    key = "k-0123456789abcdef"
    with caplog.at_level(logging.DEBUG), FakeServer(api_key="k-another-one") as server:
        model = chat(server, api_key=key, api_key_env="SOME_KEY")
        with pytest.raises(ModelUnavailableError, match="SOME_KEY") as caught:
            model.complete(REQUEST)
    assert key not in repr(model)
    assert "***" in str(caught.value)
    link: BaseException | None = caught.value
    links = []
    while link is not None:
        links.append(f"{link} {link!r}")
        link = link.__cause__ or link.__context__
    assert key not in "".join(links)
    assert key not in caplog.text


@pytest.mark.parametrize("stream", [False, True])
def test_no_answer_tells_the_key(chat, stream):
    """A model, or a gateway before it, may say what it was asked with."""
    key = "k-0123456789abcdef"
    shown: list[Any] = []
    with FakeServer(lambda body: Reply(f"<think>{key}</think>Use {key}, k-0.")) as server:
        model = chat(server, api_key=key)
        completion = model.complete(REQUEST, on_text=shown.append if stream else None)
    assert completion.text == "Use ***, k-0."
    assert "".join(shown) == (completion.text if stream else "")


def test_a_key_that_is_a_word_spoils_no_answer(chat):
    """Servers on this machine want one and take any."""
    with FakeServer(lambda body: Reply("x = EMPTY")) as server:
        for key in ("x", "EMPTY"):
            assert chat(server, api_key=key).complete(REQUEST).text == "x = EMPTY"


def test_errors_are_raised_from_what_caused_them_when_that_tells_nothing(chat):
    """For whoever reads the traceback."""
    with (
        FakeServer(lambda body: Reply("oops", status=500)) as server,
        pytest.raises(TransientModelError) as caught,
    ):
        chat(server, api_key="k-0123456789abcdef").complete(REQUEST)
    assert type(caught.value.__cause__).__name__ == "InternalServerError"


def test_close_may_be_followed_by_a_call(chat):
    """And may come before the first, or twice."""
    with FakeServer(lambda body: Reply("好")) as server:
        model = chat(server)
        model.close()
        assert model.complete(REQUEST).text == "好"
        model.close()
        model.close()
        assert model.complete(REQUEST).text == "好"


@pytest.mark.parametrize("on_text", [None, str])
def test_complete_ends_an_answer_that_drips(chat, on_text):
    """Blanks now and then keep a connection busy for ever: the time is that of the answer."""
    reply = Reply(raw="{}", endless=True, headers={"Content-Type": "application/json"})
    with FakeServer(lambda body: reply) as server:
        model = chat(server, timeout_s=0.2)
        with pytest.raises(BrokenOffError, match=r"m at http.* no answer in time; llm.timeout_s"):
            model.complete(REQUEST, on_text=on_text)


def test_complete_ends_a_stream_that_runs_in_circles(chat):
    """What has been shown counts as cut; who reads it finds that it repeats."""
    with FakeServer(lambda body: Reply("推进节能降碳。" * 40, endless=True)) as server:
        completion = chat(server).complete(REQUEST, on_text=len)
    assert completion.finish == "length"
    assert repeats(completion.text)
    assert completion.usage.estimated


def test_complete_ends_a_stream_that_does_not_keep_to_its_limit(chat):
    """Eight characters for a token that was allowed, then it is enough."""
    text = "".join(f"第{n}项。" for n in range(100))
    with FakeServer(lambda body: Reply(text, endless=True)) as server:
        completion = chat(server, max_tokens=50).complete(REQUEST, on_text=len)
        assert (completion.finish, len(completion.text)) == ("length", len(text))
        asked = replace(REQUEST, max_tokens=200)
        assert len(chat(server).complete(asked, on_text=len).text) == 4 * len(text)


def test_complete_ends_a_stream_that_takes_too_long(chat):
    """Although pieces go on coming; another try may end well."""
    with FakeServer(lambda body: Reply("", endless=True)) as server:
        model = chat(server, timeout_s=0.2)
        with pytest.raises(BrokenOffError, match=r"llm\.timeout_s"):
            model.complete(REQUEST, on_text=len)


def test_a_long_answer_that_is_streamed_may_take_longer_than_the_limit(chat):
    """What is read in a document is waited for piece by piece: the limit is on silence."""
    text = "绿色工厂" * 12
    slow = Reply(text, pause_s=0.1)
    with FakeServer(lambda body: slow if body.get("stream") else Reply(text, hang_s=1.2)) as server:
        model = chat(server, timeout_s=0.6)
        began = time.monotonic()
        assert model.complete(replace(REQUEST, streamed=True)).text == text
        assert time.monotonic() - began > 0.6
        with pytest.raises(BrokenOffError, match=r"llm\.timeout_s"):
            model.complete(REQUEST)


def test_a_stream_that_falls_silent_is_given_up(chat):
    """Although the whole would have had more time."""
    with FakeServer(lambda body: Reply("绿色工厂" * 9, pause_s=2.0)) as server:
        began = time.monotonic()
        with pytest.raises(BrokenOffError, match=r"llm\.timeout_s"):
            chat(server, timeout_s=0.2).complete(replace(REQUEST, streamed=True))
        assert time.monotonic() - began < 1.5


@pytest.mark.parametrize(
    "complaint",
    [
        "max_tokens is too large: 9000. This model supports at most 4096 completion tokens",
        "Invalid max_tokens value, the valid range of max_tokens is [1, 4096]",
        "Range of max_tokens should be [1, 4096]",
        "max_tokens 参数最大值为4096",
    ],
)
def test_a_limit_that_an_endpoint_tells_is_kept_to(chat, complaint):
    """It is asked for less from then on; nobody needs to know each model's limit."""

    def reply(body):
        return Reply("好") if body["max_tokens"] <= 4096 else Reply(complaint, status=400)

    with FakeServer(reply) as server:
        model = chat(server, max_tokens=9000)
        assert model.complete(REQUEST).text == model.complete(REQUEST).text == "好"
        model.complete(replace(REQUEST, max_tokens=50))
    assert [r.body["max_tokens"] for r in server.requests] == [9000, 4096, 4096, 50]


def test_an_answer_gets_the_room_that_a_prompt_leaves(chat):
    """The context of a small server holds both; a shorter prompt leaves more."""

    def reply(body):
        told = (
            "This model's maximum context length is 8192 tokens. However, you requested 11192"
            " tokens (3000 in the messages, 8192 in the completion)."
        )
        return Reply("好") if body["max_tokens"] <= 5192 else Reply(told, status=400)

    with FakeServer(reply) as server:
        model = chat(server, max_tokens=8192)
        assert model.complete(REQUEST).text == "好"
        assert model.complete(REQUEST).text == "好"
    assert [r.body["max_tokens"] for r in server.requests] == [8192, 5192, 8192, 5192]


@pytest.mark.parametrize(
    ("on_text", "deadline", "expected"),
    [
        (None, None, (70, 1070, "llm.timeout_s")),
        (len, None, (70, 2070, "llm.timeout_s")),  # pieces show that it goes on
        (None, 1060, (70, 1060, "verify.timeout_s")),
        (len, 1060, (70, 1060, "verify.timeout_s")),
        (None, 1080, (70, 1070, "llm.timeout_s")),
        (len, 1080, (70, 1080, "llm.timeout_s")),
    ],
)
def test_complete_waits_as_long_as_settings_and_deadline_allow(
    chat, monkeypatch, on_text, deadline, expected
):
    """For an answer `timeout_s`, for a streamed one as 4 tokens a second take; or a deadline."""
    waits: list[Any] = []

    def in_time(produce, *, wait_s, deadline, late):
        waits.append((wait_s, deadline, *re.findall(r"\w+\.timeout_s", late)))
        return (piece for piece in produce() if piece is not None)

    monkeypatch.setattr(openai_chat, "in_time", in_time)
    monkeypatch.setattr(openai_chat, "time", SimpleNamespace(monotonic=lambda: 1000))
    with FakeServer(lambda body: Reply("好")) as server:
        model = chat(server, timeout_s=70)
        assert model.complete(replace(REQUEST, deadline=deadline), on_text=on_text).text == "好"
    assert waits == [expected]


@pytest.mark.parametrize("on_text", [None, str])
def test_complete_keeps_to_the_deadline(chat, on_text):
    """It goes before the setting; nothing is sent when it is over."""
    with FakeServer(lambda body: Reply("好", hang_s=60)) as server:
        model = chat(server, timeout_s=600)
        began = time.monotonic()
        with pytest.raises(BrokenOffError, match=r"verify\.timeout_s"):
            model.complete(replace(REQUEST, deadline=began + 0.2), on_text=on_text)
        asked = len(server.requests)
        with pytest.raises(BudgetExceededError, match="is not asked"):
            model.complete(replace(REQUEST, deadline=began), on_text=on_text)
        assert len(server.requests) == asked


def test_complete_refuses_a_body_that_is_nested_without_end(chat):
    """Reading it must not bring the program down."""
    with (
        FakeServer(lambda body: Reply(raw="[" * 200_000)) as server,
        pytest.raises(TransientModelError, match=r"nested too deeply|broke off"),
    ):
        chat(server).complete(REQUEST)
