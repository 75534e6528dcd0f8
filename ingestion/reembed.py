"""Give a knowledge base the vectors of another encoder, or those of other nodes."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from kgrag.embedding.choose import encoder_meta
from kgrag.embedding.embedder import Embedder
from kgrag.ids import embedding_key
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.embed import NodeText, embed, texts_to_embed, vector_key
from kgrag.ingestion.vector_set import VectorSet
from kgrag.json_ready import JsonReady
from kgrag.kb_meta import KbMeta
from kgrag.store.contents import DocumentBundle
from kgrag.store.staged import kept_of
from kgrag.store.store import Store
from kgrag.vectors.vector import Vector

_BATCH_TEXTS = 256  # encoded together; what a kill loses at most, beside a document's rest
_SAMPLE = 64  # texts that are encoded to tell how long it takes

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ReembedReport(JsonReady):
    """What was done.

    Attributes:
        before: Identity of the encoder before; empty where none was recorded.
        after: Identity of the encoder now.
        documents: How many have their vectors of it.
        encoded: Texts that were encoded in this run; others were there, from it or another.
        resumed: Documents that an earlier run, which was stopped, had done.
        dropped: Identity of the encoder whose half-done vectors were dropped; empty for none.
        changed: False if all vectors were there and in use already.
        seconds: Wall-clock time.
        index_seconds: What of it the search indexes took, where they were brought up to date.
    """

    before: str
    after: str
    documents: int
    encoded: int
    resumed: int
    dropped: str
    changed: bool
    seconds: float
    index_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ReembedPlan(JsonReady):
    """What a run would do.

    Attributes:
        before: Identity of the encoder now; empty where none is recorded.
        after: Identity of the encoder that is chosen.
        documents: How many would be looked at.
        texts: Distinct texts to encode; what is there already is left out.
        characters: Of these.
        seconds: About how long encoding would take, by a sample.
        dropped: As in `ReembedReport`.
        changed: As in `ReembedReport`; texts may be 0 all the same, where all vectors are there
            and others are to go.
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
    """A change of a knowledge base's vectors.

    Attributes:
        store: The knowledge base.
        embedder: The encoder that it is to have.
        sizes: Its chunk sizes.
        vectors: Which nodes are to carry vectors.
    """

    store: Store
    embedder: Embedder
    sizes: ChunkSizes
    vectors: VectorSet

    def run(self, *, progress: Progress | None = None) -> ReembedReport:
        """Encode every text and let the new vectors take the place of the old, all at once.

        Until then the old ones answer. A run that was killed is simply run again: what it
        encoded is kept. Nothing but vectors and what is recorded of them changes.

        Args:
            progress: Called with (file, documents done, documents in all) before each document,
                and at the end.

        Raises:
            StoreError: If the store itself fails; what was encoded before stays.
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
            while not staged.switch(self._meta().stored):  # documents came or changed meanwhile
                self._stage(known, progress)
        else:
            staged.drop()
            self.store.set_meta(self._meta().stored)  # one of an older kgrag records less
        return ReembedReport(
            before,
            self.embedder.name,
            len(self.store.document_cards()),
            known.missing,
            resumed,
            dropped,
            changed,
            time.monotonic() - started,
        )

    def plan(self) -> ReembedPlan:
        """Return what `run` would do; only a sample of texts is encoded, and nothing is stored."""
        done = self._staged()
        known, chance = _Known(self.store), random.Random(0)
        contexts: set[str] = set()
        sample: list[NodeText] = []
        documents = characters = 0
        for bundle in self._bundles(done):
            documents += 1
            for text in known.without(self._texts(bundle), self.embedder.name):
                context = embedding_key(self.embedder.name, text.text)
                if context in contexts:
                    continue
                contexts.add(context)
                characters += len(text.text)
                place = len(sample) if len(sample) < _SAMPLE else chance.randrange(len(contexts))
                if place < _SAMPLE:
                    sample[place : place + 1] = [text]
        seconds = self._speed(sample) * characters
        before = self.store.get_meta("embedder") or ""
        return ReembedPlan(
            before,
            self.embedder.name,
            documents,
            len(contexts),
            characters,
            seconds,
            self._dropped(),
            not self._is_done(),
        )

    def _meta(self) -> KbMeta:
        """Return what will be recorded."""
        return self._decisive() | encoder_meta(self.embedder)

    def _decisive(self) -> KbMeta:
        """Return what of it decides the vectors; the rest is told to people."""
        return self.vectors.meta() | KbMeta.of(embedder=self.embedder.name)

    def _dropped(self) -> str:
        """Return the encoder whose half-done vectors must go; empty for none."""
        waiting = self.store.staged.meta()
        if (
            kept_of(waiting, self._decisive().stored) != "nothing"
            or not self.store.staged.doc_ids()
        ):
            return ""
        return KbMeta(waiting or {}).embedder or ""

    def _staged(self) -> set[str]:
        """Return the documents that need not be looked at again."""
        kept = kept_of(self.store.staged.meta(), self._decisive().stored)
        return self.store.staged.doc_ids() if kept == "all" else set()

    def _is_done(self) -> bool:
        """Return whether every node has its vector, and no other has one."""
        if self.store.get_meta("embedder") != self.embedder.name:
            return False
        return all(
            {v.node_id: v.key for v in bundle.vectors}
            == {t.node_id: vector_key(t, self.embedder.name) for t in self._texts(bundle)}
            for bundle in self._bundles(set())
        )

    def _stage(self, known: "_Known", progress: Progress | None) -> None:
        """Encode and stage the documents that are not staged, some at a time."""
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
        every = [text for group in texts for text in group]
        nodes = iter(embed(every, embedder=self.embedder, store=known))
        vectors = {
            bundle.document.doc_id: [next(nodes) for _ in group]
            for bundle, group in zip(bundles, texts, strict=True)
        }
        self.store.staged.put(vectors, meta=self._decisive().stored, as_of=as_of)

    def _bundles(self, done: set[str]) -> Iterator[DocumentBundle]:
        """Yield the documents but those that are done; some may have been deleted meanwhile."""
        for card in self.store.document_cards():
            if card.doc_id not in done:
                bundle = self.store.bundle(card.doc_id)
                if bundle is not None:
                    yield bundle

    def _texts(self, bundle: DocumentBundle) -> list[NodeText]:
        return texts_to_embed(bundle, self.vectors)

    def _speed(self, sample: Sequence[NodeText]) -> float:
        """Return the seconds that a character takes."""
        if not sample:
            return 0.0
        embed(sample[:1], embedder=self.embedder, store=_EmptyStore())  # what is loaded once
        began = time.monotonic()
        embed(sample, embedder=self.embedder, store=_EmptyStore())
        return (time.monotonic() - began) / max(1, sum(len(text.text) for text in sample))


class _Known:
    """The vectors of a store, those in use and those staged.

    Attributes:
        missing: How many were asked for and were not there.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self.missing = 0

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return those that are there."""
        found = self._store.staged.vectors(keys)
        found |= self._store.vectors([key for key in keys if key not in found])
        self.missing += len(keys) - len(found)
        return found

    def without(self, texts: Sequence[NodeText], encoder: str) -> list[NodeText]:
        """Return the texts that have no vector of an encoder."""
        found = self.vectors([vector_key(text, encoder) for text in texts])
        return [text for text in texts if vector_key(text, encoder) not in found]


class _EmptyStore:
    """Holds no vectors."""

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return none."""
        return {}
