"""`kgrag mcp` as clients start it: over standard input and output, and over HTTP."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.fixtures.kit import kgrag

pytest.importorskip("mcp", reason="kgrag[mcp] is not installed")
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

ROOT = Path(__file__).parents[3]
COMMAND = ("-c", "from kgrag.cli.main import run; run()", "mcp")
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "KGRAG_LANG": "en"}
TOKEN = "a-long-random-text-for-tests"
QUESTION = "到2025年，云岭省非化石能源消费比重要达到多少？"


def test_a_client_starts_the_command_and_asks(sample_kb):
    """As Claude Desktop does: the SDK's client over stdio."""
    server = StdioServerParameters(
        command=sys.executable, args=[*COMMAND, "--kb", str(sample_kb)], env=ENVIRONMENT
    )

    async def ask():
        async with Client(server, mode="legacy") as client:
            assert client.server_info
            assert client.server_info.name == "kgrag"
            return await client.call_tool("ask", {"question": QUESTION})

    found = asyncio.run(ask()).structured_content
    assert "38%" in found["text"]
    assert found["citations"][0]["url"].startswith("http://127.0.0.1:8080/documents/")


def test_only_the_protocol_goes_to_standard_output(sample_kb):
    """Word lists, encoders and warnings write to standard error; --url begins the links."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {},
             "clientInfo": {"name": "test", "version": "1"}}  # fmt: skip
    call = {"name": "search", "arguments": {"query": QUESTION}}
    sent = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with started(sample_kb, "--url", "https://kb.example/show", stdin=subprocess.PIPE) as server:
        for message in sent:
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
        lines = [server.stdout.readline() for _ in range(2)]
        server.stdin.close()
        lines += server.stdout.readlines()
        assert server.wait(timeout=30) == 0
    replies = {reply["id"]: reply["result"] for reply in map(json.loads, lines)}
    assert set(replies) == {1, 2}
    (hit, *_) = replies[2]["structuredContent"]["results"]
    assert hit["url"].startswith("https://kb.example/show/documents/")


@contextmanager
def started(kb, *options, token="", stdin=subprocess.DEVNULL):
    """Start the command, and end it."""
    with subprocess.Popen(
        [sys.executable, *COMMAND, "--kb", kb, *options],
        env={**os.environ, **ENVIRONMENT, "KGRAG_TOKEN": token},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as server:
        try:
            yield server
        finally:
            server.kill()


@contextmanager
def serving(kb, *options, token=""):
    """Start the command over HTTP at a free port, and yield its address and process."""
    with started(kb, "--http", "--port", "0", *options, token=token) as server:
        address = server.stderr.readline().decode().strip()
        assert address.startswith("http://127.0.0.1:"), address
        assert address.endswith("/mcp")
        yield address, server


def asked(address, **headers):
    """Return what `ask` answers over HTTP."""

    async def ask():
        async with (
            create_mcp_http_client(headers=headers) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            return await client.call_tool("ask", {"question": QUESTION})

    return asyncio.run(ask()).structured_content


def status(address, **headers):
    """Return the status of a request without a client's care."""

    async def post():
        async with create_mcp_http_client(headers=headers) as http:
            return (await http.post(address, json={})).status_code

    return asyncio.run(post())


def test_over_http_it_answers_this_machine_only(sample_kb):
    """A page of another site that this name was given to (DNS rebinding) is refused."""
    with serving(sample_kb) as (address, server):
        assert "38%" in asked(address)["text"]
        assert status(address, Host="evil.example") == 421
        assert status(address, Origin="https://evil.example") == 403
        assert status(address) == 400
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=30) == 128 + signal.SIGTERM
        assert server.stdout.read() == b""


def test_over_http_a_token_is_asked_for_where_there_is_one(sample_kb):
    """It is compared, and stands in no log."""
    with serving(sample_kb, "--allow-host", "kb.example", token=TOKEN) as (address, server):
        for wrong in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}):
            assert status(address, **wrong) == 401
        told = {"Authorization": f"Bearer {TOKEN}"}
        assert status(address, Host="evil.example", **told) == 421
        assert status(address, Host="kb.example", **told) == 400
        assert "38%" in asked(address, **told)["text"]
        server.terminate()
        server.wait(timeout=30)
        assert TOKEN.encode() not in server.stderr.read()


@pytest.mark.parametrize("options", [("--host", "0.0.0.0"), ("--allow-host", "kb.example")])
def test_others_can_reach_it_only_with_a_token(sample_kb, monkeypatch, options):
    monkeypatch.delenv("KGRAG_TOKEN", raising=False)
    done = kgrag("mcp", "--http", "--kb", sample_kb, *options, code=1)
    assert f"{options[1]} can be reached from other machines" in done.stderr
    assert "KGRAG_TOKEN" in done.stderr


def test_a_port_that_is_taken_is_named(sample_kb):
    with serving(sample_kb) as (address, _):
        port = address.rpartition(":")[2].removesuffix("/mcp")
        done = kgrag("mcp", "--http", "--port", port, "--kb", sample_kb, code=1)
    assert f"cannot listen at 127.0.0.1, port {port}" in done.stderr


def test_without_a_knowledge_base_it_does_not_start(tmp_path):
    done = kgrag("mcp", "--kb", tmp_path / "none", code=1)
    assert "no knowledge base" in done.stderr
    assert not (tmp_path / "none").exists()


def test_without_the_extra_it_says_how_to_install_it(sample_kb):
    code = "import sys; sys.modules['mcp'] = None; from kgrag.cli.main import run; run()"
    done = subprocess.run(
        [sys.executable, "-c", code, "mcp", "--kb", sample_kb],
        env={**os.environ, **ENVIRONMENT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "pip install 'kgrag[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr
