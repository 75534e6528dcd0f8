"""What is written to a knowledge base: which nodes carry vectors, configured and recorded."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kgrag.config import ChunkConfig
from kgrag.embedding.embedder import Embedder
from kgrag.embedding.wrapped import LateEmbedder
from kgrag.errors import ConfigError
from kgrag.ingestion.chunk import ChunkSizes
from kgrag.kb_meta import KbMeta
from kgrag.store.store import Store
from kgrag.text.messages import message

if TYPE_CHECKING:
    from kgrag.ingestion.vision import Vision


@dataclass(frozen=True, slots=True)
class VectorSet:
    """Which nodes carry vectors; summaries always do.

    Attributes:
        sizes: Chunk sizes with vectors, largest first.
        facts: Whether facts have vectors; citations of documents never do.
        late: Whether chunks are encoded in the context of their parent.
    """

    sizes: tuple[int, ...]  # chunk sizes with vectors, largest first
    facts: bool = True  # whether facts have vectors; citations of documents never do
    late: bool = False  # whether chunks are encoded in the context of their parent

    def meta(self) -> KbMeta:
        """Return the metadata to record, without `late`, which the encoder's name includes."""
        return KbMeta.of(embedded_sizes=self.sizes, embedded_facts=self.facts)


@dataclass(frozen=True, slots=True)
class IngestTarget:
    """A knowledge base that is written to.

    Attributes:
        store: It.
        embedder: Its encoder.
        sizes: Its chunk sizes.
        vectors: Which of its nodes have vectors.
        vision: Reads pictures of pages; None for no vision model.
    """

    store: Store
    embedder: Embedder
    sizes: ChunkSizes
    vectors: VectorSet
    vision: "Vision | None" = None


def configured_vectors(
    wanted: Sequence[int], *, facts: bool, sizes: ChunkSizes, embedder: Embedder
) -> VectorSet:
    """Return the configured set; a `LateEmbedder` encodes chunks in the context of their parent.

    `wanted` are the chunk sizes to carry vectors, in any order; empty for the smallest.

    Raises:
        ConfigError: If there are no chunks of a size.
    """
    there = sizes.every
    unknown = sorted(set(wanted) - set(there))
    if unknown:
        raise ConfigError(
            f"embedding.sizes asks for chunks of {unknown[0]}; this knowledge base has chunks "
            f"of {_listed(there)}"
        )
    chosen = tuple(size for size in there if size in wanted) or (sizes.leaf,)
    return VectorSet(chosen, facts, isinstance(embedder, LateEmbedder))


def vectors_to_add(
    meta: KbMeta, wanted: Sequence[int], *, facts: bool, sizes: ChunkSizes, embedder: Embedder
) -> VectorSet:
    """Return the set for new documents: the recorded one, or the configured one of an empty base.

    Default settings (no sizes, facts with vectors) agree with any recorded set; metadata without
    a set means the smallest chunks and facts. For the arguments see `configured_vectors`.

    Raises:
        ConfigError: If settings differ from the recorded set, or sizes are unknown.
    """
    configured = configured_vectors(wanted, facts=facts, sizes=sizes, embedder=embedder)
    if meta.embedder is None:
        return configured
    other = other_vectors(meta, wanted, facts=facts, sizes=sizes)
    if other:
        raise ConfigError(other)
    return VectorSet(
        _recorded_sizes(meta, sizes), meta.embedded_facts is not False, configured.late
    )


def other_vectors(meta: KbMeta, wanted: Sequence[int], *, facts: bool, sizes: ChunkSizes) -> str:
    """Return how the configured vectors differ from the recorded ones; empty for no difference."""
    if meta.embedder is None:
        return ""
    recorded = _recorded_sizes(meta, sizes)
    if wanted and set(wanted) != set(recorded):
        asked = _listed(sorted(set(wanted), reverse=True))
        return _other("sizes", asked, message("chunks of {sizes}", sizes=_listed(recorded)))
    has_facts = meta.embedded_facts is not False
    return _other("facts", "off", message("facts, too")) if has_facts and not facts else ""


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


def _recorded_sizes(meta: KbMeta, sizes: ChunkSizes) -> tuple[int, ...]:
    """Return the sizes of the chunks that carry vectors, largest first."""
    return meta.embedded_sizes or (sizes.leaf,)


def _other(key: str, wanted: str, there: str) -> str:
    said = (
        "embedding.{key} is {wanted}, but this knowledge base has vectors of {there}: run "
        "`kgrag reembed` to change that, or take embedding.{key} out of kgrag.toml"
    )
    return message(said, key=key, wanted=wanted, there=there)


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))
