"""A knowledge base that documents are ingested into."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgrag.config import ChunkConfig
from kgrag.embedding.embedder import Embedder
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.store.contents import DocumentBundle
from kgrag.store.store import Store
from kgrag.text.messages import message

if TYPE_CHECKING:
    from kgrag.ingestion.vision import Vision


@dataclass(frozen=True, slots=True)
class IngestTarget:
    """A knowledge base that is written to.

    Attributes:
        store: It.
        embedder: Its encoder.
        sizes: Its chunk sizes.
        vision: Reads pictures of pages; None for no vision model.
        replacing: Stores a document of a source in place of `upsert_document`, and records what it
            changes; None for no record.
    """

    store: Store
    embedder: Embedder
    sizes: ChunkSizes
    vision: "Vision | None" = None
    replacing: Callable[[DocumentBundle, str], str | None] | None = None

    def upsert(self, bundle: DocumentBundle, source: str) -> str | None:
        """Store a document; see `kgrag.store.documents.DocumentStore.upsert_document`."""
        if self.replacing:
            return self.replacing(bundle, source)
        return self.store.upsert_document(bundle, source=source)


def other_sizes(config: ChunkConfig, sizes: ChunkSizes) -> str:
    """Return how stated chunk sizes differ from those of a knowledge base; empty if they do not."""
    wanted = (config.parent, *config.children)
    if wanted == sizes.every or config == ChunkConfig():
        return ""
    said = (
        "[chunks] of kgrag.toml asks for chunks of {wanted}, but this knowledge base has chunks of "
        "{there}, and keeps them: take [chunks] out, or ingest into a new one (--kb NEW)"
    )
    return message(said, wanted=_listed(wanted), there=_listed(sizes.every))


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))
