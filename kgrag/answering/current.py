"""The current state of a knowledge base for questions: encoder, chunk sizes, local copy."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.answering.dated import as_of_asked
from kgrag.answering.search_context import SearchContext
from kgrag.config import Config
from kgrag.embedding.choose import built_with
from kgrag.embedding.embedder import Embedder
from kgrag.errors import ModelError
from kgrag.files.cache_folder import cache_folder
from kgrag.ids import digest
from kgrag.ingestion.chunk import ChunkSizes, configured_sizes
from kgrag.kb_meta import KbMeta
from kgrag.retrieval.cross_encoding import ByCrossEncoder, CrossEncoder
from kgrag.retrieval.filter import documents_of_archive
from kgrag.retrieval.settings import Settings, settings_of
from kgrag.statements.in_force import InForce
from kgrag.store.store import Store
from kgrag.store.whole import CopiedStore

if TYPE_CHECKING:
    from kgrag.store.background_copy import BackgroundCopy
    from kgrag.store.local_copy import LocalCopy


@dataclass
class CurrentState:
    """What is read of a knowledge base for questions, again when it has changed.

    Attributes:
        store: The knowledge base.
        sizes: Returns the two sizes with a word index, the smallest last.
    """

    store: Store
    sizes: Callable[[], tuple[int, int]]
    _read: tuple[int, Settings, Callable[[], InForce]] | None = field(default=None, init=False)

    def read(self) -> tuple[Settings, Callable[[], InForce]]:
        """Return the settings for questions in a language that the encoder reads, and validity."""
        counter = self.store.change_counter()
        if self._read is None or self._read[0] != counter:
            coarse, leaf = self.sizes()
            settings = settings_of(self.store, leaf=leaf, coarse=coarse)
            in_force = cache(partial(InForce.read, self.store, settings.cards))
            self._read = counter, settings, in_force
        return self._read[1:]


@dataclass
class Current:
    """Current state of a knowledge base that other processes may change.

    Attributes:
        store: The knowledge base.
        config: Settings.
        choose_embedder: Returns the encoder for the recorded name, if there is one.
        location: Of the knowledge base.
    """

    store: Store
    config: Config
    choose_embedder: Callable[[str | None], Embedder]
    location: str | Path
    _embedder: Embedder | None = field(default=None, init=False)
    _states: dict[int, CurrentState] = field(default_factory=dict, init=False)

    def close(self) -> None:
        """Close the local copy, if there is one."""
        opened = self.__dict__.pop("_copy", None)
        if opened is not None:
            opened.close()

    def knowledge(self) -> SearchContext:
        """Return the state for one question."""
        copied = self._copy.current() if self._copy else None
        store = self.store if copied is None else copied
        if id(store) not in self._states:
            self._states[id(store)] = CurrentState(store, lambda: self.sizes(store).searched)
        state = self._states[id(store)]
        # One question looks once what there is: on a server each look is a round trip.
        read = cache(state.read)
        model, n_best = self._cross_encoder, self.config.rerank.candidates
        return SearchContext(
            store,
            cache(partial(self.embedder, store)),
            lambda: read()[0],
            in_force=lambda: read()[1](),
            archive=partial(documents_of_archive, self.store),  # a copy has no notes
            as_of=as_of_asked("", None),
            rerank=None if model is None else ByCrossEncoder(model, n_best=n_best),
        )

    def embedder(self, store: Store) -> Embedder:
        """Return the encoder of a store's vectors.

        Raises:
            ModelNotFoundError: If it is not installed.
            ModelMismatchError: If another one is configured.
        """
        recorded = store.get_meta("embedder")  # another process may have changed it
        if self._embedder is None or recorded not in (None, self._embedder.name):
            choose = partial(self.choose_embedder, recorded)
            self._embedder = built_with(KbMeta(store.all_meta()), choose)
        return self._embedder

    def sizes(self, store: Store) -> ChunkSizes:
        """Return the recorded chunk sizes, or the configured ones for a new store.

        Raises:
            ConfigError: If the configured sizes are not in order.
        """
        recorded = KbMeta.read(store.get_meta, "chunk_sizes").chunk_sizes
        return ChunkSizes.of(recorded) if recorded else configured_sizes(self.config.chunks)

    @cached_property
    def _cross_encoder(self) -> CrossEncoder | None:
        config = self.config.rerank
        if not (config.is_endpoint or config.model):
            return None
        from kgrag.reranking.endpoint import EndpointCrossEncoder

        return EndpointCrossEncoder.from_config(config)

    @cached_property
    def _copy(self) -> "LocalCopy | BackgroundCopy | None":
        kind = self.config.search.local_copy
        if kind == "off" or not isinstance(self.store, CopiedStore):
            return None
        try:
            folder = cache_folder() / "copies"
        except ModelError:  # this user has no place for it
            if kind == "on":
                raise
            return None
        if kind == "on":
            from kgrag.store.local_copy import LocalCopy

            return LocalCopy(self.store, folder / digest("copy", str(self.location)))
        from kgrag.store.background_copy import BackgroundCopy

        return BackgroundCopy(self.store, folder / "processes", self._index_words)

    def _index_words(self, store: Store) -> None:
        store.refresh(sizes=self.sizes(store).searched)
