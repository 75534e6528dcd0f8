"""kgrag inside LlamaIndex, on a folder and on a server."""

import asyncio
import os

import pytest

if os.environ.get("KGRAG_TEST_NEO4J", "") in ("", "0"):
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

from llama_index.core.llms import MockLLM
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeRelationship, RelatedNodeInfo

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder
from kgrag.integrations.llama_index import GrimRetriever

QUESTION = "《云岭省碳达峰实施方案》提出，到2025年全省非化石能源消费比重要达到多少？"


@pytest.fixture(params=["folder", pytest.param("server", marks=pytest.mark.neo4j)])
def kb(request, tmp_path):
    """A knowledge base of the samples."""
    where = tmp_path if request.param == "folder" else request.getfixturevalue("empty_neo4j")
    with KnowledgeBase.open(where, embedder=HashEmbedder()) as base:
        base.ingest([sample_folder()])
        yield base


def test_query_engine_answers_from_what_kgrag_finds(kb):
    """The model gets the texts with their titles; the response knows its nodes; same async."""
    engine = RetrieverQueryEngine.from_args(GrimRetriever(kb, top_k=3), llm=MockLLM())
    response = engine.query(QUESTION)  # the mock model says what it is asked
    found = kb.search(QUESTION, top_k=3)
    assert [n.node_id for n in response.source_nodes] == [r.chunk.chunk_id for r in found]
    for node in response.source_nodes:
        assert node.get_text().strip() in str(response)
        assert f"title: {node.metadata['title']}" in str(response)
    assert QUESTION in str(response)
    assert "38%" in str(response)

    assert str(asyncio.run(engine.aquery(QUESTION))) == str(response)

    for node in response.source_nodes:
        # ids lead on: the parent holds the child, the neighbours touch it
        (chunk,) = kb.store.chunks([node.node_id])
        related = {
            kind: info.node_id
            for kind, info in node.node.relationships.items()
            if isinstance(info, RelatedNodeInfo)
        }
        assert [d.doc_id for d in kb.store.documents([related[NodeRelationship.SOURCE]])]
        if NodeRelationship.PARENT in related:
            (parent,) = kb.store.chunks([related[NodeRelationship.PARENT]])
            assert parent.start <= chunk.start < chunk.end <= parent.end
        if NodeRelationship.NEXT in related:
            (after,) = kb.store.chunks([related[NodeRelationship.NEXT]])
            assert (after.size, after.start) == (chunk.size, chunk.end)

    best = found[0].score
    strict = RetrieverQueryEngine.from_args(
        GrimRetriever(kb, top_k=3),
        llm=MockLLM(),
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=best)],
    )
    assert [n.score for n in strict.query(QUESTION).source_nodes] == [best]
