from typing import Any

import pytest

from kgrag.ids import entity_id
from kgrag.store.sqlite import graph
from kgrag.store.sqlite.changes import record_change
from kgrag.store.sqlite.graph import KnownEntities


@pytest.fixture
def held(store):
    """A store, and the ids of two entities in it."""
    return store, [entity_id("绿色"), entity_id("工厂")]


def test_entities_are_read_once(held):
    """Until something is written; what is not held is left out."""
    store, ids = held
    known = KnownEntities()
    with store._database.read() as connection:
        statements: list[Any] = []
        connection.set_trace_callback(statements.append)
        first = dict(known.of(connection, [*ids, "e-x"]))
        n_first = len(statements)
        again = dict(known.of(connection, ids))
        connection.set_trace_callback(None)

    assert first == again == {e.entity_id: e for e in store.entities(ids)}
    assert sum("entities" in s for s in statements[:n_first]) == 1
    assert not any("entities" in s for s in statements[n_first:])


def test_what_is_known_is_forgotten_after_a_commit(held):
    """A name or a type may have changed with it."""
    store, ids = held
    known = KnownEntities()
    with store._database.read() as connection:
        assert known.of(connection, ids)[ids[0]].name == "绿色"
    with store._database.write() as connection:
        connection.execute("UPDATE entities SET name = '另名' WHERE entity_id = ?", (ids[0],))
        record_change(connection, [])
    with store._database.read() as connection:
        assert known.of(connection, ids)[ids[0]].name == "另名"


def test_no_more_than_so_many_are_kept(held, monkeypatch):
    """A long run over a large knowledge base does not grow without end."""
    store, ids = held
    monkeypatch.setattr(graph, "_MOST", 1)
    known = KnownEntities()
    with store._database.read() as connection:
        assert len(known.of(connection, ids)) == 2
        assert len(known.of(connection, ids[:1])) == 1
