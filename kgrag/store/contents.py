"""Input and state of a store: bundles, sources, counts, problems."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgrag.json_ready import JsonReady
from kgrag.types import Chunk, Document, Fact, Heading, Mention, NodeKind, Summary
from kgrag.vectors.vector import Vector


@dataclass(frozen=True, slots=True)
class NodeVector:
    """A vector that belongs to a node.

    Attributes:
        node_id: The chunk, summary, document or fact.
        kind: Which of them.
        key: `kgrag.ids.embedding_key` of model and encoded text; equal texts share one vector.
        vector: `float32[dim]`, unit length; None where the store already has this key.
    """

    node_id: str
    kind: NodeKind
    key: str
    vector: Vector | None


@dataclass(frozen=True, slots=True)
class DocumentBundle:
    """Everything that one document brings; stored whole or not at all.

    Attributes:
        document: The document.
        fingerprint: Hash of content and ingestion settings; equal means nothing to do.
        headings: In text order.
        chunks: All groups, parents first.
        summaries: Index nodes.
        facts: Each with evidence in this document only.
        mentions: Entities named without a fact.
        vectors: For chunks, summaries, the document itself, and facts as it words them.
        embedder: Identity of the encoder that made them; empty where it is not known.
    """

    document: Document
    fingerprint: str
    headings: Sequence[Heading] = ()
    chunks: Sequence[Chunk] = ()
    summaries: Sequence[Summary] = ()
    facts: Sequence[Fact] = ()
    mentions: Sequence[Mention] = ()
    vectors: Sequence[NodeVector] = ()
    embedder: str = ""


@dataclass(frozen=True, slots=True)
class SourceState:
    """What the store knows of a source file (or `.jsonl` record).

    Attributes:
        source: Its absolute path, `#id` appended for a record.
        doc_id: Its current document.
        fingerprint: Of that document.
    """

    source: str
    doc_id: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Counts(JsonReady):
    """How many of each are stored."""

    documents: int
    characters: int
    chunks: Mapping[int, int]
    summaries: int
    entities: int
    facts: int
    mentions: int
    vectors: int


@dataclass(frozen=True, slots=True)
class Problem(JsonReady):
    """An invariant that does not hold.

    Attributes:
        invariant: Its name, e.g. `fact-has-evidence`.
        subject: The id of what breaks it.
        detail: What is wrong, and the remedy.
    """

    invariant: str
    subject: str
    detail: str
