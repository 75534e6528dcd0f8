"""Replace the vectors of a knowledge base by those of another encoder."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kgrag.embedding.choose import encoder_meta
from kgrag.embedding.embedder import Embedder
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.embed import NodeText, embed, embed_groups, texts_to_embed, vector_key
from kgrag.json_ready import JsonReady
from kgrag.kb_meta import KbMeta
from kgrag.store.contents import DocumentBundle
from kgrag.store.staged import is_kept
from kgrag.store.store import Store
from kgrag.vectors.vector import Vector

_BATCH_TEXTS = 256  # encoded together; the most that a kill loses, beside a document's rest
_SAMPLE = 64  # texts encoded to estimate the duration

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ReembedReport(JsonReady):
    """The result of a run."""

    before: str  # identity of the encoder before; empty where none was recorded
    after: str  # identity of the encoder now
    documents: int  # documents with vectors of it
    encoded: int  # texts encoded in this run; the others had vectors
    resumed: int  # documents finished by an earlier, interrupted run
    dropped: str  # identity of the encoder whose unfinished vectors were dropped; empty for none
    changed: bool  # False if all vectors were already in use
    seconds: float


@dataclass(frozen=True, slots=True)
class ReembedPlan(JsonReady):
    """What a run would do; further attributes as in `ReembedReport`.

    Attributes:
        texts: Distinct texts to encode, those with vectors left out; may be 0 where vectors are
            only removed.
        characters: Of these.
        seconds: Estimated time of encoding, from a sample.
    """

    before: str
    after: str
    documents: int
    texts: int
    characters: int
    seconds: float
    dropped: str
    changed: bool


@dataclass(frozen=True, slots=True)
class Reembedding:
    """A change of a knowledge base's vectors to those of `embedder`."""

    store: Store
    embedder: Embedder
    sizes: ChunkSizes

    def run(self, *, progress: Progress | None = None) -> ReembedReport:
        """Encode every text, then replace the old vectors by the new ones atomically.

        Until then the old ones are used. A killed run is simply run again: its vectors are kept.
        Only vectors and the metadata about them change. `progress` is called with (file, documents
        done, documents in all) before each document, and at the end.

        Raises:
            StoreError: If the store itself fails; encoded vectors stay.
            ModelError: If the encoder fails.
        """
        started = time.monotonic()
        staged, before = self.store.staged, self.store.get_meta("embedder") or ""
        known = _Known(self.store)
        dropped = self._dropped()
        changed = not self._is_done()
        resumed = 0
        if changed:
            staged.begin(self._decisive().stored)
            resumed = len(staged.doc_ids())
            self._stage(known, progress)
            while not staged.switch(self._meta().stored):  # documents changed meanwhile
                self._stage(known, progress)
        else:
            staged.drop()
            self.store.set_meta(self._meta().stored)  # older versions recorded less
        name, n, seconds = self.embedder.name, len(self.store.document_cards()), time.monotonic()
        seconds -= started
        return ReembedReport(before, name, n, known.missing, resumed, dropped, changed, seconds)

    def plan(self) -> ReembedPlan:
        """Return what `run` would do; only a sample of texts is encoded, and nothing is stored."""
        kept = is_kept(self.store.staged.meta(), self._decisive().stored)
        done = self.store.staged.doc_ids() if kept else set()
        known, chance = _Known(self.store), random.Random(0)
        keys: set[str] = set()
        sample: list[NodeText] = []
        documents = characters = 0
        for bundle in self._bundles(done):
            documents += 1
            for text in known.without(self._texts(bundle), self.embedder.name):
                key = vector_key(text, self.embedder.name)
                if key in keys:
                    continue
                keys.add(key)
                characters += len(text.text)
                place = len(sample) if len(sample) < _SAMPLE else chance.randrange(len(keys))
                if place < _SAMPLE:
                    sample[place : place + 1] = [text]
        seconds = self._speed(sample) * characters
        before = self.store.get_meta("embedder") or ""
        return ReembedPlan(
            before,
            self.embedder.name,
            documents,
            len(keys),
            characters,
            seconds,
            self._dropped(),
            not self._is_done(),
        )

    def _meta(self) -> KbMeta:
        """Return the metadata to record."""
        return self._decisive() | encoder_meta(self.embedder)

    def _decisive(self) -> KbMeta:
        """Return the metadata that determines the vectors."""
        return KbMeta.of(embedder=self.embedder.name)

    def _dropped(self) -> str:
        """Return the encoder whose unfinished vectors must be dropped; empty for none."""
        waiting = self.store.staged.meta()
        if is_kept(waiting, self._decisive().stored) or not self.store.staged.doc_ids():
            return ""
        return KbMeta(waiting or {}).embedder or ""

    def _is_done(self) -> bool:
        """Return whether exactly the chosen nodes have vectors of the encoder."""
        if self.store.get_meta("embedder") != self.embedder.name:
            return False
        return all(
            {v.node_id: v.key for v in bundle.vectors}
            == {t.node_id: vector_key(t, self.embedder.name) for t in self._texts(bundle)}
            for bundle in self._bundles(set())
        )

    def _stage(self, known: "_Known", progress: Progress | None) -> None:
        """Encode and stage the remaining documents in batches."""
        cards = self.store.document_cards()
        done = self.store.staged.doc_ids()
        waiting: list[DocumentBundle] = []
        n_texts, as_of = 0, self.store.change_counter()
        n_done = len(cards) - sum(card.doc_id not in done for card in cards)
        for bundle in self._bundles(done):
            if progress:
                progress(bundle.document.file, n_done, len(cards))
            n_done += 1
            waiting.append(bundle)
            n_texts += len(self._texts(bundle))
            if n_texts >= _BATCH_TEXTS:
                self._put(waiting, known, as_of)
                waiting, n_texts, as_of = [], 0, self.store.change_counter()
        self._put(waiting, known, as_of)
        if progress:
            progress("", len(cards), len(cards))

    def _put(self, bundles: Sequence[DocumentBundle], known: "_Known", as_of: int) -> None:
        texts = [self._texts(bundle) for bundle in bundles]
        nodes = embed_groups(texts, embedder=self.embedder, store=known)
        vectors = dict(zip((b.document.doc_id for b in bundles), nodes, strict=True))
        self.store.staged.put(vectors, meta=self._decisive().stored, as_of=as_of)

    def _bundles(self, done: set[str]) -> Iterator[DocumentBundle]:
        """Yield the unfinished documents; some may have been deleted meanwhile."""
        for card in self.store.document_cards():
            if card.doc_id not in done:
                bundle = self.store.bundle(card.doc_id)
                if bundle is not None:
                    yield bundle

    def _texts(self, bundle: DocumentBundle) -> list[NodeText]:
        return texts_to_embed(bundle, self.sizes.leaf)

    def _speed(self, sample: Sequence[NodeText]) -> float:
        """Return the seconds per character."""
        if not sample:
            return 0.0
        embed(sample[:1], embedder=self.embedder, store=_EmptyStore())  # warm-up
        began = time.monotonic()
        embed(sample, embedder=self.embedder, store=_EmptyStore())
        return (time.monotonic() - began) / max(1, sum(len(text.text) for text in sample))


class _Known:
    """The vectors of a store, in use and staged.

    Attributes:
        missing: How many requested vectors did not exist.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.missing = 0

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors that exist."""
        found = self._store.staged.vectors(keys)
        found |= self._store.vectors([key for key in keys if key not in found])
        self.missing += len(keys) - len(found)
        return found

    def without(self, texts: Sequence[NodeText], encoder: str) -> list[NodeText]:
        """Return the texts that have no vector of an encoder."""
        found = self.vectors([vector_key(text, encoder) for text in texts])
        return [text for text in texts if vector_key(text, encoder) not in found]


class _EmptyStore:
    """A store without vectors."""

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return none."""
        return {}
