from contextlib import closing

from kgrag.ingestion.change_detection import ChangeDetector, PreparedDocument
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.load import Source
from kgrag.ingestion.pipeline import rules_digest
from kgrag.ingestion.reread import rebuilt, reread
from kgrag.store.sqlite.store import SQLiteStore
from tests.fixtures.readable import SIZES


def test_a_document_is_made_anew_with_what_is_stated_of_it(tmp_path):
    """The same document with the same fingerprint: the next ingest finds it unchanged."""
    file = tmp_path / "a.txt"
    file.write_text("云岭省节能规划\n推进节能。", "utf-8")
    (tmp_path / "metadata.csv").write_text("file,title\na,甲\n", "utf-8")
    with closing(SQLiteStore.open(tmp_path / "kb")) as store:
        detector = ChangeDetector(store, settings=rules_digest(SIZES), model="", sizes=SIZES)
        (ready,) = detector.read(Source(file))
        assert isinstance(ready, PreparedDocument)
        assert ready.bundle is not None
        again = reread(ready.outcome.doc_id, [str(tmp_path / "gone.txt"), str(file)])
        assert again is not None
        assert again.title == "甲"
        made = rebuilt(again, store=store, curation=Curation.of(store), sizes=SIZES, fingerprint="")

    assert made.fingerprint == ready.bundle.fingerprint
