"""kgrag as a neo4j-graphrag retriever and embedder; on a folder, so without a server."""

import asyncio
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

if os.environ.get("KGRAG_TEST_NEO4J", "") in ("", "0"):
    pytest.importorskip("neo4j_graphrag", reason="neo4j-graphrag is not installed")

from neo4j import Record
from neo4j_graphrag.types import RetrieverResult

from kgrag.embedding.hashing import HashEmbedder
from kgrag.integrations.neo4j_graphrag import (
    GrimRetriever,
    KgragEmbedder,
    cited_item,
    escape_lucene,
    hybrid_retrieval_query,
    vector_retrieval_query,
)

QUESTION = "节能减排的目标是什么？"


def test_search_returns_the_search_results_as_cited_items(kb):
    """Content is a citation line and the text; metadata tells the rest."""
    result = GrimRetriever(kb, system="grim").search(query_text=QUESTION, top_k=4)
    assert isinstance(result, RetrieverResult)
    results = kb.search(QUESTION, system="grim", top_k=4)
    assert len(results) == 4
    for item, r in zip(result.items, results, strict=True):
        first, text = item.content.split("\n", 1)
        card = kb.find_document(r.chunk.doc_id)
        assert first.startswith(" › ".join((card.title, *r.chunk.heading_path)) + " (")
        assert first.endswith(f", characters {r.chunk.start}-{r.chunk.end})")
        assert text == r.chunk.text
        assert item.metadata == {
            "id": r.chunk.chunk_id,
            "title": card.title,
            "heading_path": list(r.chunk.heading_path),
            "file": card.file,
            "page": (item.metadata or {})["page"],
            "cells": "",
            "doc_id": card.doc_id,
            "start": r.chunk.start,
            "end": r.chunk.end,
            "score": r.score,
            "via": list(r.via),
        }
        assert (item.metadata["page"] is not None) is (card.media_type == "pdf")
        assert (f", page {item.metadata['page']}," in first) is (card.media_type == "pdf")
    assert result.metadata == {"__retriever": "GrimRetriever"}


def test_convert_to_tool_tells_a_model_the_arguments(kb):
    """The question is required and text, the number is a positive integer, nothing else goes."""
    tool = GrimRetriever(kb).convert_to_tool("policies", "Searches policy documents.")
    schema = tool.get_parameters()
    assert schema["required"] == ["query_text"]
    assert schema["properties"]["query_text"]["type"] == "string"
    assert schema["properties"]["top_k"]["type"] == "integer"
    assert schema["properties"]["top_k"]["minimum"] == 1
    assert set(schema["properties"]) == {"query_text", "top_k"}
    assert len(tool.execute(query_text=QUESTION, top_k=2).items) == 2


def test_cited_item_puts_facts_below_the_text():
    """A row of a retrieval query: no page, facts as lines."""
    row = {
        "id": "d:2048:0", "text": "正文", "title": "办法", "heading": "总则",
        "heading_path": ["第一章", "总则"], "file": "folder/a.txt", "doc_id": "d", "start": 0,
        "end": 2, "score": 0.5, "facts": ["甲 —依据→ 乙", "甲 —废止→ 丙"],
    }  # fmt: skip
    item = cited_item(Record(row))
    assert item.content.split("\n") == [
        "办法 › 第一章 › 总则 (a.txt, characters 0-2)", "正文", "甲 —依据→ 乙", "甲 —废止→ 丙",
    ]  # fmt: skip
    assert item.metadata == {key: value for key, value in row.items() if key != "text"}


class Watched(HashEmbedder):
    """The stand-in that notes tasks and threads."""

    def __init__(self):
        super().__init__(16)
        self.calls = []

    def embed(self, texts, task):
        """Note and encode."""
        self.calls.append((list(texts), task, threading.current_thread()))
        return super().embed(texts, task)


def test_embedder_encodes_a_question_as_a_question():
    """Plain numbers, of the task `query`: a model has another instruction for passages."""
    encoder = Watched()
    vector = KgragEmbedder(encoder).embed_query("绿色工厂")
    assert [call[:2] for call in encoder.calls] == [(["绿色工厂"], "query")]
    assert all(type(x) is float for x in vector)
    assert np.allclose(vector, HashEmbedder(16).embed(["绿色工厂"], "query")[0])


def test_embedder_encodes_beside_the_event_loop():
    encoder = Watched()
    embedder = KgragEmbedder(encoder)
    vector = asyncio.run(embedder.async_embed_query("绿色工厂"))
    assert encoder.calls[0][2] is not threading.main_thread()
    assert vector == embedder.embed_query("绿色工厂")


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("绿色工厂《办法》？", "绿色工厂《办法》？"),
        ("a && b || !c", r"a \&\& b \|\| \!c"),
        ("AND", r"\AND"),
        ("节能 OR　NOT x", r"节能 \OR　\NOT x"),
        ("ANDROID and NOTE", "ANDROID and NOTE"),
        ("\\", "\\\\"),
        ("", '""'),
        (" 　\n", '""'),
        ("工" * 5000, "工" * 1000),
    ],
)
def test_escape_lucene_leaves_words_only(text, escaped):
    """Marks and lone operators lose their meaning, words keep theirs."""
    assert escape_lucene(text) == escaped


@pytest.mark.parametrize("query", [vector_retrieval_query, hybrid_retrieval_query])
def test_retrieval_queries_can_be_appended(query):
    """The library puts its search before them: no end mark, no parameter of their own."""
    text = query()
    assert ";" not in text
    assert "$" not in text
    assert "RETURN parent.id AS id" in text


def test_import_when_the_library_is_missing_tells_how_to_install_it():
    """The error of kgrag, with the command; not a bare ModuleNotFoundError."""
    code = (
        "import sys; sys.modules['neo4j_graphrag'] = None\n"
        "from kgrag.errors import MissingDependencyError\n"
        "try:\n    import kgrag.integrations.neo4j_graphrag\n"
        "except MissingDependencyError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'kgrag[neo4j-graphrag]'" in run.stdout
