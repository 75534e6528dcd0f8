"""Documents through the pipeline: new, changed, unchanged, read again, retried."""

import json
from contextlib import closing
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag import KnowledgeBase
from kgrag.config import IngestConfig
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelError, ModelOutputError, ModelUnavailableError, TransientModelError
from kgrag.ingestion.change_detection import ChangeDetector, PreparedDocument
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.connect import connect
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.enrich import FailureStreak
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.imports import import_facts, import_summaries
from kgrag.ingestion.load import Source, discover
from kgrag.ingestion.pipeline import chunks_to_embed, ingest, retry_failed, rules_digest, survey
from kgrag.ingestion.prepare import prepare
from kgrag.ingestion.renew import rebuilt, reread
from kgrag.ingestion.report import IngestReport, ModelReport, Outcome
from kgrag.ingestion.target import IngestTarget
from kgrag.llm.chat import StageUsage
from kgrag.qualifiers import Qualifiers
from kgrag.store.sqlite.store import SQLiteStore
from tests.fixtures.readable import SIZES, enricher, facts_in, passage_of, policy

LARGE = ChunkSizes(64, (32, 16))


@dataclass
class Encoder:
    """A stand-in that keeps what it was given together, and may break down."""

    inner: HashEmbedder = field(default_factory=lambda: HashEmbedder(8))
    together: list[list[str]] = field(default_factory=list)
    breaks: bool = False

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def embed(self, texts, task):
        """Encode, unless it is broken."""
        if self.breaks:
            raise ModelError("broken down")
        self.together.append(list(texts))
        return self.inner.embed(texts, task)


def read(detector, source):
    """Return the documents of one file, or their outcomes; it is read in this process."""
    pool = detector.pool(IngestConfig(), alone=True)
    return [item for _, item in detector.read_all([source], pool)]


@pytest.fixture
def store(tmp_path):
    """An empty store."""
    store = SQLiteStore.open(tmp_path / "kb")
    yield store
    store.close()


@pytest.fixture
def docs(tmp_path):
    """Three texts, a copy of one, and a file that is none."""
    folder = tmp_path / "docs"
    folder.mkdir()
    for name in "abc":
        (folder / f"{name}.txt").write_text(f"{name}方案\n创建绿色工厂。\n", "utf-8")
    (folder / "copy").mkdir()
    (folder / "copy" / "a.txt").write_text("a方案\n创建绿色工厂。\n", "utf-8")
    (folder / "d.xyz").write_bytes(b"\x00")
    return folder


def run(store, *paths, encoder=None, **more):
    return ingest(paths, IngestTarget(store, encoder or Encoder(), LARGE), **more)


def test_ingest_stores_what_is_new_and_passes_over_what_is_held(store, docs):
    """A copy is attached to the document that it is; what cannot be read is told."""
    encoder = Encoder()
    assert run(store, docs, encoder=encoder).counts == {"skipped": 1, "added": 3, "duplicate": 1}
    assert sorted(card.title for card in store.document_cards()) == ["a方案", "b方案", "c方案"]
    assert len(store.sources()) == 4
    assert len(encoder.together) == 1  # all texts of a small run at once
    assert store.verify() == []

    (docs / "b.txt").write_text("b规划\n创建绿色工厂。\n", "utf-8")
    again = run(store, docs, encoder=encoder)
    assert again.counts == {"skipped": 1, "unchanged": 3, "replaced": 1}
    assert sorted(card.title for card in store.document_cards()) == ["a方案", "b规划", "c方案"]
    assert len(encoder.together[1]) < len(encoder.together[0])


@pytest.mark.parametrize(("other", "status"), [(LARGE, "unchanged"), (SIZES, "replaced")])
def test_of_two_ingests_at_once_the_later_tells_what_it_did(store, docs, other, status):
    """Whoever stores a document first has added it."""

    class Slow(Encoder):
        def embed(self, texts, task):
            meanwhile.append(ingest([docs], IngestTarget(store, Encoder(), other)))
            return super().embed(texts, task)

    meanwhile: list[IngestReport] = []
    counts = run(store, docs, encoder=Slow()).counts
    assert meanwhile[0].counts["added"] == 3
    assert counts == {"skipped": 1, status: 3, "duplicate": 1}
    assert len(store.document_cards()) == 3


def test_ingest_of_a_file_that_is_not_there_goes_on_with_the_rest(store, docs):
    """It is reported as failed, by name."""
    report = run(store, docs / "none.txt", docs / "a.txt")
    assert [(o.status, o.source.rsplit("/", 1)[-1]) for o in report.outcomes] == [
        ("failed", "none.txt"),
        ("added", "a.txt"),
    ]
    assert report.failed == [report.outcomes[0]]


def test_progress_is_told_before_each_file_and_at_the_end(store, docs):
    """With how many are done, and how many there are."""
    told = []
    run(store, docs / "a.txt", docs / "b.txt", progress=lambda *step: told.append(step))
    assert [(n, of) for _, n, of in told] == [(0, 2), (1, 2), (2, 2)]
    assert told[0][0].endswith("a.txt")
    assert told[-1][0] == ""


def test_an_encoder_that_breaks_down_leaves_nothing_half_stored(store, docs):
    """The run ends; the next one does what is missing."""
    with pytest.raises(ModelError, match="broken down"):
        run(store, docs, encoder=Encoder(breaks=True))
    assert store.document_cards() == []
    assert store.verify() == []
    assert run(store, docs).counts["added"] == 3


def test_survey_tells_what_ingest_would_do_and_does_nothing(store, docs):
    """Nothing is stored, and nothing encoded."""

    def statuses():
        found = survey([docs], IngestTarget(store, Encoder(), LARGE))
        return [(i if isinstance(i, Outcome) else i.outcome).status for i in found]

    assert statuses() == ["skipped", "added", "added", "added", "duplicate"]
    assert store.document_cards() == []
    run(store, docs)
    assert statuses() == ["skipped", *["unchanged"] * 4]


def test_only_the_smallest_chunks_are_encoded(store, docs):
    """Counted before they are."""
    (ready,) = survey([docs / "a.txt"], IngestTarget(store, Encoder(), LARGE))
    assert isinstance(ready, PreparedDocument)
    assert ready.bundle
    sizes = [chunk.size for chunk in ready.bundle.chunks]
    assert chunks_to_embed(ready, 16) == sizes.count(16)


def test_other_sizes_read_a_file_anew(store, docs):
    """Vectors do not: `reembed` changes them."""
    assert rules_digest(LARGE) != rules_digest(ChunkSizes(64, (32, 8)))
    run(store, docs)
    assert run(store, docs, encoder=Encoder(HashEmbedder(8))).counts["unchanged"] == 4


@pytest.fixture
def empty(tmp_path):
    """A store with one document that a model has read."""
    (tmp_path / "a.txt").write_text(policy(0), "utf-8")
    with_model, _ = enricher()
    empty = SQLiteStore.open(tmp_path / "kb")
    ingest(
        [tmp_path / "a.txt"],
        IngestTarget(empty, HashEmbedder(64), SIZES),
        enricher=with_model,
    )
    yield empty
    empty.close()


def again(empty, *, held, text=None, model=""):
    [document] = empty.documents()
    if text is not None:
        document = type(document)(
            document.doc_id, document.title, text, document.file, "txt", document.content_hash
        )
    return prepare(
        document, fingerprint=Fingerprint("new", model), held=held, sizes=SIZES, store=empty
    )


def extractors(bundle):
    """Return who found facts, the rules left out."""
    found = {e.extractor for f in bundle.facts for e in f.evidence}
    return found - {"rules"}


def test_prepare_without_a_model_keeps_what_one_has_read(empty):
    """New rules do not throw away what was paid for, and the fingerprint says whose it is."""
    bundle = again(empty, held=Fingerprint("old", "m1"))

    assert extractors(bundle) == {"m"}
    assert bundle.fingerprint == "new+m1"


def test_prepare_keeps_what_stands_beside_a_kept_fact(empty):
    """On the new chunks as on the old ones."""
    facts, mentions, _ = empty.knowledge_of(empty.document_cards()[0].doc_id)
    fact = next(f for f in facts if f.evidence[0].extractor == "m")
    others = [f for f in facts if f is not fact]
    told = Qualifiers("target", value="7", unit="家", year="2025")
    by_model = (e for e in fact.evidence if e.extractor == "m")
    said = replace(fact, evidence=tuple(replace(e, qualifiers=told) for e in by_model))
    doc_id = fact.evidence[0].doc_id
    empty.replace_knowledge(doc_id, facts=[said, *others], mentions=mentions)

    bundle = again(empty, held=Fingerprint("old", "m1"))
    kept = {
        f.fact_id: {e.qualifiers for e in f.evidence if e.extractor != "rules"}
        for f in bundle.facts
    }
    assert kept.pop(fact.fact_id) == {told}
    assert not any(told in qualifiers for qualifiers in kept.values())


def test_prepare_after_failures_has_the_next_model_read_again(empty):
    """The marks were positions among the old chunks."""
    bundle = again(empty, held=Fingerprint("old", "m1", (0,)))

    assert extractors(bundle) == {"m"}
    assert bundle.fingerprint == "new"


def test_prepare_with_a_model_is_fingerprinted_as_its_reading(empty):
    """The earlier reading stays until the new one replaces it, passage by passage."""
    bundle = again(empty, held=Fingerprint("old", "m1"), model="m2")

    assert extractors(bundle) == {"m"}
    assert bundle.fingerprint == "new+m2"


def test_prepare_of_another_text_keeps_nothing(empty):
    """Offsets of the old text say nothing about the new one."""
    bundle = again(empty, held=Fingerprint("old", "m1"), text="另一份方案，没有目标。")

    assert extractors(bundle) == set()
    assert bundle.fingerprint == "new"


def test_prepare_of_a_new_document_does_not_ask_the_store(empty):
    """Nothing is held of it."""
    bundle = again(empty, held=None)

    assert extractors(bundle) == set()


@pytest.fixture
def known(tmp_path):
    """An empty store."""
    known = SQLiteStore.open(tmp_path / "kb")
    yield known
    known.close()


def met(known, *paths, model="", rename=None):
    """Return what becomes of files, and store what is ready; with how many passages wait."""
    incoming = ChangeDetector(known, settings="s", model=model, sizes=SIZES)
    statuses, waiting = [], 0
    for source in discover(paths).sources:
        for item in read(incoming, source):
            outcome = item if isinstance(item, Outcome) else item.outcome
            statuses.append(outcome.status)
            waiting += outcome.failed_passages
            if not isinstance(item, Outcome) and item.bundle is not None:
                bundle = item.bundle
                if rename:
                    bundle = type(bundle)(bundle.document, rename(bundle.fingerprint))
                known.upsert_document(bundle, source=item.source)
            elif not isinstance(item, Outcome):
                known.attach_source(item.source, outcome.doc_id)
    return statuses, waiting


def test_a_document_is_read_again_by_another_model_only(tmp_path, known):
    """Held as it is for the same model and for none."""
    (tmp_path / "a.txt").write_text("甲方案", "utf-8")
    statuses = [
        met(known, tmp_path / "a.txt", model=model)[0][0] for model in ("", "m", "m", "", "n")
    ]

    assert statuses == ["added", "replaced", "unchanged", "unchanged", "replaced"]


def test_passages_that_failed_wait_and_are_counted(tmp_path, known):
    """The document stays unchanged; a copy adds nothing to the count."""
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("甲方案", "utf-8")
    met(
        known,
        tmp_path / "x",
        model="m",
        rename=lambda fingerprint: f"{fingerprint}!0,3",
    )

    assert met(known, tmp_path / "x", model="m") == (["unchanged"], 2)
    assert met(known, tmp_path / "x", tmp_path / "y", model="m") == (["unchanged", "duplicate"], 2)
    assert met(known, tmp_path / "x") == (["unchanged"], 0)  # no model is missed


def test_a_record_in_two_files_is_one_document_for_any_model(tmp_path, known):
    """Same id and text: a copy. Another text under the same id is a failure."""
    row = {"id": "r1", "title": "甲方案", "text": "推进节能。"}
    for name, text in (("a", row["text"]), ("b", row["text"]), ("c", "另一段。")):
        line = json.dumps({**row, "text": text})
        (tmp_path / f"{name}.jsonl").write_text(line, "utf-8")
    files = [tmp_path / f"{name}.jsonl" for name in "abc"]

    assert met(known, *files)[0] == ["added", "duplicate", "failed"]
    assert met(known, *files, model="m")[0] == ["replaced", "unchanged", "failed"]


def test_a_document_is_read_again_when_what_is_stated_of_it_changes(tmp_path, known):
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
        statuses.append(met(known, tmp_path)[0])
        (card,) = (c for c in known.document_cards() if c.file.endswith("a.txt"))
        seen.append((card.doc_id, card.title, card.properties.get("stated.issued")))

    assert [first for first, _ in statuses] == [
        "added", "replaced", "unchanged", "replaced", "replaced",
    ]  # fmt: skip
    assert [other for _, other in statuses] == ["added", *["unchanged"] * 4]
    assert len({doc_id for doc_id, _, _ in seen}) == 1
    stated = [("丙", "2022-03-05")] * 2 + [("丁", "2022-03-05")]
    assert [told for _, *told in seen] == [["甲方案", None], *map(list, stated), ["甲方案", None]]


def test_copies_are_one_document_with_one_statement(tmp_path, known):
    """The first of their files, by name, that anything is stated of; no copy undoes it."""
    for folder in ("x", "y"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.txt").write_text("甲方案", "utf-8")
    (tmp_path / "y/metadata.csv").write_text("file,title\na,乙\n", "utf-8")

    assert met(known, tmp_path)[0] == ["added", "replaced"]
    assert [card.title for card in known.document_cards()] == ["乙"]
    assert met(known, tmp_path)[0] == ["unchanged", "unchanged"]
    (tmp_path / "x/metadata.csv").write_text("file,title\na,丙\n", "utf-8")
    assert met(known, tmp_path / "y", tmp_path / "x")[0] == [
        "replaced",
        "unchanged",
    ]
    assert [card.title for card in known.document_cards()] == ["丙"]
    assert met(known, tmp_path)[0] == ["unchanged", "unchanged"]


def test_records_have_fields_of_their_own(tmp_path, known):
    """A row about their file is not theirs."""
    (tmp_path / "r.jsonl").write_text(
        '{"id": "r1", "title": "甲", "text": "乙。", "a": 1}', "utf-8"
    )
    (tmp_path / "metadata.csv").write_text("file,title\nr.jsonl,丙\n", "utf-8")

    assert met(known, tmp_path)[0] == ["added"]
    (card,) = known.document_cards()
    assert (card.title, card.properties["a"]) == ("甲", "1")
    assert not [name for name in card.properties if name.startswith("stated.")]


def test_report_counts_files_and_names_those_to_look_at():
    """A document of which a passage failed is one of them, though it is stored."""
    good, bad = Outcome("a", "added"), Outcome("b", "failed", detail="broken")
    partly = Outcome("c", "added", failed_passages=2)
    report = IngestReport((good, bad, partly), 1.0)

    assert report.counts == {"added": 2, "failed": 1}
    assert report.failed == [bad, partly]


def test_model_report_adds_up_its_stages():
    """Nothing spent is nothing, not an error."""
    spent = {"extract": StageUsage(1, 0, 10, 5), "summarize": StageUsage(2, 1, 20, 6)}

    assert ModelReport(spent=spent).total == StageUsage(3, 1, 30, 11)
    assert ModelReport().total == StageUsage()


PLAN = "云岭省节能、节水规划\n云政发〔2022〕3号\n到2025年，绿色工厂达到50家。\n云岭省人民政府\n"
SPELLINGS = ("云岭省节能、节水规划", "云岭省节能节水规划", "云岭省节能，节水规划")


@pytest.fixture
def kb(tmp_path):
    """A knowledge base of policies that cite another, each in its own spelling."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for i, title in enumerate(SPELLINGS * 2):
        text = f"云岭省节能措施之{i}\n为落实《{title}》，制定本措施。\n云岭省人民政府\n"
        (docs / f"{i}.txt").write_text(text, "utf-8")
    with KnowledgeBase.open(tmp_path / "kb", embedder=HashEmbedder(64)) as kb:
        kb.ingest(docs)
        (docs / "plan.txt").write_text(PLAN, "utf-8")
        kb.ingest(docs)
        yield kb


def test_one_run_connects_every_spelling(kb):
    """A node is renamed while others leave it; its last citation is connected all the same."""
    plan = kb.find_document("plan.txt").doc_id
    cited = [c for c in kb.store.statements("reference") if c.doc_id != plan]
    assert [bool(c.qualifiers.match) for c in cited] == [True] * len(SPELLINGS * 2)
    assert len({c.fact.object.entity_id for c in cited}) == 1
    assert connect(kb.store) == 0


def test_a_document_is_made_anew_with_what_is_stated_of_it(tmp_path):
    """The same document with the same fingerprint: the next ingest finds it unchanged."""
    file = tmp_path / "a.txt"
    file.write_text("云岭省节能规划\n推进节能。", "utf-8")
    (tmp_path / "metadata.csv").write_text("file,title\na,甲\n", "utf-8")
    with closing(SQLiteStore.open(tmp_path / "kb")) as store:
        detector = ChangeDetector(store, settings=rules_digest(SIZES), model="", sizes=SIZES)
        (ready,) = read(detector, Source(file))
        assert isinstance(ready, PreparedDocument)
        assert ready.bundle is not None
        again = reread(ready.outcome.doc_id, [str(tmp_path / "gone.txt"), str(file)])
        assert again is not None
        assert again.title == "甲"
        made = rebuilt(again, store=store, curation=Curation.of(store), sizes=SIZES, fingerprint="")

    assert made.fingerprint == ready.bundle.fingerprint


hashes = st.text("0123456789abcdef", min_size=1, max_size=16)
marks = st.sets(st.integers(0, 999)).map(lambda found: tuple(sorted(found)))


@given(hashes, hashes, marks)
def test_fingerprint_reads_what_it_writes(offline, model, failed):
    """What the store keeps comes back whole."""
    fingerprint = Fingerprint(offline, model, failed)

    assert Fingerprint.parse(str(fingerprint)) == fingerprint


@pytest.mark.parametrize(
    ("fingerprint", "text"),
    [
        (Fingerprint("ab"), "ab"),
        (Fingerprint("ab", "cd"), "ab+cd"),
        (Fingerprint("ab", "cd", (0, 12)), "ab+cd!0,12"),
    ],
)
def test_fingerprint_is_written_in_parts(fingerprint, text):
    """A knowledge base of before models has the first part only."""
    assert str(fingerprint) == text


@pytest.mark.parametrize(
    ("held", "wanted", "covered"),
    [
        ("ab", "ab", True),
        ("ab", "ax", False),
        ("ab+cd", "ab", True),  # a run without a model drops nothing
        ("ab+cd!1", "ab", True),
        ("ab", "ab+cd", False),
        ("ab+cd", "ab+cd", True),
        ("ab+cd!1", "ab+cd", True),  # failed passages wait for --retry-failed
        ("ab+cd", "ab+xx", False),
        ("ab+cd", "ax+cd", False),
    ],
)
def test_fingerprint_covers_what_needs_no_more_work(held, wanted, covered):
    """Content and rules must be equal, and the model where one is to read."""
    assert Fingerprint.parse(held).covers(Fingerprint.parse(wanted)) is covered


def test_fingerprint_is_of_what_is_stated_too():
    """Nothing stated is the fingerprint that it was before there were statements."""
    plain = Fingerprint.of("c", "txt", settings="s")

    assert Fingerprint.of("c", "txt", settings="s", stated="") == plain
    assert Fingerprint.of("c", "txt", settings="s", stated="ab") != plain


EMBEDDER = HashEmbedder(64)


def target(store):
    return IngestTarget(store, EMBEDDER, SIZES)


@pytest.fixture
def three(tmp_path):
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


def take_in(store, three, reader):
    return ingest([three], target(store), enricher=reader)


def retry(store, reader, paths=()):
    return retry_failed(paths, target(store), enricher=reader)


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


def test_retry_completes_what_failed_and_asks_nothing_else(three, open_store):
    """In the end everything is as if nothing had ever failed; the files are not needed."""
    whole = open_store("whole")
    take_in(whole, three, enricher()[0])

    store = open_store()
    report = take_in(store, three, enricher(failing("第12号", "第113号", "第139号"))[0])
    assert [o.failed_passages for o in report.outcomes] == [1, 2]
    (three / "a.txt").unlink()
    reader, model = enricher()
    report = retry(store, reader)

    assert len(model.requests) == 3
    assert report.counts == {"retried": 2}
    assert not report.failed
    assert lines(store) == lines(whole)
    assert retry(store, enricher()[0]).outcomes == ()


def test_retry_when_some_still_fail_keeps_their_marks(three, open_store):
    """What came is stored; the rest can be asked for again."""
    store = open_store()
    take_in(store, three, enricher(failing("第12号", "第39号"))[0])
    report = retry(store, enricher(failing("第39号"))[0])

    assert [o.failed_passages for o in report.outcomes] == [1]
    assert report.failed
    reader, model = enricher()
    assert not retry(store, reader).failed
    assert len(model.requests) == 1


def test_retry_when_nothing_comes_changes_nothing(three, open_store):
    """An endpoint that is still away costs no writing."""
    store = open_store()
    away = failing("号", error=ModelUnavailableError("away"))
    take_in(store, three, enricher(away)[0])
    before = store.change_counter()
    report = retry(store, enricher(away)[0])

    assert report.model.unavailable == "away"
    assert store.change_counter() == before


def test_retry_of_some_paths_leaves_the_others(three, open_store):
    """A file, or a folder above it."""
    store = open_store()
    take_in(store, three, enricher(failing("号"))[0])

    assert len(retry(store, enricher()[0], [three / "b.txt"]).outcomes) == 1
    assert len(retry(store, enricher()[0], [three.parent / "other"]).outcomes) == 0
    assert len(retry(store, enricher()[0], [three]).outcomes) == 1


@pytest.mark.parametrize("names", [("a.txt",), ("a.txt", "b.txt", "c.txt")])
def test_retry_comes_to_every_passage_though_the_first_never_succeed(tmp_path, open_store, names):
    """Passages and documents that fail for ever do not stand before the others for ever."""
    three = tmp_path / "many"
    three.mkdir()
    for name in names:
        first = 1000 if name == names[-1] else 0
        (three / name).write_text(policy(first, 400), "utf-8")
    store = open_store()
    take_in(store, three, enricher(failing("号"))[0])

    def script(request):
        return facts_in(request) if "第1399号" in passage_of(request) else "不是JSON"

    for _ in range(100):  # each gives up after 20 passages
        report = retry(store, enricher(script, workers=1)[0])
        if report.model.passages:
            break
    assert report.model.passages
    sources = [outcome.source for outcome in report.outcomes]
    assert sources == sorted(sources)


def test_retry_with_another_model_sends_the_user_to_ingest(three, open_store):
    """Positions of passages mean something under the same settings only."""
    store = open_store()
    take_in(store, three, enricher(failing("第12号"))[0])
    report = retry(store, enricher(name="other")[0])

    assert report.counts == {"skipped": 1}
    assert "ingest the file again" in report.outcomes[0].detail


def test_ingest_again_leaves_failed_passages_and_says_so(three, open_store):
    """An ordinary run does not pay for them again."""
    store = open_store()
    take_in(store, three, enricher(failing("第12号", "第39号"))[0])
    reader, model = enricher()
    report = take_in(store, three, reader)

    assert report.counts == {"unchanged": 2}
    assert [outcome.failed_passages for outcome in report.failed] == [2]
    assert report.to_dict()["waiting"] == 2
    assert "2 passage(s) could not be read before" in report.failed[0].detail
    report = take_in(store, three, None)  # without a model nothing is missing
    assert not report.failed
    assert model.requests == []


def test_ingest_without_a_model_drops_nothing(three, open_store):
    """What was paid for stays; documents that no model read are read by the next one."""
    store = open_store()
    take_in(store, three, None)
    by_rule = lines(store)
    assert take_in(store, three, None).counts == {"unchanged": 2}

    assert take_in(store, three, enricher()[0]).counts == {"replaced": 2}
    read = lines(store)
    assert len(read) > len(by_rule)

    assert take_in(store, three, None).counts == {"unchanged": 2}
    assert lines(store) == read


def test_another_model_replaces_what_the_first_gave_and_keeps_imports(three, open_store, tmp_path):
    """Facts of the earlier model go; imported facts and summaries stay."""
    store = open_store()
    take_in(store, three, enricher()[0])
    fact = {"doc": "a", "start": 0, "end": 7, "triples": [["甲", "是", "方案"]]}
    summary = {"doc": "a", "start": 0, "end": 50, "summary": "减排目标"}
    (tmp_path / "f.jsonl").write_text(json.dumps(fact), "utf-8")
    (tmp_path / "s.jsonl").write_text(json.dumps(summary), "utf-8")
    assert import_facts(tmp_path / "f.jsonl", target(store)).facts == 1
    import_summaries(tmp_path / "s.jsonl", target(store))

    report = take_in(store, three, enricher(lambda request: '{"facts": []}', name="n")[0])

    assert report.counts == {"replaced": 2}
    assert lines(store)
    doc_id = next(d.doc_id for d in store.document_cards() if "a.txt" in d.file)
    facts, _, summaries = store.knowledge_of(doc_id)
    extractors = {e.extractor for f in facts for e in f.evidence}
    assert extractors - {"rules"} == {"import"}
    assert [s.text for s in summaries] == ["减排目标"]


def test_another_model_that_fails_leaves_what_the_first_gave(three, open_store):
    """Nothing that was paid for is lost before something better is there."""
    store = open_store()
    take_in(store, three, enricher()[0])
    before = {f.fact_id for d in store.document_cards() for f in store.knowledge_of(d.doc_id)[0]}
    take_in(store, three, enricher(failing("第12号"), name="n")[0])

    facts = [f for d in store.document_cards() for f in store.knowledge_of(d.doc_id)[0]]
    assert {f.fact_id for f in facts} == before
    extractors = {f.object.name: {e.extractor for e in f.evidence} for f in facts}
    assert extractors["2030年减排12吨"] == {"m", "rules"}
    assert extractors["2030年减排39吨"] == {"n", "rules"}
    retry(store, enricher(name="n")[0])
    facts = [f for d in store.document_cards() for f in store.knowledge_of(d.doc_id)[0]]
    assert {e.extractor for f in facts for e in f.evidence} == {"n", "rules"}


NONSENSE = ModelOutputError("no JSON", kind="malformed")


def after(n, *, documents=1, error=NONSENSE, streak=None):
    """Return a streak after so many failures, spread over so many documents."""
    streak = streak or FailureStreak()
    for i in range(n):
        streak.failed(f"d-{i % documents}", error)
    return streak


@pytest.mark.parametrize(
    "error",
    [
        *(ModelOutputError("x", kind=k) for k in ("refused", "filtered", "language", "truncated")),
        TransientModelError("busy"),
    ],
)
def test_what_the_text_or_the_network_is_to_blame_for_does_not_count(error):
    """A model that declines a document reads the next one."""
    assert after(50, documents=5, error=error).error() is None
