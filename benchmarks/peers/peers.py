"""The systems by name: how each is made. Its package is only imported where it is run."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from benchmarks.peers.peer import Parts, Peer


@dataclass(frozen=True, slots=True)
class Entry:
    """How a system is made.

    Attributes:
        module: Of its adapter, in `benchmarks.peers.adapters`.
        of: The adapter's class.
        options: Of the class.
    """

    module: str
    of: str
    options: tuple[tuple[str, str | bool], ...] = ()

    @property
    def environment(self) -> str:
        """Return the name by which `--pythons` gives its Python: that of the module."""
        return self.module.removeprefix("of_").replace("_", "-")

    def make(self, parts: Parts) -> Peer:
        """Return the system, which needs its package."""
        make: Callable[..., Peer] = getattr(
            import_module(f"benchmarks.peers.adapters.{self.module}"), self.of
        )
        return make(parts, **dict(self.options))


def _llama(kind: str) -> Entry:
    return Entry("of_llama_index", "LlamaIndex", (("kind", kind),))


PEERS = {
    "kgrag": Entry("of_kgrag", "Kgrag", (("by_model", False),)),
    "kgrag-model": Entry("of_kgrag", "Kgrag", (("by_model", True),)),
    "llama-vector": _llama("vector"),
    "llama-bm25": _llama("bm25"),
    "llama-bm25-jieba": _llama("bm25-jieba"),
    "llama-automerging": _llama("automerging"),
    "llama-recursive": _llama("recursive"),
    "lightrag": Entry("of_lightrag", "LightRag"),
    "neo4j-graphrag": Entry("of_neo4j_graphrag", "Neo4jGraphRag"),
    "vector-graph-rag": Entry("of_vector_graph_rag", "VectorGraphRag"),
}
