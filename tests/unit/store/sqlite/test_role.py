import pytest

from kgrag.store.bundles import content_records
from kgrag.store.sqlite import graph


def test_a_snapshot_shows_one_state(store, put):
    """What others store meanwhile is seen after it; its own store goes on with the latest."""
    with store.snapshot() as here:
        assert here.counts().documents == 4
        put(store, 4)
        assert here.counts().documents == 4
        assert len(here.documents()) == len(here.document_cards()) == 4
        assert here.bundle("d-04") is None
        with here.snapshot() as inner:
            assert len(inner.documents()) == 4
        assert store.counts().documents == 5
    assert len(store.documents()) == len(store.document_cards()) == 5


def test_a_snapshot_that_has_ended_is_not_read(store):
    """Its connection may be another reader's by then."""
    with store.snapshot() as here:
        assert here.documents()
    for read in (here.documents, here.counts, lambda: here.facts_around(["e"], limit=1)):
        with pytest.raises(RuntimeError, match="snapshot has ended"):
            read()
    assert store.documents()


def test_what_reads_in_several_statements_reads_one_state(store, put, monkeypatch):
    """A document that is deleted between the statements of a bundle is whole in it."""
    whole = list(content_records(store.bundle("d-01")))
    reader = store.__class__.documents

    def deleting(here, doc_ids):
        assert store.delete_document(*doc_ids)
        return reader(here, doc_ids)

    monkeypatch.setattr(store.__class__, "documents", deleting)
    assert list(content_records(store.bundle("d-01"))) == whole
    assert store.bundle("d-01") is None


def test_facts_and_their_evidence_are_of_one_state(store, monkeypatch):
    """The same of what is read of the graph."""
    entity = store.find_entities(["绿色"])[0]
    before = store.facts_around([entity.entity_id], limit=9)
    reader = graph.Graph._with_evidence

    def deleting(here, rows):
        store.delete_document("d-01")
        return reader(here, rows)

    monkeypatch.setattr(graph.Graph, "_with_evidence", deleting)
    assert store.facts_around([entity.entity_id], limit=9) == before
    assert store.facts_around([entity.entity_id], limit=9) != before
