"""What a person decided outlives documents, and goes with copies."""

import json
from contextlib import closing
from dataclasses import replace
from typing import Any, cast

import pytest

from kgrag.maintenance.copying import compare, copy
from kgrag.store.decisions import Decision
from kgrag.store.sqlite.store import SQLiteStore

TEXT = "绿色工厂500家。"
MERGE = Decision("merge", "省林业局", "云岭省林业和草原局")
SPLIT = Decision("split", "青川市林业局", "南渡市林业局")


def put(store, make, name, source):
    store.upsert_document(make.bundle(name, TEXT), source=source)


def test_corrections_are_kept_by_document_and_field(store):
    """Of documents that are not held, too; the last one counts; None takes one back."""
    assert store.corrections() == {}
    store.decide(corrections=[("d-b", "region", "云岭省")])
    store.decide(corrections=[("d-a", "title", "节能方案")])
    store.decide(corrections=[("d-b", "date", "")])
    store.decide(corrections=[("d-b", "region", "青川市")])

    assert store.corrections() == {
        "d-a": {"title": "节能方案"},
        "d-b": {"date": "", "region": "青川市"},
    }
    store.decide(corrections=[("d-a", "title", None)])
    store.decide(corrections=[("d-a", "title", None)])
    assert list(store.corrections()) == ["d-b"]
    assert store.verify() == []


@pytest.mark.parametrize(("doc_id", "field"), [("", "region"), ("d-a", "")])
def test_a_correction_of_nothing_is_refused(store, doc_id, field):
    """Nothing is stored."""
    with pytest.raises(ValueError, match="correction"):
        store.decide(corrections=[(doc_id, field, "x")])
    assert store.corrections() == {}


def test_corrections_outlive_their_document(store, make):
    """When it comes back, they are there."""
    put(store, make, "a", "/a.txt")
    store.decide(corrections=[("d-a", "region", "云岭省")])
    store.delete_document("d-a")
    put(store, make, "a", "/a.txt")
    assert store.corrections() == {"d-a": {"region": "云岭省"}}


def test_corrections_go_over_to_the_document_that_takes_a_place(store, make):
    """A file that changes has another id; its document keeps what a person said."""
    put(store, make, "a", "/a.txt")
    store.decide(corrections=[("d-a", "region", "云岭省")])
    put(store, make, "b", "/a.txt")
    assert store.corrections() == {"d-b": {"region": "云岭省"}}
    assert store.verify() == []


def test_corrections_of_its_own_are_kept(store, make):
    """The other's stay with the other."""
    put(store, make, "a", "/a.txt")
    store.decide(corrections=[("d-a", "region", "云岭省")])
    store.decide(corrections=[("d-b", "title", "方案")])
    put(store, make, "b", "/a.txt")
    assert store.corrections() == {"d-a": {"region": "云岭省"}, "d-b": {"title": "方案"}}


def test_corrections_stay_with_a_document_that_another_source_holds(store, make):
    """And the one that takes its place in the first has them, too."""
    put(store, make, "a", "/a.txt")
    store.attach_source("/twin.txt", "d-a")
    store.decide(corrections=[("d-a", "region", "云岭省")])
    put(store, make, "b", "/a.txt")
    assert store.corrections() == {"d-a": {"region": "云岭省"}, "d-b": {"region": "云岭省"}}


def test_decisions_are_kept(store):
    """Each once, in order, until they are taken back."""
    assert store.decisions() == []
    for decision in (SPLIT, MERGE, MERGE):
        store.decide(decisions=[decision])
    assert store.decisions() == [MERGE, SPLIT]
    assert store.decide(taken_back=[SPLIT])
    assert not store.decide(taken_back=[SPLIT])
    assert store.decisions() == [MERGE]
    assert store.verify() == []


@pytest.mark.parametrize(
    "decision",
    [Decision(cast(Any, "rename"), "a", "b"), replace(MERGE, name=""), replace(SPLIT, into="")],
)
def test_a_decision_that_says_nothing_is_refused(store, decision):
    """Nothing is stored."""
    with pytest.raises(ValueError, match="decision"):
        store.decide(decisions=[decision])
    assert store.decisions() == []


def test_only_changes_count(store):
    """What is there already is none."""
    store.decide(corrections=[("d-a", "region", "云岭省")])
    store.decide(decisions=[MERGE])
    before = store.change_counter()
    store.decide(corrections=[("d-a", "region", "云岭省")])
    store.decide(corrections=[("d-b", "region", None)])
    store.decide(decisions=[MERGE])
    store.decide(taken_back=[SPLIT])
    assert store.change_counter() == before
    store.decide(corrections=[("d-a", "region", None)])
    assert store.change_counter() > before


def test_an_export_tells_decisions(store):
    """After all else, in order."""
    store.decide(decisions=[MERGE])
    store.decide(corrections=[("d-b", "region", "云岭省")])
    store.decide(corrections=[("d-a", "title", "方案")])
    lines = [json.loads(json.dumps(record)) for record in store.export()]
    assert lines == [
        {"record": "correction", "doc_id": "d-a", "field": "title", "value": "方案"},
        {"record": "correction", "doc_id": "d-b", "field": "region", "value": "云岭省"},
        {"record": "decision", "kind": "merge", "name": MERGE.name, "into": MERGE.into},
    ]


def test_decisions_go_with_a_copy_and_back(store, make, tmp_path):
    """What was taken back since the last copy is taken back there, too."""
    put(store, make, "a", "/a.txt")
    store.decide(corrections=[("d-a", "region", "云岭省")])
    store.decide(corrections=[("d-a", "title", "方案")])
    store.decide(decisions=[MERGE])
    with closing(SQLiteStore.open(tmp_path / "copy")) as other:
        copy(store, other)
        assert compare(store, other).difference is None
        other.decide(corrections=[("d-a", "title", None)])
        other.decide(corrections=[("d-a", "region", "青川市")])
        other.decide(decisions=[SPLIT])
        other.decide(taken_back=[MERGE])
        copy(other, store)
        assert compare(store, other).difference is None
    assert store.corrections() == {"d-a": {"region": "青川市"}}
    assert store.decisions() == [SPLIT]


def test_what_is_done_in_one_is_stored_whole_or_not_at_all(store, make):
    """It is read at once by who does it; what fails in it takes back all that was done before."""
    put(store, make, "a", "/a.txt")
    before, counted = list(store.export()), store.change_counter()

    def work(fails):
        store.decide(decisions=[MERGE])
        put(store, make, "b", "/b.txt")
        store.delete_document("d-a")
        assert store.decisions() == [MERGE]
        assert [card.doc_id for card in store.document_cards()] == ["d-b"]
        assert [c.doc_id for c in store.chunks_of(["d-b"], size=8)]
        if fails:
            raise KeyError("a fault")
        return 7

    with pytest.raises(KeyError):
        store.in_one(lambda: work(True))
    assert (list(store.export()), store.change_counter()) == (before, counted)
    assert [card.doc_id for card in store.document_cards()] == ["d-a"]
    assert store.in_one(lambda: work(False)) == 7
    assert [card.doc_id for card in store.document_cards()] == ["d-b"]
    assert store.verify() == []


def test_a_decision_is_stored_whole_or_not_at_all(store):
    """What is wrong with one part keeps back the others."""
    with pytest.raises(ValueError, match="decision"):
        store.decide(
            corrections=[("d-a", "title", "方案")],
            decisions=[MERGE, replace(SPLIT, into="")],
        )
    assert (store.corrections(), store.decisions()) == ({}, [])
