"""LlamaIndex: kgrag's search as a retriever."""

import asyncio
from collections.abc import Mapping

from kgrag.api import KnowledgeBase
from kgrag.errors import needs_extra
from kgrag.ids import chunk_id
from kgrag.integrations.passages import Passage, check_choice, passages
from kgrag.types import Chunk

with needs_extra("llama-index", "the retriever for LlamaIndex"):
    from llama_index.core.callbacks import CallbackManager
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import (
        NodeRelationship,
        NodeWithScore,
        ObjectType,
        QueryBundle,
        RelatedNodeInfo,
        RelatedNodeType,
        TextNode,
    )

# Metadata that a model reads in front of the text: what it needs to name its source, and to
# understand a text out of its section. Places and reasons are for programs.
_FOR_LLM = {"title", "heading_path", "page", "cells"}
_FOR_EMBEDDING = {"title", "heading_path"}


class GrimRetriever(BaseRetriever):
    """Finds chunks with kgrag; for every query engine, chat engine and agent tool.

    Nodes are chunks as stored: the id is the chunk's, the relationships name the document, the
    parent and the neighbours of the same size by id. Metadata is flat: `title`, `file`,
    `heading_path` (joined by ` › `), `page` (if the file has pages), `start`, `end` (characters in
    the document's text), `doc_id`, `via` (reasons, joined by `; `). An embedding in the query
    bundle is ignored.

    Example:
        `RetrieverQueryEngine.from_args(GrimRetriever(kb), llm=llm).query("...")`
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        *,
        system: str = "grim",
        top_k: int = 10,
        callback_manager: CallbackManager | None = None,
    ) -> None:
        """Use an open knowledge base, which the caller closes.

        Args:
            kb: The knowledge base.
            system: Name of a preset.
            top_k: Nodes at most, at least 1.
            callback_manager: As for every LlamaIndex retriever.

        Raises:
            ConfigError: If there is no such preset.
            ValueError: If top_k < 1.
        """
        check_choice(kb, system, top_k)
        super().__init__(callback_manager=callback_manager)
        self._kb = kb
        self._system = system
        self._top_k = top_k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = passages(self._kb, query_bundle.query_str, system=self._system, top_k=self._top_k)
        held = _held_neighbours(self._kb, [p.result.chunk for p in found])
        return [NodeWithScore(node=_node(p, held), score=p.result.score) for p in found]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        # encoding and searching take the processor for a while: not on the event loop
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(passage: Passage, held: set[str]) -> TextNode:
    chunk = passage.result.chunk
    metadata: dict[str, str | int] = {
        "title": passage.title,
        "file": passage.file,
        "heading_path": " › ".join(chunk.heading_path),
        "start": chunk.start,
        "end": chunk.end,
        "doc_id": chunk.doc_id,
        "via": "; ".join(passage.result.via),
    }
    if passage.page is not None:
        metadata["page"] = passage.page
    if passage.cells:
        metadata["cells"] = passage.cells
    return TextNode(
        id_=chunk.chunk_id,
        text=chunk.text,
        start_char_idx=chunk.start,
        end_char_idx=chunk.end,
        metadata=metadata,
        excluded_llm_metadata_keys=_other_keys(metadata, _FOR_LLM),
        excluded_embed_metadata_keys=_other_keys(metadata, _FOR_EMBEDDING),
        relationships=_relationships(chunk, held),
    )


def _other_keys(metadata: Mapping[str, str | int], shown: set[str]) -> list[str]:
    """Return the keys to leave out: those not shown, and those with empty values."""
    return [key for key, value in metadata.items() if key not in shown or value == ""]


def _relationships(chunk: Chunk, held: set[str]) -> dict[NodeRelationship, RelatedNodeType]:
    before, after = _neighbours(chunk)
    chunks = {
        NodeRelationship.PARENT: chunk.parent_id,
        NodeRelationship.PREVIOUS: before if before in held else None,
        NodeRelationship.NEXT: after if after in held else None,
    }
    related: dict[NodeRelationship, RelatedNodeType] = {
        kind: RelatedNodeInfo(node_id=node_id, node_type=ObjectType.TEXT)
        for kind, node_id in chunks.items()
        if node_id is not None
    }
    related[NodeRelationship.SOURCE] = RelatedNodeInfo(
        node_id=chunk.doc_id, node_type=ObjectType.DOCUMENT
    )
    return related


def _neighbours(chunk: Chunk) -> tuple[str, str]:
    """Return the ids that the chunks before and after would have."""
    before, after = (chunk_id(chunk.doc_id, chunk.size, chunk.position + step) for step in (-1, 1))
    return before, after


def _held_neighbours(kb: KnowledgeBase, chunks: list[Chunk]) -> set[str]:
    wanted = dict.fromkeys(node_id for chunk in chunks for node_id in _neighbours(chunk))
    return {chunk.chunk_id for chunk in kb.store.chunks(list(wanted))}
