"""Tables are the same of every store."""

from functools import partial

import pytest

from kgrag.store.sqlite.store import SQLiteStore
from tests.unit.statements.conftest import select
from tests.unit.statements.plans import plans_in


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    """The documents of some plans, and the tables that a folder has of them."""
    folder = tmp_path_factory.mktemp("plans")
    with plans_in(folder):
        pass
    store = SQLiteStore.open(folder / "kb")
    cards = store.document_cards()
    yield [store.bundle(card.doc_id) for card in cards], partial(select, store)
    store.close()


@pytest.mark.parametrize(
    ("make_table", "n"),
    [
        (lambda tables: tables("timeline"), 22),
        (lambda tables: tables("timeline", places=("四川",), since="2022", until="2025"), 12),
        (lambda tables: tables("digest", document="sichuan-old", new="sichuan-new"), 14),
        (lambda tables: tables("conflicts"), 4),
        (lambda tables: tables("conflicts", indicator="绿色工厂", years=(2025, 2030)), 1),
    ],
)
def test_tables_of_every_store_agree(store, plans, make_table, n):
    """Rows, their order, sources and notes."""
    bundles, expected = plans
    for bundle in reversed(bundles):
        store.upsert_document(bundle, source=bundle.document.file)
    found = make_table(partial(select, store))
    assert found == make_table(expected)
    assert len(found.rows) == n
