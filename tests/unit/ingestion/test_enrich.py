import threading
from contextlib import closing
from typing import Any

import pytest

from kgrag.errors import (
    ModelError,
    ModelOutputError,
    ModelUnavailableError,
    RateLimitError,
    TransientModelError,
)
from kgrag.ids import digest
from kgrag.ingestion.change_detection import PreparedDocument
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.prepare import prepare
from kgrag.ingestion.reading import ExtractSettings
from kgrag.ingestion.report import Outcome
from kgrag.llm.chat import StageUsage
from kgrag.types import Document
from tests.fixtures.readable import SIZES, enricher, facts_in, passage_of, policy


def ready(name, text, *, failed=(), status="added"):
    """Return a document as `ChangeDetector` gives it; nothing of it is stored."""
    document = Document(f"d-{name}", name, text, f"{name}.txt", "txt", digest(text))
    fingerprint = Fingerprint("off", "mod", failed)
    store: Any = None  # is asked where something failed before
    bundle = prepare(document, fingerprint=fingerprint, sizes=SIZES, store=store)
    return PreparedDocument(f"/{name}.txt", Outcome(f"{name}.txt", status, document.doc_id), bundle)


def numbered(*items):
    yield from enumerate(items)


def by_model(bundle):
    """Return the amounts of the facts that the model gave; rules found them, too."""
    given = [f.object.name for f in bundle.facts if f.evidence[0].extractor == "m"]
    return [name.removeprefix("2030年减排") for name in given]


def test_documents_come_back_in_order_with_what_was_read():
    """Whatever is done first: items keep their places, numbers and what needs no model."""
    late = threading.Event()

    def script(request):
        if "第0号" in passage_of(request):
            assert late.wait(60)  # the first passage is answered last
        elif "第49号" in passage_of(request):
            late.set()
        return facts_in(request)

    skipped, copy = (
        Outcome("x", "skipped"),
        PreparedDocument("/c", Outcome("c", "duplicate", "d-a"), None),
    )
    reader, _ = enricher(script)
    items = numbered(ready("a", policy(0)), skipped, copy, ready("b", policy(20, 30)))
    found = list(reader.enrich(items))

    assert [number for number, _ in found] == [0, 1, 2, 3]
    assert found[1][1] is skipped
    assert found[2][1] is copy
    assert by_model(found[0][1].bundle) == [f"{n}吨" for n in range(20)]
    assert by_model(found[3][1].bundle) == [f"{n}吨" for n in range(20, 50)]
    report = reader.report()
    assert report.facts == 50
    assert (
        report.passages
        == report.total.calls
        == len(reader.passages_of(found[0][1].bundle))
        + (len(reader.passages_of(found[3][1].bundle)))
    )


def test_as_many_passages_are_read_at_once_as_there_are_workers():
    """Four calls must be under way together for any of them to be answered."""
    together = threading.Barrier(4, timeout=5)

    def script(request):
        together.wait()
        return facts_in(request)

    reader, _ = enricher(script, workers=4)
    text = policy(0, 8)
    assert len(reader.passages_of(ready("a", text).bundle)) == 1

    found = list(reader.enrich(numbered(*(ready(f"{n}", text) for n in range(8)))))

    assert len(found) == 8
    assert not reader.report().failed


def test_items_are_taken_ahead_but_not_without_bound():
    """Enough to keep the workers busy behind a slow passage; not a whole archive."""
    taken = 0
    enough = threading.Event()

    def items():
        nonlocal taken
        for n in range(100):
            taken += 1
            if taken == 10:
                enough.set()
            yield n, ready(f"{n}", policy(n, 3))

    def script(request):
        assert enough.wait(60)
        return facts_in(request)

    reader, _ = enricher(script, workers=1)
    with closing(reader.enrich(items())) as found:
        next(found)

        assert 10 <= taken <= 17


def test_nothing_more_is_asked_when_the_caller_stops():
    """Calls that were begun end; those that wait are not made."""
    reader, model = enricher(workers=1)
    found = reader.enrich(numbered(*(ready(f"{n}", policy(n, 3)) for n in range(100))))
    next(found)
    found.close()

    assert len(model.requests) <= 18


def stoppable(script=facts_in, **options):
    """Return an enricher and a list that tells whether it was stopped."""
    stops = []
    reader, _ = enricher(script, stop=lambda: stops.append("stop"), **options)
    return reader, stops


def test_an_interrupted_run_stops_the_calls_that_wait_to_be_tried_again():
    """Before the calls under way are waited for: one that sleeps would keep all waiting."""
    begun, stopped = threading.Event(), threading.Event()
    ended = []

    def script(request):
        begun.set()
        ended.append(stopped.wait(60))  # as a retry that waits for its next attempt
        raise TransientModelError("stopped")

    reader, _ = enricher(script, stop=stopped.set, workers=1)

    def items():
        yield 0, ready("a", policy(0))
        assert begun.wait(60)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(reader.enrich(items()))
    assert ended == [True]


def test_a_run_that_is_closed_early_is_stopped_and_one_that_ends_is_not():
    """The models may be asked more after a run that went well."""
    reader, stops = stoppable()
    list(reader.enrich(numbered(ready("a", policy(0)))))
    reader.sample(lambda: [ready("a", policy(0)).bundle], 1)
    assert stops == []
    found = reader.enrich(numbered(ready("a", policy(0)), ready("b", policy(50))))
    next(found)
    found.close()
    assert stops == ["stop"]


def test_a_sample_that_fails_asks_no_more():
    """An endpoint that is not there is told at once."""

    def script(request):
        raise ModelUnavailableError("not there")

    reader, stops = stoppable(script)
    with pytest.raises(ModelUnavailableError):
        reader.sample(lambda: [ready("a", policy(0)).bundle], 1)
    assert stops == ["stop"]


def test_a_passage_that_fails_leaves_the_others():
    """It is marked by its position, told with its place, and counted by kind."""

    def script(request):
        if "第12号" in passage_of(request):
            raise ModelOutputError("the answer says no", kind="refused")
        return facts_in(request)

    reader, _ = enricher(script)
    [(_, item)] = reader.enrich(numbered(ready("a", policy(0, 40))))

    failed = Fingerprint.parse(item.bundle.fingerprint).failed
    assert len(failed) == item.outcome.failed_passages == 1
    [passage] = [p for p in reader.passages_of(item.bundle) if p.position in failed]
    assert "第12号" in passage.text
    assert "1 refused" in item.outcome.detail
    assert f"characters {passage.start} to {passage.end}" in item.outcome.detail
    assert "12吨" not in by_model(item.bundle)
    assert {"0吨", "39吨"} <= set(by_model(item.bundle))
    assert reader.report().failed == {"refused": 1}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ModelOutputError("x", kind="truncated"), "truncated"),
        (RateLimitError("x"), "rate limit"),
        (TransientModelError("x"), "connection"),
        (ModelError("x"), "call refused"),
    ],
)
def test_failures_are_counted_by_kind(error, kind):
    """A user sees whether to wait, to ask for less, or to change the settings."""

    def script(request):
        raise error

    reader, _ = enricher(script)
    list(reader.enrich(numbered(ready("a", "到2030年，减排5吨。"))))

    assert reader.report().failed == {kind: 1}


def test_a_model_that_is_not_there_is_told_once():
    """Documents keep what rules found; every passage is marked; one message for all."""

    def script(request):
        raise ModelUnavailableError("no key: set KEY")

    reader, _ = enricher(script)
    items = [ready("a", policy(0)), ready("b", policy(50))]
    found = [item for _, item in reader.enrich(numbered(*items))]

    for before, after in zip(items, found, strict=True):
        assert after.bundle.facts == before.bundle.facts
        n_passages = len(reader.passages_of(before.bundle))
        assert Fingerprint.parse(after.bundle.fingerprint).failed == tuple(range(n_passages))
        assert after.outcome.detail == ""
        assert after.outcome.failed_passages == n_passages
    assert reader.report().unavailable == "no key: set KEY"
    assert set(reader.report().failed) == {"unavailable"}


def test_a_model_that_answers_nonsense_is_given_up():
    """It costs as much as a good one; what is left is marked and told once."""
    reader, _ = enricher(lambda _: "不是JSON", workers=1)
    items = numbered(*(ready(f"{n}", policy(n, 1)) for n in range(30)))
    found = list(reader.enrich(items))
    report = reader.report()
    assert report.failed == {"malformed": 20, "unavailable": 10}
    assert "20 passages in a row" in report.unavailable
    assert report.total.calls == 40  # each asked once more
    assert all(Fingerprint.parse(r.bundle.fingerprint).failed == (0,) for _, r in found)


def test_a_good_answer_now_and_then_keeps_a_model_going():
    """Only nonsense in a row counts."""

    def script(request):
        good = "第0号" in request.messages[1].content
        return facts_in(request) if good else "不是JSON"

    reader, _ = enricher(script, workers=1)
    items = numbered(*(ready(f"{n}", policy(0 if n % 15 == 14 else 5, 1)) for n in range(45)))
    list(reader.enrich(items))
    assert not reader.report().unavailable


def test_one_document_of_bad_tables_does_not_stop_the_others():
    """The model has shown that it can answer."""

    def script(request):
        return facts_in(request) if "第0号" in passage_of(request) else "不是JSON"

    reader, _ = enricher(script, workers=1)
    items = numbered(ready("a", policy(0, 1)), ready("b", policy(10, 250)))
    list(reader.enrich(items))
    assert reader.report().failed["malformed"] > 20
    assert not reader.report().unavailable


def test_what_a_model_declines_does_not_stop_it():
    """Nor does a filter: the next document may pass."""
    reader, _ = enricher(lambda _: ModelOutputError("no", kind="filtered"), workers=1)
    list(reader.enrich(numbered(*(ready(f"{n}", policy(n, 1)) for n in range(30)))))
    assert reader.report().failed == {"filtered": 30}


def test_a_model_that_cannot_be_built_fails_its_passages_only():
    """A missing key is found when the model is first asked for."""
    reader, _ = enricher()

    def model_of(stage):
        raise ModelUnavailableError("no key")

    reader._model_of = model_of
    [(_, item)] = reader.enrich(numbered(ready("a", "到2030年，减排5吨。")))

    assert item.outcome.failed_passages == 1


def test_a_retry_asks_for_the_failed_passages_only():
    """What was read before stays; a document of which nothing came is not written again."""
    reader, model = enricher()
    [(_, item)] = reader.enrich(numbered(ready("a", policy(0), failed=(1,), status="retried")))

    assert [request.anew for request in model.requests] == [True]
    assert Fingerprint.parse(item.bundle.fingerprint) == Fingerprint("off", "mod")

    def script(request):
        raise ModelOutputError("x", kind="empty")

    reader, _ = enricher(script)
    [(_, item)] = reader.enrich(numbered(ready("a", policy(0), failed=(1,), status="retried")))

    assert isinstance(item, Outcome)
    assert item.failed_passages == 1


def test_sample_reads_some_passages_the_same_each_time():
    """They are spread over the documents; an endpoint that is not there is an error."""
    bundles = [ready(f"{n}", policy(n * 20)).bundle for n in range(6)]
    first, model = enricher()
    second, again = enricher()
    first.sample(lambda: bundles, 5)
    second.sample(lambda: reversed(bundles), 5)

    assert len(model.requests) == 5
    assert len({r.doc_id for r in model.requests}) == 5
    assert {r.messages for r in model.requests} == {r.messages for r in again.requests}
    assert first.report().total == StageUsage(5, 0, *_tokens(model))

    def script(request):
        raise ModelUnavailableError("not there")

    broken, _ = enricher(script)
    with pytest.raises(ModelUnavailableError, match="not there"):
        broken.sample(lambda: bundles, 1)


def _tokens(model):
    sent = sum(len(m.content) for r in model.requests for m in r.messages)
    return sent, sum(len(facts_in(r)) for r in model.requests)


def test_identity_depends_on_settings_and_models():
    """Another model or prompt reads a document again; another key or speed does not."""
    other = ExtractSettings(calls="facts", passage_chars=300)
    identities = [
        enricher()[0].identity,
        enricher(name="n")[0].identity,
        enricher(settings=other)[0].identity,
    ]

    assert len(set(identities)) == 3
    assert enricher(workers=9)[0].identity == identities[0]


def test_requests_are_those_that_are_sent():
    """A dry run counts what a run asks."""
    reader, model = enricher()
    item = ready("a", policy(0))
    planned = [r.messages for r in reader.requests(item.bundle)]
    list(reader.enrich(numbered(item)))

    assert sorted(map(str, planned)) == sorted(str(r.messages) for r in model.requests)
