from contextlib import closing
from typing import Any

import pytest

from kgrag.store.sqlite import documents
from kgrag.store.sqlite.store import SQLiteStore


@pytest.fixture
def readings(monkeypatch):
    """Return which documents' cards were read since the last call; None stands for all."""
    asked: list[Any] = []
    one_by_one, every = documents._cards_of, documents._all_cards

    def cards_of(connection, doc_ids):
        asked.append(doc_ids)
        return one_by_one(connection, doc_ids)

    def all_cards(connection):
        asked.append(None)
        return every(connection)

    monkeypatch.setattr(documents, "_cards_of", cards_of)
    monkeypatch.setattr(documents, "_all_cards", all_cards)

    def since():
        found = list(asked)
        asked.clear()
        return found

    return since


def test_only_changed_cards_are_read_again(store, put, readings):
    """The first reading is of all; then a new document is read, and a deleted one is not there."""
    assert [card.doc_id for card in store.document_cards()] == ["d-00", "d-01", "d-02", "d-03"]
    put(store, 4)
    store.delete_document("d-01")
    assert readings() == [None]
    assert [card.doc_id for card in store.document_cards()] == ["d-00", "d-02", "d-03", "d-04"]
    assert readings() == [["d-01", "d-04"]]


def test_what_another_process_changes_is_noticed(store, folder, put):
    """Each reading is of the state that the connection sees."""
    before = store.document_cards()
    with closing(SQLiteStore.open(folder)) as other:
        put(other, 7)
        assert store.document_cards() == other.document_cards()
    assert len(store.document_cards()) == len(before) + 1


def test_a_file_that_moves_is_shown_where_it_is(store):
    """Sources change without a change of the content."""
    assert store.document_cards()[2].file == "/archive/2.txt"
    store.attach_source("/a/2.txt", "d-02")
    assert store.document_cards()[2].file == "/a/2.txt"
    assert store.document_cards() == store.document_cards([f"d-0{i}" for i in range(4)])


@pytest.mark.parametrize("method", ["document_cards", "sources"])
def test_lists_of_documents_are_read_without_the_pages_of_their_texts(store, method):
    """An index has all that they show: with many documents their pages lie all over the file."""
    plans: list[Any] = []
    with store.snapshot() as here, here._reading() as connection:
        connection.set_trace_callback(plans.append)
        getattr(here, method)()
        connection.set_trace_callback(None)
        (statement,) = (plan for plan in plans if "documents" in plan)
        steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
    assert any("documents_cards" in step and "COVERING" in step for step in steps)
