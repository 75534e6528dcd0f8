"""kgrag as a LlamaIndex retriever: nodes, relationships, async; on a folder."""

import asyncio
import os
import subprocess
import sys
import threading

import pytest

if os.environ.get("KGRAG_TEST_NEO4J", "") in ("", "0"):
    pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

from llama_index.core.schema import (
    BaseNode,
    MetadataMode,
    NodeRelationship,
    ObjectType,
    TextNode,
)

from kgrag.integrations.llama_index import GrimRetriever

QUESTION = "节能减排的目标是什么？"


def related(node):
    """Return the ids that a node's relationships name."""
    return {kind: info.node_id for kind, info in node.relationships.items()}


def text_of(node: BaseNode) -> TextNode:
    """Return a node that is one of a text."""
    assert isinstance(node, TextNode)
    return node


def test_retrieve_returns_the_search_results_as_nodes(kb):
    """Ids, texts, scores and order are those of a search; the node knows its place."""
    nodes = GrimRetriever(kb, system="grim", top_k=4).retrieve(QUESTION)
    results = kb.search(QUESTION, system="grim", top_k=4)
    assert [n.node.node_id for n in nodes] == [r.chunk.chunk_id for r in results]
    assert [n.text for n in nodes] == [r.chunk.text for r in results]
    assert [n.score for n in nodes] == [r.score for r in results]
    assert [text_of(n.node).get_node_info() for n in nodes] == [
        {"start": r.chunk.start, "end": r.chunk.end} for r in results
    ]


def test_node_metadata_is_flat_and_says_where_a_text_stands(kb):
    """Values are strings and numbers, as vector stores want them; a page only where one is."""
    nodes = GrimRetriever(kb, top_k=20).retrieve("节能减排目标 林业碳汇")
    results = kb.search("节能减排目标 林业碳汇", top_k=20)
    keys = {"title", "file", "heading_path", "start", "end", "doc_id", "via"}
    for found, result in zip(nodes, results, strict=True):
        card = kb.find_document(result.chunk.doc_id)
        meta = found.node.metadata
        assert set(meta) == keys | ({"page"} if card.media_type == "pdf" else set())
        assert meta["title"] == card.title
        assert meta["file"] == card.file
        assert meta["heading_path"] == " › ".join(result.chunk.heading_path)
        assert (meta["start"], meta["end"]) == (result.chunk.start, result.chunk.end)
        assert meta["doc_id"] == card.doc_id
        assert meta["via"] == "; ".join(result.via)
        assert all(isinstance(value, str | int) for value in meta.values())
    assert len({n.node.metadata.get("page") for n in nodes}) > 2


def test_node_shows_a_model_what_it_needs_to_name_its_source(kb):
    """Title, headings and page for a language model; no page for an encoder; no path for both."""
    nodes = [n.node for n in GrimRetriever(kb, top_k=20).retrieve(QUESTION)]
    node = next(n for n in nodes if "page" in n.metadata and n.metadata["heading_path"])
    for_llm = node.get_content(MetadataMode.LLM)
    assert f"title: {node.metadata['title']}" in for_llm
    assert f"page: {node.metadata['page']}" in for_llm
    assert f"heading_path: {node.metadata['heading_path']}" in for_llm
    for_encoder = node.get_content(MetadataMode.EMBED)
    assert f"title: {node.metadata['title']}" in for_encoder
    assert "page: " not in for_encoder
    for text in (for_llm, for_encoder):
        assert text.endswith(text_of(node).text.strip())
        assert node.metadata["file"] not in text
        assert "via: " not in text
    without_headings = next(n for n in nodes if not n.metadata["heading_path"])
    assert "heading_path" not in without_headings.get_content(MetadataMode.LLM)


def test_node_relationships_name_what_the_store_holds(kb):
    """Source, parent and neighbours, each there exactly where the store has it."""
    nodes = [n.node for n in GrimRetriever(kb, top_k=30).retrieve("节能减排目标 林业碳汇")]
    seen = set()
    for node in nodes:
        (chunk,) = kb.store.chunks([node.node_id])
        group = [c.chunk_id for c in kb.store.chunks_of([chunk.doc_id], size=chunk.size)]
        at = group.index(chunk.chunk_id)
        expected = {NodeRelationship.SOURCE: chunk.doc_id}
        if chunk.parent_id:
            expected[NodeRelationship.PARENT] = chunk.parent_id
        if at > 0:
            expected[NodeRelationship.PREVIOUS] = group[at - 1]
        if at + 1 < len(group):
            expected[NodeRelationship.NEXT] = group[at + 1]
        assert related(node) == expected
        assert node.source_node
        assert node.source_node.node_type == ObjectType.DOCUMENT
        assert node.ref_doc_id == chunk.doc_id
        seen.add(frozenset(expected))
    assert len(seen) > 1, "no chunk at an end of its document: the test shows too little"


def test_aretrieve_searches_beside_the_event_loop(kb, monkeypatch):
    threads = []
    search = kb.search

    def watched(*args, **kwargs):
        threads.append(threading.current_thread())
        return search(*args, **kwargs)

    monkeypatch.setattr(kb, "search", watched)
    retriever = GrimRetriever(kb)

    async def both():
        return await asyncio.gather(retriever.aretrieve(QUESTION), retriever.aretrieve("林业碳汇"))

    first, second = asyncio.run(both())
    assert threading.main_thread() not in threads
    assert first == retriever.retrieve(QUESTION)
    assert second == retriever.retrieve("林业碳汇")


def test_import_when_llama_index_is_missing_tells_how_to_install_it():
    """The error of kgrag, with the command; not a bare ModuleNotFoundError."""
    code = (
        "import sys; sys.modules['llama_index'] = None\n"
        "from kgrag.errors import MissingDependencyError\n"
        "try:\n    import kgrag.integrations.llama_index\n"
        "except MissingDependencyError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'kgrag[llama-index]'" in run.stdout
