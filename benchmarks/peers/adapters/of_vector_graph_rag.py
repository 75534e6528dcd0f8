"""vector-graph-rag (Zilliz): its retrieval with reranking, over its chunks of 1,000 characters.

Vectors are in Milvus Lite. Its normal form of names keeps Latin letters and digits only, so Chinese
entities and relations become empty strings, and most passages come from its fallback to vectors.
"""

import contextlib
from collections.abc import Mapping, Sequence

import numpy as np
from langchain_core.documents import Document  # type: ignore[import-not-found,unused-ignore]
from numpy.typing import NDArray
from vector_graph_rag import VectorGraphRAG  # type: ignore[import-not-found,unused-ignore]
from vector_graph_rag.config import Settings  # type: ignore[import-not-found,unused-ignore]
from vector_graph_rag.loaders.chunker import TextChunker  # type: ignore[import-not-found,unused-ignore]
from vector_graph_rag.storage import embeddings  # type: ignore[import-not-found,unused-ignore]

from benchmarks.peers.peer import TOP_K, Found, Local, Parts, Search
from kgrag.testing import FakeServer


class _Encoder:
    def __init__(self, parts: Parts) -> None:
        self._encoder = parts.encoder
        self.dimension = parts.encoder.dimension

    def encode(self, texts: str | Sequence[str], text_type: str = "query") -> NDArray[np.float32]:
        given = [texts] if isinstance(texts, str) else texts
        return self._encoder.embed(given, "query" if text_type == "query" else "passage")


class VectorGraphRag(Local):
    """A database file, and a server that speaks for the model."""

    packages = ("vector-graph-rag", "milvus-lite")

    def __init__(self, parts: Parts) -> None:
        self._open = contextlib.ExitStack()
        self._open.enter_context(contextlib.chdir(parts.folder))  # it keeps answers in ./llm_cache
        server = self._open.enter_context(FakeServer(parts.model.reply))
        self._docs: dict[str, str] = {}
        settings = Settings(
            openai_api_key="none",
            openai_base_url=server.base_url,
            llm_model="stand-in",
            embedding_provider="openai",
            embedding_dimension=parts.encoder.dimension,
            milvus_uri="vectors.db",
        )
        embeddings.get_provider = lambda *_, **__: _Encoder(parts)
        self._rag = VectorGraphRAG(settings)

    def build(self, texts: Mapping[str, str]) -> None:
        """Take texts in."""
        chunks = TextChunker().chunk_batch(
            [Document(page_content=t, metadata={"doc": doc_id}) for doc_id, t in texts.items()]
        )
        # Results are texts; of those that several documents have, the first counts.
        for chunk in chunks:
            self._docs.setdefault(chunk.page_content, chunk.metadata["doc"])
        self._rag.rebuild_documents(chunks, show_progress=False)

    def searches(self) -> Mapping[str, Search]:
        """Return the one search."""
        return {"": self._search}

    def _search(self, question: str) -> list[Found]:
        passages = self._rag.retrieve(question, top_k=TOP_K).retrieved_passages
        return [Found(self._docs[passage], passage) for passage in passages]

    def close(self) -> None:
        """End the server."""
        self._open.close()
