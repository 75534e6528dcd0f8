"""Every store that the contract holds for."""

import pytest

from kgrag.store.sqlite.store import SQLiteStore

STORES = {"sqlite": SQLiteStore.open}


@pytest.fixture(params=sorted(STORES))
def new_store(request, tmp_path):
    """Return a maker of empty stores; only the one made last need be usable."""
    opened = []

    def make_store():
        opened.append(STORES[request.param](tmp_path / f"kb{len(opened)}"))
        return opened[-1]

    yield make_store
    for store in opened:
        store.close()


@pytest.fixture
def store(new_store):
    """An empty store."""
    return new_store()
