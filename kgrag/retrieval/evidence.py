"""Add up what the routes say of each chunk, each in units that compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from kgrag.ids import document_of
from kgrag.retrieval.fusion import ranked, reciprocal_rank_fusion
from kgrag.retrieval.leaves import leaf_similarities
from kgrag.retrieval.search import Ranking, Search
from kgrag.store.store import Hit

Unit = Literal["spread", "best", "present", "own"]

_LONGEST_LEAD = 0.8  # of a route's best over its tenth; one that finds fewer than ten leads by all


class Retriever(Protocol):
    """A route from a question to chunks."""

    __name__: str

    def __call__(self, search: Search) -> Ranking:
        """Return what the route finds, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Route:
    """A retriever and how much its scores count.

    Attributes:
        retrieve: The retriever.
        weight: Factor on its scores.
        unit: What a score is divided by: `spread`, the spread of cosines between
            unrelated texts, and every chunk that any route found gets its cosine; `best`,
            the route's best score; `present`, the score itself, so that every hit counts the
            same; `own`, nothing.
        weak_factor: On the weight where the encoder is weak: words then count more.
        margin: How much more the route counts the surer it is: the weight is multiplied by
            1 + margin · lead³, where lead = (best - tenth) / best, at most 0.8. A rare term or
            an exact phrase lifts few chunks far above the rest; words that are everywhere lift
            none. Cubed, so that a lead below a half, which is common in documents of one
            field, says little.
    """

    retrieve: Retriever
    weight: float = 1.0
    unit: Unit = "own"
    weak_factor: float = 1.0
    margin: float = 0.0


Found = tuple[Route, Ranking]


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk's total.

    Attributes:
        chunk_id: The chunk.
        score: The sum of its parts, or its fused ranks.
        parts: (reason in words, score) from each route; a reason may be empty.
    """

    chunk_id: str
    score: float
    parts: tuple[Hit, ...]

    @property
    def via(self) -> tuple[str, ...]:
        """Return the reasons, weightiest first."""
        ordered = sorted((p for p in self.parts if p[0]), key=lambda part: (-part[1], part[0]))
        return tuple(dict.fromkeys(reason for reason, _ in ordered))


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """Fusion by ranks alone.

    Attributes:
        k: Constant of reciprocal rank fusion. 60 suits the fusion of many rankings of 1,000
            (Cormack et al., SIGIR 2009); with two or three of 100, first ranks must count more.
    """

    k: int = 10

    def __call__(self, search: Search, routes: Sequence[Found], *, top_k: int) -> list[Fused]:
        """Return at most `top_k` of the chunks found, best first."""
        fused = reciprocal_rank_fusion(
            [ranking.hits for _, ranking in routes],
            weights=[route.weight for route, _ in routes],
            k=self.k,
        )
        return [
            Fused(c, score, tuple((r.reasons[c], 0.0) for _, r in routes if c in r.reasons))
            for c, score in fused[:top_k]
        ]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Fusion by weighted evidence: which route to trust follows from the question.

    A quoted title that a document bears, or a text holds, decides; a place that the question
    names favours documents about it; similarity and words order what is left.

    Attributes:
        title_weight: For chunks of a document whose title is quoted; above any other sum.
        place_weight: For chunks of documents about a place that the question names; taken
            from those about other places only.
    """

    title_weight: float = 20.0
    place_weight: float = 1.0

    def __call__(self, search: Search, routes: Sequence[Found], *, top_k: int) -> list[Fused]:
        """Return at most `top_k` of the chunks found, best first, ties by chunk id."""
        parts: dict[str, list[Hit]] = {}
        for route, ranking in routes:
            for chunk_id, score in _scaled(search, route, ranking):
                reason = ranking.reasons.get(chunk_id, "")
                parts.setdefault(chunk_id, []).append((reason, score))
        for route, ranking in routes:
            if route.unit == "spread":
                _add_similarities(search, route, ranking, parts)
        about: dict[str, list[Hit]] = {}
        for chunk_id, found in parts.items():
            doc_id = document_of(chunk_id)
            if doc_id not in about:
                about[doc_id] = self._about_document(search, doc_id)
            found.extend(about[doc_id])
        totals = ranked({c: sum(score for _, score in found) for c, found in parts.items()})
        return [Fused(c, score, tuple(parts[c])) for c, score in totals[:top_k]]

    def _about_document(self, search: Search, doc_id: str) -> list[Hit]:
        if doc_id in search.titled:
            return [(f"title 《{search.titled[doc_id]}》", self.title_weight)]
        asked, national = search.query.places, search.query.national
        if search.query.titles or not (asked or national):
            return []
        places = search.settings.places.get(doc_id, frozenset())
        if places & asked:
            return [(f"place {'、'.join(sorted(places & asked))}", self.place_weight)]
        if national and not places:
            return [("national", self.place_weight)]
        return [("", -self.place_weight)] if places else []


def _weight(search: Search, route: Route) -> float:
    """Return how much a route counts for this question."""
    return route.weight * (route.weak_factor if search.settings.weak_encoder else 1.0)


def _scaled(search: Search, route: Route, ranking: Ranking) -> list[Hit]:
    if not ranking.hits or route.unit == "spread":
        return []
    weight = _weight(search, route)
    if route.unit == "present":
        return [(chunk_id, weight) for chunk_id, _ in ranking.hits]
    best = ranking.hits[0][1]
    unit = best if route.unit == "best" else 1.0
    if unit <= 0:
        return []
    if route.margin:
        tenth = ranking.hits[9][1] if len(ranking.hits) > 9 else 0.0
        weight *= 1 + route.margin * min((best - tenth) / best, _LONGEST_LEAD) ** 3
    return [(chunk_id, weight * score / unit) for chunk_id, score in ranking.hits]


def _add_similarities(
    search: Search, route: Route, ranking: Ranking, parts: dict[str, list[Hit]]
) -> None:
    """Add the similarity of what a route found, and of what only other routes did."""
    cosines = dict(ranking.hits)
    cosines.update(leaf_similarities(search, sorted(parts.keys() - cosines.keys())))
    factor = _weight(search, route) / search.settings.spread
    for chunk_id in {**dict(ranking.hits), **parts}:
        if chunk_id in cosines:
            cosine = cosines[chunk_id]
            reason = ranking.reasons.get(chunk_id, f"vector {cosine:.2f}")
            parts.setdefault(chunk_id, []).append((reason, factor * cosine))


Fuse = Reciprocal | Evidence
