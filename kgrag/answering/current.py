"""The current state of a knowledge base for questions: encoder, chunk sizes, local copy."""

from collections.abc import Callable
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.answering.dated import as_of_asked
from kgrag.answering.search_context import CurrentInForce, CurrentSettings, SearchContext
from kgrag.config import Config
from kgrag.embedding.choose import built_with
from kgrag.embedding.embedder import Embedder
from kgrag.files.cache_folder import cache_folder
from kgrag.ids import digest
from kgrag.ingestion.chunk import ChunkSizes, configured_sizes
from kgrag.kb_meta import KbMeta
from kgrag.reranking.cross_encoder import CrossEncoder, open_cross_encoder
from kgrag.retrieval.cross_encoding import ByCrossEncoder
from kgrag.store.store import Store
from kgrag.store.whole import CopiedStore

if TYPE_CHECKING:
    from kgrag.store.local_copy import LocalCopy


class Current:
    """Current state of a knowledge base that other processes may change."""

    def __init__(
        self,
        store: Store,
        config: Config,
        choose_embedder: Callable[[str | None], Embedder],
        location: str | Path,
    ) -> None:
        """Initialise.

        Args:
            store: The knowledge base.
            config: Settings.
            choose_embedder: Returns the encoder for the recorded name, if there is one.
            location: Of the knowledge base.
        """
        self._store = store
        self._config = config
        self._choose_embedder = choose_embedder
        self._location = location
        self._embedder: Embedder | None = None
        self._settings: dict[int, CurrentSettings] = {}
        self._in_force: dict[int, CurrentInForce] = {}

    def close(self) -> None:
        """Close the local copy, if there is one."""
        opened = self.__dict__.pop("_copy", None)
        if opened is not None:
            opened.close()

    def knowledge(self) -> SearchContext:
        """Return the state for one question."""
        copied = self._copy.current() if self._copy else None
        store = self._store if copied is None else copied
        if id(store) not in self._settings:
            searched = partial(self._searched_sizes, store)
            self._settings[id(store)] = CurrentSettings(store, searched)
            self._in_force[id(store)] = CurrentInForce(store)
        # One question looks once what there is: on a server each look is a round trip.
        settings = cache(self._settings[id(store)])
        embedder = cache(partial(self.embedder, store))
        in_force = partial(self._in_force[id(store)], settings)
        today = as_of_asked("", None)
        model, n_best = self._cross_encoder, self._config.rerank.candidates
        return SearchContext(
            store,
            embedder,
            settings,
            graph=self._store,
            in_force=in_force,
            as_of=today,
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
            choose = partial(self._choose_embedder, recorded)
            self._embedder = built_with(KbMeta(store.all_meta()), choose)
        return self._embedder

    def sizes(self, store: Store) -> ChunkSizes:
        """Return the recorded chunk sizes, or the configured ones for a new store.

        Raises:
            ConfigError: If the configured sizes are not in order.
        """
        recorded = KbMeta.read(store.get_meta, "chunk_sizes").chunk_sizes
        return ChunkSizes.of(recorded) if recorded else configured_sizes(self._config.chunks)

    def _searched_sizes(self, store: Store) -> tuple[int, int]:
        return self.sizes(store).searched

    @cached_property
    def _cross_encoder(self) -> CrossEncoder | None:
        return open_cross_encoder(self._config.rerank)

    @cached_property
    def _copy(self) -> "LocalCopy | None":
        if self._config.search.local_copy == "off" or not isinstance(self._store, CopiedStore):
            return None
        from kgrag.store.local_copy import LocalCopy

        of_location = digest("copy", str(self._location))
        return LocalCopy(self._store, cache_folder() / "copies" / of_location)
