"""The side of `kgrag serve` that runs commands for their own processes; see `kgrag.cli.client`."""

import json
import logging
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import click

from kgrag.cli.client import ServedCommand, socket_of
from kgrag.cli.outlet import OUTLET, Outlet
from kgrag.files.cache_folder import is_private_folder

if TYPE_CHECKING:
    from kgrag.api import KnowledgeBase

_AT_ONCE = 4  # more run by themselves
_MOST_BYTES = 1_000_000  # of a request
_GRACE_S = 10.0  # for commands under way at the end
_SWEEP_S = 0.1  # for another server to be seen
_log = logging.getLogger(__name__)


@contextmanager
def running_for_clients(kb: str, base: "KnowledgeBase") -> Iterator[None]:
    """Run commands that open a knowledge base for their own processes, inside.

    Where that cannot be, nothing is done: commands then run by themselves.

    Args:
        kb: As given to `--kb`.
        base: It, opened with the settings of the current command.
    """
    root = click.get_current_context().find_root()
    place = socket_of(kb, root.obj)
    server = _listening(place, base, root) if place else None
    if server is None:
        yield
        return
    thread = threading.Thread(target=server.serve_forever, name="clients", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.end()


def _listening(place: Path, base: "KnowledgeBase", root: click.Context) -> "_Server | None":
    folder = place.parent
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if not is_private_folder(folder):
            return None
        _sweep(folder)
        place.unlink(missing_ok=True)  # of a server that began earlier
        return _Server(place, base, root)
    except OSError as exc:  # also a path that is too long for a socket
        _log.info("commands run by themselves: %s", exc)
        return None


def _sweep(folder: Path) -> None:
    """Delete the sockets of servers that were killed."""
    for place in folder.iterdir():
        with socket.socket(socket.AF_UNIX) as asked, suppress(OSError):
            asked.settimeout(_SWEEP_S)
            try:
                asked.connect(str(place))
            except ConnectionRefusedError:  # nobody listens
                place.unlink()


class _GoneError(Exception):
    """The client does not wait any more."""


class _Server(socketserver.ThreadingUnixStreamServer):
    """Runs each command in a thread."""

    daemon_threads = True
    request_queue_size = 16

    def __init__(self, place: Path, base: "KnowledgeBase", root: click.Context) -> None:
        super().__init__(str(place), _Client)
        self.base = base
        self.root = root
        self.free = threading.BoundedSemaphore(_AT_ONCE)
        self._place = place
        self._node = place.stat().st_ino

    def end(self) -> None:
        """Take no more requests, and wait for those under way."""
        self.shutdown()
        with suppress(OSError):
            if self._place.stat().st_ino == self._node:  # a later server may have taken its place
                self._place.unlink()
        self.server_close()
        until = monotonic() + _GRACE_S
        for _ in range(_AT_ONCE):
            self.free.acquire(timeout=max(0.0, until - monotonic()))

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log an error: the client does it again, and tells its user."""
        _log.info("a client's command runs by itself", exc_info=True)


class _Client(socketserver.StreamRequestHandler):
    """A client: it sends a request, and is sent what is printed."""

    server: _Server
    timeout = _GRACE_S

    def handle(self) -> None:
        """Run its command, unless too many are running."""
        request = json.loads(self.rfile.readline(_MOST_BYTES))
        if not self.server.free.acquire(blocking=False):
            return
        try:
            self._send(None)
            self._send(self._run(**request))
        finally:
            self.server.free.release()

    def _run(self, *, command: str, values: dict[str, Any], **of_client: Any) -> int:
        root = self.server.root
        all_of_them = root.command.commands if isinstance(root.command, click.Group) else {}
        served = all_of_them.get(command)
        if not isinstance(served, ServedCommand) or served.callback is None:
            raise ValueError(f"{command} is not run for clients")
        given = {n: tuple(v) if isinstance(v, list) else v for n, v in values.items()}
        OUTLET.set(Outlet(base=self.server.base, write=self._write, **of_client))
        with click.Context(served, obj=root.obj):
            return served.callback(**given) or 0

    def _write(self, text: str, err: bool, dim: bool) -> None:
        try:
            self._send((text, err, dim))
        except OSError as exc:  # which must not look like a failing endpoint to whoever writes
            raise _GoneError from exc

    def _send(self, value: object) -> None:
        self.wfile.write(json.dumps(value).encode() + b"\n")
