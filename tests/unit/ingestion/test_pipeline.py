"""The order of ingestion on files of one line each; what is read in them has tests of its own."""

from dataclasses import dataclass, field

import pytest

from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelError
from kgrag.ingestion.change_detection import PreparedDocument
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.pipeline import chunks_to_embed, ingest, rules_digest, survey
from kgrag.ingestion.report import Outcome
from kgrag.ingestion.vector_set import VectorSet
from kgrag.store.sqlite.store import SQLiteStore

SIZES = ChunkSizes(64, (32, 16))
VECTORS = VectorSet((16,))


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
    return ingest(
        paths, store=store, embedder=encoder or Encoder(), sizes=SIZES, vectors=VECTORS, **more
    )


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
        found = survey([docs], store=store, sizes=SIZES)
        return [(i if isinstance(i, Outcome) else i.outcome).status for i in found]

    assert statuses() == ["skipped", "added", "added", "added", "duplicate"]
    assert store.document_cards() == []
    run(store, docs)
    assert statuses() == ["skipped", *["unchanged"] * 4]


def test_only_chunks_of_the_sizes_with_vectors_are_encoded(store, docs):
    """Counted before they are."""
    (ready,) = survey([docs / "a.txt"], store=store, sizes=SIZES)
    assert isinstance(ready, PreparedDocument)
    assert ready.bundle
    sizes = [chunk.size for chunk in ready.bundle.chunks]
    for chosen in ((16,), (32, 16), (64,)):
        assert chunks_to_embed(ready, VectorSet(chosen)) == sum(s in chosen for s in sizes)


def test_other_sizes_read_a_file_anew(store, docs):
    """Vectors do not: `reembed` changes them."""
    assert rules_digest(SIZES) != rules_digest(ChunkSizes(64, (32, 8)))
    run(store, docs)
    assert run(store, docs, encoder=Encoder(HashEmbedder(8))).counts["unchanged"] == 4
