"""A knowledge base that documents are ingested into."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from kgrag.config import ChunkConfig
from kgrag.embedding.embedder import Embedder
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.store.contents import DocumentBundle
from kgrag.store.store import Store
from kgrag.text.messages import message

if TYPE_CHECKING:
    from kgrag.ingestion.vision import Vision


class Writer(Protocol):
    """Stores documents, as `kgrag.store.documents.DocumentStore` does."""

    def upsert_document(self, bundle: DocumentBundle, *, source: str) -> str | None:
        """Store a document."""
        ...

    def attach_source(self, source: str, doc_id: str) -> None:
        """Record another source of a document."""
        ...


@dataclass(frozen=True, slots=True)
class IngestTarget:
    """A knowledge base that is written to.

    Attributes:
        store: It.
        embedder: Its encoder.
        sizes: Its chunk sizes.
        vision: Reads pictures of pages; None for no vision model.
        writer: Stores documents; None for the knowledge base itself.
    """

    store: Store
    embedder: Embedder
    sizes: ChunkSizes
    vision: "Vision | None" = None
    writer: Writer | None = None


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
