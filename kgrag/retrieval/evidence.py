"""Add up what the routes say of each chunk, each in units that compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from kgrag.ids import document_of
from kgrag.retrieval.fusion import ranked, reciprocal_rank_fusion
from kgrag.retrieval.search import Ranking, Search
from kgrag.store.store import Hit

Unit = Literal["spread", "best", "present", "own"]


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
        unit: What a score is divided by: `spread`, the spread of cosines between unrelated
            texts; `best`, the route's best score; `present`, the score itself, so that every
            hit counts the same; `own`, nothing.
        lexical: Whether it matches words; such routes count more where the encoder is weak.
        margin: How much more the route counts the surer it is: the weight is multiplied by
            1 + margin · (best - tenth) / best. A rare term or an exact phrase lifts few
            chunks far above the rest; words that are everywhere lift none.
    """

    retrieve: Retriever
    weight: float = 1.0
    unit: Unit = "own"
    lexical: bool = False
    margin: float = 0.0


@dataclass(frozen=True, slots=True)
class Fused:
    """A chunk's total and the reasons for it, weightiest first."""

    chunk_id: str
    score: float
    via: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """Fusion by ranks alone.

    Attributes:
        k: Constant of reciprocal rank fusion.
    """

    k: int = 60

    def __call__(self, search: Search, routes: Sequence[tuple[Route, Ranking]]) -> list[Fused]:
        """Return every chunk found, best first."""
        fused = reciprocal_rank_fusion(
            [ranking.hits for _, ranking in routes],
            weights=[route.weight for route, _ in routes],
            k=self.k,
        )
        return [
            Fused(c, score, tuple(r.reasons[c] for _, r in routes if c in r.reasons))
            for c, score in fused
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

    def __call__(self, search: Search, routes: Sequence[tuple[Route, Ranking]]) -> list[Fused]:
        """Return every chunk found, best first, ties by chunk id."""
        parts: dict[str, list[tuple[float, str]]] = {}
        for route, ranking in routes:
            for chunk_id, score in _scaled(search, route, ranking):
                reason = ranking.reasons.get(chunk_id, "")
                parts.setdefault(chunk_id, []).append((score, reason))
        self._complete_similarity(search, routes, parts)
        for chunk_id, found in parts.items():
            found.extend(self._about_document(search, document_of(chunk_id)))
        totals = ranked({c: sum(score for score, _ in found) for c, found in parts.items()})
        return [Fused(c, score, _reasons(parts[c])) for c, score in totals]

    def _complete_similarity(
        self,
        search: Search,
        routes: Sequence[tuple[Route, Ranking]],
        parts: dict[str, list[tuple[float, str]]],
    ) -> None:
        """Give chunks that only other routes found their similarity, too."""
        for route, ranking in routes:
            if route.unit != "spread":
                continue
            known = {chunk_id for chunk_id, _ in ranking.hits}
            missing = [c for c in parts if c not in known]
            cosines = search.store.similarities(search.vector, missing)
            for chunk_id, cosine in cosines.items():
                score = route.weight * cosine / search.settings.spread
                parts[chunk_id].append((score, f"vector {cosine:.2f}"))

    def _about_document(self, search: Search, doc_id: str) -> list[tuple[float, str]]:
        if doc_id in search.titled:
            return [(self.title_weight, f"title 《{search.titled[doc_id]}》")]
        asked, national = search.query.places, search.query.national
        if search.query.titles or not (asked or national):
            return []
        places = search.settings.places.get(doc_id, frozenset())
        if places & asked:
            return [(self.place_weight, f"place {'、'.join(sorted(places & asked))}")]
        if national and not places:
            return [(self.place_weight, "national")]
        return [(-self.place_weight, "")] if places else []


def _scaled(search: Search, route: Route, ranking: Ranking) -> list[Hit]:
    if not ranking.hits:
        return []
    weight = route.weight * (search.settings.lexical_weight if route.lexical else 1.0)
    if route.unit == "present":
        return [(chunk_id, weight) for chunk_id, _ in ranking.hits]
    unit = {"spread": search.settings.spread, "best": ranking.hits[0][1], "own": 1.0}[route.unit]
    if unit <= 0:
        return []
    if route.margin:
        tenth = ranking.hits[9][1] if len(ranking.hits) > 9 else 0.0
        weight *= 1 + route.margin * (ranking.hits[0][1] - tenth) / ranking.hits[0][1]
    return [(chunk_id, weight * score / unit) for chunk_id, score in ranking.hits]


def _reasons(parts: Sequence[tuple[float, str]]) -> tuple[str, ...]:
    ordered = sorted((p for p in parts if p[1]), key=lambda part: (-part[0], part[1]))
    return tuple(dict.fromkeys(reason for _, reason in ordered))


Fuse = Reciprocal | Evidence
