"""Gather what a run would do."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.config import IngestConfig
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.ingestion.pipeline import chunks_to_embed, survey
from kgrag.ingestion.report import Outcome, Plan
from kgrag.ingestion.vector_set import VectorSet
from kgrag.store.contents import DocumentBundle
from kgrag.store.store import Store

if TYPE_CHECKING:
    from kgrag.ingestion.enrich import Enricher


class PlanBuilder:
    """What a run would do, gathered from its documents.

    They are read anew each time, so that no more than one is held.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        store: Store,
        sizes: ChunkSizes,
        vectors: VectorSet,
        enricher: "Enricher | None",
        follow_links: bool,
        limits: IngestConfig,
    ) -> None:
        """Note what would be run; nothing is read yet. See `kgrag.ingestion.pipeline.ingest`."""
        self._paths = paths
        self._store = store
        self._sizes = sizes
        self._vectors = vectors
        self._enricher = enricher
        self._follow_links = follow_links
        self._limits = limits
        self._outcomes: list[Outcome] = []
        self._n_chunks = 0
        self._n_passages = 0

    def bundles(self) -> Iterator[DocumentBundle]:
        """Yield the documents that would be stored."""
        self._outcomes, self._n_chunks, self._n_passages = [], 0, 0
        for item in survey(
            self._paths,
            store=self._store,
            sizes=self._sizes,
            model=self._enricher.identity if self._enricher else "",
            follow_links=self._follow_links,
            limits=self._limits,
        ):
            if isinstance(item, Outcome):
                self._outcomes.append(item)
                continue
            self._outcomes.append(item.outcome)
            self._n_chunks += chunks_to_embed(item, self._vectors)
            if item.bundle is not None:
                if self._enricher:
                    self._n_passages += len(self._enricher.passages_of(item.bundle))
                yield item.bundle

    def plan(self) -> Plan:
        """Return what was gathered when the documents were read last."""
        return Plan(tuple(self._outcomes), self._n_chunks, self._n_passages)
