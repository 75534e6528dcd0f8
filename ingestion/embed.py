"""Compute the vectors of chunks, summaries and facts; equal texts are encoded once."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from kgrag.embedding.embedder import Embedder, Vectors
from kgrag.ids import embedding_key
from kgrag.ingestion.facts import BY_RULE
from kgrag.ingestion.self_names import self_names
from kgrag.ingestion.summarize import name_before
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.text.table_rows import header_before
from kgrag.text.titles import CITING_PREDICATES
from kgrag.types import Chunk, Evidence, Fact, NodeKind
from kgrag.vectors.vector import Vector

_Row = tuple[Future[Vectors], int]  # of the vectors of a batch


@dataclass(frozen=True, slots=True)
class NodeText:
    """The text to encode for a node.

    Attributes:
        node_id: Chunk, summary or fact.
        text: Input of the encoder.
    """

    node_id: str
    kind: NodeKind
    text: str


class KnownVectors(Protocol):
    """Stored or staged vectors by the key of their text."""

    def vectors(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors that exist."""
        ...


def texts_to_embed(bundle: DocumentBundle, leaf: int) -> list[NodeText]:
    """Return the texts to encode for a document, stored or new, or for the parts in the bundle.

    Of chunks those of the size `leaf` have vectors: vectors of larger ones were measured not to pay
    (docs/encoders.md). The document's title precedes chunks and summaries, and a chunk's heading
    path its text, so that a clause is also found by its section; a chunk that starts within a table
    gets the table's header row.

    A fact is its triple alone, so that documents that state the same fact share one vector; of
    several wordings the smallest is encoded. Citations of documents are left out: they all read
    alike, and the route over them uses their direction instead. Of facts found by rules alone, only
    figures have a vector, of their indicator's name; the clause covers everything else
    (benchmarks/decisions.md).
    """
    title = bundle.document.title
    texts = list(_chunk_texts(bundle, leaf))
    names = [name_before(self_names(bundle.document), ascii=a) for a in (False, True)]
    for s in bundle.summaries:  # the title stands before it once
        bare = s.text.removeprefix(names[0]).removeprefix(names[1])
        texts.append(NodeText(s.summary_id, "summary", f"{title}\n{bare}"))
    return [*texts, *_triples(bundle.facts)]


def vector_key(text: NodeText, encoder: str) -> str:
    """Return the key of a text's vector; `encoder` is the encoder's identity."""
    return embedding_key(encoder, text.text)


def embed(
    texts: Sequence[NodeText], *, embedder: Embedder, store: KnownVectors
) -> list[NodeVector]:
    """Return the vectors of nodes in order; texts whose vectors are stored are not encoded again.

    New texts take one call of the encoder.
    """
    (nodes,) = embed_groups([texts], embedder=embedder, store=store)
    return nodes


def embed_groups(
    groups: Sequence[Sequence[NodeText]], *, embedder: Embedder, store: KnownVectors
) -> list[list[NodeVector]]:
    """Return the vectors of several groups of texts, all encoded together as by `embed`."""

    def encode(texts: Sequence[str]) -> "Future[Vectors]":
        done: Future[Vectors] = Future()
        done.set_result(embedder.embed(texts, "passage"))
        return done

    return Encoding(encode, embedder.name, store).begin(groups).result()


class Encoding:
    """Encodes batches of texts ahead; a text is encoded once, whether or not it is stored yet.

    Batches are the same whatever encodes them, so that vectors are, too.
    """

    def __init__(
        self, encode: Callable[[Sequence[str]], "Future[Vectors]"], name: str, store: KnownVectors
    ) -> None:
        """Initialise; `encode` begins a batch, `name` is the encoder's identity."""
        self._encode, self._name, self._store = encode, name, store
        self._coming: dict[str, _Row] = {}  # by key, of batches whose result was not taken

    def begin(self, groups: Sequence[Sequence[NodeText]]) -> "Batch":
        """Begin to encode what is new in several groups of texts."""
        keyed = [[(vector_key(text, self._name), text) for text in group] for group in groups]
        texts = {key: text.text for group in keyed for key, text in group}
        known = self._store.vectors([*texts])
        rows = {key: self._coming[key] for key in texts if key in self._coming}
        new = [key for key in texts if key not in known and key not in rows]
        if new:
            encoded = self._encode([texts[key] for key in new])
            self._coming |= {key: (encoded, number) for number, key in enumerate(new)}
            rows |= {key: self._coming[key] for key in new}

        def taken() -> None:
            for key in new:
                del self._coming[key]

        return Batch(keyed, known, rows, taken)


@dataclass(frozen=True, slots=True)
class Batch:
    """Groups of texts that are being encoded."""

    _groups: Sequence[Sequence[tuple[str, NodeText]]]  # with the keys of their vectors
    _known: Mapping[str, Vector]
    _rows: Mapping[str, _Row]
    _taken: Callable[[], None]

    @property
    def is_done(self) -> bool:
        """Return whether `result` need not wait."""
        return all(encoded.done() for encoded, _ in self._rows.values())

    def result(self) -> list[list[NodeVector]]:
        """Wait for the vectors; return those of each group. The caller stores them next."""
        vectors = {key: encoded.result()[row] for key, (encoded, row) in self._rows.items()}
        vectors |= self._known
        self._taken()
        return [
            [NodeVector(text.node_id, text.kind, key, vectors[key]) for key, text in group]
            for group in self._groups
        ]


def _chunk_texts(bundle: DocumentBundle, leaf: int) -> Iterator[NodeText]:
    title = bundle.document.title
    for c in bundle.chunks:
        if c.size == leaf:
            header = _header(bundle, c)
            head = f"{title}\n{' '.join(c.heading_path)}\n{header}"
            yield NodeText(c.chunk_id, "chunk", head + c.text)


def _header(bundle: DocumentBundle, chunk: Chunk) -> str:
    """Return the header row, as a line, of the table within which a chunk starts, or ""."""
    text = chunk.text
    at = chunk.start + len(text) - len(text.lstrip())
    header = header_before(bundle.document.text, at)
    return f"{header}\n" if header else ""


def _triples(facts: Sequence[Fact]) -> list[NodeText]:
    stated: defaultdict[str, list[Evidence]] = defaultdict(list)  # by fact, of any extractor
    for f in facts:
        stated[f.fact_id] += f.evidence
    triples: dict[str, str] = {}
    for f in facts:
        ruled = [e for e in stated[f.fact_id] if e.extractor == BY_RULE]
        is_figure = any(e.qualifiers.kind == "target" for e in ruled)
        only_ruled = len(ruled) == len(stated[f.fact_id])
        if f.predicate in CITING_PREDICATES or (only_ruled and not is_figure):
            continue
        triple = f.subject.name if is_figure else f"{f.subject.name} {f.predicate} {f.object.name}"
        triples[f.fact_id] = min(triple, triples.get(f.fact_id, triple))
    return [NodeText(fact_id, "fact", triple) for fact_id, triple in triples.items()]
