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
