"""Waiting for a server no longer than it is alive.

The driver waits for ever, or for as long as the server told it to when it still spoke: a stopped
process answers nothing, and its sockets stay open. How long a statement may take cannot be said,
though: an index of millions of vectors takes minutes, and a writer waits for the one before. So a
server that is silent is asked whether it is there at all, on a connection of its own.
"""

import socket
import ssl
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from threading import Thread
from time import monotonic
from typing import TypeVar
from urllib.parse import urlsplit

from kgrag.errors import StoreUnavailableError
from kgrag.store.neo4j.address import Address

_T = TypeVar("_T")

SILENT_S = 15.0  # without an answer, after which a server is asked whether it is there
ASKED_S = 15.0  # in which it has to say so; a collection of garbage may take seconds
# For a thread to leave its connection where who waited for it was interrupted: what closes the
# connection meanwhile writes into the same message, and either of them fails over it.
LEAVING_S = 3.0
_BOLT_PORT = 7687
# What a client of Bolt says first, with the versions 5.4 to 5.0; the server answers four bytes.
_GREETING = bytes.fromhex("6060b017 00040405 00000000 00000000 00000000")


def awaited(
    address: Address,
    work: Callable[[], _T],
    *,
    limit_s: float | None = None,
    given_up: Callable[[], object] = lambda: None,
) -> _T:
    """Return what `work` returns, as long as the server is there.

    It is done in a thread of its own, which is left behind where the server is silent: it ends
    with the server's answer, or with the driver.

    Args:
        address: Of the server.
        work: Waits for the server, once or several times.
        limit_s: Seconds after which a server that is there is not waited for any more; None for
            as long as it takes.
        given_up: Called where nobody waits for `work` any more; it shall end soon then.

    Raises:
        StoreUnavailableError: If the server is silent, or takes longer.
    """
    done: Future[_T] = Future()
    try:
        in_thread(work, done)
        return _result(address, done, limit_s)
    except BaseException as exc:
        given_up()
        if not isinstance(exc, Exception):  # interrupted, as by Ctrl-C
            wait([done], LEAVING_S)
        raise


def _result(address: Address, done: Future[_T], limit_s: float | None) -> _T:
    began = monotonic()
    while True:
        with suppress(TimeoutError):
            return done.result(timeout=SILENT_S)
        if done.done():  # it was `work` that took too long for itself
            return done.result()
        waited = monotonic() - began
        if is_silent(address):
            raise silent_error(address, waited)
        if limit_s is not None and waited > limit_s:
            raise StoreUnavailableError(
                f"{address}: the server has not answered a statement for {waited:.0f} s: see what "
                "keeps it busy, then try again"
            )


def silent_error(address: Address, waited_s: float) -> StoreUnavailableError:
    """Return the error for a server that is silent; it was asked for `ASKED_S` whether it is."""
    return StoreUnavailableError(
        f"{address}: the server takes connections, but has not answered for "
        f"{waited_s + ASKED_S:.0f} s: see whether it is stopped or out of memory, then try again; "
        "what was being written is there whole or not at all"
    )


def in_thread(work: Callable[[], _T], done: Future[_T] | None = None) -> Future[_T]:
    """Begin a piece of work in a thread that does not keep the process from ending.

    Returns:
        `done`, where it is given, which gets what `work` returns.
    """
    future: Future[_T] = Future() if done is None else done

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as exc:
            future.set_exception(exc)

    Thread(target=run, name="kgrag-neo4j", daemon=True).start()
    return future


def is_silent(address: Address) -> bool:
    """Return whether a server accepts a connection and then sends nothing.

    One that refuses connections is not silent: the driver knows what to do about it.
    """
    parts = urlsplit(address.uri)
    try:
        with socket.create_connection(
            (parts.hostname or "", parts.port or _BOLT_PORT), timeout=ASKED_S
        ) as plain:
            if "+" in parts.scheme:
                _unchecked().wrap_socket(plain, server_hostname=parts.hostname).close()
                return False
            plain.sendall(_GREETING)
            plain.recv(4)
            return False
    except TimeoutError:
        return True
    except OSError:
        return False


def _unchecked() -> ssl.SSLContext:
    """Return a TLS context that accepts any certificate: nothing is sent over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
