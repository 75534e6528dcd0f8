"""LlamaIndex's retrievers by vectors."""

from collections.abc import Iterator, Sequence
from typing import Any

import faiss
from llama_index.core import Document, StorageContext, VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.node_parser import HierarchicalNodeParser, SentenceSplitter, get_leaf_nodes
from llama_index.core.retrievers import (
    AutoMergingRetriever,
    RecursiveRetriever,
    VectorIndexRetriever,
)
from llama_index.core.schema import BaseNode, IndexNode, MetadataMode, TextNode
from llama_index.core.storage.docstore import BaseDocumentStore, SimpleDocumentStore
from llama_index.vector_stores.faiss import (  # type: ignore[import-not-found,unused-ignore]
    FaissVectorStore,
)

from benchmarks.peers.encoder import CountingEncoder
from benchmarks.peers.peer import TOP_K

_ONE = 512
_HIERARCHY = [2048, 1024, 512, 256]
_BASE, _SMALLER = 1024, (128, 256, 512)  # of its example of a recursive retriever


class _Encoder(BaseEmbedding):
    encoder: Any

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        return self.encoder.passages(texts)  # type: ignore[no-any-return]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.encoder.question(query)  # type: ignore[no-any-return]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class Vectors:
    """Nodes by vectors, in its default store (a list in memory) and in faiss (a matrix)."""

    def __init__(self, encoder: CountingEncoder) -> None:
        self._encoder = _Encoder(encoder=encoder, embed_batch_size=256)
        self._dimension = encoder.dimension

    def retrievers(
        self, nodes: Sequence[BaseNode], store: BaseDocumentStore | None = None
    ) -> Iterator[tuple[str, VectorIndexRetriever, StorageContext]]:
        """Yield (name, retriever, storage) of each store; nodes are encoded once."""
        texts = [node.get_content(MetadataMode.EMBED) for node in nodes]
        for node, vector in zip(nodes, self._encoder.get_text_embedding_batch(texts), strict=True):
            node.embedding = vector
        stores = {"": None, "faiss": FaissVectorStore(faiss.IndexFlatIP(self._dimension))}
        for name, vectors in stores.items():
            storage = StorageContext.from_defaults(docstore=store, vector_store=vectors)
            index = VectorStoreIndex(nodes, storage_context=storage, embed_model=self._encoder)
            yield name, VectorIndexRetriever(index, similarity_top_k=TOP_K), storage


def vector(documents: Sequence[Document], vectors: Vectors) -> dict[str, BaseRetriever]:
    """Return chunks of one size by vectors."""
    nodes = SentenceSplitter(chunk_size=_ONE).get_nodes_from_documents(documents)
    return {name: found for name, found, _ in vectors.retrievers(nodes)}


def automerging(documents: Sequence[Document], vectors: Vectors) -> dict[str, BaseRetriever]:
    """Return the smallest chunks by vectors, merged into their parents."""
    parser = HierarchicalNodeParser.from_defaults(chunk_sizes=_HIERARCHY)
    nodes = parser.get_nodes_from_documents(documents)
    store = SimpleDocumentStore()
    store.add_documents(nodes)
    return {
        name: AutoMergingRetriever(leaves, storage)
        for name, leaves, storage in vectors.retrievers(get_leaf_nodes(nodes), store)
    }


def recursive(documents: Sequence[Document], vectors: Vectors) -> dict[str, BaseRetriever]:
    """Return large chunks that smaller ones, found by vectors, refer to."""
    bases = SentenceSplitter(chunk_size=_BASE).get_nodes_from_documents(documents)
    smaller = [SentenceSplitter(chunk_size=n, chunk_overlap=20) for n in _SMALLER]
    nodes: list[BaseNode] = []
    for base in bases:
        parts = [node for s in smaller for node in s([base])]
        nodes += [IndexNode.from_text_node(_text(node), base.node_id) for node in [*parts, base]]
    large = {base.node_id: base for base in bases}
    return {
        name: RecursiveRetriever("vector", retriever_dict={"vector": found}, node_dict=large)
        for name, found, _ in vectors.retrievers(nodes)
    }


def _text(node: BaseNode) -> TextNode:
    assert isinstance(node, TextNode)
    return node
