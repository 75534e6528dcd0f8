"""Every store that the contract holds for."""

import pytest

from kgrag.store.neo4j.store import Neo4jStore
from kgrag.store.sqlite.store import SQLiteStore
from kgrag.store.store import Store
from tests.neo4j_server.plugin import clear


@pytest.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.neo4j)])
def new_store(request, tmp_path):
    """Return a maker of empty stores; only the one made last need be usable."""
    opened: list[Store] = []

    def make_store():
        if request.param == "neo4j":
            uri = request.getfixturevalue("neo4j_uri")
            clear(uri)
            opened.append(Neo4jStore.open(uri))
        else:
            opened.append(SQLiteStore.open(tmp_path / f"kb{len(opened)}"))
        return opened[-1]

    yield make_store
    for store in opened:
        store.close()


@pytest.fixture
def store(new_store):
    """An empty store."""
    return new_store()
