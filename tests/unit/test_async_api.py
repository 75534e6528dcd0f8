"""The knowledge base on asyncio."""

import asyncio
import threading

import pytest

from kgrag.api import KnowledgeBase
from kgrag.async_api import AsyncKnowledgeBase
from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import OutOfRangeError, StoreUnavailableError

QUESTION = "创建绿色工厂多少家？"


def test_calls_give_what_those_of_the_knowledge_base_give(tmp_path):
    """Several at once; options and errors pass through."""
    (tmp_path / "a.txt").write_text("甲方案\n到2025年创建绿色工厂500家。\n", "utf-8")

    async def talk():
        embedder = HashEmbedder(64)
        async with await AsyncKnowledgeBase.open(tmp_path / "kb", embedder=embedder) as kb:
            assert (await kb.ingest(tmp_path / "a.txt")).counts == {"added": 1}
            hits, answer = await asyncio.gather(kb.search(QUESTION, top_k=1), kb.ask(QUESTION))
            assert hits == kb.base.search(QUESTION, top_k=1)
            assert answer == kb.base.ask(QUESTION)
            with pytest.raises(OutOfRangeError):
                await kb.search(QUESTION, top_k=0)

    asyncio.run(talk())


def test_the_event_loop_goes_on_meanwhile(tmp_path, monkeypatch):
    """A search that waits for the loop would wait in vain if it ran in it."""
    told = threading.Event()
    monkeypatch.setattr(KnowledgeBase, "search", lambda *_, **__: [] if told.wait(60) else None)

    async def talk():
        async with await AsyncKnowledgeBase.open(tmp_path / "kb") as kb:
            waiting = asyncio.create_task(kb.search(QUESTION))
            await asyncio.sleep(0)
            told.set()
            assert await waiting == []

    asyncio.run(talk())


def test_leaving_closes(tmp_path, monkeypatch):
    """And nothing is made where it must be there."""
    closed: list[None] = []

    async def talk():
        async with await AsyncKnowledgeBase.open(tmp_path / "kb") as kb:
            close = kb.base.close
            monkeypatch.setattr(kb.base, "close", lambda: closed.append(close()))
        assert closed == [None]
        with pytest.raises(StoreUnavailableError):
            await AsyncKnowledgeBase.open(tmp_path / "none", create=False)

    asyncio.run(talk())
