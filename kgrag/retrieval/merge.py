"""Merge children into their parents where enough of them were found."""

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from kgrag.retrieval.ranking import best_first
from kgrag.store.store import Store
from kgrag.types import ScoredChunk


def merge(results: Sequence[ScoredChunk], store: Store, *, tau: float = 0.5) -> list[ScoredChunk]:
    """Return results with every well-covered group of children replaced by its parent.

    GRIM, section 3.2.1: for each parent and group, r = |children found| / |children of the
    parent| (eq. 1); where r > τ, strictly, the children give way to the parent, which gets
    their mean score (eq. 2), or keeps its own where it was found with a better one. Parents
    are fetched in one batch.

    Args:
        results: Any order, no chunk twice.
        store: Where parents are.
        tau: Threshold in [0, 1]; 0.5 in the paper.
    """
    found: dict[tuple[str, int], list[ScoredChunk]] = defaultdict(list)
    for result in results:
        if result.chunk.parent_id is not None:
            found[result.chunk.parent_id, result.chunk.size].append(result)
    totals = store.child_counts(sorted({parent_id for parent_id, _ in found}))
    full = {key: group for key, group in found.items() if len(group) / totals[key] > tau}
    if not full:
        return best_first(results)
    kept = {r.chunk.chunk_id: r for r in results}
    for parent in store.chunks(sorted({parent_id for parent_id, _ in full})):
        for (parent_id, size), group in full.items():
            if parent_id != parent.chunk_id:
                continue
            via = f"merged from {len(group)} of {totals[parent_id, size]} children of {size}"
            candidate = ScoredChunk(
                parent, fmean(r.score for r in group), (via, *_reasons_of(group))
            )
            before = kept.get(parent_id)
            if before is None or before.score < candidate.score:
                kept[parent_id] = candidate
            for result in group:
                kept.pop(result.chunk.chunk_id, None)
    return best_first(kept.values())


def _reasons_of(group: Sequence[ScoredChunk]) -> tuple[str, ...]:
    """Return the reasons of the group's best child, which brought the parent in."""
    return best_first(group)[0].via
