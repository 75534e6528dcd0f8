"""A web server of this machine that keeps what it was asked: whatever reaches it has left."""

import http.server
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def listener() -> Iterator[tuple[int, list[str]]]:
    """Yield its port, and the paths of the requests that it got."""
    requests: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            requests.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"a,b\n1,2\n")

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port, requests
    server.shutdown()
    server.server_close()
