"""One connection through the proxy."""

import contextlib
import socket
import threading
from dataclasses import dataclass
from typing import Literal, Protocol

from tests.neo4j_server import bolt

SECONDS = 30  # longer than any answer that a test waits for

Side = Literal["server", "client"]
Effect = Literal["lose request", "lose reply", "fail"]


@dataclass
class Fault:
    """What happens to the next messages of a name.

    Attributes:
        message: Its name, as `bolt.REQUESTS` has it.
        effect: What is done.
        code: Of the failure that is answered, for "fail".
        writes: Strike transactions that write only.
        skip: So many messages are let through first.
        times: So many messages are struck.
    """

    message: str
    effect: Effect
    code: str = ""
    writes: bool = False
    skip: int = 0
    times: int = 1


class Fate(Protocol):
    """Decides what befalls a connection."""

    def strike(self, message: str, *, writes: bool, bookmarked: bool) -> Fault | None:
        """Return the fault for a message that a client sent."""

    def allow(self, to: Side, n_bytes: int) -> tuple[int, bool]:
        """Return how many of so many bytes pass, and whether the connection is cut then."""


class Link:
    """Two sockets, and a thread for each way; both end when either socket is closed."""

    def __init__(self, fate: Fate, client: socket.socket, server: socket.socket) -> None:
        self._fate = fate
        self._sockets: dict[Side, socket.socket] = {"client": client, "server": server}
        self._waiting = 0  # requests that the server has still to answer
        self._answered = threading.Condition()
        self._writes: bool | None = None  # of the open transaction
        self._failed = False  # a failure was answered: all is ignored until RESET
        self._losing = False  # the next answer is lost
        self._replies = threading.Thread(target=self._pass_replies, daemon=True)
        self._requests = threading.Thread(target=self._pass_requests, daemon=True)
        self._requests.start()

    def close(self) -> None:
        """Close both sides, in whatever they are."""
        for sock in self._sockets.values():
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        with self._answered:
            self._answered.notify_all()

    def join(self) -> None:
        """Close, and wait until nothing is left."""
        self.close()
        self._requests.join()

    def _pass_requests(self) -> None:
        try:
            self._greet()
            self._replies.start()
            while True:
                self._request(bolt.read_frame(self._sockets["client"]))
        except OSError:
            pass
        finally:
            self.close()
            if self._replies.ident is not None:
                self._replies.join()
            for sock in self._sockets.values():
                sock.close()

    def _pass_replies(self) -> None:
        try:
            while True:
                frame = bolt.read_frame(self._sockets["server"])
                if self._losing and frame != bolt.NOOP:
                    break
                self._send("client", frame)
                if bolt.signature(frame) not in (None, bolt.RECORD):
                    self._count(-1)
        except OSError:
            pass
        finally:
            self.close()

    def _greet(self) -> None:
        client, server = self._sockets["client"], self._sockets["server"]
        server.sendall(bolt.plain_proposals(bolt.read_exactly(client, bolt.PROPOSALS)))
        client.sendall(bolt.read_exactly(server, 4))

    def _request(self, frame: bytes) -> None:
        name = bolt.REQUESTS.get(bolt.signature(frame) or 0, "")
        fault = None
        if name:
            fault = self._fate.strike(
                name, writes=self._note_mode(name, frame), bookmarked=bolt.BOOKMARKS in frame
            )
        if fault is not None:
            self._suffer(fault, name, frame)
        elif self._failed and name not in ("RESET", "GOODBYE"):
            self._send("client", bolt.IGNORED)
        else:
            self._failed = False
            self._pass(name, frame)

    def _note_mode(self, name: str, frame: bytes) -> bool:
        """Say whether a message belongs to what may write; BEGIN says it for its transaction."""
        if name == "BEGIN":
            self._writes = bolt.READS not in frame
        elif name in ("COMMIT", "ROLLBACK", "RESET"):
            writes, self._writes = self._writes, None
            return bool(writes)
        return bolt.READS not in frame if self._writes is None else self._writes

    def _suffer(self, fault: Fault, name: str, frame: bytes) -> None:
        self._await_answers()
        if fault.effect == "fail":
            self._failed = True
            self._send("client", bolt.failure(fault.code, f"{name} is refused by the proxy"))
            return
        if fault.effect == "lose request":
            raise ConnectionError("cut by the proxy")
        self._losing = True
        self._pass(name, frame)

    def _pass(self, name: str, frame: bytes) -> None:
        if name and name != "GOODBYE":  # which nobody answers
            self._count(1)
        self._send("server", frame)

    def _send(self, to: Side, frame: bytes) -> None:
        n, cut = self._fate.allow(to, len(frame))
        self._sockets[to].sendall(frame[:n])
        if cut:
            raise ConnectionError("cut by the proxy")

    def _count(self, change: int) -> None:
        with self._answered:
            self._waiting += change
            self._answered.notify_all()

    def _await_answers(self) -> None:
        """Wait until all messages before are answered, so that answers keep their order."""
        with self._answered:
            if not self._answered.wait_for(lambda: not self._waiting, SECONDS):
                raise ConnectionError("the server does not answer")
