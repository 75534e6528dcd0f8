"""Add up what the routes say of each chunk, each in units that compare."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from kgrag.ids import document_of
from kgrag.retrieval.fusion import ranked, reciprocal_rank_fusion
from kgrag.retrieval.leaves import leaf_similarities
from kgrag.retrieval.search import Ranking, Reasons, Search
from kgrag.vectors.vector import Hit

Unit = Literal["z-score", "best", "present", "own"]

_ROUNDING = 1e-9
_LONGEST_LEAD = 0.8  # of a route's best over its tenth; one that finds fewer than ten leads by all


class Retriever(Protocol):
    """A route from a question to chunks."""

    __name__: str

    def __call__(self, search: Search) -> Ranking:
        """Return what the route finds, best first."""
        ...


@dataclass(frozen=True, slots=True)
class WeightedRetriever:
    """A retriever and how much its scores count.

    Attributes:
        retrieve: The retriever.
        weight: Factor on its scores.
        unit: What a score is divided by: `z-score`, the standard deviation of cosines between
            unrelated texts, and every chunk that any route found gets its cosine; `best`,
            the route's best score; `present`, the score itself, so that every hit counts the
            same; `own`, nothing.
        weak_factor: On the weight where the encoder is weak: words then count more.
        margin: How much more the route counts the surer it is: the weight is multiplied by
            1 + margin · lead³, where lead = (best - tenth) / best, at most 0.8. A rare term or
            an exact phrase lifts few chunks far above the rest; words that are everywhere lift
            none. Cubed, so that a lead below a half, which is common in documents of one
            field, says little.
        begin: Begins what takes long and can be done while other routes are asked.
    """

    retrieve: Retriever
    weight: float = 1.0
    unit: Unit = "own"
    weak_factor: float = 1.0
    margin: float = 0.0
    begin: Callable[[Search], None] | None = None


RetrieverRanking = tuple[WeightedRetriever, Ranking]
ReasonsAndScores = tuple[Mapping[str, str], Mapping[str, float]]  # reason and score by chunk


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
class ReciprocalRankFusion:
    """Fusion by ranks alone.

    Attributes:
        k: Constant of reciprocal rank fusion. 60 suits the fusion of many rankings of 1,000
            (Cormack et al., SIGIR 2009); with two or three of 100, first ranks must count more.
    """

    k: int = 10

    def __call__(
        self, search: Search, routes: Sequence[RetrieverRanking], *, top_k: int
    ) -> list[Fused]:
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
class WeightedFusion:
    """Fusion by weighted evidence: which route to trust follows from the question.

    A quoted title that a document bears, or a text holds, decides; a place that the question
    names favours documents about it; similarity and words order what is left.

    Attributes:
        title_weight: For chunks of a document whose title is quoted; above any other sum.
        place_weight: For chunks of documents about a place that the question names; taken
            from those about other places only. A city of a province that is named is neither.
    """

    title_weight: float = 20.0
    place_weight: float = 1.0

    def __call__(
        self, search: Search, routes: Sequence[RetrieverRanking], *, top_k: int
    ) -> list[Fused]:
        """Return at most `top_k` of the chunks found, best first, ties by chunk id."""
        said: list[ReasonsAndScores] = [
            (r.reasons, _scaled(search, route, r)) for route, r in routes
        ]
        totals: dict[str, float] = {}
        for _, scores in said:
            _add(totals, scores)
        said.append(self._about_documents(search, totals))
        _add(totals, said[-1][1])
        for route, ranking in routes:
            if route.unit == "z-score":
                said.append(_other_similarities(search, route, ranking, totals, top_k=top_k))
                _add(totals, said[-1][1])
        return [
            Fused(c, total, tuple((reasons.get(c, ""), s[c]) for reasons, s in said if c in s))
            for c, total in ranked(totals, top_k=top_k)
        ]

    def _about_documents(self, search: Search, chunk_ids: Iterable[str]) -> ReasonsAndScores:
        """Return what each chunk's document adds to it."""
        asks_for_places = not search.query.titles and (search.query.places or search.query.national)
        if not (search.titled or asks_for_places):
            return {}, {}
        about: dict[str, Hit | None] = {}
        reasons, scores = {}, {}
        for chunk_id in chunk_ids:
            doc_id = document_of(chunk_id)
            if doc_id not in about:
                about[doc_id] = self._about_document(search, doc_id)
            part = about[doc_id]
            if part:
                reasons[chunk_id], scores[chunk_id] = part
        return reasons, scores

    def _about_document(self, search: Search, doc_id: str) -> Hit | None:
        if doc_id in search.titled:
            return f"title 《{search.titled[doc_id]}》", self.title_weight
        asked, national = search.query.places, search.query.national
        if search.query.titles or not (asked or national):
            return None
        places = search.settings.places.get(doc_id, frozenset())
        if places & asked:
            return f"place {'、'.join(sorted(places & asked))}", self.place_weight
        if places & search.cities:
            return None
        if national and not places:
            return "national", self.place_weight
        return ("", -self.place_weight) if places else None


def _add(totals: dict[str, float], scores: Mapping[str, float]) -> None:
    for chunk_id, score in scores.items():
        totals[chunk_id] = totals.get(chunk_id, 0.0) + score


def _weight(search: Search, route: WeightedRetriever) -> float:
    """Return how much a route counts for this question."""
    return route.weight * (route.weak_factor if search.settings.weak_encoder else 1.0)


def _of_a_cosine(search: Search, route: WeightedRetriever) -> float:
    """Return how much a cosine of 1 counts for this question."""
    return _weight(search, route) / search.settings.cosine_std


def _scaled(search: Search, route: WeightedRetriever, ranking: Ranking) -> dict[str, float]:
    """Return how much each hit of a route counts."""
    if not ranking.hits:
        return {}
    best = ranking.hits[0][1]
    factor = _weight(search, route)
    match route.unit:
        case "present":
            return dict.fromkeys(dict(ranking.hits), factor)
        case "z-score":
            factor = _of_a_cosine(search, route)
        case "best" if best <= 0:
            return {}
        case "best":
            factor /= best
    if route.margin:
        tenth = ranking.hits[9][1] if len(ranking.hits) > 9 else 0.0
        factor *= 1 + route.margin * min((best - tenth) / best, _LONGEST_LEAD) ** 3
    return {chunk_id: factor * score for chunk_id, score in ranking.hits}


def _other_similarities(
    search: Search,
    route: WeightedRetriever,
    ranking: Ranking,
    totals: Mapping[str, float],
    *,
    top_k: int,
) -> ReasonsAndScores:
    """Return the similarity of what only other routes found.

    What could not come among the best `top_k` with any similarity that the route left out is
    not looked up (the threshold of Fagin, Lotem and Naor, 2003, "Optimal aggregation algorithms
    for middleware", section 4).
    """
    known, factor = dict(ranking.hits), _of_a_cosine(search, route)
    best = sorted((totals[c] for c in known), reverse=True)[:top_k]
    least = best[-1] if len(best) == top_k else -math.inf
    # Where it could only take away, what is above the least must still be looked up.
    enough = least - factor * max(ranking.unseen_score_bound, 0.0) - _ROUNDING
    wanted = sorted(c for c, total in totals.items() if c not in known and total >= enough)
    cosines = leaf_similarities(search, wanted)
    return Reasons(cosines, "vector {:.2f}".format), {
        c: factor * cosine for c, cosine in cosines.items()
    }


Fusion = ReciprocalRankFusion | WeightedFusion
