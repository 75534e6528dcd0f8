"""Merge chunks into the larger chunk around them where enough of its pieces were found."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from kgrag.results import ScoredChunk
from kgrag.retrieval.ranking import best_first
from kgrag.store.store import SearchedStore
from kgrag.types import Chunk


@dataclass(frozen=True, slots=True)
class _Family:
    """A parent with all groups of its children, which nest in each other."""

    parent: Chunk
    groups: Mapping[int, Sequence[Chunk]]

    def around(self, chunk: Chunk) -> tuple[Chunk, int]:
        """Return the next larger chunk around one, and how many of its group lie inside it.

        A chunk of the next group with the same text is no larger: it is passed over.
        """
        larger = [c for size, group in self.groups.items() if size > chunk.size for c in group]
        holders = (
            c
            for c in (*larger, self.parent)
            if _inside(chunk, c) and c.end - c.start > chunk.end - chunk.start
        )
        holder = min(holders, key=lambda c: c.size, default=self.parent)
        return holder, sum(_inside(c, holder) for c in self.groups[chunk.size])


class Families:
    """Parents with their children, fetched together and kept.

    Attributes:
        store: Where they are.
    """

    def __init__(self, store: SearchedStore) -> None:
        self.store = store
        self._known: dict[str, _Family] = {}

    def of(self, results: Iterable[ScoredChunk]) -> Mapping[str, _Family]:
        """Return the families of results that have a parent, by parent id."""
        wanted = {r.chunk.parent_id for r in results if r.chunk.parent_id is not None}
        missing = sorted(wanted - self._known.keys())
        parents: list[Chunk] = []
        groups: dict[str, dict[int, list[Chunk]]] = defaultdict(dict)
        for chunk in self.store.families(missing) if missing else ():
            if chunk.parent_id is None:
                parents.append(chunk)
            else:
                groups[chunk.parent_id].setdefault(chunk.size, []).append(chunk)
        for parent in parents:
            self._known[parent.chunk_id] = _Family(parent, groups[parent.chunk_id])
        return self._known


def merge(
    results: Sequence[ScoredChunk],
    families: Families,
    *,
    tau: float = 0.5,
    coverage: float = 0.0,
) -> list[ScoredChunk]:
    """Return results with well-covered chunks put for the pieces of them that were found.

    GRIM, section 3.2.1: r = |children found| / |children of the parent| (eq. 1); where r > τ,
    strictly, the children give way to the parent, which gets their mean score (eq. 2), or keeps
    its own where it was found with a better one. The groups of children nest, so the parent of
    a chunk is the next larger chunk around it: two neighbours of 256 become the 512 that they
    make up, and what was found grows without drawing in what was not. One step up for each
    call; repeated, it climbs to the parents of 2048.

    Args:
        results: Any order, no chunk twice.
        families: Where parents and their children are; shared between calls of one question.
        tau: Threshold in [0, 1]; 0.5 in the paper.
        coverage: Least share of the parent's characters, in [0, 1], that its children found make
            up; chunks differ in length, and what they lack is context spent on nothing found.
    """
    known = families.of(results)
    found: dict[str, list[ScoredChunk]] = defaultdict(list)
    holders: dict[str, tuple[Chunk, int]] = {}
    for result in results:
        if result.chunk.parent_id is not None:
            holder, total = known[result.chunk.parent_id].around(result.chunk)
            key = f"{holder.chunk_id}<{result.chunk.size}"
            holders[key] = holder, total
            found[key].append(result)
    kept = {r.chunk.chunk_id: r for r in results}
    for key in sorted(found):
        group, (holder, total) = found[key], holders[key]
        if len(group) / total > tau and _characters(group) >= coverage * (
            holder.end - holder.start
        ):
            _put(holder, group, total, kept)
    return best_first(kept.values())


def _put(
    holder: Chunk, group: Sequence[ScoredChunk], total: int, kept: dict[str, ScoredChunk]
) -> None:
    """Replace a group by the chunk that holds it."""
    for result in group:
        kept.pop(result.chunk.chunk_id, None)
    via = f"merged from {len(group)} of {total} chunks of {group[0].chunk.size}"
    reasons = best_first(group)[0].via  # of the best, which brought it in
    merged = ScoredChunk(holder, fmean(r.score for r in group), (via, *reasons))
    before = kept.get(holder.chunk_id)
    if before is None or before.score < merged.score:
        kept[holder.chunk_id] = merged


def _characters(group: Iterable[ScoredChunk]) -> int:
    return sum(r.chunk.end - r.chunk.start for r in group)


def _inside(inner: Chunk, outer: Chunk) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
