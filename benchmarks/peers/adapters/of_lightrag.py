"""LightRAG: its modes naive, hybrid and mix with its own stores, over chunks of 1,200 tokens.

Its default tokenizer is a download, so chunks are cut by `Pieces`: about as many tokens of Chinese
text, whole characters only. It keeps no answers of the model, or `mix` would ask for none after
`hybrid`.
"""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

import numpy as np
from lightrag import (  # type: ignore[import-not-found,unused-ignore]
    LightRAG,
    QueryParam,
)
from lightrag.utils import (  # type: ignore[import-not-found,unused-ignore]
    EmbeddingFunc,
    Tokenizer,
)

from benchmarks.peers.peer import TOP_K, Found, Local, Parts, Search
from benchmarks.peers.pieces import Pieces
from kgrag.embedding.embedder import Task

Mode = Literal["naive", "hybrid", "mix"]


class LightRag(Local):
    """A working folder, all of whose work runs in one event loop."""

    packages = ("lightrag-hku",)

    def __init__(self, parts: Parts) -> None:
        self._loop = asyncio.new_event_loop()

        async def answer(
            prompt: str,
            system_prompt: str | None = None,
            history_messages: list[dict[str, str]] | None = None,
            **_: object,
        ) -> str:
            before = [message["content"] for message in history_messages or []]
            return parts.model.answer([system_prompt or "", *before, prompt])

        async def encode(texts: list[str], context: str = "document", **_: object) -> Any:
            task: Task = "query" if context == "query" else "passage"
            return np.asarray(parts.encoder.embed(texts, task))

        # It copies these in depth: they must be functions, and a tokenizer without a state.
        self._rag = LightRAG(
            working_dir=str(parts.folder),
            llm_model_func=answer,
            embedding_func=EmbeddingFunc(
                parts.encoder.dimension, encode, 512, supports_asymmetric=True
            ),
            tokenizer=Tokenizer("pieces", Pieces()),
            addon_params={"language": "Chinese"},
            enable_llm_cache=False,
        )

    def build(self, texts: Mapping[str, str]) -> None:
        """Take texts in."""
        self._loop.run_until_complete(self._rag.initialize_storages())
        inserted = self._rag.ainsert([*texts.values()], ids=[*texts], file_paths=[*texts])
        self._loop.run_until_complete(inserted)
        counts = self._loop.run_until_complete(self._rag.get_processing_status())
        if counts.get("processed") != len(texts):
            raise RuntimeError(f"not all of {len(texts)} documents were taken in: {counts}")

    def searches(self) -> Mapping[str, Search]:
        """Return its modes."""
        modes: tuple[Mode, ...] = ("naive", "hybrid", "mix")
        return {mode: partial(self._search, mode) for mode in modes}

    def _search(self, mode: Mode, question: str) -> list[Found]:
        param = QueryParam(mode=mode, chunk_top_k=TOP_K, enable_rerank=False)
        found = self._loop.run_until_complete(self._rag.aquery_data(question, param))
        chunks = found.get("data", {}).get("chunks", [])
        return [Found(chunk["file_path"], chunk["content"]) for chunk in chunks][:TOP_K]
