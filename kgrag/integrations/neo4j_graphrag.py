"""neo4j-graphrag: kgrag's search as a retriever, and what the library's own retrievers need."""

import asyncio
import re

from kgrag.api import KnowledgeBase
from kgrag.embedding.embedder import Embedder as Encoder
from kgrag.errors import needs_extra
from kgrag.integrations.passages import Passage, check_choice, citation, passages
from kgrag.store.neo4j.statements import statement

with needs_extra("neo4j-graphrag", "the retriever for neo4j-graphrag"):
    from neo4j import Record
    from neo4j_graphrag.embeddings.base import Embedder
    from neo4j_graphrag.retrievers.base import Retriever
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

# Lucene's own marks, and its operators where they stand alone.
_LUCENE = re.compile(r'[+\-&|!(){}\[\]^"~*?:\\/]|(?<!\S)(?:AND|OR|NOT)(?!\S)')
_MOST_CHARACTERS = 1000  # each begins at most one term of the index, and Lucene takes 1024 terms


class GrimRetriever(Retriever):
    """Finds chunks with kgrag; for `GraphRAG`, and as a tool for `ToolsRetriever`.

    The knowledge base may be a folder or on a Neo4j server; it has its own connection, so no driver
    is passed.

    Items: `content` is a citation line (title, headings, file, page, characters) with the chunk's
    text below; `metadata` has `id`, `score`, `via`, `title`, `heading_path`, `file`, `page` (or
    None), `doc_id`, `start` and `end`.

    Example:
        `GraphRAG(GrimRetriever(kb), llm).search("...", retriever_config={"top_k": 5})`
    """

    VERIFY_NEO4J_VERSION = False

    def __init__(self, kb: KnowledgeBase, *, system: str = "grim") -> None:
        """Use an open knowledge base, which the caller closes, and a preset.

        Raises:
            ConfigError: If there is no such preset.
        """
        # not super().__init__: it asks for a driver, and there is none to a folder
        check_choice(kb, system, 1)
        self.neo4j_database = None
        self._kb = kb
        self._system = system

    def get_search_results(self, query_text: str, top_k: int = 10) -> RawSearchResult:
        """Return the chunks that best answer a question; `search` has the same arguments.

        Args:
            query_text: The question; titles in 《》 are matched exactly.
            top_k: Results at most.

        Raises:
            ValueError: If top_k < 1.
        """
        found = passages(self._kb, query_text, system=self._system, top_k=top_k)
        return RawSearchResult(records=[_record(p) for p in found])

    def default_record_formatter(self, record: Record) -> RetrieverResultItem:
        """Return a record as an item with a citation line."""
        return cited_item(record)


class KgragEmbedder(Embedder):
    """A knowledge base's encoder, for retrievers that search its vector indexes.

    Example:
        `KgragEmbedder(kb.embedder)`
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self._encoder = encoder

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a question: unit length, or zero without words."""
        return [float(x) for x in self._encoder.embed([text], "query")[0]]

    async def async_embed_query(self, text: str) -> list[float]:
        """Return the vector of a question without blocking the event loop."""
        return await asyncio.to_thread(self.embed_query, text)


def vector_retrieval_query(base: str = "") -> str:
    """Return the Cypher for `VectorCypherRetriever` on the index `kgrag_chunk_embedding`.

    It maps the vectors found to parent chunks, a row for each, best first, with `id`, `text`,
    `title`, `heading`, `heading_path`, `file`, `doc_id`, `start`, `end`, `score` and `facts`: up to
    20 stated there, as `subject —predicate→ object`.

    Args:
        base: Name of the knowledge base, if its address has one (`bolt://HOST:7687#NAME`); its
            indexes then end in `_NAME`, too.

    Raises:
        ValueError: If the name is invalid.
    """
    return statement("vector_retrieval", base)


def hybrid_retrieval_query(base: str = "") -> str:
    """Return the same for `HybridCypherRetriever`, which also searches `kgrag_chunk_text`."""
    return statement("hybrid_retrieval", base)


def cited_item(record: Record) -> RetrieverResultItem:
    """Return a record of `GrimRetriever` or of a retrieval query as an item with a citation line.

    Pass it to the library's retrievers as `result_formatter`; their default shows the bare record.
    """
    row = dict(record)
    text = row.pop("text")
    place = citation(
        row["title"],
        row["heading_path"],
        file=row["file"],
        page=row.get("page"),
        cells=row.get("cells", ""),
        start=row["start"],
        end=row["end"],
    )
    return RetrieverResultItem(
        content="\n".join([place, text, *row.get("facts", ())]), metadata=row
    )


def escape_lucene(text: str) -> str:
    r"""Escape a question for a full-text index: Lucene's special characters and operators.

    The library's hybrid retrievers send a question to Lucene unescaped, which fails on `(`, `/` and
    the like, on a blank one and on a very long one, which is cut at 1,000 characters.

    >>> escape_lucene("工业/能源 AND (2025)?")
    '工业\\/能源 \\AND \\(2025\\)\\?'
    >>> escape_lucene(" ")
    '""'
    """
    if not text.strip():
        return '""'
    return _LUCENE.sub(r"\\\g<0>", text[:_MOST_CHARACTERS])


def _record(passage: Passage) -> Record:
    chunk = passage.result.chunk
    return Record(  # type: ignore[no-untyped-call]
        {
            "id": chunk.chunk_id,
            "text": chunk.text,
            "title": passage.title,
            "heading_path": list(chunk.heading_path),
            "file": passage.file,
            "page": passage.page,
            "cells": passage.cells,
            "doc_id": chunk.doc_id,
            "start": chunk.start,
            "end": chunk.end,
            "score": passage.result.score,
            "via": list(passage.result.via),
        }
    )
