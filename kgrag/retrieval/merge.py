"""Merge chunks into the next larger one, and fill the gap of one chunk between two results."""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

from kgrag.ids import chunk_id
from kgrag.results import Reason, ScoredChunk
from kgrag.retrieval.ranking import best_first
from kgrag.store.store import SearchedStore
from kgrag.types import Chunk

_TAU = 0.5  # of the paper


@dataclass(frozen=True, slots=True)
class _Family:
    """A parent with its children of all sizes, which nest."""

    parent: Chunk
    groups: Mapping[int, Sequence[Chunk]]

    def around(self, chunk: Chunk) -> tuple[Chunk, int]:
        """Return the next larger chunk, and how many chunks of this size it contains.

        A larger chunk with the same text is skipped.
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
    """A cache of parents with their children.

    Attributes:
        store: Where they are.
    """

    def __init__(self, store: SearchedStore) -> None:
        self.store = store
        self._known: dict[str, _Family] = {}

    def of(self, results: Iterable[ScoredChunk]) -> Mapping[str, _Family]:
        """Return the families in which at least two of the results lie, by parent id."""
        inside = Counter(r.chunk.parent_id for r in results if r.chunk.parent_id is not None)
        wanted = {parent_id for parent_id, n in inside.items() if n > 1}
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
    coverage: float = 0.0,
) -> list[ScoredChunk]:
    """Replace chunks by the next larger one where enough of its children were found.

    GRIM, section 3.2.1: r = |children found| / |children of the parent| (eq. 1); where r > 0.5,
    strictly, the children are replaced by the parent with their mean score (eq. 2), or its own
    score where it was found with a better one. Sizes nest, so the parent of a chunk is the next
    larger chunk: two neighbours of 256 become one of 512, without text that was not found. A call
    climbs one step; repeated, it reaches the parents of 2048.

    Args:
        results: Any order, no chunk twice.
        families: Cache, shared between the calls for one question.
        coverage: Least share of the parent's characters, in [0, 1], that the children found
            have; chunks differ in length, and the rest of a parent costs context.
    """
    known = families.of(results)
    found: dict[str, list[ScoredChunk]] = defaultdict(list)
    holders: dict[str, tuple[Chunk, int]] = {}
    for result in results:
        family = known.get(result.chunk.parent_id or "")  # none if it was deleted meanwhile
        if family is not None:
            holder, total = family.around(result.chunk)
            key = f"{holder.chunk_id}<{result.chunk.size}"
            holders[key] = holder, total
            found[key].append(result)
    kept = {r.chunk.chunk_id: r for r in results}
    for key in sorted(found):
        group, (holder, total) = found[key], holders[key]
        if len(group) / total > _TAU and _characters(group) >= coverage * (
            holder.end - holder.start
        ):
            _put(holder, group, total, kept)
    return best_first(kept.values())


def _put(
    holder: Chunk, group: Sequence[ScoredChunk], total: int, kept: dict[str, ScoredChunk]
) -> None:
    for result in group:
        kept.pop(result.chunk.chunk_id, None)
    size = str(group[0].chunk.size)
    own = Reason("merged", n=str(len(group)), of=str(total), size=size)
    reasons = best_first(group)[0].via  # of the best, which brought it in
    merged = ScoredChunk(holder, fmean(r.score for r in group), (own, *reasons))
    before = kept.get(holder.chunk_id)
    if before is None or before.score < merged.score:
        kept[holder.chunk_id] = merged


def _characters(group: Iterable[ScoredChunk]) -> int:
    return sum(r.chunk.end - r.chunk.start for r in group)


def _inside(inner: Chunk, outer: Chunk) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def fill(
    results: Sequence[ScoredChunk], store: SearchedStore, *, among: Container[str] | None = None
) -> list[ScoredChunk]:
    """Return results with every single missing chunk between two neighbours added.

    GRIM, section 3.2.1: where the next of one node is the previous of another, the node between
    them is added with the mean of their scores (eq. 3). Neighbours are taken in document order,
    not in rank order, so no gap is missed; the missing chunks are fetched in one batch.
    """
    in_order = sorted(results, key=lambda r: (r.chunk.doc_id, r.chunk.size, r.chunk.position))
    gaps: dict[str, tuple[float, Reason]] = {}
    for left, right in pairwise(in_order):
        a, b = left.chunk, right.chunk
        if (a.doc_id, a.size, a.position + 2) == (b.doc_id, b.size, b.position):
            between = Reason("filled", left=str(a.position), right=str(b.position))
            missing = chunk_id(a.doc_id, a.size, a.position + 1)
            if among is None or missing in among:
                gaps[missing] = ((left.score + right.score) / 2, between)
    if not gaps:
        return best_first(results)
    filled = [
        ScoredChunk(c, gaps[c.chunk_id][0], (gaps[c.chunk_id][1],))
        for c in store.chunks(list(gaps))
    ]
    return best_first([*results, *filled])
