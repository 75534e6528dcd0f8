"""Read the files of a batch and tell which documents are new, changed, known or copies."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kgrag.errors import IngestionError
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.load import Failure, Sidecars, Source, fingerprint, load_all
from kgrag.ingestion.load.statement import stated_digest
from kgrag.ingestion.prepare import prepare
from kgrag.ingestion.report import Outcome, Status
from kgrag.language.visible import shown_path
from kgrag.store.contents import DocumentBundle
from kgrag.store.store import Store
from kgrag.types import Document


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document that waits to be stored, or a copy of one that waits for it to be.

    Attributes:
        source: Absolute path, `#id` appended for a record.
        outcome: What to report once it is stored.
        bundle: None for a copy: only its source is recorded.
    """

    source: str
    outcome: Outcome
    bundle: DocumentBundle | None


class ChangeDetector:
    """Reads files and tells what is new; remembers what the run has met.

    Attributes:
        waiting: Passages of unchanged documents met so far that a model could not read.
    """

    def __init__(
        self,
        store: Store,
        *,
        settings: str,
        model: str,
        sizes: ChunkSizes,
        sidecars: Sidecars | None = None,
    ) -> None:
        """Look up what the store holds.

        Args:
            store: The knowledge base.
            settings: Hash of everything but the content that decides what rules make of it.
            model: `Enricher.identity`; empty where no model is to read.
            sizes: Chunk sizes.
            sidecars: Say what is stated of files; made here for None.
        """
        self._store = store
        self._sidecars = sidecars or Sidecars()
        self._settings = settings
        self._model = model
        self._sizes = sizes
        self._curation = Curation.of(store)
        states = store.sources()
        self._doc_of = {state.source: state.doc_id for state in states}
        self._held = {state.doc_id: Fingerprint.parse(state.fingerprint) for state in states}
        self._source_of = {state.doc_id: state.source for state in states}
        self._sources_of: defaultdict[str, set[str]] = defaultdict(set)
        for state in states:
            self._sources_of[state.doc_id].add(state.source)
        self._met: set[str] = set()
        self.waiting = 0

    def read(self, source: Source) -> Iterator[PreparedDocument | Outcome]:
        """Yield what a file holds, ready to be stored, or what became of it."""
        stated: Mapping[str, str] = {}
        if source.media_type != "jsonl":
            try:
                doc_id, content_hash = fingerprint(source)
            except IngestionError as exc:
                reason = str(exc).removeprefix(f"{source.name}: ")
                yield Outcome(source.name, "failed", detail=reason)
                return
            stated = self._stated(source, doc_id)
            wanted = self._wanted(content_hash, source.media_type or "", stated)
            known = self._known(source.name, doc_id, wanted)
            if known is not None:
                yield known
                return
        for document in load_all(source, stated=stated):
            if isinstance(document, Failure):
                yield Outcome(document.file, "failed", detail=document.reason)
            else:
                yield self._ready(document)

    def _ready(self, document: Document) -> PreparedDocument | Outcome:
        clash = self._clash(document)
        if clash is not None:
            return Outcome(document.file, "failed", document.doc_id, clash)
        wanted = self._wanted_of(document)
        known = self._known(document.file, document.doc_id, wanted)
        if known is not None:
            return known
        source = _absolute(document.file)
        held = self._held.get(document.doc_id)
        status: Status = "added" if held is None and source not in self._doc_of else "replaced"
        bundle = prepare(
            document,
            fingerprint=wanted,
            held=held,
            sizes=self._sizes,
            store=self._store,
            curation=self._curation,
            formerly=self._doc_of.get(source, ""),
        )
        self._note(source, document.doc_id, wanted)
        outcome = Outcome(document.file, status, document.doc_id, "", document.warnings)
        return PreparedDocument(source, outcome, bundle)

    def _known(
        self, file: str, doc_id: str, wanted: Fingerprint
    ) -> PreparedDocument | Outcome | None:
        """Return what becomes of a document that is held just so; None for a new one."""
        held = self._held.get(doc_id)
        if held is None or not held.covers(wanted):
            return None
        source = _absolute(file)
        if self._doc_of.get(source) == doc_id:
            if source not in self._met:
                self.waiting += len(held.failed)
            self._met.add(source)
            return Outcome(file, "unchanged", doc_id)
        self._note(source, doc_id, held)
        detail = f"same name and content as {self._source_of[doc_id]}"
        return PreparedDocument(source, Outcome(file, "duplicate", doc_id, detail), None)

    def _clash(self, document: Document) -> str | None:
        """Return what is wrong if a record's id is taken by another record."""
        source = _absolute(document.file)
        if document.media_type != "jsonl":
            return None
        if source in self._met:
            return f"id {document.doc_id!r} stands twice in this file; give each record its own"
        owner = self._source_of.get(document.doc_id)
        held = self._held.get(document.doc_id)
        wanted = self._wanted_of(document)
        same = held is not None and held.offline == wanted.offline
        if owner is None or owner == source or same:
            return None
        return (
            f"id {document.doc_id!r} belongs to {owner}, with another text; change one of the "
            "ids, delete that document, or use another knowledge base"
        )

    def _note(self, source: str, doc_id: str, now: Fingerprint) -> None:
        self._met.add(source)
        self._doc_of[source] = doc_id
        self._held[doc_id] = now
        self._source_of.setdefault(doc_id, source)
        self._sources_of[doc_id].add(source)

    def _stated(self, source: Source, doc_id: str) -> Mapping[str, str]:
        """Return what is stated of a file, or of the first other file of the same document.

        Copies are one document: else each would undo what is stated of another in every run.
        """
        own = shown_path(source.path.absolute())
        places = {name: Path(name) for name in self._sources_of[doc_id]} | {own: source.path}
        stated = (self._sidecars.stated(places[name]) for name in sorted(places))
        return next(filter(None, stated), {})

    def _wanted_of(self, document: Document) -> Fingerprint:
        return self._wanted(document.content_hash, document.media_type, document.properties)

    def _wanted(
        self, content_hash: str, media_type: str, properties: Mapping[str, str]
    ) -> Fingerprint:
        return Fingerprint.of(
            content_hash,
            media_type,
            settings=self._settings,
            model=self._model,
            stated=stated_digest(properties),
        )


def _absolute(file: str) -> str:
    """Return a file's absolute path; a record keeps its `#id`."""
    return shown_path(Path(file).absolute())
