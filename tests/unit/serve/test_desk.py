"""Work at a desk: limits, streams, readers who leave, and a model that writes."""

import json
import threading
import time
from typing import Any

import anyio
import pytest
from lxml import html

from kgrag.api import KnowledgeBase
from kgrag.config import Config, EmbeddingConfig
from kgrag.errors import ModelUnreachableError, NotFoundError
from kgrag.serve.desk import Desk, EventStream
from kgrag.testing.scripted import ScriptedChat
from tests.fixtures.kit import knowledge_base
from tests.fixtures.policies import POLICIES
from tests.fixtures.served import events, served

QUESTION = "到2025年四川省森林覆盖率达到多少？"
DRAFT = "到2025年，全省森林覆盖率达到41%[1]。"


def streamed(desk, work, *, leaves_after=None):
    """Return the events that a reader sees, who may leave after so many."""
    seen: list[bytes] = []
    left = threading.Event()

    async def receive():
        while not left.is_set():
            await anyio.sleep(0.005)
        return {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.body" and message["body"]:
            seen.append(message["body"])
        if leaves_after is not None and len(seen) >= leaves_after:
            left.set()

    async def answer():
        await EventStream(desk, work, "en")({"type": "http"}, receive, send)

    anyio.run(answer)
    return events(b"".join(seen).decode())


def test_events_come_in_order_and_an_error_is_the_last():
    def work(emit):
        for n in range(3):
            emit("text", {"n": n})
        raise NotFoundError("甲\x1b[2J")

    seen = streamed(Desk(ANY), work)
    assert [name for name, _ in seen] == ["text", "text", "text", "error"]
    assert json.loads(seen[-1][1]) == {"type": "NotFoundError", "message": "甲\x1b[2J"}
    assert "\x1b" not in seen[-1][1]


def test_work_ends_when_the_reader_leaves():
    """At the next text; nothing is kept waiting behind it."""
    sent = []

    def work(emit):
        for n in range(10_000):
            emit("text", {"n": n})
            sent.append(n)
            time.sleep(0.005)

    desk = Desk(ANY, at_once=1)
    begun = time.monotonic()
    streamed(desk, work, leaves_after=3)
    assert 3 <= len(sent) < 1000
    assert time.monotonic() - begun < 10
    assert desk._limiter.statistics().tasks_waiting == 0


ANY: Any = None


class Writing(ScriptedChat):
    """A model that writes its answer in pieces."""

    def complete(self, request, *, on_text=None):
        """Write it."""
        done = super().complete(request)
        for piece in (done.text[:-1], done.text[-1:]):  # shown from its first [n] on
            if on_text:
                on_text(piece)
        return done


@pytest.fixture
def written(tmp_path):
    """Return a function that serves a knowledge base with a model of such answers."""

    def make(script):
        config = Config(embedding=EmbeddingConfig(model="hash-32"))
        with knowledge_base(tmp_path, POLICIES, config=config):
            pass
        model = Writing(script)
        return KnowledgeBase.open(tmp_path / "kb", config=config, model=model)

    return make


def test_a_models_draft_is_streamed_and_then_its_checked_answer(written):
    """In page and API; an address that asks lets the script ask, or answers without one."""
    with written(lambda request: DRAFT) as base, served(base) as site:
        asked = {"question": QUESTION, "verify": "none"}
        told = events(site.post("/ask", data=asked).text)
        assert [name for name, _ in told] == ["text", "text", "answer"]
        assert "".join(json.loads(data)["text"] for _, data in told[:2]) == DRAFT
        shown = html.fromstring(json.loads(told[-1][1])["html"])
        assert "41%" in shown.text_content()
        assert "scripted" in shown.text_content()
        stream = {"accept": "text/event-stream"}
        spoken = events(site.post("/api/ask", json=asked, headers=stream).text)
        assert [name for name, _ in spoken][-1] == "answer"
        page = html.fromstring(site.get("/", params=asked).text)
        assert page.xpath("//div[@id='answer']/@data-asking") == ["now"]
        whole = page.xpath("//noscript//a/@href")[0]
        assert "41%" in html.fromstring(site.get("/" + whole).text).text_content()


def test_a_model_that_fails_is_told_and_quotes_answer(written):
    error = ModelUnreachableError("no connection")
    with written(lambda request: error) as base, served(base) as site:
        told = site.post("/api/ask", json={"question": QUESTION, "verify": "none"}).json()
    assert "41%" in told["text"]
    assert any("模型" in note or "no connection" in note for note in told["notes"])
