"""The order of ingestion: discover, load, prepare, embed, store."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ingestion.chunk import ChunkSizes
from ingestion.embed import embed, texts_to_embed
from ingestion.load import Failure, Source, discover, fingerprint, load_all
from ingestion.prepare import prepare
from ingestion.report import IngestReport, Outcome, Status
from kgrag.embedding.embedder import Embedder
from kgrag.errors import IngestionError
from kgrag.ids import digest
from kgrag.store.store import DocumentBundle, Store
from kgrag.types import Document

RULES_VERSION = "1"  # raise it when loading, structure, chunks or rules come out differently
_BATCH_TEXTS = 256  # texts encoded together; what a kill loses at most

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Ready:
    """A document that waits to be stored, or a copy of one that waits for it to be.

    Attributes:
        source: Absolute path, `#id` appended for a record.
        outcome: What to report once it is stored.
        bundle: None for a copy: only its source is recorded.
    """

    source: str
    outcome: Outcome
    bundle: DocumentBundle | None


def ingest(
    paths: Sequence[Path],
    *,
    store: Store,
    embedder: Embedder,
    sizes: ChunkSizes,
    progress: Progress | None = None,
) -> IngestReport:
    """Take files and folders into a store; return what became of each file.

    What is stored already and unchanged is passed over; a changed file replaces its old self.
    A file that fails is reported and the rest goes on. Every document is stored in one
    transaction, so a run that was killed is simply run again.

    Args:
        paths: Files and folders.
        store: Where they go.
        embedder: Encoder of the knowledge base.
        sizes: Chunk sizes.
        progress: Called with (file, files done, files in all) before each file, and at the end.

    Raises:
        StoreError: If the store itself fails; what was stored before stays.
        ModelError: If the encoder fails.
    """
    started = time.monotonic()
    found = discover(paths)
    outcomes = [Outcome(f.file, "failed", detail=f.reason) for f in found.failures]
    outcomes += [Outcome(str(s.path), "skipped", detail=s.reason) for s in found.skipped]
    reader = _Reader(store, settings=_settings(sizes, embedder.name), sizes=sizes)
    waiting: list[Ready] = []
    for number, source in enumerate(found.sources):
        if progress:
            progress(source.name, number, len(found.sources))
        for item in reader.read(source):
            if isinstance(item, Outcome):
                outcomes.append(item)
                continue
            waiting.append(item)
            if sum(_leaf_count(ready, sizes) for ready in waiting) >= _BATCH_TEXTS:
                outcomes += _store(waiting, store=store, embedder=embedder, sizes=sizes)
                waiting = []
    outcomes += _store(waiting, store=store, embedder=embedder, sizes=sizes)
    if progress:
        progress("", len(found.sources), len(found.sources))
    return IngestReport(tuple(outcomes), time.monotonic() - started)


def plan(
    paths: Sequence[Path], *, store: Store, embedder_name: str, sizes: ChunkSizes
) -> tuple[list[Outcome], int]:
    """Return what `ingest` would make of files and folders, and how many chunks it would encode.

    Files are read; nothing is encoded or stored. Chunks whose text is known already are counted,
    too, so that the number is an upper bound.
    """
    found = discover(paths)
    outcomes = [Outcome(f.file, "failed", detail=f.reason) for f in found.failures]
    outcomes += [Outcome(str(s.path), "skipped", detail=s.reason) for s in found.skipped]
    reader = _Reader(store, settings=_settings(sizes, embedder_name), sizes=sizes)
    n_chunks = 0
    for source in found.sources:
        for item in reader.read(source):
            outcomes.append(item if isinstance(item, Outcome) else item.outcome)
            n_chunks += 0 if isinstance(item, Outcome) else _leaf_count(item, sizes)
    return outcomes, n_chunks


def _settings(sizes: ChunkSizes, embedder_name: str) -> str:
    """Return the hash of everything but the content that decides what is stored."""
    return digest(RULES_VERSION, repr(sizes), embedder_name)


def _leaf_count(ready: Ready, sizes: ChunkSizes) -> int:
    return sum(c.size == sizes.leaf for c in ready.bundle.chunks) if ready.bundle else 0


def _store(
    waiting: Sequence[Ready], *, store: Store, embedder: Embedder, sizes: ChunkSizes
) -> list[Outcome]:
    """Encode the texts of several documents together, then store one after the other."""
    texts = [
        texts_to_embed(
            ready.bundle.document,
            (c for c in ready.bundle.chunks if c.size == sizes.leaf),
            ready.bundle.summaries,
        )
        if ready.bundle
        else []
        for ready in waiting
    ]
    nodes = embed([text for group in texts for text in group], embedder=embedder, store=store)
    at = 0
    for ready, group in zip(waiting, texts, strict=True):
        if ready.bundle is None:
            store.attach_source(ready.source, ready.outcome.doc_id)
            continue
        bundle = replace(ready.bundle, vectors=nodes[at : at + len(group)])
        at += len(group)
        store.upsert_document(bundle, source=ready.source)
    return [ready.outcome for ready in waiting]


class _Reader:
    """Reads files and tells what is new; remembers what the run has met."""

    def __init__(self, store: Store, *, settings: str, sizes: ChunkSizes) -> None:
        self._store = store
        self._settings = settings
        self._sizes = sizes
        states = store.sources()
        self._doc_of = {state.source: state.doc_id for state in states}
        self._fingerprint_of = {state.doc_id: state.fingerprint for state in states}
        self._source_of = {state.doc_id: state.source for state in states}
        self._met: set[str] = set()

    def read(self, source: Source) -> Iterator[Ready | Outcome]:
        """Yield what a file holds, ready to be stored, or what became of it."""
        if source.media_type != "jsonl":
            try:
                doc_id, content_hash = fingerprint(source)
            except IngestionError as exc:
                reason = str(exc).removeprefix(f"{source.name}: ")
                yield Outcome(source.name, "failed", detail=reason)
                return
            known = self._known(source.name, doc_id, content_hash)
            if known is not None:
                yield known
                return
        for document in load_all(source):
            if isinstance(document, Failure):
                yield Outcome(document.file, "failed", detail=document.reason)
            else:
                yield self._ready(document)

    def _ready(self, document: Document) -> Ready | Outcome:
        clash = self._clash(document)
        if clash is not None:
            return Outcome(document.file, "failed", document.doc_id, clash)
        known = self._known(document.file, document.doc_id, document.content_hash)
        if known is not None:
            return known
        source = _absolute(document.file)
        fingerprint_now = self._fingerprint(document.content_hash)
        held = source in self._doc_of or document.doc_id in self._fingerprint_of
        status: Status = "replaced" if held else "added"
        bundle = prepare(
            document, fingerprint=fingerprint_now, sizes=self._sizes, store=self._store
        )
        self._note(source, document.doc_id, fingerprint_now)
        outcome = Outcome(document.file, status, document.doc_id, "", document.warnings)
        return Ready(source, outcome, bundle)

    def _known(self, file: str, doc_id: str, content_hash: str) -> Ready | Outcome | None:
        """Return what becomes of a document that is held just so; None for a new one."""
        fingerprint_now = self._fingerprint(content_hash)
        if self._fingerprint_of.get(doc_id) != fingerprint_now:
            return None
        source = _absolute(file)
        if self._doc_of.get(source) == doc_id:
            self._met.add(source)
            return Outcome(file, "unchanged", doc_id)
        self._note(source, doc_id, fingerprint_now)
        detail = f"same name and content as {self._source_of[doc_id]}"
        return Ready(source, Outcome(file, "duplicate", doc_id, detail), None)

    def _clash(self, document: Document) -> str | None:
        """Return what is wrong if a record's id is taken by another record."""
        source = _absolute(document.file)
        if document.media_type != "jsonl":
            return None
        if source in self._met:
            return f"id {document.doc_id!r} stands twice in this file; give each record its own"
        owner = self._source_of.get(document.doc_id)
        same = self._fingerprint_of.get(document.doc_id) == self._fingerprint(document.content_hash)
        if owner is None or owner == source or same:
            return None
        return (
            f"id {document.doc_id!r} belongs to {owner}, with another text; change one of the "
            "ids, delete that document, or use another knowledge base"
        )

    def _note(self, source: str, doc_id: str, fingerprint_now: str) -> None:
        self._met.add(source)
        self._doc_of[source] = doc_id
        self._fingerprint_of[doc_id] = fingerprint_now
        self._source_of.setdefault(doc_id, source)

    def _fingerprint(self, content_hash: str) -> str:
        return digest(content_hash, self._settings)


def _absolute(file: str) -> str:
    """Return a file's absolute path; a record keeps its `#id`."""
    return str(Path(file).absolute())
