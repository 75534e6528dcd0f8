"""Rerank the best candidates by a cross-encoder."""

import logging
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from kgrag.errors import ModelError
from kgrag.results import Reason, ScoredChunk
from kgrag.retrieval.coverage import as_read
from kgrag.retrieval.ranking import best_first
from kgrag.retrieval.search import Search

_log = logging.getLogger(__name__)


class CrossEncoder(Protocol):
    """Scores pairs of a question and a passage."""

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Return the relevance of each passage; higher is better.

        Raises:
            ModelError: If the model cannot be used.
        """
        ...


class ByCrossEncoder:
    """A reranker for one question: pairs are cached, and a model that failed is not called again.

    Retrieve and rerank: Nogueira and Cho, 2019, "Passage Re-ranking with BERT", arXiv 1901.04085,
    section 2.
    """

    def __init__(self, model: CrossEncoder, *, n_best: int) -> None:
        """Keep the model, which reranks the `n_best` candidates; the others stay behind them."""
        self._model = model
        self._n_best = n_best
        self._scores: dict[tuple[str, str], float] = {}
        self._has_failed = False

    def __call__(self, search: Search, candidates: Sequence[ScoredChunk]) -> list[ScoredChunk]:
        """Return candidates reranked; in the order given if the model fails, which is logged.

        The best exchange their scores, so that later steps meet scores of the fusion. The model's
        relevance becomes their first reason.
        """
        ordered = best_first(candidates)
        best, rest = ordered[: self._n_best], ordered[self._n_best :]
        question = search.query.text
        if self._has_failed or not best or not question.strip():
            return ordered
        passages = [as_read(search, candidate.chunk) for candidate in best]
        try:
            relevances = self._relevances(question, passages)
        except ModelError as exc:
            self._has_failed = True
            _log.warning("%s; results are in the order that they have without [rerank]", exc)
            return ordered
        # Of equal ones the better before goes first.
        pairs = sorted(zip(relevances, best, strict=True), key=lambda pair: -pair[0])
        scores = _falling([b.score for b in best], above=rest[0].score if rest else -math.inf)
        reranked = [
            replace(b, score=score, via=(Reason("reranked", score=f"{relevance:.2f}"), *b.via))
            for score, (relevance, b) in zip(scores, pairs, strict=True)
        ]
        return [*reranked, *rest]

    def _relevances(self, question: str, passages: Sequence[str]) -> list[float]:
        new = [p for p in dict.fromkeys(passages) if (question, p) not in self._scores]
        if new:
            for passage, score in zip(new, self._model.scores(question, new), strict=True):
                self._scores[question, passage] = score
        return [self._scores[question, passage] for passage in passages]


def _falling(scores: Sequence[float], *, above: float) -> list[float]:
    """Make scores that fall, but not strictly, strictly falling and greater than `above`.

    Chunks of equal score would be ordered by their ids.

    >>> _falling([3.0, 1.0, 1.0], above=1.0)
    [3.0, 1.0000000000000004, 1.0000000000000002]
    """
    raised: list[float] = []
    for score in reversed(scores):
        above = max(score, math.nextafter(above, math.inf))
        raised.append(above)
    return raised[::-1]
