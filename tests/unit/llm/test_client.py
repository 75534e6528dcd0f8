"""The client against a server on this machine; the form of requests, answers and streams."""

import itertools
import logging
import re
import threading
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
from kgrag.llm import client
from kgrag.llm.address import Place
from kgrag.llm.chat import Completion, Message, Request, Usage
from kgrag.llm.client import (
    Dialect,
    OpenAIChat,
    Piece,
    gather,
    in_time,
    read_answer,
    read_event,
    without_key,
)
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

    def make(server, key="", **options):
        place = Place(server.base_url, "m", key, "SOME_KEY")
        made.append(OpenAIChat(place, **{"timeout_s": 60} | options))
        return made[-1]

    yield make
    for model in made:
        model.close()


def refusing(*fields):
    """Return a reply that complains of the first of the fields that a request has."""

    def reply(body):
        found = next((f for f in fields if f in body or f in str(body.get("response_format"))), "")
        return Reply(f"{found} is not known", status=400) if found else Reply("好")

    return reply


def test_complete_sends_settings_and_key(chat):
    """The request on the wire; the answer comes with its end and its tokens, cached ones too."""
    reply = Reply("好", finish_reason="length", usage=Usage(9, 2, 4))
    with FakeServer(lambda body: reply) as server:
        completion = chat(server, key="k-1", max_tokens=7, temperature=0.25).complete(REQUEST)
    assert completion == Completion("好", "m", "length", Usage(9, 2, 4))
    sent = server.requests[0]
    assert sent.headers["authorization"] == "Bearer k-1"
    assert (sent.body["max_tokens"], sent.body["temperature"]) == (7, 0.25)
    messages: Any = sent.body["messages"]
    assert messages[1] == {"role": "user", "content": "问"}


def test_complete_streams_piece_by_piece(chat):
    """The pieces make up the answer; its usage is estimated where the endpoint gives none."""
    pieces: list[Any] = []
    text = "一二三四五六七八九"
    with FakeServer(lambda body: Reply(text)) as server:
        completion = chat(server).complete(REQUEST, on_text=pieces.append)
    assert pieces == ["一二三四", "五六七八", "九"]
    usage = Usage(count_tokens("你是问"), count_tokens(text))
    assert completion == Completion(text, "m", "stop", usage)
    estimate = Usage(estimate_request(REQUEST), estimate_tokens(text), estimated=True)
    with FakeServer(lambda body: Reply(text, usage=None)) as server:
        assert chat(server).complete(REQUEST, on_text=str).usage == estimate
        assert chat(server).complete(REQUEST).usage == estimate


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
        caplog.at_level(logging.WARNING, logger="kgrag.llm.client"),
    ):
        model = chat(server)
        assert model.complete(JSON_REQUEST, on_text=str).text == "好"
        calls, warnings = len(server.requests), len(caplog.records)
        assert model.complete(JSON_REQUEST, on_text=str).text == "好"
    assert len(server.requests) == calls + 1
    assert len(caplog.records) == warnings == calls - 1
    assert not re.search(r"\w\(\w+=", caplog.text)  # in words, no object of Python
    assert "goes on with " in caplog.text
    last = server.requests[-1].body
    assert left_out not in last or last[left_out] == {"type": "json_object"}


def test_complete_gives_up_when_the_simplest_form_is_refused(chat):
    """The refusal is raised, not tried for ever."""
    with (
        FakeServer(lambda body: Reply("response_format is not known", status=400)) as server,
        pytest.raises(ModelError, match="response_format is not known"),
    ):
        chat(server).complete(JSON_REQUEST)
    assert len(server.requests) == 3


def test_no_error_or_log_tells_the_key(chat, caplog):
    """Nor does what an error was raised from: tracebacks show it."""
    key = "k-0123456789abcdef"
    with caplog.at_level(logging.DEBUG), FakeServer(api_key="k-another-one") as server:
        model = chat(server, key=key)
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
        model = chat(server, key=key)
        completion = model.complete(REQUEST, on_text=shown.append if stream else None)
    assert completion.text == "Use ***, k-0."
    assert "".join(shown) == (completion.text if stream else "")


@pytest.mark.parametrize("on_text", [None, str])
def test_complete_ends_an_answer_that_drips(chat, on_text):
    """Blanks now and then keep a connection busy for ever: the time is that of the answer."""
    reply = Reply(raw="{}", endless=True, headers={"Content-Type": "application/json"})
    with FakeServer(lambda body: reply) as server:
        model = chat(server, timeout_s=0.2)
        with pytest.raises(BrokenOffError, match=r"m at http.* no answer in time; llm.timeout_s"):
            model.complete(REQUEST, on_text=on_text)


def test_complete_ends_a_stream_that_does_not_keep_to_its_limit(chat):
    """Eight characters for a token that was allowed, then it is enough."""
    text = "".join(f"第{n}项。" for n in range(100))
    with FakeServer(lambda body: Reply(text, endless=True)) as server:
        completion = chat(server, max_tokens=50).complete(REQUEST, on_text=len)
        assert (completion.finish, len(completion.text)) == ("length", len(text))
        asked = replace(REQUEST, max_tokens=200)
        assert len(chat(server).complete(asked, on_text=len).text) == 4 * len(text)


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

    monkeypatch.setattr(client, "in_time", in_time)
    monkeypatch.setattr(client, "time", SimpleNamespace(monotonic=lambda: 1000))
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


QUESTION = Request((Message("user", "问"),), "answer")


def body(dialect, request=QUESTION, *, stream=False):
    return dialect.body(request, model="m", max_tokens=9, temperature=0.5, stream=stream)


def test_body_asks_for_json_by_the_dialects_way():
    """The schema in strict form, any object, or nothing; nothing for plain text."""
    named = {"name": "facts", "schema": SCHEMA, "strict": True}
    wanted = {"type": "json_schema", "json_schema": named}
    assert body(Dialect(), JSON_REQUEST)["response_format"] == wanted
    assert body(Dialect(json="object"), JSON_REQUEST)["response_format"] == {"type": "json_object"}
    assert "response_format" not in body(Dialect(json="none"), JSON_REQUEST)
    assert "response_format" not in body(Dialect(json="object"))


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


@pytest.mark.parametrize(
    ("field", "usage"),
    [
        ({}, Usage(9, 2)),
        ({"prompt_tokens_details": {"cached_tokens": 4}}, Usage(9, 2, 4)),
        ({"prompt_cache_hit_tokens": 5}, Usage(9, 2, 5)),
        ({"prompt_tokens_details": None, "cached_tokens": 6}, Usage(9, 2, 6)),
        ({"prompt_tokens": 0}, None),
        ({"prompt_tokens": "9"}, None),
        ({"completion_tokens": None}, None),
    ],
)
def test_read_usage_knows_the_ways_of_telling(field, usage):
    """OpenAI's, DeepSeek's and Moonshot's cached tokens; None where counts are missing."""
    field = {"prompt_tokens": 9, "completion_tokens": 2, **field}
    assert read_event({"choices": [], "usage": field}) == Piece(usage=usage)


KEY = "k-0123456789abcdef"
PLACE = Place("http://x/v1", "m", KEY, "SOME_KEY")
LONG = 20.0  # seconds that no test takes


def gathered(pieces, on_text=len, *, most_chars=10**9):
    return gather(pieces, on_text, most_chars=most_chars)


def test_gather_puts_pieces_together_and_shows_what_is_no_thought():
    """Text as it came, thoughts apart, the last end and count that were told."""
    seen: list[Any] = []
    pieces = [
        Piece(thought="嗯"), Piece("<think>甲"), Piece("</think>是"), Piece("。", finish="stop"),
        Piece(usage=Usage(3, 2)),
    ]  # fmt: skip
    whole = gathered(pieces, seen.append)
    assert whole == Piece("<think>甲</think>是。", "嗯", "stop", Usage(3, 2))
    assert "".join(seen) == "是。"


@pytest.mark.parametrize(
    "piece",
    [Piece("一是推进节能降碳，"), Piece(thought="等等，再想一想。")],
    ids=["text", "thought"],
)
def test_gather_ends_an_answer_that_runs_in_circles(piece):
    """It counts as cut; so does a thought, of which some models never come back."""
    taken = itertools.count()
    assert gathered(piece for _ in taken).finish == "length"
    assert next(taken) * 9 < 10_000


def test_gather_takes_an_answer_whose_line_stays_open():
    """Some endpoints do not hang up after the end; before it, silence is an error."""

    def silent_after(*pieces):
        yield from pieces
        raise BrokenOffError("late")

    assert gathered(silent_after(Piece("好", finish="stop"))).text == "好"
    with pytest.raises(BrokenOffError, match="late"):
        gathered(silent_after(Piece("好")))
    with pytest.raises(BrokenOffError, match="ended before the answer did: 半"):
        gathered([Piece("半")])


def taken(produce, *, wait_s=LONG, left_s=LONG):
    return in_time(produce, wait_s=wait_s, deadline=time.monotonic() + left_s, late="late")


def dripping(item, ended=None):
    """Return what gives an item again and again, and sets an event in the end."""

    def produce():
        try:
            while True:
                yield item
                time.sleep(0.002)
        finally:
            if ended is not None:
                ended.set()

    return produce


def test_in_time_raises_what_the_producer_raises():
    """After what came before."""

    def produce():
        yield from (1, None, 2)
        raise KeyError("x")

    items = taken(produce)
    assert [next(items), next(items)] == [1, 2]
    with pytest.raises(KeyError):
        next(items)


def test_in_time_gives_up_when_nothing_comes():
    """Although the producer is stuck where nothing can interrupt it."""
    stuck = threading.Event()

    def produce():
        stuck.wait(LONG)
        yield 1

    with pytest.raises(BrokenOffError, match="late"):
        list(taken(produce, wait_s=0.05))
    stuck.set()


@pytest.mark.parametrize(("item", "limits"), [(1, {"left_s": 0.05}), (None, {"wait_s": 0.05})])
def test_in_time_gives_up_on_what_drips_for_ever(item, limits):
    """Items go on until the deadline; nothings are no sign of life. The thread ends, too."""
    ended = threading.Event()
    with pytest.raises(BrokenOffError):
        list(taken(dripping(item, ended), **limits))
    assert ended.wait(LONG)


def shown(place, *texts):
    """Return what is shown of an answer's pieces, the last of which ends it."""
    pieces = [Piece(text) for text in texts[:-1]] + [Piece(texts[-1], finish="stop")]
    return [piece.text for piece in without_key(pieces, place)]


@pytest.mark.parametrize("at", range(1, len(KEY)))
def test_a_key_that_comes_in_two_pieces_is_hidden(at):
    """Wherever it is split; what only begins like it comes at once, or at the end."""
    texts = shown(PLACE, "is k", "-0", f", {KEY[:at]}", f"{KEY[at:]}!", "k")
    assert "".join(texts) == "is k-0, ***!k"
    assert texts[0] == "is "


def test_the_parts_of_a_key_that_has_dots_are_hidden():
    """Split within a part, and within the key."""
    place = Place("", "", "0123456789.abcdefghij")
    texts = shown(place, "id 01234", "56789.abc", "defghij secret ", "abcdefg", "hij", "!")
    assert "".join(texts) == "id ***.*** secret ***!"
