"""Recursive retrieval: from the nearest nodes through summaries to chunks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kgrag.results import Reason
from kgrag.retrieval.dense import leaf_similarities, nearest_leaves
from kgrag.retrieval.search import Ranking, Search, by_vector
from kgrag.types import Chunk, Summary


@dataclass(frozen=True, slots=True)
class TextNode:
    """A terminal node: a chunk.

    Attributes:
        node_id: The chunk's id.
        score: Its similarity.
        reason: How it was found.
    """

    node_id: str
    score: float
    reason: str = ""


@dataclass(frozen=True, slots=True)
class IndexNode:
    """A node that refers to others, such as a summary.

    Attributes:
        node_id: Its id.
        score: Its similarity.
        targets: Names of the retrievers to run next, in order.
        reason: How it was found.
    """

    node_id: str
    score: float
    targets: tuple[str, ...]
    reason: str = ""


Node = TextNode | IndexNode
Retriever = Callable[[IndexNode | None], list[Node]]


def retrieve_recursively(root: str, retrievers: Mapping[str, Retriever]) -> list[TextNode]:
    """Return every text node that can be reached from the root retriever, in order of visit.

    GRIM, section 3.2.1: depth first, the nodes of a retriever best first; a text node is a result,
    an index node leads to its targets. Nodes and retrievers are visited once, so that cycles end.

    Args:
        root: Name of the first retriever.
        retrievers: By name; each gets the index node that led to it (None at the root). Unknown
            targets are ignored.
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


_ROOT = "vectors"
_SUMMARIES = 10  # index nodes that are followed
_CHILDREN = 8  # chunks taken from each, most similar first


def chunks_and_summaries(search: Search) -> Ranking:
    """Return chunks reached by recursive retrieval from chunks and summaries, by similarity.

    GRIM, section 3.2.1: from the vector retriever, chunks are terminal nodes, a summary is an index
    node that leads to a retriever over the chunks of its span. There a node gets the similarity of
    the index node. Here, as a summary may have many chunks, a chunk gets the mean of the summary's
    cosine and its own, which keeps an order among them.
    """
    hits = nearest_leaves(search, top_k=search.settings.depth)
    chunks: list[Node] = [TextNode(c, score, by_vector(score)) for c, score in hits.items()]
    return _retrieve(search, chunks)


def summarised_chunks(search: Search) -> Ranking:
    """Return only the chunks that the nearest summaries lead to, by similarity."""
    return _retrieve(search, [])


def _retrieve(search: Search, chunks: Sequence[Node]) -> Ranking:
    hits = search.nearest("summary", top_k=_SUMMARIES)
    summaries = search.store.summaries(list(hits))
    index = [
        IndexNode(s.summary_id, hits[s.summary_id], (s.summary_id,), _reason(s, hits))
        for s in summaries
    ]
    entry = sorted([*chunks, *index], key=lambda node: (-node.score, node.node_id))
    retrievers: dict[str, Retriever] = {_ROOT: lambda _: entry}
    retrievers.update(_inside(search, summaries, hits))
    nodes = retrieve_recursively(_ROOT, retrievers)
    ordered = sorted(nodes, key=lambda node: (-node.score, node.node_id))
    return Ranking(
        tuple((node.node_id, node.score) for node in ordered),
        {node.node_id: node.reason for node in ordered},
    )


def _reason(summary: Summary, hits: dict[str, float]) -> Reason:
    score = f"{hits[summary.summary_id]:.2f}"
    return Reason("summary", score=score, what=summary.text[:40])


def _inside(
    search: Search, summaries: Sequence[Summary], reached_with: Mapping[str, float]
) -> dict[str, Retriever]:
    """Return a retriever per summary, over the leaf chunks of its span; fetched at once."""
    if not summaries:
        return {}
    parent_ids = list(dict.fromkeys(p for s in summaries for p in s.target_ids))
    leaves = search.store.children(parent_ids, size=search.settings.leaf)
    cosines = leaf_similarities(search, [c.chunk_id for c in leaves])

    def over(summary: Summary) -> Retriever:
        reached = reached_with[summary.summary_id]
        inside = [c for c in leaves if _within(c, summary) and c.chunk_id in cosines]
        best = sorted(inside, key=lambda c: (-cosines[c.chunk_id], c.chunk_id))[:_CHILDREN]

        def retrieve(source: IndexNode | None) -> list[Node]:
            why = source.reason if source else ""
            return [TextNode(c.chunk_id, (reached + cosines[c.chunk_id]) / 2, why) for c in best]

        return retrieve

    return {s.summary_id: over(s) for s in summaries}


def _within(chunk: Chunk, summary: Summary) -> bool:
    same = chunk.doc_id == summary.doc_id
    return same and chunk.start < summary.end and summary.start < chunk.end
