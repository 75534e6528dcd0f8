import threading
import time

import pytest

from kgrag.errors import ModelUnavailableError
from kgrag.llm.stop import Stop


def test_sleep_ends_as_soon_as_it_is_set():
    """Whoever waits hears that it is over; so does whoever would begin."""
    stop = Stop()
    assert stop.check() is None
    threading.Timer(0.02, stop.set).start()
    began = time.monotonic()
    with pytest.raises(ModelUnavailableError, match="stopped"):
        stop.sleep(20)
    assert time.monotonic() - began < 5
    with pytest.raises(ModelUnavailableError, match="stopped"):
        stop.check()


def test_sleep_waits_where_it_is_not_set():
    """A pause is a pause."""
    began = time.monotonic()
    Stop().sleep(0.02)
    assert time.monotonic() - began >= 0.015
