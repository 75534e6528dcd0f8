"""Waiting for a server: as long as it is there, and no longer."""

import signal
import socket
import threading
import time
from typing import Any

import pytest

from kgrag.errors import StoreUnavailableError
from kgrag.store.neo4j import liveness
from kgrag.store.neo4j.address import parse
from kgrag.store.neo4j.liveness import awaited, is_silent


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Ask after moments rather than seconds."""
    monkeypatch.setattr(liveness, "SILENT_S", 0.02)
    monkeypatch.setattr(liveness, "ASKED_S", 0.2)


@pytest.fixture
def silent():
    """The address of a listener that takes connections and says nothing, as a stopped server."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield parse(f"bolt://127.0.0.1:{listener.getsockname()[1]}")


@pytest.fixture
def talking():
    """A listener's address, what it was greeted with, and an event for the second time."""
    greetings, twice = [], threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                with client:
                    greetings.append(client.recv(20))
                    client.sendall(b"\0\0\4\5")
                if len(greetings) == 2:
                    twice.set()

        threading.Thread(target=answer, daemon=True).start()
        yield parse(f"bolt://127.0.0.1:{listener.getsockname()[1]}"), greetings, twice
        listener.shutdown(socket.SHUT_RDWR)


def test_what_is_done_is_returned_and_what_fails_is_raised(silent):
    """Whatever it is, also an error that looks as if the wait had ended."""
    assert awaited(silent, lambda: 7) == 7
    with pytest.raises(KeyError):
        awaited(silent, lambda: dict[str, int]()["x"])
    with pytest.raises(TimeoutError, match="its own"):
        awaited(silent, lambda: (_ for _ in ()).throw(TimeoutError("its own")))


def test_an_interrupted_wait_lets_its_thread_leave_the_connection(silent):
    """It is told first; to close the connection beside it would mix two messages into one."""
    told = threading.Event()
    seen: list[Any] = []

    def work():
        signal.raise_signal(signal.SIGINT)
        seen.append(told.wait(10))
        time.sleep(0.05)
        seen.append("left")

    with pytest.raises(KeyboardInterrupt):
        awaited(silent, work, given_up=told.set)
    assert seen == [True, "left"]


def test_a_silent_server_is_not_waited_for(silent):
    """With what is wrong, how long it was waited for, and the remedy."""
    for_ever = threading.Event()
    said = r"takes connections, but has not answered for \d+ s: see whether it is stopped.*again"
    try:
        with pytest.raises(StoreUnavailableError, match=said):
            awaited(silent, for_ever.wait)
    finally:
        for_ever.set()


def test_a_server_that_is_there_is_waited_for(talking):
    """However long it takes: an index, a lock; it is asked in the way of Bolt."""
    address, greetings, twice = talking

    assert awaited(address, lambda: twice.wait(60)) is True
    assert len(greetings) > 1
    assert all(g.startswith(b"\x60\x60\xb0\x17") and len(g) == 20 for g in greetings)


def test_a_statement_that_takes_too_long_is_told(talking):
    """Where there is a limit for it."""
    address, *_ = talking
    for_ever = threading.Event()
    try:
        with pytest.raises(StoreUnavailableError, match="has not answered a statement"):
            awaited(address, for_ever.wait, limit_s=0.1)
    finally:
        for_ever.set()


@pytest.mark.parametrize("scheme", ["bolt", "neo4j", "bolt+s", "neo4j+ssc"])
def test_a_server_that_refuses_connections_is_not_silent(scheme):
    """The driver tries again, and says so itself."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    assert not is_silent(parse(f"{scheme}://127.0.0.1:{port}"))


@pytest.mark.parametrize("scheme", ["bolt", "neo4j", "bolt+s", "neo4j+ssc"])
def test_a_server_that_says_nothing_is_silent(silent, scheme):
    """With encryption as well, where it should greet first."""
    port = silent.uri.rpartition(":")[2]
    assert is_silent(parse(f"{scheme}://127.0.0.1:{port}"))


def test_a_server_that_does_not_encrypt_is_not_silent(talking):
    """It answers, if with something else; the driver says what is wrong."""
    address, *_ = talking
    assert not is_silent(parse(address.uri.replace("bolt:", "bolt+s:")))
