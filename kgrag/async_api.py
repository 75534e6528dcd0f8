"""The knowledge base for asyncio: each call runs in a thread."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any, Self

from kgrag.answer.answer import Answer
from kgrag.api import KnowledgeBase
from kgrag.ingestion.report import IngestReport
from kgrag.maintenance.intake import Paths
from kgrag.results import ScoredChunk


class AsyncKnowledgeBase:
    """A knowledge base whose calls do not block the event loop; use it with `async with`.

    Options and errors are those of `KnowledgeBase`. A cancelled call runs to its end in its
    thread; its result is lost, what it stored is complete.

    Attributes:
        base: The knowledge base, for methods that are missing here.
    """

    def __init__(self, base: KnowledgeBase) -> None:
        self.base = base

    @classmethod
    async def open(cls, location: str | Path = "kb", **options: Any) -> Self:
        """Open a knowledge base; see `KnowledgeBase.open`."""
        return cls(await asyncio.to_thread(partial(KnowledgeBase.open, location, **options)))

    async def ingest(self, paths: Paths, **options: Any) -> IngestReport:
        """Ingest files and folders; see `KnowledgeBase.ingest`."""
        return await asyncio.to_thread(self.base.ingest, paths, **options)

    async def search(self, question: str, **options: Any) -> list[ScoredChunk]:
        """Return the most relevant chunks for a question; see `KnowledgeBase.search`."""
        return await asyncio.to_thread(self.base.search, question, **options)

    async def ask(self, question: str, **options: Any) -> Answer:
        """Return an answer; see `KnowledgeBase.ask`."""
        return await asyncio.to_thread(self.base.ask, question, **options)

    async def close(self) -> None:
        """Wait for running calls, then release files and connections."""
        await asyncio.to_thread(self.base.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()
