"""`kgrag serve` as a process, asked by real clients over a socket."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx2 as httpx
import openai
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from tests.fixtures.kit import kgrag
from tests.fixtures.served import ENVIRONMENT, serving

TOKEN = "a-long-random-text-for-tests"
QUESTION = "到2025年，云岭省非化石能源消费比重要达到多少？"


@pytest.fixture(scope="module")
def server(sample_kb):
    with serving(sample_kb) as (address, _):
        yield address


def by_mcp(address, **headers):
    """Return what `ask` answers over MCP."""

    async def ask():
        async with (
            create_mcp_http_client(headers=headers) as http,
            Client(streamable_http_client(f"{address}mcp", http_client=http)) as client,
        ):
            return await client.call_tool("ask", {"question": QUESTION})

    return asyncio.run(ask()).structured_content


def test_every_door_leads_to_the_same_citation(server):
    """Page, API, OpenAI's SDK and MCP over HTTP: one address, and it can be opened."""
    told = httpx.post(f"{server}api/ask", json={"question": QUESTION}, timeout=60).json()
    cited = told["citations"][0]
    sdk = openai.OpenAI(api_key="none", base_url=f"{server}v1")
    said: Any = [{"role": "user", "content": QUESTION}]
    chunks: Any = list(sdk.chat.completions.create(model="kgrag", messages=said, stream=True))
    assert chunks[-1].citations == told["citations"]
    assert by_mcp(server)["citations"][0]["url"] == cited["url"]
    assert (
        cited["url"].removeprefix(server) in httpx.get(server, params={"question": QUESTION}).text
    )
    assert "38%" in httpx.get(cited["url"]).text


def test_a_key_is_asked_for_where_there_is_one(sample_kb):
    """At every door; it is compared, and stands in no log."""
    with serving(sample_kb, "--allow-host", "kb.example", token=TOKEN) as (address, process):
        for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            for path in ("", "mcp", "v1/models", "api/overview"):
                assert httpx.get(f"{address}{path}", headers=wrong).status_code == 401
        told = {"Authorization": f"Bearer {TOKEN}"}
        evil, named = told | {"Host": "evil.example"}, told | {"Host": "kb.example"}
        assert httpx.get(address, headers=evil).status_code == 421
        assert httpx.get(address, headers=named).status_code == 200
        assert "38%" in by_mcp(address, **told)["text"]
        process.terminate()
        process.wait(timeout=30)
        assert TOKEN.encode() not in process.stderr.read()


def test_it_ends_in_order_and_finishes_what_is_under_way(sample_kb):
    """Twenty questions are asked, and it is told to end: each is answered whole, or refused."""
    with serving(sample_kb) as (address, process):
        httpx.post(f"{address}api/ask", json={"question": QUESTION}, timeout=60)
        told = []

        def ask():
            try:
                answered = httpx.post(f"{address}api/ask", json={"question": QUESTION}, timeout=30)
                told.append(answered.json()["text"])
            except httpx.TransportError:
                told.append("refused")

        asking = [threading.Thread(target=ask) for _ in range(20)]
        for thread in asking:
            thread.start()
        process.send_signal(signal.SIGTERM)
        for thread in asking:
            thread.join()
        assert process.wait(timeout=30) == 128 + signal.SIGTERM
        assert process.stdout.read() == b""
        assert b"Traceback" not in process.stderr.read()
    assert len(told) == 20
    assert all(text == "refused" or "38%" in text for text in told)


def until(holds, *, seconds=120):
    """Wait until a function returns something true, and return it."""
    for _ in range(seconds * 10):
        if found := holds():
            return found
        time.sleep(0.1)
    raise AssertionError("it did not happen")


def process_of(address):
    return httpx.get(f"{address}readyz", headers={"host": "10.1.2.3"}, timeout=60).json()["process"]


def refuses(address):
    """Return whether nobody listens at an address any more."""
    try:
        httpx.get(f"{address}healthz", timeout=60)
    except httpx.ConnectError:
        return True
    except httpx.TransportError:
        pass
    return False


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_many_processes_answer_alike_and_one_that_is_killed_is_replaced(sample_kb, ending):
    """A cookie of one opens all. With the first process, however it ends, all end."""
    with serving(sample_kb, "--workers", 3, token=TOKEN) as (address, parent):
        ask = partial(httpx.get, f"{address}api/ask", params={"question": QUESTION}, timeout=60)

        def answered(_n):
            told = ask(cookies=cookies)  # each by a connection of its own
            return told.status_code, told.text.replace(address, "")

        lines = [parent.stderr.readline().decode() for _ in range(3)]
        ready = {int(line.split()[1]) for line in lines if " is ready: " in line}
        cookies = httpx.post(f"{address}login", data={"key": TOKEN}, timeout=60).cookies
        with ThreadPoolExecutor(6) as threads:
            told = set(threads.map(answered, range(60)))
            until(lambda: {*threads.map(process_of, [address] * 12)} == ready)
        assert (len(ready), len(told), {status for status, _ in told}) == (3, 1, {200})
        killed = min(ready)
        os.kill(killed, signal.SIGKILL)
        assert {answered(0) for _ in range(5)} == told
        assert f"process {killed} ended" in parent.stderr.readline().decode()
        assert " is ready: " in parent.stderr.readline().decode()
        until(lambda: process_of(address) not in ready)
        parent.send_signal(ending)
        assert parent.wait(timeout=60) in (128 + ending, -ending)
        until(partial(refuses, address))
        said = parent.stderr.read().decode()
        assert [line for line in said.splitlines() if line != "kgrag: stopped"] == []


@pytest.mark.parametrize(
    ("options", "code"), [(("--host", "0.0.0.0"), 1), (("--allow-host", "kb.example"), 2)]
)
def test_others_can_reach_it_only_with_a_key(sample_kb, monkeypatch, options, code):
    monkeypatch.delenv("KGRAG_TOKEN", raising=False)
    done = kgrag("serve", "--kb", sample_kb, *options, code=code)
    assert "KGRAG_TOKEN" in done.stderr


def test_a_port_that_is_taken_is_named(sample_kb, server):
    port = server.rstrip("/").rpartition(":")[2]
    done = kgrag("serve", "--port", port, "--kb", sample_kb, code=1)
    assert f"cannot listen at 127.0.0.1, port {port}" in done.stderr


def test_an_upload_that_is_too_large_is_refused_before_it_is_sent(sample_kb, tmp_path):
    with serving(sample_kb, "--allow-ingest", "--uploads", tmp_path / "up") as (address, _):
        port = int(address.rstrip("/").rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port), timeout=20) as asked:
            asked.sendall(
                f"POST /api/ingest HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n"
                "content-type: multipart/form-data; boundary=x\r\n"
                "content-length: 9000000000\r\n\r\n".encode()
            )
            assert asked.recv(100).startswith(b"HTTP/1.1 400")
    assert not [*(tmp_path / "up").glob("[!.]*")]


@pytest.mark.parametrize(
    "words", [("--uploads", "up"), ("--allow-ingest", "--kb", "bolt://127.0.0.1:1")]
)
def test_a_folder_for_uploads_is_named_where_one_is_needed(sample_kb, words):
    assert "--uploads" in kgrag("serve", "--kb", sample_kb, *words, code=2).stderr


def test_without_the_extra_it_says_how_to_install_it(sample_kb):
    code = "import sys; sys.modules['starlette'] = None; from kgrag.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code, "serve", "--kb", sample_kb],
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "pip install 'kgrag[serve]'" in done.stderr
    assert "Traceback" not in done.stderr
