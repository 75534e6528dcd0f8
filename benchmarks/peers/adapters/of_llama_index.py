"""LlamaIndex: vectors, BM25, AutoMerging and Recursive, as its documentation builds them.

Sizes of chunks are tokens by its default tokenizer.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import jieba  # type: ignore[import-untyped,unused-ignore]
from llama_index.core import Document
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.node_parser import SentenceSplitter
from llama_index.core.schema import BaseNode
from llama_index.retrievers.bm25 import (  # type: ignore[import-not-found,unused-ignore]
    BM25Retriever,
)

from benchmarks.peers.adapters.llama_vectors import Vectors, automerging, recursive, vector
from benchmarks.peers.peer import TOP_K, Found, Local, Parts, Search

_KEYS = ["doc"]
_SIZE = 512


class LlamaIndex(Local):
    """One kind of retriever."""

    packages = ("llama-index-core", "llama-index-retrievers-bm25", "bm25s")

    def __init__(self, parts: Parts, *, kind: str) -> None:
        self._vectors = Vectors(parts.encoder)
        self._kind = kind
        self._retrievers: dict[str, BaseRetriever] = {}

    def build(self, texts: Mapping[str, str]) -> None:
        """Take texts in; the document's id is metadata that is neither encoded nor shown."""
        documents = [
            Document(
                text=text,
                metadata={"doc": doc_id},
                excluded_embed_metadata_keys=_KEYS,
                excluded_llm_metadata_keys=_KEYS,
            )
            for doc_id, text in texts.items()
        ]
        self._retrievers = _KINDS[self._kind](documents, self._vectors)

    def searches(self) -> Mapping[str, Search]:
        """Return a search for each store of vectors."""
        return {name: partial(self._search, found) for name, found in self._retrievers.items()}

    def _search(self, retriever: BaseRetriever, question: str) -> list[Found]:
        asked = _words(question) if self._kind == "bm25-jieba" else question
        return [_found(found.node) for found in retriever.retrieve(asked)][:TOP_K]


def _found(node: BaseNode) -> Found:
    start, end = getattr(node, "start_char_idx", None), getattr(node, "end_char_idx", None)
    return Found(node.metadata["doc"], node.get_content(), start, end)


def _bm25(documents: Sequence[Document], _: Vectors) -> dict[str, BaseRetriever]:
    nodes = SentenceSplitter(chunk_size=_SIZE).get_nodes_from_documents(documents)
    return {"": BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=TOP_K)}


def _bm25_jieba(documents: Sequence[Document], _: Vectors) -> dict[str, BaseRetriever]:
    """Return BM25 over jieba's words, which stand apart in its texts."""
    nodes = SentenceSplitter(chunk_size=_SIZE).get_nodes_from_documents(documents)
    for node in nodes:
        node.set_content(_words(node.get_content()))
    found = BM25Retriever.from_defaults(
        nodes=nodes, similarity_top_k=TOP_K, token_pattern=r"(?u)\b\w+\b"
    )
    return {"": found}


def _words(text: str) -> str:
    return " ".join(jieba.cut(text))


_KINDS: Mapping[str, Callable[[Sequence[Document], Vectors], dict[str, BaseRetriever]]] = {
    "vector": vector,
    "bm25": _bm25,
    "bm25-jieba": _bm25_jieba,
    "automerging": automerging,
    "recursive": recursive,
}
