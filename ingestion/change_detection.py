"""Read the files of a batch and classify documents as new, changed, unchanged or copies."""

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.config import IngestConfig
from kgrag.errors import IngestionError
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.load import Failure, Sidecars, Source, fingerprint, load_all
from kgrag.ingestion.load.statement import stated_digest
from kgrag.ingestion.prepare import completed
from kgrag.ingestion.report import Outcome, Status
from kgrag.ingestion.workers.executor import Executor
from kgrag.ingestion.workers.pool import Pool
from kgrag.ingestion.workers.task import Made, Setting, Task
from kgrag.store.contents import DocumentBundle
from kgrag.store.folders import absolute
from kgrag.store.store import Store
from kgrag.text.messages import Message, message, without_start
from kgrag.text.visible import place_shown
from kgrag.types import Document

if TYPE_CHECKING:
    from kgrag.ingestion.vision import Vision


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready to be stored, or a copy of a stored one."""

    source: str  # absolute path, `#id` appended for a record
    outcome: Outcome  # what to report once it is stored
    bundle: DocumentBundle | None  # None for a copy: only its source is recorded


@dataclass(frozen=True, slots=True)
class _Asked:
    """A file or record of a run, before it is classified."""

    number: int  # of the file, from 0
    source: Source | None = None  # None for a record
    doc_id: str = ""
    content_hash: str = ""
    record: Document | None = None
    failure: Failure | None = None  # why neither a file nor a record could be read
    task: Task | None = None  # how it is being read; None where reading seemed unnecessary


@dataclass(frozen=True, slots=True)
class Seen:
    """A file or record that was looked at, and not read."""

    source: str  # its absolute path, `#id` appended for a record
    content_hash: str  # of its bytes
    is_current: bool  # whether its document is stored as that of this source, and up to date


class ChangeDetector:
    """Reads the files of one run and reports which are new."""

    def __init__(
        self,
        store: Store,
        *,
        settings: str,
        model: str,
        sizes: ChunkSizes,
        sidecars: Sidecars | None = None,
        vision: "Vision | None" = None,
    ) -> None:
        """Load the fingerprints and sources of the store.

        `settings` is the hash of everything but the content that decides the outcome of rules,
        `model` is `Enricher.identity`, empty where no model is used.
        """
        self._store = store
        self._sidecars = sidecars or Sidecars()
        self._settings = settings
        self._model = model
        self._sizes = sizes
        self._vision = vision
        self._curation = Curation.of(store)
        states = store.sources()
        self._doc_of = {state.source: state.doc_id for state in states}
        self._held = {state.doc_id: Fingerprint.parse(state.fingerprint) for state in states}
        self._source_of = {state.doc_id: state.source for state in states}
        self._sources_of: defaultdict[str, set[str]] = defaultdict(set)
        for state in states:
            self._sources_of[state.doc_id].add(state.source)
        self._met: set[str] = set()

    def read_all(
        self, sources: Iterable[Source], pool: Pool
    ) -> Generator[tuple[int, PreparedDocument | Outcome], None, None]:
        """Yield documents and outcomes with the number of their file, in the order of files.

        Files are read ahead, but classified in order, so that the result does not depend on the
        number of processes. The pool is closed at the end.
        """
        asked: deque[tuple[_Asked, Future[Made] | None]] = deque()
        with closing(pool):
            for ask in self._asked(sources, pool.max_bytes):
                asked.append((ask, pool.submit(ask.task) if ask.task else None))
                if len(asked) > pool.ahead:
                    yield self._settled(*asked.popleft(), pool)
            while asked:
                yield self._settled(*asked.popleft(), pool)

    def look(self, sources: Iterable[Source], max_bytes: int) -> Iterator[Seen | Failure]:
        """Yield what is told without reading: of files the bytes are hashed, records are loaded."""
        for ask in self._asked(sources, max_bytes):
            if ask.failure:
                yield ask.failure
                continue
            source = absolute(
                ask.record.file if ask.record else (ask.source or Source(Path())).name
            )
            is_current = ask.task is None and self._doc_of.get(source) == ask.doc_id
            yield Seen(source, ask.content_hash, is_current)

    def pool(
        self,
        limits: IngestConfig,
        *,
        alone: bool,
        told: Callable[[Message], object] = bool,
        executor: Executor | None = None,
    ) -> Pool:
        """Return the pool that reads files for this run; for the arguments see `Pool`."""
        setting = Setting(limits.max_bytes, self._sizes, self._curation, limits.ocr)
        return Pool(setting, limits, alone=alone, vision=self._vision, told=told, executor=executor)

    def _asked(self, sources: Iterable[Source], max_bytes: int) -> Iterator[_Asked]:
        """Yield files and records, with a task where reading seems necessary so far."""
        for number, source in enumerate(sources):
            if source.media_type == "jsonl":
                for record in load_all(source, max_bytes=max_bytes):
                    yield self._asked_record(number, record)
                continue
            try:
                doc_id, content_hash = fingerprint(source, max_bytes=max_bytes)
            except IngestionError as exc:
                failure = Failure(source.name, without_start(exc, source.name))
                yield _Asked(number, failure=failure)
                continue
            ask = _Asked(number, source=source, doc_id=doc_id, content_hash=content_hash)
            task, wanted = self._wanted_file(ask)
            yield ask if self._covers(doc_id, wanted) else replace(ask, task=task)

    def _asked_record(self, number: int, record: Document | Failure) -> _Asked:
        if isinstance(record, Failure):
            return _Asked(number, failure=record)
        task = Task(document=record, formerly=self._doc_of.get(absolute(record.file), ""))
        held = self._covers(record.doc_id, self._wanted_of(record))
        told = _Asked(number, None, record.doc_id, record.content_hash, record)
        return told if held else replace(told, task=task)

    def _settled(
        self, ask: _Asked, making: "Future[Made] | None", pool: Pool
    ) -> tuple[int, PreparedDocument | Outcome]:
        """Return the outcome of a file or record, once those before it are classified."""
        if ask.failure:
            return ask.number, Outcome(ask.failure.file, "failed", detail=ask.failure.reason)
        if ask.record:
            file, doc_id = ask.record.file, ask.record.doc_id
            wanted = self._wanted_of(ask.record)
            task = Task(document=ask.record, formerly=self._doc_of.get(absolute(file), ""))
            clash = self._clash(ask.record)
            if clash is not None:
                return ask.number, Outcome(file, "failed", doc_id, clash)
        else:
            task, wanted = self._wanted_file(ask)
            file, doc_id = task.name, ask.doc_id
        known = self._known(file, doc_id, wanted)
        if known is not None:
            return ask.number, known
        if making is None or task != ask.task:
            making = pool.submit(task)
        made = pool.result(task, making)
        if isinstance(made, Failure):
            return ask.number, Outcome(made.file, "failed", detail=made.reason)
        if not isinstance(made, DocumentBundle):
            raise TypeError("a file was read only, and nothing was made of it")
        return ask.number, self._ready(made)

    def _wanted_file(self, ask: _Asked) -> tuple[Task, Fingerprint]:
        """Return how to read a file, and the fingerprint that it should have."""
        source = ask.source or Source(Path())
        stated = dict(self._stated(source, ask.doc_id))
        formerly = self._doc_of.get(absolute(source.name), "")
        task = Task(source.path, source.within, stated, formerly=formerly)
        return task, self._wanted(ask.content_hash, source.media_type or "", stated)

    def _ready(self, made: DocumentBundle) -> PreparedDocument:
        document = made.document
        wanted = self._wanted_of(document)
        if self._vision:
            wanted = replace(wanted, seen=self._vision.mark(document.media_type, document.file))
        source = absolute(document.file)
        held, formerly = self._held.get(document.doc_id), self._doc_of.get(source, "")
        status: Status = "added" if held is None and not formerly else "replaced"
        bundle = completed(
            made,
            fingerprint=wanted,
            held=held or self._held.get(formerly),
            sizes=self._sizes,
            store=self._store,
            curation=self._curation,
            is_read=bool(self._model),
            formerly="" if held else formerly,
        )
        self._note(source, document.doc_id, wanted)
        outcome = Outcome(document.file, status, document.doc_id, "", document.warnings)
        return PreparedDocument(source, outcome, bundle)

    def _covers(self, doc_id: str, wanted: Fingerprint) -> bool:
        held = self._held.get(doc_id)
        return held is not None and held.covers(wanted)

    def _known(
        self, file: str, doc_id: str, wanted: Fingerprint
    ) -> PreparedDocument | Outcome | None:
        """Return the outcome for a document that is stored and up to date; None for any other."""
        held = self._held.get(doc_id)
        if held is None or not held.covers(wanted):
            return None
        source = absolute(file)
        if self._doc_of.get(source) == doc_id:
            n = 0 if source in self._met or not self._model else len(held.failed)
            self._met.add(source)
            said = "{n} passage(s) could not be read before: kgrag ingest --retry-failed"
            detail = message(said, n=n) if n else ""
            return Outcome(file, "unchanged", doc_id, detail, failed_passages=n)
        self._note(source, doc_id, held)
        detail = message("same name and content as {file}", file=self._source_of[doc_id])
        return PreparedDocument(source, Outcome(file, "duplicate", doc_id, detail), None)

    def _clash(self, document: Document) -> str | None:
        """Return an error if another record already uses a record's id."""
        source = absolute(document.file)
        owner = self._source_of.get(document.doc_id)
        held = self._held.get(document.doc_id)
        wanted = self._wanted_of(document)
        same = held is not None and held.offline == wanted.offline
        if owner is None or owner == source or same:
            return None
        return message(
            "id {id!r} belongs to {owner}, with another text; change one of the ids, delete that "
            "document, or use another knowledge base",
            id=document.doc_id,
            owner=owner,
        )

    def _note(self, source: str, doc_id: str, now: Fingerprint) -> None:
        self._met.add(source)
        self._doc_of[source] = doc_id
        self._held[doc_id] = now
        self._source_of.setdefault(doc_id, source)
        self._sources_of[doc_id].add(source)

    def _stated(self, source: Source, doc_id: str) -> Mapping[str, str]:
        """Return the metadata stated for a file, or for the first other file of the same document.

        Copies are one document: otherwise each would undo the other's metadata in every run.
        """
        own = absolute(source.path)
        places = {name: place_shown(name) for name in self._sources_of[doc_id]} | {own: source.path}
        stated = (self._sidecars.stated(places[name]) for name in sorted(places))
        return next(filter(None, stated), {})

    def _wanted_of(self, document: Document) -> Fingerprint:
        return self._wanted(document.content_hash, document.media_type, document.properties)

    def _wanted(
        self, content_hash: str, media_type: str, properties: Mapping[str, str]
    ) -> Fingerprint:
        wanted = Fingerprint.of(
            content_hash,
            media_type,
            settings=self._settings,
            model=self._model,
            stated=stated_digest(properties),
        )
        return replace(wanted, seen=self._vision.mark(media_type)) if self._vision else wanted
