"""Give chunks and summaries their vectors; equal texts are encoded once."""

from collections.abc import Iterable, Sequence

from kgrag.embedding.embedder import Embedder
from kgrag.ids import embedding_key
from kgrag.store.store import NodeVector, Store
from kgrag.types import Chunk, Document, NodeKind, Summary

NodeText = tuple[str, NodeKind, str]


def texts_to_embed(
    document: Document, leaves: Iterable[Chunk], summaries: Iterable[Summary]
) -> list[NodeText]:
    """Return (node id, kind, text) of what carries a vector: the title stands before all.

    A chunk's text follows its heading path, so that a clause is found by its section, too.
    """
    texts: list[NodeText] = [
        (leaf.chunk_id, "chunk", f"{document.title}\n{' '.join(leaf.heading_path)}\n{leaf.text}")
        for leaf in leaves
    ]
    texts += [(s.summary_id, "summary", f"{document.title}\n{s.text}") for s in summaries]
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
