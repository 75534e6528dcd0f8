"""Give chunks, summaries and facts their vectors; equal texts are encoded once."""

from collections.abc import Iterable, Sequence

from kgrag.embedding.embedder import Embedder
from kgrag.ids import embedding_key
from kgrag.store.store import NodeVector, Store
from kgrag.types import Chunk, Document, Fact, NodeKind, Summary

NodeText = tuple[str, NodeKind, str]


def texts_to_embed(
    document: Document,
    leaves: Iterable[Chunk] = (),
    summaries: Iterable[Summary] = (),
    facts: Iterable[Fact] = (),
) -> list[NodeText]:
    """Return (node id, kind, text) of what carries a vector.

    The document's title stands before chunks and summaries, and a chunk's text follows its
    heading path, so that a clause is found by its section, too. A fact is its triple alone, so
    that documents that state the same share one vector; worded in several ways, it is encoded in
    the smallest of them.

    Args:
        document: Whose they are.
        leaves: Chunks of the smallest group.
        summaries: Its summaries.
        facts: Its facts, as it words them.
    """
    texts: list[NodeText] = [
        (leaf.chunk_id, "chunk", f"{document.title}\n{' '.join(leaf.heading_path)}\n{leaf.text}")
        for leaf in leaves
    ]
    texts += [(s.summary_id, "summary", f"{document.title}\n{s.text}") for s in summaries]
    triples: dict[str, str] = {}
    for f in facts:
        triple = f"{f.subject.name} {f.predicate} {f.object.name}"
        triples[f.fact_id] = min(triple, triples.get(f.fact_id, triple))
    texts += [(fact_id, "fact", triple) for fact_id, triple in triples.items()]
    return texts


def embed(texts: Sequence[NodeText], *, embedder: Embedder, store: Store) -> list[NodeVector]:
    """Return the nodes' vectors in order; texts that the store knows are not encoded again.

    Args:
        texts: As `texts_to_embed` gives them, of any number of documents.
        embedder: Encodes what is new, in one call.
        store: Holds vectors by the key of their text.
    """
    keys = [embedding_key(embedder.name, text) for _, _, text in texts]
    vectors = store.vectors(list(dict.fromkeys(keys)))
    new = {key: text for key, (_, _, text) in zip(keys, texts, strict=True) if key not in vectors}
    if new:
        encoded = embedder.embed(list(new.values()), "passage")
        vectors.update(zip(new, encoded, strict=True))
    return [
        NodeVector(node_id, kind, key, vectors[key])
        for key, (node_id, kind, _) in zip(keys, texts, strict=True)
    ]
