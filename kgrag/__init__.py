"""kgrag: knowledge-graph RAG for policy documents."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgrag.answer.answer import Answer
    from kgrag.answer.citation import Citation
    from kgrag.api import KnowledgeBase
    from kgrag.config import Config
    from kgrag.errors import KgragError
    from kgrag.results import ScoredChunk
    from kgrag.retrieval.filter import Filter
    from kgrag.types import Chunk, Document, Fact

    __version__: str

__all__ = [
    "Answer",
    "Chunk",
    "Citation",
    "Config",
    "Document",
    "Fact",
    "Filter",
    "KgragError",
    "KnowledgeBase",
    "ScoredChunk",
    "__version__",
]

_HOMES = {
    "Answer": "kgrag.answer.answer",
    "Citation": "kgrag.answer.citation",
    "Config": "kgrag.config",
    "Filter": "kgrag.retrieval.filter",
    "KgragError": "kgrag.errors",
    "KnowledgeBase": "kgrag.api",
    "ScoredChunk": "kgrag.results",
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used, so that `import kgrag` costs nothing."""
    if name not in __all__:
        raise AttributeError(f"module 'kgrag' has no attribute {name!r}")
    if name == "__version__":
        from importlib.metadata import version

        return version("kgrag")
    from importlib import import_module

    return getattr(import_module(_HOMES.get(name, "kgrag.types")), name)
