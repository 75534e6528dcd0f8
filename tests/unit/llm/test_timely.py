import threading
import time
from contextlib import closing

import pytest

from kgrag.errors import BrokenOffError
from kgrag.llm.timely import timely

LONG = 20.0  # seconds that no test takes


def taken(produce, *, wait_s=LONG, left_s=LONG):
    return timely(produce, wait_s=wait_s, deadline=time.monotonic() + left_s, late="late")


def dripping(item, ended=None):
    """Return what gives an item again and again, and sets an event in the end."""

    def produce():
        try:
            while True:
                yield item
                time.sleep(0.002)
        finally:
            if ended is not None:
                ended.set()

    return produce


def test_timely_yields_all_in_order_without_nothings():
    """None is handed to nobody."""

    def produce():
        yield from (1, None, 2, None)

    assert list(taken(produce)) == [1, 2]


def test_timely_raises_what_the_producer_raises():
    """After what came before."""

    def produce():
        yield 1
        raise KeyError("x")

    items = taken(produce)
    assert next(items) == 1
    with pytest.raises(KeyError):
        next(items)


def test_timely_gives_up_when_nothing_comes():
    """Although the producer is stuck where nothing can interrupt it."""
    stuck = threading.Event()

    def produce():
        stuck.wait(LONG)
        yield 1

    began = time.monotonic()
    with pytest.raises(BrokenOffError, match="late"):
        list(taken(produce, wait_s=0.05))
    assert time.monotonic() - began < 2
    stuck.set()


@pytest.mark.parametrize(("item", "limits"), [(1, {"left_s": 0.05}), (None, {"wait_s": 0.05})])
def test_timely_gives_up_on_what_drips_for_ever(item, limits):
    """Items go on until the deadline; nothings are no sign of life. The thread ends, too."""
    ended = threading.Event()
    with pytest.raises(BrokenOffError):
        list(taken(dripping(item, ended), **limits))
    assert ended.wait(LONG)


def test_timely_lets_the_producer_end_when_nobody_takes_more():
    """What it holds open is closed where it was opened."""
    ended = threading.Event()
    with closing(taken(dripping(1, ended))) as items:
        next(items)
    assert ended.wait(LONG)
