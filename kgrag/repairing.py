"""Repair a damaged knowledge base: from what is whole of it, from the files, by the encoder."""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.config import Config
from kgrag.embedding.choose import built_with, configured_embedder, encoder_meta
from kgrag.embedding.embedder import Embedder
from kgrag.errors import KgragError, NewerVersionError, NoKnowledgeBaseError, StoreError
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.connect import connect
from kgrag.ingestion.embed import embed, texts_to_embed, vector_key
from kgrag.ingestion.facts import BY_RULE
from kgrag.ingestion.renew import settle
from kgrag.ingestion.reread import rebuilt, reread
from kgrag.ingestion.vector_set import VectorSet, configured_vectors, vectors_to_add
from kgrag.json_ready import as_dict
from kgrag.kb_meta import KbMeta
from kgrag.store.contents import DocumentBundle, Problem
from kgrag.store.decisions import UNSETTLED
from kgrag.store.open import open_store

if TYPE_CHECKING:
    from kgrag.store.sqlite.workshop import Workshop

Progress = Callable[[str, int, int], None]

_NOT_BY_RULE = ("knowledge", "summaries")  # parts that a model or an import may have given
_TOLD = {
    "text": "its text",
    "chunks": "its chunks",
    "summaries": "its summaries",
    "knowledge": "its facts",
    "vectors": "its vectors",
    "encoded": "its vectors",
    "sources": "the name of its file",
    "log": "its place in the log",
}


@dataclass(frozen=True, slots=True)
class RepairReport:
    """What was found, and what became of it.

    Attributes:
        found: What `verify` said before.
        done: What was repaired, in words.
        left: What could not be, with the remedy.
        kept: The damaged file as it was; None where nothing was put in its place.
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
    """Make a damaged knowledge base in a folder whole again as far as that can be.

    Derived things are built anew, vectors encoded, documents read from their files; the damaged
    file is kept beside it. It need not be possible to open it.

    Args:
        location: The folder; a server is only checked, but for documents that do not say yet what
            a person decided.
        config: Settings; of the encoder, where vectors are to be made anew. Defaults for None.
        dry_run: Do it beside, and put nothing in its place.
        progress: Called with (document, documents done, documents in all).

    Raises:
        NoKnowledgeBaseError: If there is none.
        StoreError: If nothing of it can be read, or it was changed meanwhile; it is as it was.
    """
    found = _problems(location)
    lost = [p.detail for p in found if p.invariant == "lost"]  # no file holds it any more
    wrong = [p for p in found if p.invariant != "lost"]
    if not wrong:
        return RepairReport(tuple(found), left=tuple(lost))
    if all(p.invariant == UNSETTLED for p in wrong):
        done = _settle(location, config or Config(), [p.subject for p in wrong], dry_run=dry_run)
        return RepairReport(tuple(found), done, tuple(lost))
    if "://" in str(location):
        left = [f"{p.invariant}: {p.subject}: {p.detail}" for p in found]
        return RepairReport(tuple(found), (), (*left, _ON_A_SERVER))
    folder = Path(location)
    if all(p.invariant == "cache-agrees" for p in wrong):
        done = _forget_caches(folder, wrong, dry_run=dry_run)
        return RepairReport(tuple(found), done, tuple(lost))
    from kgrag.store.sqlite.workshop import workshop

    with workshop(folder) as shop:
        repairing = _Repairing(shop, config or Config(), progress)
        repairing.run()
        left = [*repairing.left, *_remaining(shop.store.verify(), repairing.told)]
        if not left and not repairing.done:
            repairing.done.append("header, indexes and names were made anew from the rest")
        kept = shop.take_place() if repairing.done and not dry_run else None
    if kept:
        _forget_damaged_caches(folder)
    return RepairReport(tuple(found), tuple(repairing.done), (*left, *lost), kept)


_ON_A_SERVER = (
    "a knowledge base on a server is only checked: ingest the named documents again (`kgrag delete`"
    " them first), or copy it (`kgrag copy`) from one that is whole"
)


def _problems(location: str | Path) -> list[Problem]:
    """Return what `verify` says; one that cannot be opened has the one problem that says so."""
    try:
        with closing(open_store(location, create=False)) as store:
            return store.verify()
    except (NoKnowledgeBaseError, NewerVersionError):
        raise
    except StoreError as exc:
        if "://" in str(location):
            raise
        return [Problem("file", str(location), str(exc))]


def _remaining(problems: list[Problem], told: Collection[str]) -> Iterator[str]:
    """Yield problems that are left and were not told of."""
    for p in problems:
        if not any(doc_id in p.subject for doc_id in told):
            yield f"{p.invariant}: {p.subject}: {p.detail}"


def _settle(
    location: str | Path, config: Config, doc_ids: Sequence[str], *, dry_run: bool
) -> tuple[str, ...]:
    """Make documents anew that do not say yet what a person decided; it was cut off."""
    if not dry_run:
        with closing(open_store(location, create=False)) as store:
            meta = KbMeta(store.all_meta())
            embedder = _encoder(meta, config)
            sizes = ChunkSizes.of(meta.chunk_sizes or ())
            vectors = _vectors(meta, config, embedder)
            settle(store=store, embedder=embedder, sizes=sizes, vectors=vectors)
    return tuple(f"{doc_id} says what a person decided" for doc_id in doc_ids)


def _encoder(meta: KbMeta, config: Config) -> Embedder:
    choose = partial(configured_embedder, config.embedding, meta.embedder)
    return built_with(meta, choose)


def _vectors(meta: KbMeta, config: Config, embedder: Embedder) -> VectorSet:
    wanted, sizes = config.embedding, ChunkSizes.of(meta.chunk_sizes or ())
    return vectors_to_add(meta, wanted.sizes, facts=wanted.facts, sizes=sizes, embedder=embedder)


def _forget_caches(
    folder: Path, problems: Collection[Problem], *, dry_run: bool
) -> tuple[str, ...]:
    from kgrag.store.sqlite.cache import CacheFolder
    from kgrag.store.sqlite.store import CACHE_FOLDER

    names = sorted({p.subject for p in problems})
    if not dry_run:
        for name in names:
            CacheFolder(folder / CACHE_FOLDER).forget(name)
    return tuple(f"the search index {name} is built anew when it is next asked" for name in names)


def _forget_damaged_caches(folder: Path) -> None:
    """Let caches that do not fit be built anew, and all of words: they may be of what was damaged.

    Chunks that are gone weigh in them, too, until then.
    """
    from kgrag.store.sqlite.cache import CacheFolder
    from kgrag.store.sqlite.store import CACHE_FOLDER

    cache = CacheFolder(folder / CACHE_FOLDER)
    damaged = {p.subject for p in _problems(folder) if p.invariant == "cache-agrees"}
    for name in {*damaged, *cache.names("lexical-")}:
        cache.forget(name)


@dataclass(slots=True)
class _Repairing:
    """One repair.

    Attributes:
        shop: Where.
        config: Settings.
        progress: As for `repair`.
        done: As in `RepairReport`.
        left: As in `RepairReport`.
        told: Documents of which something is left.
        before: Checksums of what models and imports gave of documents that were made anew.
    """

    shop: "Workshop"
    config: Config
    progress: Progress | None
    done: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    told: set[str] = field(default_factory=set)
    before: dict[str, dict[str, bytes | None]] = field(default_factory=dict)
    _embedder: Embedder | None = None

    def run(self) -> None:
        """Repair all that can be."""
        self.done += self.shop.mend()
        self._settings()
        broken = self.shop.broken()
        for number, (doc_id, parts) in enumerate(sorted(broken.items())):
            if self.progress:
                self.progress(doc_id, number, len(broken))
            try:
                self._document(doc_id, parts)
            except KgragError as exc:
                self._leave(doc_id, parts, str(exc))
        self._connect()
        if self.progress:
            self.progress("", len(broken), len(broken))

    def _settings(self) -> None:
        left = self.shop.settings_left()
        if not left:
            return
        values = found_settings(self.shop, left, self.config)
        self.shop.restore_settings(values)
        self.done += [f"the setting {key} was found anew: {values[key]}" for key in values]
        self.left += [
            f"the setting {key} could not be found anew: run `kgrag ingest`, which records it"
            for key in sorted({*left} - {*values})
        ]

    def _document(self, doc_id: str, parts: Collection[str]) -> None:
        """Make anew what is damaged of a document, or say why that cannot be."""
        store = self.shop.store
        names = [s.source for s in store.sources() if s.doc_id == doc_id]
        if "sources" in parts:
            names = [name for name in names if reread(doc_id, [name])]
            self.shop.keep_sources(doc_id, names)
        if not names:
            self._leave(doc_id, parts, "which file holds it is not known: ingest its file")
            return
        bundle = self._bundle(doc_id, names, parts)
        if isinstance(bundle, str):
            self._leave(doc_id, parts, bundle)
            return
        texts = texts_to_embed(bundle, self._vectors)
        nodes = embed(texts, embedder=self._encoder, store=store)
        seals = self.shop.seals_of(doc_id)
        self.before[doc_id] = {part: seals.get(part) for part in _NOT_BY_RULE if part in parts}
        bundle = replace(bundle, vectors=nodes, embedder=self._encoder.name)
        store.upsert_document(bundle, source=names[0])
        self.done.append(f"{doc_id} ({names[0]}): {_listed(parts)} made anew")

    def _connect(self) -> None:
        """Point references of what was made anew at the documents held; see what is not there."""
        if not self.before:
            return
        try:
            connect(self.shop.store)
        except KgragError as exc:
            self.left.append(f"references do not lead to all documents: `kgrag ingest` ({exc})")
        for doc_id, before in self.before.items():
            after = self.shop.seals_of(doc_id)
            if any(after[part] != seal for part, seal in before.items()):
                self.left.append(
                    f"{doc_id}: what a model or an import gave of it is not all there: import it "
                    f"again, or `kgrag delete {doc_id}` and ingest its file"
                )

    def _bundle(
        self, doc_id: str, names: Sequence[str], parts: Collection[str]
    ) -> DocumentBundle | str:
        """Return a document made anew, with the vectors that it had; or why that cannot be."""
        store = self.shop.store
        keep = {"knowledge", "summaries", "fingerprint"} - {*parts}
        if "text" in parts:
            document = reread(doc_id, names)
            if document is None:
                return f"its file is gone or has changed ({', '.join(names)}): put it back"
            keep.discard("fingerprint")
            return rebuilt(document, store=store, sizes=self._sizes, keep=keep)
        if not {*_NOT_BY_RULE, "chunks"} & {*parts}:
            held = store.bundle(doc_id)
            return held or "it is gone"
        (document,) = store.documents([doc_id])
        if "chunks" not in parts and not self._is_by_rule(doc_id):
            return "a model or an import gave them: ask or import again"
        return rebuilt(document, store=store, sizes=self._sizes, keep=keep)

    def _is_by_rule(self, doc_id: str) -> bool:
        return self.shop.extractors_of(doc_id) <= {BY_RULE}

    def _leave(self, doc_id: str, parts: Collection[str], why: str) -> None:
        self.told.add(doc_id)
        self.left.append(
            f"{doc_id}: {_listed(parts)} could not be made anew: {why}; then run `kgrag repair` "
            f"again, or `kgrag delete {doc_id}` and ingest it again"
        )

    @property
    def _sizes(self) -> ChunkSizes:
        return ChunkSizes.of(self._meta.chunk_sizes or ())

    @property
    def _meta(self) -> KbMeta:
        return KbMeta(self.shop.store.all_meta())

    @property
    def _encoder(self) -> Embedder:
        if self._embedder is None:
            self._embedder = _encoder(self._meta, self.config)
        return self._embedder

    @property
    def _vectors(self) -> VectorSet:
        return _vectors(self._meta, self.config, self._encoder)


def found_settings(shop: "Workshop", left: Collection[str], config: Config) -> dict[str, str]:
    """Return the values of settings as what is stored tells them; those that it does are left out.

    Args:
        shop: Holds what is stored.
        left: Which are asked for.
        config: Settings, which name an encoder where none is recorded any more.
    """
    store = shop.store
    meta = KbMeta()
    sizes = sorted(store.counts().chunks, reverse=True)
    if sizes:
        meta |= KbMeta.of(chunk_sizes=sizes)
    kinds = shop.embedded()
    if kinds:
        without = "fact" not in kinds and any(_has_facts_to_embed(d, shop) for d in shop.doc_ids())
        held = sorted((int(k) for k in kinds if k.isdecimal()), reverse=True)
        meta |= KbMeta.of(embedded_facts=not without, embedded_sizes=held)
    recorded = KbMeta(shop.whole_settings()).embedder
    embedder = configured_embedder(config.embedding, recorded)
    if sizes and _has_made(embedder, shop, meta):
        meta |= encoder_meta(embedder)
    return {key: meta.stored[key] for key in left if key in meta.stored}


def _has_facts_to_embed(doc_id: str, shop: "Workshop") -> bool:
    """Return whether a document has facts that carry vectors unless settings forbid it."""
    bundle = shop.bundle(doc_id)
    return bundle is not None and any(
        text.kind == "fact" for text in texts_to_embed(bundle, VectorSet((), facts=True))
    )


def _has_made(embedder: Embedder, shop: "Workshop", meta: KbMeta) -> bool:
    """Return whether the vectors of a document have the keys that an encoder's have."""
    sizes = ChunkSizes.of(meta.chunk_sizes or ())
    embedded = meta.embedded_sizes or ()
    vectors = configured_vectors(embedded, facts=True, sizes=sizes, embedder=embedder)
    for doc_id in shop.doc_ids():
        bundle = shop.bundle(doc_id)
        if bundle is not None and bundle.vectors:
            held = {v.key for v in bundle.vectors}
            texts = texts_to_embed(replace(bundle, facts=()), vectors)
            return any(vector_key(text, embedder.name) in held for text in texts)
    return False


def _listed(parts: Collection[str]) -> str:
    return ", ".join(dict.fromkeys(told for part, told in _TOLD.items() if part in parts))
