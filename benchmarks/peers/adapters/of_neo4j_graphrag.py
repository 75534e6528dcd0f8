"""neo4j-graphrag: its HybridRetriever, over its own splitter's chunks of 500 characters.

The server is the one of the project's tests: Java and Maven bring it. Indexes are made by the
package's functions, so the full-text index has Neo4j's default analyzer.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from neo4j import GraphDatabase
from neo4j_graphrag.embeddings.base import Embedder
from neo4j_graphrag.exceptions import SearchQueryParseError
from neo4j_graphrag.experimental.components.text_splitters.fixed_size_splitter import (
    FixedSizeSplitter,
)
from neo4j_graphrag.indexes import create_fulltext_index, create_vector_index
from neo4j_graphrag.retrievers import HybridRetriever

from benchmarks.peers.peer import TOP_K, Found, Parts, Search
from tests.neo4j_server.server import Neo4jServer

_SIZE, _OVERLAP, _BATCH = 500, 100, 500
_WRITE = """UNWIND $rows AS row CREATE (n:Chunk {doc: row.doc, text: row.text})
WITH n, row CALL db.create.setNodeVectorProperty(n, 'embedding', row.vector)"""


class _Encoder(Embedder):
    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self._parts = parts

    def embed_query(self, text: str) -> list[float]:
        return self._parts.encoder.question(text)


class Neo4jGraphRag:
    """A server, and a retriever of it."""

    packages = ("neo4j-graphrag", "neo4j")

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._server = Neo4jServer(parts.folder / "neo4j")
        self._server.start()
        self._driver = GraphDatabase.driver(self._server.uri)
        self._retriever: HybridRetriever | None = None

    def build(self, texts: Mapping[str, str]) -> None:
        """Take texts in; the server runs already."""
        create_vector_index(
            self._driver, "vectors", "Chunk", "embedding", self._parts.encoder.dimension, "cosine"
        )
        create_fulltext_index(self._driver, "words", "Chunk", ["text"])
        splitter = FixedSizeSplitter(chunk_size=_SIZE, chunk_overlap=_OVERLAP)
        rows = []
        for doc_id, text in texts.items():
            chunks = [chunk.text for chunk in asyncio.run(splitter.run(text)).chunks]
            vectors = self._parts.encoder.passages(chunks)
            rows += [
                {"doc": doc_id, "text": chunk, "vector": vector}
                for chunk, vector in zip(chunks, vectors, strict=True)
            ]
        for i in range(0, len(rows), _BATCH):
            self._driver.execute_query(_WRITE, rows=rows[i : i + _BATCH])
        self._driver.execute_query("CALL db.awaitIndexes(300)")
        self._retriever = HybridRetriever(
            self._driver, "vectors", "words", _Encoder(self._parts), ["doc", "text"]
        )

    def searches(self) -> Mapping[str, Search]:
        """Return the one search."""
        return {"hybrid": self._search}

    def _search(self, question: str) -> list[Found]:
        assert self._retriever is not None
        try:
            found = self._retriever.get_search_results(question, top_k=TOP_K)
        except SearchQueryParseError:  # words that mean something to Lucene are not escaped
            return []
        return [Found(record["node"]["doc"], record["node"]["text"]) for record in found.records]

    def server_memory(self) -> int:
        """Return the most that the Java machine had."""
        status = Path(f"/proc/{self._server.pid}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024

    def close(self) -> None:
        """Stop the server."""
        self._driver.close()
        self._server.stop()
