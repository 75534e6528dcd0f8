"""Trying again."""

from dataclasses import replace
from typing import Any

import pytest

from kgrag.errors import (
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    ModelUnreachableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.llm.chat import Message, Request
from kgrag.llm.retried import Retried
from kgrag.testing.scripted import ScriptedChat

REQUEST = Request((Message("user", "问"),), "answer")
BUSY = TransientModelError("busy")


def retried(script, attempts=5, draw=0.5):
    slept: list[Any] = []
    model = ScriptedChat(script)
    wrapped = Retried(model, attempts=attempts, sleep=slept.append, random=lambda: draw)
    return wrapped, model, slept


def test_complete_tries_again_until_an_answer_comes():
    """Pauses are a random share of 1, 2, 4, ... seconds."""
    model, inner, slept = retried([BUSY, BUSY, BUSY, "好"])
    assert model.complete(REQUEST).text == "好"
    assert slept == [0.5, 1.0, 2.0]
    assert len(inner.requests) == 4


def test_complete_pauses_at_most_a_minute_of_its_own():
    """However many attempts are allowed."""
    model, _, slept = retried([*[BUSY] * 9, "好"], attempts=10, draw=1.0)
    model.complete(REQUEST)
    assert slept == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_complete_waits_as_long_as_the_endpoint_says():
    """Retry-After goes before our own pauses, up to two minutes."""
    limits = [RateLimitError("slow", retry_after_s=s) for s in (7.0, 120.0, 0.0)]
    model, _, slept = retried([*limits, "好"])
    model.complete(REQUEST)
    assert slept == [7.0, 120.0, 0.0]


def test_complete_fails_at_once_when_the_endpoint_asks_to_wait_too_long():
    """A quota of a day is no pause; nor is it what passes while somebody waits."""
    model, inner, slept = retried([RateLimitError("daily quota", retry_after_s=86_400), "好"])
    with pytest.raises(ModelUnavailableError, match=r"quota; it asks to wait 86,400 s: try again"):
        model.complete(REQUEST)
    assert (len(inner.requests), slept) == (1, [])


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (BUSY, TransientModelError, r"busy \(after 3 attempts\)"),
        (RateLimitError("slow"), RateLimitError, r"slow \(after 3 attempts\).*concurrency"),
        (ModelUnreachableError("gone"), ModelUnavailableError, r"gone \(after 3.*base_url"),
    ],
)
def test_complete_says_how_often_it_tried_when_it_gives_up(error, kind, text):
    """The kind is kept; an endpoint that nobody could reach is unavailable."""
    model, inner, slept = retried([error] * 3, attempts=3)
    with pytest.raises(kind, match=text) as caught:
        model.complete(REQUEST)
    assert type(caught.value) is kind
    assert caught.value.__cause__ is error
    assert (len(inner.requests), len(slept)) == (3, 2)


@pytest.mark.parametrize(
    "error",
    [ModelError("400"), ModelUnavailableError("401"), ModelOutputError("bad", kind="invalid")],
)
def test_complete_raises_at_once_what_another_try_cannot_mend(error):
    """Only what may pass is tried again."""
    model, inner, _ = retried([error, "好"])
    with pytest.raises(type(error)):
        model.complete(REQUEST)
    assert len(inner.requests) == 1


def test_complete_does_not_start_over_when_the_reader_has_seen_a_part():
    """A second answer after the first half of another would read as one."""

    class HalfAnswer:
        name = "half"
        calls = 0

        def complete(self, request, *, on_text=None):
            self.calls += 1
            on_text("半")
            raise BUSY

    inner = HalfAnswer()
    seen: list[str] = []
    slept: list[float] = []
    with pytest.raises(TransientModelError, match="the answer broke off"):
        Retried(inner, sleep=slept.append).complete(REQUEST, on_text=seen.append)
    assert (inner.calls, seen, slept) == (1, ["半"], [])


def test_complete_tries_a_stream_again_when_nothing_of_it_was_seen():
    """Before the first word a stream is like any other call."""
    model, _, _ = retried([BUSY, "好"])
    seen: list[Any] = []
    assert model.complete(REQUEST, on_text=seen.append).text == "好"
    assert seen == ["好"]


@pytest.mark.parametrize(
    ("deadline", "tries", "slept"), [(101.6, 3, [0.5, 1.0]), (101.4, 2, [0.5])]
)
def test_complete_neither_waits_nor_tries_beyond_the_deadline(deadline, tries, slept):
    """The second pause would end at 101.5; what happened is raised."""
    now = [100.0]

    def sleep(seconds):
        waited.append(seconds)
        now[0] += seconds

    inner = ScriptedChat([BUSY] * 5)
    waited: list[float] = []
    model = Retried(inner, clock=lambda: now[0], sleep=sleep, random=lambda: 0.5)
    with pytest.raises(TransientModelError, match=f"busy .after {tries} attempts"):
        model.complete(replace(REQUEST, deadline=deadline))
    assert (len(inner.requests), waited) == (tries, slept)
