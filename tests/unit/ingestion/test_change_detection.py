import json

import pytest

from kgrag.ingestion.change_detection import ChangeDetector
from kgrag.ingestion.load import discover
from kgrag.ingestion.report import Outcome
from kgrag.store.sqlite.store import SQLiteStore
from tests.fixtures.readable import SIZES


@pytest.fixture
def store(tmp_path):
    """An empty store."""
    store = SQLiteStore.open(tmp_path / "kb")
    yield store
    store.close()


def met(store, *paths, model="", rename=None):
    """Return what becomes of files, and store what is ready; with how many passages wait."""
    incoming = ChangeDetector(store, settings="s", model=model, sizes=SIZES)
    statuses = []
    for source in discover(paths).sources:
        for item in incoming.read(source):
            outcome = item if isinstance(item, Outcome) else item.outcome
            statuses.append(outcome.status)
            if not isinstance(item, Outcome) and item.bundle is not None:
                bundle = item.bundle
                if rename:
                    bundle = type(bundle)(bundle.document, rename(bundle.fingerprint))
                store.upsert_document(bundle, source=item.source)
            elif not isinstance(item, Outcome):
                store.attach_source(item.source, outcome.doc_id)
    return statuses, incoming.waiting


def test_a_document_is_read_again_by_another_model_only(tmp_path, store):
    """Held as it is for the same model and for none."""
    (tmp_path / "a.txt").write_text("甲方案", "utf-8")
    statuses = [
        met(store, tmp_path / "a.txt", model=model)[0][0] for model in ("", "m", "m", "", "n")
    ]

    assert statuses == ["added", "replaced", "unchanged", "unchanged", "replaced"]


def test_passages_that_failed_wait_and_are_counted(tmp_path, store):
    """The document stays unchanged; a copy adds nothing to the count."""
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("甲方案", "utf-8")
    met(store, tmp_path / "x", model="m", rename=lambda fingerprint: f"{fingerprint}!0,3")

    assert met(store, tmp_path / "x", model="m") == (["unchanged"], 2)
    assert met(store, tmp_path / "x", tmp_path / "y") == (["unchanged", "duplicate"], 2)


def test_a_record_in_two_files_is_one_document_for_any_model(tmp_path, store):
    """Same id and text: a copy. Another text under the same id is a failure."""
    row = {"id": "r1", "title": "甲方案", "text": "推进节能。"}
    for name, text in (("a", row["text"]), ("b", row["text"]), ("c", "另一段。")):
        line = json.dumps({**row, "text": text})
        (tmp_path / f"{name}.jsonl").write_text(line, "utf-8")
    files = [tmp_path / f"{name}.jsonl" for name in "abc"]

    assert met(store, *files)[0] == ["added", "duplicate", "failed"]
    assert met(store, *files, model="m")[0] == ["replaced", "unchanged", "failed"]


def test_a_document_is_read_again_when_what_is_stated_of_it_changes(tmp_path, store):
    """A row that comes, changes or goes; neither its place nor how a date is written. One id."""
    (tmp_path / "a.txt").write_text("甲方案", "utf-8")
    (tmp_path / "b.txt").write_text("乙方案", "utf-8")
    table = tmp_path / "metadata.csv"
    statuses, seen = [], []
    for text in (None, "a,丙,2022-3-5", "a.txt,丙,2022年3月5日", "x,,\na,丁,2022-3-5", None):
        if text is None:
            table.unlink(missing_ok=True)
        else:
            table.write_text(f"file,title,date\n{text}\n", "utf-8")
        statuses.append(met(store, tmp_path)[0])
        (card,) = (c for c in store.document_cards() if c.file.endswith("a.txt"))
        seen.append((card.doc_id, card.title, card.properties.get("stated.issued")))

    assert [first for first, _ in statuses] == [
        "added", "replaced", "unchanged", "replaced", "replaced",
    ]  # fmt: skip
    assert [other for _, other in statuses] == ["added", *["unchanged"] * 4]
    assert len({doc_id for doc_id, _, _ in seen}) == 1
    stated = [("丙", "2022-03-05")] * 2 + [("丁", "2022-03-05")]
    assert [told for _, *told in seen] == [["甲方案", None], *map(list, stated), ["甲方案", None]]


def test_copies_are_one_document_with_one_statement(tmp_path, store):
    """The first of their files, by name, that anything is stated of; no copy undoes it."""
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("甲方案", "utf-8")
    (tmp_path / "y/metadata.csv").write_text("file,title\na,乙\n", "utf-8")

    assert met(store, tmp_path)[0] == ["added", "replaced"]
    assert [card.title for card in store.document_cards()] == ["乙"]
    assert met(store, tmp_path)[0] == ["unchanged", "unchanged"]
    (tmp_path / "x/metadata.csv").write_text("file,title\na,丙\n", "utf-8")
    assert met(store, tmp_path / "y", tmp_path / "x")[0] == ["replaced", "unchanged"]
    assert [card.title for card in store.document_cards()] == ["丙"]
    assert met(store, tmp_path)[0] == ["unchanged", "unchanged"]


def test_records_have_fields_of_their_own(tmp_path, store):
    """A row about their file is not theirs."""
    (tmp_path / "r.jsonl").write_text(
        '{"id": "r1", "title": "甲", "text": "乙。", "a": 1}', "utf-8"
    )
    (tmp_path / "metadata.csv").write_text("file,title\nr.jsonl,丙\n", "utf-8")

    assert met(store, tmp_path)[0] == ["added"]
    (card,) = store.document_cards()
    assert (card.title, card.properties["a"]) == ("甲", "1")
    assert not [name for name in card.properties if name.startswith("stated.")]
