"""The ingestion pipeline: discover, load, prepare, enrich, embed, store, connect."""

import random
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.config import IngestConfig
from kgrag.ids import digest
from kgrag.ingestion.change_detection import ChangeDetector, PreparedDocument
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.connect import connect
from kgrag.ingestion.embed import Batch, Encoding, texts_to_embed
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.load import Discovery, Sidecars, Source, discover
from kgrag.ingestion.report import IngestReport, ModelReport, Outcome, Plan, Status
from kgrag.ingestion.target import IngestTarget
from kgrag.ingestion.workers.executor import Executor, LocalExecutor, executor_of
from kgrag.ingestion.workers.pool import is_small
from kgrag.ingestion.workers.task import RULES_VERSION
from kgrag.store.contents import DocumentBundle, NodeVector, SourceState
from kgrag.store.folders import absolute
from kgrag.store.store import Store
from kgrag.text.messages import message
from kgrag.text.visible import parted, shown_path

if TYPE_CHECKING:
    from kgrag.ingestion.enrich import Enricher, Numbered

_BATCH_TEXTS = 256  # texts encoded together; the most that a kill loses

Progress = Callable[[str, int, int], None]


def ingest(
    paths: Sequence[Path],
    target: IngestTarget,
    *,
    enricher: "Enricher | None" = None,
    progress: Progress | None = None,
    follow_links: bool = False,
    only: Collection[str] | None = None,
    limits: IngestConfig = IngestConfig(),  # noqa: B008 - frozen
) -> IngestReport:
    """Ingest files and folders; return the outcome of each file.

    Unchanged documents are skipped; a changed file replaces its document. A file that fails is
    reported and the rest goes on. Each document is stored with all its knowledge in one
    transaction, so a killed run is simply run again. Without an enricher, rules alone are used.
    `progress` is called with (file, files done, files in all): without models before each file,
    with them as documents are done or waited for; regularly with pages that are recognised or seen
    (file: page of pages) of a file that is waited for; and at the end. `only` are the absolute
    paths of the files to read; all for None.

    Raises:
        StoreError: If the store itself fails; earlier documents stay.
        ModelError: If the encoder fails.
    """
    started = time.monotonic()
    found = discover(paths, follow_links=follow_links)
    if only is not None:
        named = tuple(source for source in found.sources if absolute(source.name) in only)
        found = replace(found, sources=named)
    model = enricher.identity if enricher else ""
    sidecars = Sidecars(found.sidecars)
    detector = detector_of(target, model=model, sidecars=sidecars)
    outcomes = _not_read(found, sidecars)
    executor = executor_of(limits, target.embedder, is_small=is_small(found.sources))
    with closing(executor):
        outcomes += _store_all(
            _read_all(found, detector, progress, limits, executor, told=not enricher),
            target,
            executor,
            n_files=len(found.sources),
            enricher=enricher,
            progress=progress,
        )
    connect(target.store)
    report = enricher.report() if enricher else ModelReport() if target.vision else None
    if report and target.vision:
        report = replace(report, spent={**report.spent, **target.vision.meter.spent})
    return IngestReport(tuple(outcomes), time.monotonic() - started, model=report)


def survey(
    paths: Sequence[Path],
    target: IngestTarget,
    *,
    model: str = "",
    follow_links: bool = False,
    limits: IngestConfig = IngestConfig(),  # noqa: B008 - frozen
) -> Iterator[PreparedDocument | Outcome]:
    """Yield what `ingest` would do with files and folders.

    Files are read; no model is called, nothing is encoded or stored. `model` is
    `Enricher.identity`, empty for a run without models; for the rest see `ingest`.
    """
    found = discover(paths, follow_links=follow_links)
    sidecars = Sidecars(found.sidecars)
    yield from _not_read(found, sidecars)
    detector = detector_of(target, model=model, sidecars=sidecars)
    for _, item in _read_all(found, detector, None, limits):
        yield item


def rules_digest(sizes: ChunkSizes) -> str:
    """Return the hash of everything but the content that decides the outcome of rules."""
    return digest(RULES_VERSION, repr(sizes))  # without vectors: reembed changes them


def chunks_to_embed(ready: PreparedDocument, leaf: int) -> int:
    """Return an upper bound of the chunks of the size `leaf` to encode for a document."""
    return sum(c.size == leaf for c in ready.bundle.chunks) if ready.bundle else 0


def _store_all(
    items: "Generator[Numbered, None, None]",
    target: IngestTarget,
    executor: Executor,
    *,
    n_files: int,
    enricher: "Enricher | None",
    progress: Progress | None,
) -> list[Outcome]:
    """Enrich documents if models are used, and store them; return all outcomes.

    Items are numbered from 0 by file. `progress` is called as by `ingest`, but without models only
    at the end.
    """
    outcomes: list[Outcome] = []
    waiting: list[PreparedDocument] = []
    n_texts = 0  # of those that wait, at most
    batches = _Batches(target, executor)

    def tell(item: "Numbered") -> None:
        if progress and enricher:
            number, ready = item
            name = ready.source if isinstance(ready, Outcome) else ready.outcome.source
            progress(f"{name}, {enricher.calls} calls", number, n_files)

    read = enricher.enrich(items, waiting=tell) if enricher else items
    with closing(items), closing(read):  # cancels pending calls on errors, then ends the readers
        for item in read:
            tell(item)
            if isinstance(item[1], Outcome):
                outcomes.append(item[1])
                continue
            waiting.append(item[1])
            n_texts += chunks_to_embed(item[1], target.sizes.leaf)
            if n_texts >= _BATCH_TEXTS:
                batches.begin(waiting)
                waiting, n_texts = [], 0
            outcomes += batches.stored(executor.ahead)
    batches.begin(waiting)
    outcomes += batches.stored(0)
    if progress:
        progress("", n_files, n_files)
    return outcomes


def _not_read(found: Discovery, sidecars: Sidecars) -> list[Outcome]:
    failures = (*found.failures, *sidecars.failures(found))
    outcomes = [Outcome(f.file, "failed", detail=f.reason) for f in failures]
    outcomes += [Outcome(shown_path(s.path), "skipped", detail=s.reason) for s in found.skipped]
    detail = message("a link out of the folder; --follow-links follows it")
    return outcomes + [
        Outcome(shown_path(link), "not followed", detail=detail) for link in found.links
    ]


def _read_all(
    found: Discovery,
    detector: ChangeDetector,
    progress: Progress | None,
    limits: IngestConfig,
    executor: Executor | None = None,
    *,
    told: bool = False,
) -> "Generator[Numbered, None, None]":
    number = 0

    def page(said: str) -> None:
        if progress:
            progress(said, number, len(found.sources))

    is_alone = not executor.n_readers if executor else is_small(found.sources)
    pool = detector.pool(limits, alone=is_alone, told=page, executor=executor)
    sources = _told(found.sources, progress if told else None)
    with closing(detector.read_all(sources, pool)) as read:
        for number, item in read:  # of the last file, for pages of the next
            yield number, item


def _told(sources: Sequence[Source], progress: Progress | None) -> Iterator[Source]:
    """Yield files, reporting progress before each."""
    for number, source in enumerate(sources):
        if progress:
            progress(source.name, number, len(sources))
        yield source


def detector_of(target: IngestTarget, *, model: str, sidecars: Sidecars) -> ChangeDetector:
    """Return what tells which files are new; for the arguments see `ChangeDetector`."""
    return ChangeDetector(
        target.store,
        settings=rules_digest(target.sizes),
        model=model,
        sizes=target.sizes,
        sidecars=sidecars,
        vision=target.vision,
    )


class _Batches:
    """Documents whose texts are encoded together, batch by batch, and then stored in order."""

    def __init__(self, target: IngestTarget, executor: Executor) -> None:
        self._target = target
        self._encoding = Encoding(executor.encode, target.embedder.name, target.store)
        self._begun: deque[tuple[Sequence[PreparedDocument], Batch]] = deque()

    def begin(self, documents: Sequence[PreparedDocument]) -> None:
        """Begin to encode the texts of documents."""
        leaf = self._target.sizes.leaf
        texts = [texts_to_embed(d.bundle, leaf) if d.bundle else [] for d in documents]
        self._begun.append((documents, self._encoding.begin(texts)))

    def stored(self, ahead: int) -> list[Outcome]:
        """Store the batches that are encoded; wait for all but the last `ahead`."""
        outcomes: list[Outcome] = []
        while self._begun and (len(self._begun) > ahead or self._begun[0][1].is_done):
            documents, batch = self._begun.popleft()
            pairs = zip(documents, batch.result(), strict=True)
            outcomes += [_store(ready, own, self._target) for ready, own in pairs]
        return outcomes


def _store(ready: PreparedDocument, vectors: Sequence[NodeVector], target: IngestTarget) -> Outcome:
    """Store a document, and return what became of it."""
    outcome, writer = ready.outcome, target.writer or target.store
    if ready.bundle is None:
        writer.attach_source(ready.source, outcome.doc_id)
        return outcome
    bundle = replace(ready.bundle, vectors=vectors, embedder=target.embedder.name)
    was = writer.upsert_document(bundle, source=ready.source)
    if outcome.status == "added" and was is not None:  # by another process, meanwhile
        status: Status = "unchanged" if was == bundle.fingerprint else "replaced"
        outcome = replace(outcome, status=status)
    return outcome


@dataclass(kw_only=True)
class PlanBuilder:
    """Collects the plan of a run from its documents; for the arguments see `ingest`.

    Documents are read again for each pass, so that only one is in memory.
    """

    paths: Sequence[Path] = field(kw_only=False)
    target: IngestTarget = field(kw_only=False)
    enricher: "Enricher | None"
    follow_links: bool
    limits: IngestConfig
    _outcomes: list[Outcome] = field(init=False, default_factory=list)
    _n_chunks: int = field(init=False, default=0)
    _n_passages: int = field(init=False, default=0)

    def bundles(self) -> Iterator[DocumentBundle]:
        """Yield the documents that would be stored."""
        self._outcomes, self._n_chunks, self._n_passages = [], 0, 0
        if self.target.vision:
            self.target.vision.planned.clear()
        for item in survey(
            self.paths,
            self.target,
            model=self.enricher.identity if self.enricher else "",
            follow_links=self.follow_links,
            limits=self.limits,
        ):
            if isinstance(item, Outcome):
                self._outcomes.append(item)
                continue
            self._outcomes.append(item.outcome)
            self._n_chunks += chunks_to_embed(item, self.target.sizes.leaf)
            if item.bundle is not None:
                if self.enricher:
                    self._n_passages += len(self.enricher.passages_of(item.bundle))
                yield item.bundle

    def plan(self) -> Plan:
        """Return the totals of the last pass over the documents."""
        return Plan(tuple(self._outcomes), self._n_chunks, self._n_passages)


def retry_failed(
    paths: Sequence[Path],
    target: IngestTarget,
    *,
    enricher: "Enricher",
    progress: Progress | None = None,
) -> IngestReport:
    """Read the passages that failed, add their knowledge, and clear their marks.

    The stored text is used; the files need not exist any more. A document is written in one
    transaction. The order of documents and passages is random: where a run gives up because answers
    are unusable, another run starts with others. `paths` restricts the documents to those of these
    files or folders; empty for all. `progress` is called as by `ingest`, with documents for files.

    Raises:
        StoreError: If the store itself fails; earlier documents stay.
        ModelError: If the encoder fails.
    """
    started = time.monotonic()
    states = {
        state.doc_id: state
        for state in target.store.sources()
        if Fingerprint.parse(state.fingerprint).failed and _is_in(state.source, paths)
    }
    outcomes = _store_all(
        _items(random.sample(list(states.values()), len(states)), target.store, enricher),
        target,
        LocalExecutor(target.embedder, 0),
        n_files=len(states),
        enricher=enricher,
        progress=progress,
    )
    seconds = time.monotonic() - started
    outcomes.sort(key=lambda outcome: outcome.source)
    return IngestReport(tuple(outcomes), seconds, model=enricher.report())


def _items(
    states: Sequence[SourceState], store: Store, enricher: "Enricher"
) -> "Generator[Numbered, None, None]":
    for number, state in enumerate(states):
        if Fingerprint.parse(state.fingerprint).model != enricher.identity:
            detail = message(
                "was read by another model or with other settings; ingest the file again, and "
                "all of it is read as is set now"
            )
            yield number, Outcome(state.source, "skipped", state.doc_id, detail)
            continue
        bundle = store.bundle(state.doc_id)
        if bundle is not None:  # else deleted by another process meanwhile
            outcome = Outcome(state.source, "retried", state.doc_id)
            yield number, PreparedDocument(state.source, outcome, bundle)


def _is_in(source: str, paths: Sequence[Path]) -> bool:
    """Return whether a source is one of some files, a record of one, or below a folder."""
    source = absolute(source)
    file = Path(parted(source)[0])
    places = {source, *map(absolute, (file, *file.parents))}
    return not paths or any(absolute(path) in places for path in paths)
