import json
from typing import Any

import pytest

from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelOutputError, ModelUnavailableError
from kgrag.ingestion.imports import import_facts, import_summaries
from kgrag.ingestion.pipeline import ingest
from kgrag.ingestion.retry import retry_failed
from kgrag.ingestion.vector_set import VectorSet
from kgrag.store.sqlite.store import SQLiteStore
from tests.fixtures.readable import SIZES, enricher, facts_in, passage_of, policy

EMBEDDER = HashEmbedder(64)
GIVEN: dict[str, Any] = {"embedder": EMBEDDER, "sizes": SIZES, "vectors": VectorSet((SIZES.leaf,))}


@pytest.fixture
def docs(tmp_path):
    """Two documents of several passages."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "a.txt").write_text(policy(0, 40), "utf-8")
    (folder / "b.txt").write_text(policy(100, 40), "utf-8")
    return folder


@pytest.fixture
def open_store(tmp_path):
    """Give stores by name."""
    stores = []

    def opened(name="kb"):
        stores.append(SQLiteStore.open(tmp_path / name))
        return stores[-1]

    yield opened
    for store in stores:
        store.close()


def take_in(store, docs, reader):
    return ingest([docs], store=store, **GIVEN, enricher=reader)


def retry(store, reader, paths=()):
    return retry_failed(paths, store=store, **GIVEN, enricher=reader)


def lines(store):
    assert store.verify() == []
    return [json.dumps(record, sort_keys=True, ensure_ascii=False) for record in store.export()]


def failing(*words, error=None):
    """Return a script that fails for passages with one of the words."""

    def script(request):
        if any(word in passage_of(request) for word in words):
            raise error or ModelOutputError("no", kind="refused")
        return facts_in(request)

    return script


def test_retry_completes_what_failed_and_asks_nothing_else(docs, open_store):
    """In the end everything is as if nothing had ever failed; the files are not needed."""
    whole = open_store("whole")
    take_in(whole, docs, enricher()[0])

    store = open_store()
    report = take_in(store, docs, enricher(failing("第12号", "第113号", "第139号"))[0])
    assert [o.failed_passages for o in report.outcomes] == [1, 2]
    (docs / "a.txt").unlink()
    reader, model = enricher()
    report = retry(store, reader)

    assert len(model.requests) == 3
    assert report.counts == {"retried": 2}
    assert not report.failed
    assert lines(store) == lines(whole)
    assert retry(store, enricher()[0]).outcomes == ()


def test_retry_when_some_still_fail_keeps_their_marks(docs, open_store):
    """What came is stored; the rest can be asked for again."""
    store = open_store()
    take_in(store, docs, enricher(failing("第12号", "第39号"))[0])
    report = retry(store, enricher(failing("第39号"))[0])

    assert [o.failed_passages for o in report.outcomes] == [1]
    assert report.failed
    reader, model = enricher()
    assert not retry(store, reader).failed
    assert len(model.requests) == 1


def test_retry_when_nothing_comes_changes_nothing(docs, open_store):
    """An endpoint that is still away costs no writing."""
    store = open_store()
    away = failing("号", error=ModelUnavailableError("away"))
    take_in(store, docs, enricher(away)[0])
    before = store.change_counter()
    report = retry(store, enricher(away)[0])

    assert report.model.unavailable == "away"
    assert store.change_counter() == before


def test_retry_of_some_paths_leaves_the_others(docs, open_store):
    """A file, or a folder above it."""
    store = open_store()
    take_in(store, docs, enricher(failing("号"))[0])

    assert len(retry(store, enricher()[0], [docs / "b.txt"]).outcomes) == 1
    assert len(retry(store, enricher()[0], [docs.parent / "other"]).outcomes) == 0
    assert len(retry(store, enricher()[0], [docs]).outcomes) == 1


@pytest.mark.parametrize("names", [("a.txt",), ("a.txt", "b.txt", "c.txt")])
def test_retry_comes_to_every_passage_though_the_first_never_succeed(tmp_path, open_store, names):
    """Passages and documents that fail for ever do not stand before the others for ever."""
    docs = tmp_path / "many"
    docs.mkdir()
    for name in names:
        first = 1000 if name == names[-1] else 0
        (docs / name).write_text(policy(first, 400), "utf-8")
    store = open_store()
    take_in(store, docs, enricher(failing("号"))[0])

    def script(request):
        return facts_in(request) if "第1399号" in passage_of(request) else "不是JSON"

    for _ in range(100):  # each gives up after 20 passages
        report = retry(store, enricher(script, workers=1)[0])
        if report.model.passages:
            break
    assert report.model.passages
    sources = [outcome.source for outcome in report.outcomes]
    assert sources == sorted(sources)


def test_retry_with_another_model_sends_the_user_to_ingest(docs, open_store):
    """Positions of passages mean something under the same settings only."""
    store = open_store()
    take_in(store, docs, enricher(failing("第12号"))[0])
    report = retry(store, enricher(name="other")[0])

    assert report.counts == {"skipped": 1}
    assert "ingest the file again" in report.outcomes[0].detail


def test_ingest_again_leaves_failed_passages_and_says_so(docs, open_store):
    """An ordinary run does not pay for them again."""
    store = open_store()
    take_in(store, docs, enricher(failing("第12号", "第39号"))[0])
    reader, model = enricher()
    report = take_in(store, docs, reader)

    assert report.counts == {"unchanged": 2}
    assert report.waiting == 2
    assert model.requests == []


def test_ingest_without_a_model_drops_nothing(docs, open_store):
    """What was paid for stays; documents that no model read are read by the next one."""
    store = open_store()
    take_in(store, docs, None)
    by_rule = lines(store)
    assert take_in(store, docs, None).counts == {"unchanged": 2}

    assert take_in(store, docs, enricher()[0]).counts == {"replaced": 2}
    read = lines(store)
    assert len(read) > len(by_rule)

    assert take_in(store, docs, None).counts == {"unchanged": 2}
    assert lines(store) == read


def test_another_model_replaces_what_the_first_gave_and_keeps_imports(docs, open_store, tmp_path):
    """Facts of the earlier model go; imported facts and summaries stay."""
    store = open_store()
    take_in(store, docs, enricher()[0])
    fact = {"doc": "a", "start": 0, "end": 7, "triples": [["甲", "是", "方案"]]}
    summary = {"doc": "a", "start": 0, "end": 50, "summary": "减排目标"}
    (tmp_path / "f.jsonl").write_text(json.dumps(fact), "utf-8")
    (tmp_path / "s.jsonl").write_text(json.dumps(summary), "utf-8")
    assert import_facts(tmp_path / "f.jsonl", store=store, **GIVEN).facts == 1
    import_summaries(tmp_path / "s.jsonl", store=store, **GIVEN)

    report = take_in(store, docs, enricher(lambda request: '{"facts": []}', name="n")[0])

    assert report.counts == {"replaced": 2}
    assert lines(store)
    doc_id = next(d.doc_id for d in store.document_cards() if "a.txt" in d.file)
    facts, _, summaries = store.knowledge_of(doc_id)
    extractors = {e.extractor for f in facts for e in f.evidence}
    assert extractors - {"rules"} == {"import"}
    assert [s.text for s in summaries] == ["减排目标"]


def test_another_model_that_fails_leaves_what_the_first_gave(docs, open_store):
    """Nothing that was paid for is lost before something better is there."""
    store = open_store()
    take_in(store, docs, enricher()[0])
    before = {f.fact_id for d in store.document_cards() for f in store.knowledge_of(d.doc_id)[0]}
    take_in(store, docs, enricher(failing("第12号"), name="n")[0])

    facts = [f for d in store.document_cards() for f in store.knowledge_of(d.doc_id)[0]]
    assert {f.fact_id for f in facts} == before
    extractors = {f.object.name: {e.extractor for e in f.evidence} for f in facts}
    assert extractors["2030年减排12吨"] == {"m", "rules"}
    assert extractors["2030年减排39吨"] == {"n", "rules"}
    retry(store, enricher(name="n")[0])
    facts = [f for d in store.document_cards() for f in store.knowledge_of(d.doc_id)[0]]
    assert {e.extractor for f in facts for e in f.evidence} == {"n", "rules"}
