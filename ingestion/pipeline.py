"""The order of ingestion: discover, load, prepare, enrich, embed, store, connect."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.config import IngestConfig
from kgrag.embedding.embedder import Embedder
from kgrag.ids import digest
from kgrag.ingestion.change_detection import ChangeDetector, PreparedDocument
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.connect import connect
from kgrag.ingestion.embed import embed, texts_to_embed
from kgrag.ingestion.load import Discovery, Sidecars, Source, discover
from kgrag.ingestion.report import IngestReport, Outcome
from kgrag.ingestion.vector_set import VectorSet
from kgrag.ingestion.workers.pool import is_small
from kgrag.store.store import Store
from kgrag.text.visible import shown_path

if TYPE_CHECKING:
    from kgrag.ingestion.enrich import Enricher, Numbered

RULES_VERSION = "22"  # raise it when loading, structure, chunks or rules come out differently
_BATCH_TEXTS = 256  # texts encoded together; what a kill loses at most

Progress = Callable[[str, int, int], None]


def ingest(
    paths: Sequence[Path],
    *,
    store: Store,
    embedder: Embedder,
    sizes: ChunkSizes,
    vectors: VectorSet,
    enricher: "Enricher | None" = None,
    progress: Progress | None = None,
    follow_links: bool = False,
    limits: IngestConfig = IngestConfig(),  # noqa: B008 - frozen
) -> IngestReport:
    """Take files and folders into a store; return what became of each file.

    What is stored already and unchanged is passed over; a changed file replaces its old self.
    A file that fails is reported and the rest goes on. Every document is stored in one
    transaction with all that was read in it, so a run that was killed is simply run again.

    Args:
        paths: Files and folders.
        store: Where they go.
        embedder: Encoder of the knowledge base.
        sizes: Chunk sizes.
        vectors: Which nodes carry vectors.
        enricher: Has models read the documents; None takes them in by rules alone.
        progress: Called with (file, files done, files in all): without models before each
            file, with them as documents are done or waited for; and at the end.
        follow_links: As for `discover`.
        limits: Of time, memory and size for each file, and how many are read at once.

    Raises:
        StoreError: If the store itself fails; what was stored before stays.
        ModelError: If the encoder fails.
    """
    started = time.monotonic()
    found = discover(paths, follow_links=follow_links)
    model = enricher.identity if enricher else ""
    sidecars = Sidecars(found.sidecars)
    detector = _detector(store, sizes=sizes, model=model, sidecars=sidecars)
    outcomes = _not_read(found, sidecars)
    outcomes += store_all(
        _read_all(found, detector, None if enricher else progress, limits),
        n_files=len(found.sources),
        store=store,
        embedder=embedder,
        vectors=vectors,
        enricher=enricher,
        progress=progress,
    )
    connect(store)
    return IngestReport(
        tuple(outcomes),
        time.monotonic() - started,
        model=enricher.report() if enricher else None,
        waiting=detector.waiting,
    )


def survey(
    paths: Sequence[Path],
    *,
    store: Store,
    sizes: ChunkSizes,
    model: str = "",
    follow_links: bool = False,
    limits: IngestConfig = IngestConfig(),  # noqa: B008 - frozen
) -> Iterator[PreparedDocument | Outcome]:
    """Yield what `ingest` would make of files and folders.

    Files are read; nothing is asked, encoded or stored.

    Args:
        paths: Files and folders.
        store: Where they would go.
        sizes: Chunk sizes.
        model: `Enricher.identity`; empty for a run without models.
        follow_links: As for `discover`.
        limits: As for `ingest`.
    """
    found = discover(paths, follow_links=follow_links)
    sidecars = Sidecars(found.sidecars)
    yield from _not_read(found, sidecars)
    detector = _detector(store, sizes=sizes, model=model, sidecars=sidecars)
    for _, item in _read_all(found, detector, None, limits):
        yield item


def rules_digest(sizes: ChunkSizes) -> str:
    """Return the hash of everything but the content that decides what rules make of a file."""
    return digest(RULES_VERSION, repr(sizes))  # vectors are not of it: reembed changes them


def chunks_to_embed(ready: PreparedDocument, vectors: VectorSet) -> int:
    """Return how many chunks of a document are encoded at most."""
    return sum(c.size in vectors.sizes for c in ready.bundle.chunks) if ready.bundle else 0


def store_all(
    items: "Generator[Numbered, None, None]",
    *,
    n_files: int,
    store: Store,
    embedder: Embedder,
    vectors: VectorSet,
    enricher: "Enricher | None",
    progress: Progress | None,
) -> list[Outcome]:
    """Have documents read by models, if there are any, and store them; return what became of all.

    Args:
        items: Documents and outcomes of files, numbered from 0 by file.
        n_files: Files in all.
        store: Where they go.
        embedder: Encoder of the knowledge base.
        vectors: Which nodes carry vectors.
        enricher: Has models read the documents.
        progress: As for `ingest`; without models only at the end.
    """
    outcomes: list[Outcome] = []
    waiting: list[PreparedDocument] = []

    def tell(item: "Numbered") -> None:
        if progress and enricher:
            number, ready = item
            name = ready.source if isinstance(ready, Outcome) else ready.outcome.source
            progress(f"{name}, {enricher.calls} calls", number, n_files)

    read = enricher.enrich(items, waiting=tell) if enricher else items
    with closing(read):  # or calls would go on after an error
        for item in read:
            tell(item)
            if isinstance(item[1], Outcome):
                outcomes.append(item[1])
                continue
            waiting.append(item[1])
            if sum(chunks_to_embed(ready, vectors) for ready in waiting) >= _BATCH_TEXTS:
                outcomes += _store(waiting, store=store, embedder=embedder, vectors=vectors)
                waiting = []
    outcomes += _store(waiting, store=store, embedder=embedder, vectors=vectors)
    if progress:
        progress("", n_files, n_files)
    return outcomes


def _not_read(found: Discovery, sidecars: Sidecars) -> list[Outcome]:
    failures = (*found.failures, *sidecars.failures(found))
    outcomes = [Outcome(f.file, "failed", detail=f.reason) for f in failures]
    outcomes += [Outcome(shown_path(s.path), "skipped", detail=s.reason) for s in found.skipped]
    detail = "a link out of the folder; --follow-links follows it"
    return outcomes + [
        Outcome(shown_path(link), "not followed", detail=detail) for link in found.links
    ]


def _read_all(
    found: Discovery, detector: ChangeDetector, progress: Progress | None, limits: IngestConfig
) -> "Generator[Numbered, None, None]":
    pool = detector.pool(limits, alone=is_small(found.sources))
    with closing(detector.read_all(_told(found.sources, progress), pool)) as read:
        yield from read


def _told(sources: Sequence[Source], progress: Progress | None) -> Iterator[Source]:
    """Yield files, and tell of each as it is begun."""
    for number, source in enumerate(sources):
        if progress:
            progress(source.name, number, len(sources))
        yield source


def _detector(store: Store, *, sizes: ChunkSizes, model: str, sidecars: Sidecars) -> ChangeDetector:
    return ChangeDetector(
        store, settings=rules_digest(sizes), model=model, sizes=sizes, sidecars=sidecars
    )


def _store(
    waiting: Sequence[PreparedDocument], *, store: Store, embedder: Embedder, vectors: VectorSet
) -> list[Outcome]:
    """Encode the texts of several documents together, then store one after the other."""
    texts = [texts_to_embed(ready.bundle, vectors) if ready.bundle else [] for ready in waiting]
    nodes = embed([text for group in texts for text in group], embedder=embedder, store=store)
    at = 0
    for ready, group in zip(waiting, texts, strict=True):
        if ready.bundle is None:
            store.attach_source(ready.source, ready.outcome.doc_id)
            continue
        own = nodes[at : at + len(group)]
        bundle = replace(ready.bundle, vectors=own, embedder=embedder.name)
        at += len(group)
        store.upsert_document(bundle, source=ready.source)
    return [ready.outcome for ready in waiting]
