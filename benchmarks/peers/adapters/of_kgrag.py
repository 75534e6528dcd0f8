"""kgrag: its presets without a model, and `grim` with facts read by one."""

from collections.abc import Mapping
from functools import partial

from benchmarks.peers.peer import TOP_K, Found, Local, Parts, Search
from kgrag.api import KnowledgeBase


class Kgrag(Local):
    """A knowledge base in a folder."""

    packages = ("kgrag",)

    def __init__(self, parts: Parts, *, by_model: bool) -> None:
        self._parts = parts
        self._by_model = by_model
        self._base = KnowledgeBase.open(
            parts.folder / "kb",
            embedder=parts.encoder,
            model=parts.model if by_model else None,
        )

    def build(self, texts: Mapping[str, str]) -> None:
        """Take the files in."""
        report = self._base.ingest(
            [self._parts.files[doc_id] for doc_id in texts],
            model="auto" if self._by_model else "none",
        )
        if report.failed:
            raise RuntimeError(f"{len(report.failed)} documents failed: {report.failed[0]}")

    def searches(self) -> Mapping[str, Search]:
        """Return presets; over a model's facts `grim` alone."""
        if self._by_model:
            return {"grim, facts": partial(self._search, "grim")}
        return {name: partial(self._search, name) for name in ("bm25", "hybrid", "grim")}

    def _search(self, system: str, question: str) -> list[Found]:
        hits = self._base.search(question, system=system, top_k=TOP_K)
        return [
            Found(_stem(hit.file), hit.chunk.text, hit.chunk.start, hit.chunk.end) for hit in hits
        ]

    def close(self) -> None:
        """Close the knowledge base."""
        self._base.close()


def _stem(file: str) -> str:
    return file.rpartition("/")[2].rpartition(".")[0]
