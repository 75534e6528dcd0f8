"""Other programs at one knowledge base at once: those of a server, and retrievers beside it."""

import asyncio
import os
from typing import Any

import httpx2 as httpx
import pytest

if os.environ.get("KGRAG_TEST_NEO4J", "") in ("", "0"):
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    pytest.importorskip("neo4j_graphrag", reason="neo4j-graphrag is not installed")

from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from kgrag.api import KnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.ingestion.samples import sample_folder
from kgrag.integrations import llama_index, neo4j_graphrag
from tests.fixtures.served import served, serving

QUESTION = "到2025年，云岭省非化石能源消费比重要达到多少？"
TOP = 4
WAIT_S = 60  # on a busy machine
SHARE = "非化石能源消费比重"
PLAN = "云岭省碳达峰实施方案"
PATHS = (
    "/overview",
    "/api/overview",
    "/documents",
    "/documents?region=云岭省",
    "/documents?in_force=yes",
    "/documents?kind=实施方案",
    "/api/documents",
    "/problems",
    f"/graph?entity={PLAN}",
    f"/tables/targets?indicator={SHARE}",
    f"/tables/compare?indicator={SHARE}",
    "/tables/who?agency=云岭省发展和改革委员会",
    f"/tables/cites?document={PLAN}",
    f"/tables/cited-by?document={PLAN}",
    f"/tables/timeline?document={PLAN}",
    f"/tables/timeline?indicator={SHARE}",
    "/tables/conflicts",
    f"/?question=各省2025年{SHARE}目标分别是多少",
    "/?question=哪些文件已失效",
)


@pytest.fixture(params=["folder", pytest.param("server", marks=pytest.mark.neo4j)])
def where(request, tmp_path):
    """The address of a knowledge base of the samples."""
    where = tmp_path / "kb" if request.param == "folder" else request.getfixturevalue("empty_neo4j")
    with KnowledgeBase.open(where, embedder=HashEmbedder()) as base:
        assert not base.ingest([sample_folder()]).failed
    return where


def by_mcp(address) -> list[dict[str, Any]]:
    """Return what the tool `search` finds."""

    async def search():
        async with Client(streamable_http_client(f"{address}mcp")) as client:
            return await client.call_tool("search", {"question": QUESTION, "top_k": TOP})

    found: list[dict[str, Any]] = asyncio.run(search()).structured_content["results"]
    return found


def by_dify(address) -> list[dict[str, Any]]:
    """Return the records that Dify gets."""
    asked = {
        "knowledge_id": httpx.get(f"{address}v1/models", timeout=WAIT_S).json()["data"][0]["id"],
        "query": QUESTION,
        "retrieval_setting": {"top_k": TOP, "score_threshold": 0.0},
    }
    found: list[dict[str, Any]] = httpx.post(
        f"{address}retrieval", json=asked, timeout=WAIT_S
    ).json()["records"]
    return found


def test_every_program_finds_the_same_passages(where):
    """API, MCP and Dify of a server; LlamaIndex and neo4j-graphrag that opened the same base."""
    with (
        serving(where) as (address, _),
        KnowledgeBase.open(where, create=False) as base,
    ):
        asked: dict[str, str | int] = {"question": QUESTION, "top_k": TOP}
        found = httpx.get(f"{address}api/search", params=asked, timeout=WAIT_S).json()["results"]
        nodes = llama_index.GrimRetriever(base, top_k=TOP).retrieve(QUESTION)
        items = neo4j_graphrag.GrimRetriever(base).search(query_text=QUESTION, top_k=TOP).items
        urls = [hit["url"] for hit in found]
        assert len(urls) == TOP
        assert [hit["url"] for hit in by_mcp(address)] == urls
        assert [record["metadata"]["url"] for record in by_dify(address)] == urls
        for hit, node, item in zip(found, nodes, items, strict=True):
            place = node.metadata
            assert hit["address"] == f"{place['doc_id']}:{place['start']}-{place['end']}"
            assert (item.metadata or {})["id"] == node.node_id
            (chunk,) = base.store.chunks([node.node_id])
            assert node.text == chunk.text in item.content


@pytest.mark.neo4j
def test_pages_show_the_same_of_a_folder_and_of_a_server(tmp_path, empty_neo4j):
    """What is counted, filtered and listed does not depend on where it is stored."""
    shown = []
    for where in (tmp_path / "kb", empty_neo4j):
        with KnowledgeBase.open(where, embedder=HashEmbedder()) as base:
            assert not base.ingest([sample_folder()]).failed
            with served(base, name="kb") as client:
                shown.append({path: client.get(path) for path in PATHS})
    for path in PATHS:
        folder, server = (pages[path] for pages in shown)
        assert folder.status_code == server.status_code == 200, (path, folder.text[:200])
        assert folder.text == server.text, path
