"""Reads of one question that do not depend on each other are under way at once."""

import threading
from types import SimpleNamespace
from typing import Any

import pytest

from kgrag.store.neo4j.store import Neo4jStore


@pytest.fixture
def store():
    """A store that reads nothing; no server is asked."""
    database: Any = SimpleNamespace(driver=None, close=lambda: None)
    found = Neo4jStore(database)
    yield found
    found.close()


def test_works_are_under_way_at_once(store):
    """Each waits for the others: one after the other, none would end."""
    all_there = threading.Barrier(4)
    assert sorted(store.side_by_side([lambda: all_there.wait(30)] * 4)) == [0, 1, 2, 3]


def test_works_within_works_wait_for_no_thread(store):
    numbers = [lambda i=i: i for i in range(20)]
    nested = [lambda: store.side_by_side(numbers) for _ in range(20)]
    assert store.side_by_side(nested) == [list(range(20))] * 20


def test_what_a_work_raises_is_raised(store):
    def fails():
        raise KeyError("said")

    with pytest.raises(KeyError, match="said"):
        store.side_by_side([lambda: 1, fails, lambda: 3])
