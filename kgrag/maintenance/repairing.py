"""Repair of a damaged knowledge base: from its intact parts, from the files, by the encoder."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.config import Config
from kgrag.embedding.choose import built_with, configured_embedder, encoder_meta
from kgrag.embedding.embedder import Embedder
from kgrag.errors import NewerVersionError, NoKnowledgeBaseError, StoreError
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.connect import connect
from kgrag.ingestion.curation import Curation
from kgrag.ingestion.embed import embed, texts_to_embed
from kgrag.ingestion.fingerprints import Fingerprint
from kgrag.ingestion.renew import rebuilt, reread
from kgrag.json_ready import as_dict
from kgrag.kb_meta import NOTE, KbMeta
from kgrag.llm.models import ChatModels, calls_file
from kgrag.maintenance.intake import vision_of
from kgrag.store.contents import DocumentBundle, Problem
from kgrag.store.sqlite.seals import PART_NAMES, Part
from kgrag.store.store import open_store
from kgrag.types import Document

if TYPE_CHECKING:
    from kgrag.ingestion.vision import Vision
    from kgrag.store.sqlite.damaged import Damaged

Progress = Callable[[str, int, int], None]

_NOT_BY_RULE: tuple[Part, ...] = ("knowledge", "summaries")  # a model may have given them
_MADE = {"text", "chunks", *_NOT_BY_RULE}  # parts that are made of a document's text


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was found, and what was done.

    Attributes:
        found: Problems that `verify` found before.
        done: What was repaired.
        left: What could not be repaired, with the remedy.
        kept: The damaged file; None if it was not replaced.
    """

    found: tuple[Problem, ...] = ()
    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    kept: Path | None = None

    def to_dict(self) -> dict[str, object]:
        """Return a JSON-ready mapping, as `kgrag repair --json` prints it."""
        found = [f"{p.invariant}: {p.subject}: {p.detail}" for p in self.found]
        return {"found": found, **as_dict(self, without=("found",))}


def repair(
    location: str | Path,
    *,
    config: Config | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> RepairReport:
    """Repair a damaged knowledge base in a folder as far as possible.

    Indexes are rebuilt, vectors encoded, documents read from their files; the damaged file is
    kept beside the new one. The knowledge base need not be readable.

    Args:
        location: The folder. A server is only checked.
        config: Settings of the encoder, for vectors that must be encoded again.
        dry_run: Repair a copy, and replace nothing.
        progress: Called with (document, documents done, documents in all).

    Raises:
        NoKnowledgeBaseError: If there is none.
        StoreError: If nothing can be read, or it was changed meanwhile; nothing is replaced.
    """
    found = tuple(_problems(location))
    lost = tuple(p.detail for p in found if p.invariant == "lost")  # no file holds it any more
    wrong = {p.invariant for p in found} - {"lost"}
    if not wrong:
        return RepairReport(found, left=lost)
    if "://" in str(location):
        left = [f"{p.invariant}: {p.subject}: {p.detail}" for p in found]
        return RepairReport(found, (), (*left, _ON_A_SERVER))
    folder = Path(location)
    if wrong == {"cache-agrees"}:
        return RepairReport(found, _forget_caches(folder, found, dry_run=dry_run), lost)
    from kgrag.store.sqlite.damaged import damaged

    config = config or Config()
    with damaged(folder) as old, _kept_pages(folder, config) as vision:
        repairing = _Repairing(old, config, progress, vision)
        repairing.run()
        replaces = not repairing.only_loses or not wrong.isdisjoint(("file", "schema"))
        kept = old.replace() if replaces and not dry_run else None
    left = [*repairing.left, *repairing.left_out(replaces=replaces), *lost]
    anew = ("header, indexes and names were made anew from the rest",)
    done = tuple(repairing.done) or (() if left else anew)
    return RepairReport(found, done, tuple(left), kept)


_ON_A_SERVER = (
    "a knowledge base on a server is only checked: ingest the named documents again (`kgrag delete`"
    " them first), or copy it (`kgrag copy`) from one that is whole"
)


@contextmanager
def _kept_pages(folder: Path, config: Config) -> "Iterator[Vision | None]":
    """Yield what writes pages down as a vision model did before; no model is asked."""
    if not (config.vision.is_configured and calls_file(folder, config).exists()):
        yield None
        return
    with closing(ChatModels(config, folder)) as chat, vision_of(config, chat, "kept") as vision:
        yield vision


def _problems(location: str | Path) -> list[Problem]:
    """Return what `verify` finds; if the store cannot be opened, one problem that says so."""
    try:
        with closing(open_store(location, create=False)) as store:
            return store.verify()
    except (NoKnowledgeBaseError, NewerVersionError):
        raise
    except StoreError as exc:
        if "://" in str(location):
            raise
        return [Problem("file", str(location), str(exc))]


def _encoder(meta: KbMeta, config: Config) -> Embedder:
    choose = partial(configured_embedder, config.embedding, meta.embedder)
    return built_with(meta, choose)


def _forget_caches(folder: Path, found: Sequence[Problem], *, dry_run: bool) -> tuple[str, ...]:
    from kgrag.store.sqlite.cache import CacheFolder
    from kgrag.store.sqlite.store import CACHE_FOLDER

    names = sorted({p.subject for p in found if p.invariant == "cache-agrees"})
    if not dry_run:
        for name in names:
            CacheFolder(folder / CACHE_FOLDER).forget(name)
    return tuple(f"the search index {name} is built anew when it is next asked" for name in names)


@dataclass(slots=True)
class _Repairing:
    """One repair.

    Attributes:
        old: The damaged knowledge base, and the new one.
        config: Settings.
        progress: As for `repair`.
        vision: What a vision model read of pages, kept; None for nothing.
        done: As in `RepairReport`.
        left: As in `RepairReport`, but for documents.
        lost: Reason by document that cannot be restored.
    """

    old: "Damaged"
    config: Config
    progress: Progress | None
    vision: "Vision | None" = None
    done: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    _embedder: Embedder | None = None

    def run(self) -> None:
        """Fill the new knowledge base with what is intact and what can be restored."""
        encodes = self._settings()
        self._decisions()
        documents = self.old.documents
        for number, (doc_id, parts) in enumerate(sorted(documents.items())):
            if self.progress:
                self.progress(doc_id, number, len(documents))
            self._document(doc_id, {*parts, "vectors"} if encodes else parts)
        if self.old.has_staged():
            self.done.append("vectors of a stopped `kgrag reembed` were dropped: run it again")
        self._connect()
        self._name_lost_files()
        problems = self.old.new.verify()
        self.left += [f"{p.invariant}: {p.subject}: {p.detail}" for p in problems]
        if self.progress:
            self.progress("", len(documents), len(documents))

    @property
    def only_loses(self) -> bool:
        """Whether nothing can be done but to leave out documents."""
        return bool(self.lost) and not self.done and not self.left

    def left_out(self, *, replaces: bool) -> Iterator[str]:
        """Yield messages on documents that cannot be restored.

        Args:
            replaces: Whether the new knowledge base, which lacks them, replaces the damaged one.
        """
        for doc_id, why in self.lost.items():
            remedy = (
                "and ingest it again; until then the document is left out"
                if replaces
                else f"and run `kgrag repair` again, or `kgrag delete {doc_id}`"
            )
            yield f"{doc_id}: {why} {remedy}"

    def _settings(self) -> bool:
        """Copy settings, inferring lost ones; return whether everything must be encoded again."""
        values, lost = self.old.settings()
        self.old.new.set_meta(values | self.old.intact.notes(NOTE))
        if not lost:
            return False
        found = self._found_settings(KbMeta(values)).stored
        found = {key: found[key] for key in lost if key in found}
        self.old.new.set_meta(found)
        self.done += [f"the setting {key} was found anew: {found[key]}" for key in found]
        self.left += [
            f"the setting {key} could not be found anew: run `kgrag ingest`, which records it"
            for key in lost
            if key not in found
        ]
        return "embedder" in lost

    def _found_settings(self, recorded: KbMeta) -> KbMeta:
        """Return settings inferred from stored chunks, the rest from the configuration.

        Args:
            recorded: Intact settings.
        """
        sizes = sorted(self.old.intact.counts().chunks, reverse=True)
        if not sizes:
            return KbMeta()
        return KbMeta.of(chunk_sizes=sizes) | encoder_meta(_encoder(recorded, self.config))

    def _decisions(self) -> None:
        corrections, decisions, lost = self.old.decided()
        self.old.new.decide(corrections=corrections, decisions=decisions)
        self.left += [f"{correction} is lost: give it again" for correction in lost]

    def _document(self, doc_id: str, parts: Collection[str]) -> None:
        """Copy a document, rebuilding its damaged parts."""
        names, parts = self._files(doc_id, {*parts} - {"log"})
        bundle = self._bundle(doc_id, names, parts)
        if bundle is None:
            files = f" ({', '.join(names)})" if names else ""
            self.lost[doc_id] = (
                f"{_listed(parts)} could not be made anew: its file is gone or has changed{files}: "
                "put it back"
            )
            return
        if {*parts} - {"sources"}:
            texts = texts_to_embed(bundle, self._sizes.leaf)
            nodes = embed(texts, embedder=self._encoder, store=self.old.intact)
            bundle = replace(bundle, vectors=nodes, embedder=self._encoder.name)
        if parts:
            self.done.append(f"{doc_id} ({', '.join(names)}): {_listed(parts)} made anew")
        first, *others = names or [doc_id]
        self.old.new.upsert_document(bundle, source=first)
        for name in others:
            self.old.new.attach_source(name, doc_id)

    def _files(self, doc_id: str, parts: set[str]) -> tuple[list[str], set[str]]:
        """Return the files of a document, and the parts to rebuild.

        If the list of files is damaged, files with the document's text are looked for; if there are
        none, the list stays as it is and is not among the parts.
        """
        names = self.old.sources.get(doc_id, [])
        if names and "sources" not in parts:
            return names, parts
        held = [
            name for name in (*names, *self._files_of_unknown()) if self._reread(doc_id, [name])
        ]
        if held:
            return held, parts
        seen = f" for sure ({', '.join(names)})" if names else ""
        self.left.append(
            f"{doc_id}: which file holds it is not known{seen}: ingest its file, after `kgrag "
            f"delete {doc_id}` where that has changed"
        )
        return names, parts - {"sources"}

    def _files_of_unknown(self) -> Iterator[str]:
        """Yield the files whose document is unknown."""
        for doc_id, names in self.old.sources.items():
            if doc_id not in self.old.documents:
                yield from names

    def _bundle(
        self, doc_id: str, names: Sequence[str], parts: Collection[str]
    ) -> DocumentBundle | None:
        """Return a document with damaged parts rebuilt; None if that is impossible."""
        store = self.old.intact
        held = store.bundle(doc_id, embedder=self._meta.embedder or "")
        if held is not None and _MADE.isdisjoint(parts):
            return held
        document = held.document if held else self._reread(doc_id, names)
        if document is None:
            return None
        seen = Fingerprint.parse(held.fingerprint).seen if held else ""
        if self.vision and not held:
            seen = self.vision.mark(document.media_type, document.file)
        lacks = not {*_NOT_BY_RULE}.isdisjoint(parts)
        return rebuilt(
            document,
            store=store,
            curation=Curation.of(self.old.new),
            sizes=self._sizes,
            fingerprint=held.fingerprint if held and not lacks else "",
            seen=seen,
        )

    def _reread(self, doc_id: str, names: Sequence[str]) -> Document | None:
        return reread(doc_id, names, self.config.ingest, self.vision)

    def _connect(self) -> None:
        """Resolve references between documents; report lost facts of models and imports."""
        if all(not parts for parts in self.old.documents.values()):
            return
        connect(self.old.new)
        for doc_id, parts in sorted(self.old.documents.items()):
            lost = [part for part in _NOT_BY_RULE if part in parts]
            if lost and doc_id not in self.lost and not self.old.has_all(doc_id, lost):
                self.left.append(
                    f"{doc_id}: what a model or an import gave of it is not all there: import it "
                    f"again, or `kgrag delete {doc_id}` and ingest its file"
                )

    def _name_lost_files(self) -> None:
        """Report files whose document is unknown."""
        held = {state.source for state in self.old.new.sources()}
        self.left += [
            f"{name}: what it held is not known: ingest it"
            for name in self._files_of_unknown()
            if name not in held
        ]

    @property
    def _meta(self) -> KbMeta:
        return KbMeta(self.old.new.all_meta())

    @property
    def _encoder(self) -> Embedder:
        if self._embedder is None:
            self._embedder = _encoder(self._meta, self.config)
        return self._embedder

    @property
    def _sizes(self) -> ChunkSizes:
        return ChunkSizes.of(self._meta.chunk_sizes or ())


def _listed(parts: Collection[str]) -> str:
    return ", ".join(name for part, name in PART_NAMES.items() if part in parts)
