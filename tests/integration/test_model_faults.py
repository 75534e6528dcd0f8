"""What a user sees of an endpoint that misbehaves: the whole chain of wrappers, and a server."""

import logging
import socket
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from kgrag.api import KnowledgeBase
from kgrag.config import Config, ModelConfig, VerifyConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import (
    ModelUnavailableError,
    TransientModelError,
)
from kgrag.llm.chat import Message, Request
from kgrag.llm.ledger import Calls
from kgrag.llm.middleware import Clock
from kgrag.llm.models import Models
from kgrag.llm.structured import ask_text
from kgrag.testing.server import FakeServer, Reply

KEY = "k-0123456789abcdef"
REQUEST = Request((Message("user", "问"),), "answer", doc_id="d")
QUESTION = replace(REQUEST, deadline=1e9)  # which is not waited with
GOOD = Reply("好。")


def scripted(*replies):
    """Return a function that gives replies in order, the last one for ever."""
    left = list(replies)
    return lambda body: left.pop(0) if len(left) > 1 else left[0]


class Time(Clock):
    """A clock that goes on when somebody sleeps, and at once."""

    def __init__(self):
        super().__init__()
        self.seconds, self.slept = 0.0, []

    def now(self):
        """Return seconds."""
        return self.seconds

    def sleep(self, seconds):
        """Let seconds pass."""
        self.slept.append(seconds)
        self.seconds += seconds


def nowhere():
    """Return an address of this machine where nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def calls(tmp_path):
    opened = Calls.open(tmp_path / "calls.db")
    yield opened
    opened.close()


@pytest.fixture
def model_at(calls, time, monkeypatch):
    """Return a maker of models as users have them: three attempts, no real pauses."""
    monkeypatch.setenv("SOME_KEY", KEY)
    made = []
    plain = ModelConfig(model="some-model", api_key_env="SOME_KEY", attempts=3)

    def make(base_url, **options):
        config = replace(plain, base_url=base_url, **options)
        models = Models(lambda stage: config, calls=calls, clock=time)
        made.append(models)
        return models.of("answer")

    yield make
    for models in made:
        models.close()


@pytest.mark.parametrize(
    "fault",
    [
        Reply("slow down", status=429, headers={"Retry-After": "7"}),
        Reply("slow down", status=429),
        Reply("oops", status=500),
        Reply(raw="<html>502 Bad Gateway</html>", status=502),
        Reply(raw="<html>we will be back</html>", headers={"Content-Type": "text/html"}),
        Reply(raw='{"choices": [{"message"'),
        Reply(raw='{"error": {"message": "busy"}}'),
        Reply(raw="null"),
        Reply("好。", finish_reason="network_error"),
        Reply("好。" * 50, drop="before"),
        Reply("好。" * 50, drop="inside"),
    ],
)
@pytest.mark.parametrize("on_text", [None, len], ids=["whole", "streamed"])
def test_a_fault_that_passes_is_never_seen(model_at, fault, on_text, calls):
    """It is tried again; the answer comes, and only that one is kept."""
    if on_text and not fault.raw and fault.status == 200:
        fault = replace(fault, drop="before", finish_reason="stop")  # nothing was shown yet
    with FakeServer(scripted(fault, GOOD)) as server:
        model = model_at(server.base_url)
        assert ask_text(model, REQUEST, on_text=on_text).text == "好。"
        assert ask_text(model, REQUEST).from_cache
        assert (len(server.requests), server.paid) == (2, 1 + (fault.finish_reason != "stop"))
    (total,) = calls.totals()
    assert (total.sent, total.failed, total.from_cache) == (2, 1, 1)


def test_a_wrong_key_stops_a_long_run_at_once_and_is_never_shown(model_at, caplog):
    """One call finds out; a thousand others do not wait, and no text or log tells the key."""
    told = []
    with caplog.at_level(logging.DEBUG), FakeServer(api_key="k-right") as server:
        model = model_at(server.base_url)
        for number in range(1000):
            question = Request((Message("user", str(number)),), "answer")
            with pytest.raises(ModelUnavailableError, match="variable SOME_KEY") as caught:
                model.complete(question)
            told += traceback.format_exception(caught.value)
        assert len(server.requests) == 1
    assert "Incorrect API key provided: Bearer ***" in told[-1]
    assert KEY not in "".join(told)
    assert KEY not in caplog.text


def test_a_server_that_is_not_there_is_unavailable(model_at, time):
    """It may be starting, so it is tried again; then the address is what to look at."""
    model = model_at(f"{nowhere()}/v1")
    with pytest.raises(ModelUnavailableError, match=r"no connection.*after 3.*llm.base_url right"):
        model.complete(QUESTION)
    assert len(time.slept) == 2
    with pytest.raises(ModelUnavailableError, match="no connection"):
        model.complete(QUESTION)
    assert len(time.slept) == 2  # the second call did not try


@pytest.mark.parametrize("on_text", [None, len], ids=["whole", "streamed"])
def test_an_answer_that_takes_too_long_is_tried_again(model_at, on_text):
    """And in the end the setting is named that allows more."""
    with FakeServer(scripted(Reply("好", hang_s=5), GOOD)) as server:
        model = model_at(server.base_url, timeout_s=0.2)
        assert model.complete(QUESTION, on_text=on_text).text == "好。"
    with FakeServer(lambda body: Reply("好", hang_s=5)) as server:
        model = model_at(server.base_url, timeout_s=0.05)
        with pytest.raises(TransientModelError, match=r"llm.timeout_s.*after 3 attempts"):
            model.complete(QUESTION, on_text=on_text)


def test_retry_after_holds_all_callers_back(model_at, time):
    """Nothing is sent before the time that the endpoint asked for is over."""
    begun = []
    answers = scripted(Reply("slow", 429, {"Retry-After": "30"}), GOOD)

    def reply(body):
        begun.append(time.seconds)
        return answers(body)

    with FakeServer(reply) as server:
        model = model_at(server.base_url)
        model.complete(REQUEST)
        model.complete(Request((Message("user", "另一个"),), "answer"))
    assert begun[0] == 0.0
    assert min(begun[1:]) >= 30.0


def test_an_endpoint_that_asks_to_wait_for_a_day_is_told_at_once(model_at, time):
    """One request, no pause, and those who come after hear why."""
    quota = Reply("daily quota", 429, {"Retry-After": "86400"})
    with FakeServer(lambda body: quota) as server:
        model = model_at(server.base_url)
        for _ in range(2):
            with pytest.raises(ModelUnavailableError, match=r"daily quota.*to wait 86,400 s: try"):
                model.complete(REQUEST)
        assert len(server.requests) == 1
    assert time.seconds == 0.0


def test_an_endpoint_that_allows_few_calls_at_a_time_loses_none(model_at):
    """32 callers at an endpoint that refuses the fifth: all are answered in the end."""
    slots = []

    def reply(body):
        slots.append(1)
        try:
            return GOOD if len(slots) <= 4 else Reply("too many at a time", 429)
        finally:
            slots.pop()

    with FakeServer(reply, latency_s=0.002) as server:
        model = model_at(server.base_url, concurrency=32, attempts=8)
        requests = [Request((Message("user", str(i)),), "answer") for i in range(64)]
        with ThreadPoolExecutor(32) as pool:
            texts = [c.text for c in pool.map(model.complete, requests)]
        assert texts == ["好。"] * 64
        assert server.paid == 64


def test_a_question_ends_in_its_time(tmp_path):
    """However long calls may take by the settings, and however often they are tried."""
    config = Config(
        llm=ModelConfig(model="m", timeout_s=1, attempts=5), verify=VerifyConfig(timeout_s=2)
    )
    (tmp_path / "a.txt").write_text("A省方案\n到2025年，A省创建绿色工厂500家。\n", "utf-8")
    with FakeServer(lambda body: Reply("好", hang_s=600)) as server:
        config = replace(config, llm=replace(config.llm, base_url=server.base_url))
        with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(), config=config) as kb:
            kb.ingest([tmp_path / "a.txt"], model="none")
            answer = kb.ask("A省创建绿色工厂多少家？")
            assert "500家" in answer.text
            (total,) = kb.calls.totals()
    assert total.failed == total.sent == len(server.requests)
    assert total.usage.prompt > 0
    assert total.usage.estimated
