"""QCG-Rerank: chunks by a graph around the question with its critical information (Wei et al.)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from kgrag.errors import ModelError
from kgrag.llm.chat import ChatModel, Request
from kgrag.llm.prompts import fence, prompt
from kgrag.llm.structured import ask_text
from kgrag.results import Reason, ScoredChunk
from kgrag.retrieval.ranking import best_first
from kgrag.retrieval.search import Search
from kgrag.types import Query

_Reranker = Callable[[Search, Sequence[ScoredChunk]], list[ScoredChunk]]
_LONGEST = 100  # characters of critical information
_CONVERGED = 1e-9


@dataclass(frozen=True, slots=True)
class ChunkGraph:
    """A reranker: QCG-Rerank, sections 3.2 and 3.3.

    Attributes:
        n: Repetitions of question and critical information: 3 in Table 6, for Chinese.
        most: Of the candidates, N: 10 in Table 7; others are dropped.
        damping: d of eq. 5, above 0 and below 1; the paper gives none, this is TextRank's.
        critical: As a model extracted it, "" for none; for None the words that rules find.
    """

    n: int = 3
    most: int = 10
    damping: float = 0.85
    critical: str | None = None

    def __call__(self, search: Search, candidates: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return the best candidates in the order of the graph."""
        best = best_first(candidates)[: self.most]
        query, critical, who = search.query, self.critical, "a model"
        if critical is None:
            critical, who = " ".join(dict.fromkeys((*query.keywords, *query.words))), "rules"
        updated = " ".join([query.text, critical] * self.n).strip()  # eq. 2
        asked, ids = search.asked(replace(query, text=updated)), [c.chunk.chunk_id for c in best]
        cosines = asked.store.similarities(asked.vector, ids)  # eq. 3
        weights = graph_weights([cosines.get(i, 0.0) for i in ids], damping=self.damping)
        why = (Reason("graph", score=f"{w:.3f}", who=who, what=critical) for w in weights)
        ranked = zip(best, weights, why, strict=True)
        return best_first(replace(c, score=w, via=(because, *c.via)) for c, w, because in ranked)


def graph_weights(similarities: Sequence[float], *, damping: float) -> list[float]:
    """Return the weights S of chunks in a graph of these and the question: QCG-Rerank, eq. 4 and 5.

    Only edges between the question and a chunk have a weight, in both directions: the graph is a
    star, in which S orders chunks as their similarity does, whatever the damping.

    Args:
        similarities: Of each chunk with the question; negative ones count 0.
        damping: d, above 0 and below 1.

    >>> [round(weight, 3) for weight in graph_weights([0.9, 0.6], damping=0.85)]
    [0.3, 0.2]
    """
    if not 0 < damping < 1:
        raise ValueError(f"damping must be above 0 and below 1, got {damping}")
    edges = [max(similarity, 0.0) for similarity in similarities]
    shares = [edge / (sum(edges) or 1.0) for edge in edges]  # a chunk's only edge leads back
    question, weights, change = 1.0, [0.0] * len(shares), 1.0
    while change > _CONVERGED:
        before, back = question, sum(weights)
        question = (1 - damping) * question + damping * back
        kept = ((1 - damping) * weight for weight in weights)
        weights = [w + damping * s * before for w, s in zip(kept, shares, strict=True)]
        change = abs(question - before)
    return weights


def with_critical(
    rerankers: tuple[_Reranker, ...], query: Query, model_of: Callable[[], ChatModel]
) -> tuple[_Reranker, ...]:
    """Return rerankers, the chunk graph with the critical information that a model extracts.

    If the model fails, rules find it: the reasons of results tell which.
    """
    found = [r for r in rerankers if isinstance(r, ChunkGraph) and r.critical is None]
    if not found:
        return rerankers
    fenced = fence(query.question, label="question")
    request = Request(prompt("critical", query.language).fill(question=fenced), stage="analyse")
    try:
        said = ask_text(model_of(), request).text.strip()[:_LONGEST]
    except ModelError:
        return rerankers
    led = {r: replace(r, critical=said) for r in found}
    return tuple(led.get(r, r) if isinstance(r, ChunkGraph) else r for r in rerankers)
