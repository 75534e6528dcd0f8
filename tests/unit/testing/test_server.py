"""The stand-in server itself: what it counts, and how it fails."""

import http.client
import json
import subprocess
import sys
import threading
import urllib.request
from typing import Any

import pytest

from kgrag.testing.server import FakeServer, Reply

BODY = {"model": "m", "messages": [{"role": "user", "content": "问"}]}


def post(server, body=BODY):
    """Return status, headers and body of the answer."""
    connection = http.client.HTTPConnection(server.base_url.split("/")[2], timeout=60)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        response = connection.getresponse()
        return response.status, response.headers, response.read().decode()
    finally:
        connection.close()


def test_it_answers_and_remembers():
    """What came, and how many whole answers went out."""
    with FakeServer(lambda body: Reply("好", headers={"X-Test": "1"})) as server:
        status, headers, text = post(server)
        post(server)
    assert (status, headers["X-Test"]) == (200, "1")
    assert json.loads(text)["choices"][0]["message"]["content"] == "好"
    assert [r.body for r in server.requests] == [BODY, BODY]
    assert server.requests[0].at <= server.requests[1].at
    assert server.paid == 2


def test_it_streams_events_that_end_with_usage():
    """Words in pieces, then the reason of the end, then the counts, then [DONE]."""
    body = {**BODY, "stream": True, "stream_options": {"include_usage": True}}
    with FakeServer(lambda body: Reply("一二三四五")) as server:
        _, headers, text = post(server, body)
    events = [line.removeprefix("data: ") for line in text.split("\n\n") if line]
    assert headers["Content-Type"] == "text/event-stream"
    assert events[-1] == "[DONE]"
    choices = [json.loads(e)["choices"] for e in events[:-1]]
    assert [c[0]["delta"].get("content") for c in choices if c] == ["一二三四", "五", None]
    assert choices[2][0]["finish_reason"] == "stop"
    assert json.loads(events[-2])["usage"]["completion_tokens"] == 3
    assert server.paid == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply("oops", status=500),
        Reply(raw="<html>"),
        Reply("好" * 99, drop="before"),
        Reply("好" * 99, drop="inside"),
    ],
)
def test_failed_answers_are_not_paid(reply):
    """Only a whole answer of status 200 is."""
    with FakeServer(lambda body: reply) as server:
        try:
            post(server)
        except (http.client.HTTPException, OSError):
            assert reply.drop
        assert (server.paid, len(server.requests)) == (0, 1)


def test_it_refuses_another_key_and_tells_it():
    """As some providers do: our errors must not."""
    with FakeServer(api_key="right") as server:
        status, _, text = post(server)
    assert status == 401
    assert "Incorrect API key" in text
    assert server.paid == 0


def test_leaving_its_context_ends_a_hanging_answer():
    """A test that made it hang does not wait for it."""
    ended: list[Any] = []

    def ask():
        try:
            post(server)
        except (http.client.HTTPException, OSError) as exc:
            ended.append(exc)

    with FakeServer(lambda body: Reply("好", hang_s=60)) as server:
        thread = threading.Thread(target=ask)
        thread.start()
        while not server.requests:
            threading.Event().wait(0.001)
    thread.join(5)
    assert len(ended) == 1
    assert server.paid == 0


def test_it_runs_by_itself_and_says_what_it_is():
    """`python -m kgrag.testing` listens on this machine only."""
    command = [sys.executable, "-m", "kgrag.testing", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        said = process.stderr.readline()
        try:
            address = said.split(" at ")[1].split(":", 2)
            url = f"http:{address[1]}:{address[2].split('/')[0]}/v1/chat/completions"
            request = urllib.request.Request(url, json.dumps(BODY).encode())
            with urllib.request.urlopen(request, timeout=60) as response:
                answer = json.load(response)
        finally:
            process.terminate()
    assert "stand-in" in said
    assert "127.0.0.1" in said
    assert answer["choices"][0]["message"]["content"] == "问"


@pytest.mark.parametrize(("stream", "piece"), [(False, b" "), (True, "好".encode())])
def test_it_can_go_on_for_ever(stream, piece):
    """With blanks, or with the text again and again, until the client has enough."""
    with FakeServer(lambda body: Reply("好", endless=True)) as server:
        connection = http.client.HTTPConnection(server.base_url.split("/")[2], timeout=60)
        sent = json.dumps({**BODY, "stream": stream}, ensure_ascii=True)
        connection.request("POST", "/v1/chat/completions", sent)
        response = connection.getresponse()
        assert response.read(2000 if stream else 5).count(piece) >= 3
        response.close()
        connection.close()
    assert server.paid == 0
