"""A local server of the OpenAI protocol without a model, which fails on demand."""

import contextlib
import json
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from kgrag.testing.reply import Body, Reply, envelope, stand_in, wants_usage

__all__ = ["FakeServer", "Received", "Reply"]

_PIECE = 4  # characters of a streamed piece, more of a long answer ...
_PIECES = 200  # ... so that it has about so many: each costs as much as a small request
_CUT = 2  # pieces that come before a stream is cut
_DRIP_S = 0.005  # between pieces of what never ends
_Connection = socket.socket | tuple[bytes, socket.socket]  # as socketserver has it


@dataclass(frozen=True, slots=True)
class Received:
    """A received request.

    Attributes:
        body: Parsed JSON.
        headers: Names in lower case.
        at: Seconds on the monotonic clock.
        path: Of the URL.
    """

    body: Body
    headers: Mapping[str, str]
    at: float
    path: str = ""


class FakeServer:
    """A local endpoint; a context manager.

    Example:
        with FakeServer(lambda body: Reply("好")) as server:
            ask(server.base_url)
    """

    def __init__(
        self,
        reply: Callable[[Body], Reply] | None = None,
        *,
        latency_s: float = 0.0,
        port: int = 0,
        api_key: str = "",
    ) -> None:
        """Prepare; the server starts with its context.

        Args:
            reply: Maps a request's body to a reply; answers by rules for None.
            latency_s: Delay of every answer in seconds.
            port: 0 for any that is free.
            api_key: Required key; empty accepts any. Others are refused with 401 and, as some
                providers do, an echo of the key.
        """
        self._reply = reply or stand_in
        self._latency_s = latency_s
        self._port = port
        self._api_key = api_key
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._requests: list[Received] = []
        self._paid = self._under_way = self._most = 0
        self._http: _Server | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._http = _Server(self._port, self)
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        if self._http is not None and self._thread is not None:
            self._http.shutdown()
            self._http.close_all()
            self._thread.join()

    @property
    def base_url(self) -> str:
        """Return the address for clients."""
        port = self._http.server_address[1] if self._http else self._port
        return f"http://127.0.0.1:{port}/v1"

    @property
    def requests(self) -> list[Received]:
        """Return the requests so far, oldest first."""
        with self._lock:
            return list(self._requests)

    @property
    def paid(self) -> int:
        """Return the number of complete answers with status 200."""
        with self._lock:
            return self._paid

    @property
    def most(self) -> int:
        """Return the maximum of concurrent requests."""
        with self._lock:
            return self._most

    def is_closed_after(self, seconds: float) -> bool:
        """Wait, and return whether the server is closing."""
        return self._closing.wait(seconds)

    def take(self, received: Received) -> Reply:
        """Record a request, wait for the latency, and return the reply."""
        with self._lock:
            self._requests.append(received)
            self._under_way += 1
            self._most = max(self._most, self._under_way)
        sent = received.headers.get("authorization", "")
        if self._api_key and sent != f"Bearer {self._api_key}":
            return Reply(f"Incorrect API key provided: {sent}", status=401)
        reply = self._reply(received.body)
        wait = self._latency_s + reply.hang_s
        return Reply(drop="before") if wait and self._closing.wait(wait) else reply

    def done(self, *, paid: bool) -> None:
        """Record the end of a request."""
        with self._lock:
            self._under_way -= 1
            self._paid += paid


class _Server(ThreadingHTTPServer):
    request_queue_size = 256
    daemon_threads = True

    def __init__(self, port: int, fake: FakeServer) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.fake = fake
        self._connections: set[socket.socket] = set()
        self._guard = threading.Lock()

    def process_request(self, request: _Connection, client_address: object) -> None:
        if isinstance(request, socket.socket):
            with self._guard:
                self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: _Connection) -> None:
        if isinstance(request, socket.socket):
            with self._guard:
                self._connections.discard(request)
        super().shutdown_request(request)

    def close_all(self) -> None:
        """Stop listening, and close open connections."""
        self.server_close()
        with self._guard:
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: _Connection, client_address: object) -> None:
        """Ignore clients that disconnect; other errors are a test's own."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _deltas(reply: Reply, size: int) -> Iterator[Body]:
    """Yield text in pieces; of calls the name, then the arguments in two parts."""
    for i in range(0, len(reply.text), size):
        yield {"content": reply.text[i : i + size]}
    for call, (name, arguments) in zip(reply.tool_calls, reply.calls, strict=True):
        half = len(arguments) // 2
        yield {"tool_calls": [call | {"function": {"name": name, "arguments": ""}}]}
        for part in (arguments[:half], arguments[half:]):
            yield {"tool_calls": [{"index": call["index"], "function": {"arguments": part}}]}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_POST(self) -> None:
        """Answer a chat completion request."""
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.fake.take(Received(body, headers, time.monotonic(), self.path))
        self._counted = False
        try:
            if self._hung_up() or reply.drop == "before":
                self.close_connection = True
            elif reply.status == 200 and not reply.raw and body.get("stream"):
                self._stream(body, reply)
            else:
                self._whole(body, reply)
        finally:
            if not self._counted:
                self.server.fake.done(paid=False)

    def _count(self, *, paid: bool) -> None:
        """Count the request as answered, before its last bytes: clients could be faster."""
        self._counted = True
        self.server.fake.done(paid=paid)

    def _hung_up(self) -> bool:
        """Return whether the client has disconnected; what is sent to it would count as paid."""
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:  # nothing came, so it waits
            return False

    def _whole(self, body: Body, reply: Reply) -> None:
        if reply.raw:
            content = reply.raw
        elif reply.status != 200:
            content = json.dumps({"error": {"message": reply.text}}, ensure_ascii=False)
        else:
            message: dict[str, object] = {"role": "assistant", "content": reply.text}
            if reply.calls:
                message["tool_calls"] = reply.tool_calls
            content = json.dumps(envelope(body, reply, "message", message), ensure_ascii=False)
        data = content.encode("utf-8")
        size = (
            {"Transfer-Encoding": "chunked"}
            if reply.endless
            else {"Content-Length": str(len(data))}
        )
        self._head(reply, {"Content-Type": "application/json", **size})
        while reply.endless and not self.server.fake.is_closed_after(_DRIP_S):
            self._chunk(b" ")
        if reply.endless:
            self.close_connection = True
            return
        if reply.drop:
            self.wfile.write(data[: len(data) // 2])
            self.close_connection = True
            return
        self._count(paid=reply.status == 200 and not reply.raw)
        self.wfile.write(data)

    def _stream(self, body: Body, reply: Reply) -> None:
        self._head(reply, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        going_on = replace(reply, usage=None, finish_reason=None)
        size = max(_PIECE, len(reply.text) // _PIECES)
        pieces = list(_deltas(reply, size))
        broken = bool(reply.drop) or reply.stream_cut or reply.endless
        while reply.endless and not self.server.fake.is_closed_after(_DRIP_S):
            self._event(envelope(body, going_on, "delta", {"content": reply.text}))
        for piece in pieces[:_CUT] if broken else pieces:
            self._event(envelope(body, going_on, "delta", piece))
            if reply.pause_s and self.server.fake.is_closed_after(reply.pause_s):
                return
        if reply.drop:
            self.close_connection = True
            return
        if not broken:
            self._event(envelope(body, replace(reply, usage=None), "delta", {}))
            if wants_usage(body) and reply.usage is not None:
                self._event(envelope(body, reply, "delta", {}) | {"choices": []})
            self._count(paid=True)
            self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _head(self, reply: Reply, headers: Mapping[str, str]) -> None:
        self.send_response(reply.status)
        for name, value in {**headers, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def _event(self, event: Body) -> None:
        data = json.dumps(event, ensure_ascii=False)
        self._chunk(f"data: {data}\n\n".encode())

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
