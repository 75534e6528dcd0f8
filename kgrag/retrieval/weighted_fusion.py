"""Fuse retrievers by sums of scores in comparable units."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from kgrag.ids import document_of
from kgrag.results import Reason
from kgrag.retrieval.ranking import ranked, reciprocal_rank_fusion
from kgrag.retrieval.search import Ranking, Reasons, Search, by_vector
from kgrag.vectors.vector import Hit

Unit = Literal["z-score", "best", "present", "own"]

_ROUNDING = 1e-9
_LONGEST_LEAD = 0.8  # of a route's best over its tenth; one that finds fewer than ten leads by all


class Retriever(Protocol):
    """Retrieves chunks for a question."""

    __name__: str

    def __call__(self, search: Search) -> Ranking:
        """Return the hits, best first."""
        ...


@dataclass(frozen=True, slots=True)
class WeightedRetriever:
    """A retriever with its weight in the fusion.

    Attributes:
        retrieve: The retriever.
        weight: Factor on its scores.
        unit: Divisor of a score: `z-score`, the standard deviation of cosines between unrelated
            texts, and every chunk that any retriever found gets its cosine; `best`, the
            retriever's best score; `present`, the score itself, so that every hit counts 1;
            `own`, 1.
        weak_factor: Factor on the weight if the encoder is weak.
        margin: Weight of the retriever's confidence: the weight is multiplied by
            1 + margin · lead³, where lead = (best - tenth) / best, at most 0.8. A rare term or
            an exact phrase lifts few chunks far above the rest, a common word none. Cubed, as
            leads below a half are common in documents of one field and mean little.
        begin: Starts asynchronous work before the other retrievers run.
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
    """A chunk's total score.

    Attributes:
        chunk_id: The chunk.
        score: The sum of its parts, or its fused ranks.
        said: Reasons and scores of each retriever; a reason may be empty.
    """

    chunk_id: str
    score: float
    said: Sequence[ReasonsAndScores] = field(repr=False, compare=False)

    @property
    def parts(self) -> tuple[Hit, ...]:
        """Return (reason, score) of each retriever that found it."""
        c = self.chunk_id
        return tuple((reasons.get(c, ""), s[c]) for reasons, s in self.said if c in s)

    @property
    def via(self) -> tuple[str, ...]:
        """Return the reasons by falling score."""
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
        """Return at most `top_k` chunks, best first."""
        fused = reciprocal_rank_fusion(
            [ranking.hits for _, ranking in routes],
            weights=[route.weight for route, _ in routes],
            k=self.k,
        )
        said = [(r.reasons, dict.fromkeys(r.reasons, 0.0)) for _, r in routes]
        return [Fused(c, score, said) for c, score in fused[:top_k]]


@dataclass(frozen=True, slots=True)
class WeightedFusion:
    """Fusion by weighted evidence: the question decides which retriever counts most.

    A quoted title that a document has, or a text contains, decides; a place in the question
    favours documents about it; similarity and words order the rest.

    Attributes:
        title_weight: Added to chunks of a document whose title is quoted; above any other sum.
        place_weight: Added to chunks of documents about a place in the question; subtracted from
            those about other places only, except cities of a province in the question.
    """

    title_weight: float = 20.0
    place_weight: float = 1.0

    def __call__(
        self, search: Search, routes: Sequence[RetrieverRanking], *, top_k: int
    ) -> list[Fused]:
        """Return at most `top_k` chunks, best first, ties by chunk id."""
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
        return [Fused(c, total, said) for c, total in ranked(totals, top_k=top_k)]

    def _about_documents(self, search: Search, chunk_ids: Iterable[str]) -> ReasonsAndScores:
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
            return Reason("title", what=f"《{search.titled[doc_id]}》"), self.title_weight
        asked, national = search.query.places, search.query.national
        if search.query.titles or not (asked or national):
            return None
        places = search.settings.places.get(doc_id, frozenset())
        if places & asked:
            return Reason("place", what="、".join(sorted(places & asked))), self.place_weight
        if places & search.cities:
            return None
        if national and not places:
            return Reason("national"), self.place_weight
        return ("", -self.place_weight) if places else None


def _add(totals: dict[str, float], scores: Mapping[str, float]) -> None:
    for chunk_id, score in scores.items():
        totals[chunk_id] = totals.get(chunk_id, 0.0) + score


def _weight(search: Search, route: WeightedRetriever) -> float:
    return route.weight * (route.weak_factor if search.settings.weak_encoder else 1.0)


def _of_a_cosine(search: Search, route: WeightedRetriever) -> float:
    return _weight(search, route) / search.settings.cosine_std


def _scaled(search: Search, route: WeightedRetriever, ranking: Ranking) -> dict[str, float]:
    """Return the weighted score of each hit."""
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
    """Return the similarity of chunks found by other retrievers only.

    Chunks that cannot reach the best `top_k` with any similarity below the retriever's cut-off are
    skipped (the threshold of Fagin, Lotem and Naor, 2003, "Optimal aggregation algorithms for
    middleware", section 4).
    """
    known, factor = dict(ranking.hits), _of_a_cosine(search, route)
    best = sorted((totals[c] for c in known), reverse=True)[:top_k]
    least = best[-1] if len(best) == top_k else -math.inf
    # Where it could only take away, what is above the least must still be looked up.
    enough = least - factor * max(ranking.unseen_score_bound, 0.0) - _ROUNDING
    wanted = sorted(c for c, total in totals.items() if c not in known and total >= enough)
    cosines = search.store.similarities(search.vector, wanted)
    return Reasons(cosines, by_vector), {c: factor * cosine for c, cosine in cosines.items()}


Fusion = ReciprocalRankFusion | WeightedFusion
