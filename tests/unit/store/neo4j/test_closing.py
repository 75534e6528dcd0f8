"""Closing what a thread that was left behind may still be at work on."""

import threading
from typing import Any, cast

from kgrag.store.neo4j import connection


class Session:
    """Tells when it is closed."""

    def __init__(self):
        self.closed = threading.Event()

    def close(self):
        """Note that it is."""
        self.closed.set()


def test_a_session_is_closed_behind_the_thread_that_waits_on_its_connection(monkeypatch):
    """Nor is that waited for: two threads on one connection take each other's answers."""
    monkeypatch.setattr(connection, "_CLOSING_S", 0.05)
    session, turn = Session(), threading.Lock()
    with turn:
        connection._close(cast(Any, session), turn)
        assert not session.closed.is_set()
    assert session.closed.wait(10)


def test_a_session_that_nobody_waits_on_is_closed_at_once():
    """As after a stream that was read to its end."""
    session = Session()
    connection._close(cast(Any, session), threading.Lock())
    assert session.closed.is_set()
