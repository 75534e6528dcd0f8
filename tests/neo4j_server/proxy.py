"""A proxy before a Neo4j server that fails in the ways in which networks and clusters do.

Faults are asked for by the Bolt message (BEGIN, RUN, PULL, COMMIT, …) that they strike, so a test
says "the answer to COMMIT is lost" and gets that, every time. A single server names, as routing
table, the address by which it was called: `neo4j://` through the proxy stays on the proxy.
"""

import socket
import threading
from collections import Counter
from typing import Literal, Self
from urllib.parse import urlsplit

from tests.neo4j_server import bolt
from tests.neo4j_server.link import Effect, Fault, Link, Side

HOST = "127.0.0.1"
NOT_A_LEADER = "Neo.ClientError.Cluster.NotALeader"
POLL_SECONDS = 0.05


class BoltProxy:
    """Stands before a server that takes connections without TLS; close it, or use it as context.

    Args:
        uri: Of the server, as a driver has it.

    Attributes:
        port: Of this machine, where it listens.
        seen: How many messages of each name clients have sent.
        writing: How many of them belonged to what may write.
        bookmarked: How many of them named a bookmark, after which the server has to be.
    """

    def __init__(self, uri: str) -> None:
        self.seen: Counter[str] = Counter()
        self.writing: Counter[str] = Counter()
        self.bookmarked: Counter[str] = Counter()
        server = urlsplit(uri)
        self._server = (server.hostname or HOST, server.port or 7687)
        self._lock = threading.Lock()
        self._faults: list[Fault] = []
        self._budget: dict[Side, int] = {}
        self._links: list[Link] = []
        self._listener: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self.port = 0
        self.listen()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def uri(self, scheme: Literal["bolt", "neo4j"] = "bolt") -> str:
        """Return the address for a driver."""
        return f"{scheme}://{HOST}:{self.port}"

    def cut(self) -> None:
        """Close every open connection."""
        for link in list(self._links):
            link.close()

    def cut_after(self, n_bytes: int, to: Side) -> None:
        """Close a connection in the middle of what flows, after so many more bytes that way."""
        with self._lock:
            self._budget[to] = n_bytes

    def cut_at(self, message: str, lost: Literal["request", "reply"], *, skip: int = 0) -> None:
        """Close a connection at a message: the server never gets it, or did it and nobody hears."""
        effect: Effect = "lose request" if lost == "request" else "lose reply"
        self._add(Fault(message, effect, skip=skip))

    def fail(self, message: str, code: str, *, times: int = 1, skip: int = 0) -> None:
        """Answer the next messages of a name with a failure; the server does not get them."""
        self._add(Fault(message, "fail", code, skip=skip, times=times))

    def not_a_leader(self, times: int) -> None:
        """Answer the next transactions that write as a follower of a cluster does."""
        self._add(Fault("RUN", "fail", NOT_A_LEADER, writes=True, times=times))

    @property
    def waiting(self) -> bool:
        """Whether a fault was asked for that has not struck yet."""
        with self._lock:
            return bool(self._faults or self._budget)

    def forget(self) -> None:
        """Let pass what was to be struck."""
        with self._lock:
            self._faults.clear()
            self._budget.clear()

    def refuse(self) -> None:
        """Take no new connections, until `listen`; open ones stay."""
        listener, self._listener = self._listener, None
        if listener is not None and self._thread is not None:
            self._thread.join()
            listener.close()

    def listen(self) -> None:
        """Take connections, on the same port as before."""
        if self._listener is None:
            self._listener = socket.create_server((HOST, self.port))
            self._listener.settimeout(POLL_SECONDS)
            self.port = int(self._listener.getsockname()[1])
            self._thread = threading.Thread(
                target=self._accept, args=(self._listener,), daemon=True
            )
            self._thread.start()

    def close(self) -> None:
        """Take no connections, and close those that are open."""
        self.refuse()
        self.cut()
        for link in self._links:
            link.join()

    def _add(self, fault: Fault) -> None:
        if fault.message not in bolt.REQUESTS.values():
            raise ValueError(f"no Bolt message is named {fault.message}")
        with self._lock:
            self._faults.append(fault)

    def _accept(self, listener: socket.socket) -> None:
        while self._listener is listener:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            client.settimeout(None)
            try:
                server = socket.create_connection(self._server)
            except OSError:  # the server is down: so is its proxy
                client.close()
                continue
            for sock in (
                client,
                server,
            ):  # a frame goes in pieces: do not wait for an answer to one
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._links.append(Link(self, client, server))

    def strike(self, message: str, *, writes: bool, bookmarked: bool) -> Fault | None:
        """Count a message and return the fault that strikes it."""
        with self._lock:
            self.seen[message] += 1
            self.writing[message] += writes
            self.bookmarked[message] += bookmarked
            for fault in self._faults:
                if fault.message != message or (fault.writes and not writes):
                    continue
                if fault.skip:
                    fault.skip -= 1
                    return None
                fault.times -= 1
                if not fault.times:
                    self._faults.remove(fault)
                return fault
        return None

    def allow(self, to: Side, n_bytes: int) -> tuple[int, bool]:
        """Return how many of so many bytes pass, and whether the connection is cut then."""
        with self._lock:
            left = self._budget.pop(to, None)
            if left is None:
                return n_bytes, False
            if left > n_bytes:
                self._budget[to] = left - n_bytes
                return n_bytes, False
            return left, True
