"""Recursive retrieval over a directed acyclic graph of retrievers and nodes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TextNode:
    """A terminal node: a chunk.

    Attributes:
        node_id: The chunk's id.
        score: Its similarity.
        via: How it came.
    """

    node_id: str
    score: float
    via: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexNode:
    """A node that stands for others, such as a summary.

    Attributes:
        node_id: Its own id.
        score: Its similarity.
        targets: Names of the retrievers to ask next, in this order.
        via: How it came.
    """

    node_id: str
    score: float
    targets: tuple[str, ...]
    via: tuple[str, ...] = ()


Node = TextNode | IndexNode
Retriever = Callable[[IndexNode | None], list[Node]]


def retrieve_recursively(root: str, retrievers: Mapping[str, Retriever]) -> list[TextNode]:
    """Return every text node that can be reached from the root retriever, in order of visit.

    GRIM, section 3.2.1: depth first; a retriever's nodes are taken best first as it gives them;
    a text node is a result; an index node leads on to its targets. Each node is handled once
    and each retriever asked once, so that shared targets cost nothing and a cycle ends.

    Args:
        root: Name of the first retriever.
        retrievers: By name; each gets the index node that led to it (None at the root). A
            target that is not among them is a dead end.
    """
    results: list[TextNode] = []
    seen_nodes: set[str] = set()
    seen_retrievers: set[str] = set()

    def visit(name: str, source: IndexNode | None) -> None:
        if name in seen_retrievers or name not in retrievers:
            return
        seen_retrievers.add(name)
        for node in retrievers[name](source):
            if node.node_id in seen_nodes:
                continue
            seen_nodes.add(node.node_id)
            if isinstance(node, TextNode):
                results.append(node)
                continue
            for target in node.targets:
                visit(target, node)

    visit(root, None)
    return results
