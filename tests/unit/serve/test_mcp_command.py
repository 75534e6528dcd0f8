"""`kgrag mcp` as clients start it: over standard input and output."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from tests.fixtures.served import COMMAND, ENVIRONMENT, started

pytest.importorskip("mcp", reason="kgrag[mcp] is not installed")
from mcp import Client, StdioServerParameters

QUESTION = "到2025年，云岭省非化石能源消费比重要达到多少？"


def test_a_client_starts_the_command_and_asks(sample_kb):
    """As Claude Desktop does: the SDK's client over stdio."""
    server = StdioServerParameters(
        command=sys.executable, args=[*COMMAND, "mcp", "--kb", str(sample_kb)], env=ENVIRONMENT
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
    call = {"name": "search", "arguments": {"question": QUESTION}}
    sent = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call},
    ]
    with started(
        "mcp", "--kb", sample_kb, "--url", "https://kb.example/show", stdin=subprocess.PIPE
    ) as server:
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
