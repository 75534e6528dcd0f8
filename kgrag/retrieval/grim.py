"""Retrieval pipelines: retrievers, fusion, postprocessors; presets are tuples of them."""

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from kgrag.question.question import Side, question_of
from kgrag.results import ScoredChunk
from kgrag.retrieval.coverage import by_coverage
from kgrag.retrieval.dense import begin_similar_chunks, similar_chunks
from kgrag.retrieval.fact_vectors import (
    begin_chunks_of_similar_facts,
    chunks_of_figures,
    chunks_of_similar_facts,
)
from kgrag.retrieval.graph import chunks_of_facts, cited_documents
from kgrag.retrieval.lexical import (
    titles_in_coarse_text,
    titles_in_text,
    words_in_coarse_path,
    words_in_coarse_text,
    words_in_path,
    words_in_path_above_cut,
    words_in_text,
)
from kgrag.retrieval.merge import Families, fill, merge
from kgrag.retrieval.qcg import ChunkGraph
from kgrag.retrieval.ranking import best_first, drop_nested, in_turn
from kgrag.retrieval.search import Ranking, Search
from kgrag.retrieval.sections import asked_parts, chunks_of_asked_sections, without
from kgrag.retrieval.summaries import chunks_and_summaries, summarised_chunks
from kgrag.retrieval.weighted_fusion import (
    Fusion,
    ReciprocalRankFusion,
    RetrieverRanking,
    WeightedFusion,
    WeightedRetriever,
)
from kgrag.store.store import SearchedStore
from kgrag.text.places import with_places_inside

Reranker = Callable[[Search, Sequence[ScoredChunk]], list[ScoredChunk]]
Postprocessor = Callable[[Sequence[ScoredChunk], SearchedStore], list[ScoredChunk]]
_RERANKED = 100  # best candidates that rerankers order
_POOL = 2  # candidates that go into postprocessors, for each result asked for
_FOUND = 4  # best candidates that count as found when children are merged
_COVERAGE = 0.9  # of a parent's characters, by the children that give way to it


@dataclass(frozen=True, slots=True)
class Pipeline:
    """A retrieval pipeline; an ablation is another tuple.

    Attributes:
        routes: Retrievers, run concurrently if the store allows it.
        fuse: Combines their rankings.
        postprocessors: Applied in order to the best candidates.
        planned: Whether questions are decomposed: a comparison into its sides
            (`kgrag.question.question`); one for all documents that cite a title uses the graph.
        parts: Whether headings that a question asks to list come first
            (`kgrag.retrieval.sections`).
        official: Whether colloquial terms are expanded by official ones
            (`kgrag.text.official_terms`).
        rerankers: Applied in order to the best fused candidates, with the question.
    """

    routes: tuple[WeightedRetriever, ...]
    fuse: Fusion
    postprocessors: tuple[Postprocessor, ...] = ()
    planned: bool = False
    parts: bool = False
    official: bool = False
    rerankers: tuple[Reranker, ...] = ()

    def retrieve(self, search: Search, *, top_k: int) -> list[ScoredChunk]:
        """Return at most `top_k` chunks, best first, without duplicates or nested chunks.

        Results of the sides of a comparison, and of documents that a quoted one cites, which would
        fill the context, are interleaved; scores are then reciprocals of ranks. The documents of
        all sides are searched at once: a side has the results from its own.

        Args:
            search: For the question.
            top_k: Maximum number of results.

        Raises:
            ValueError: If top_k < 1.
        """
        sides = question_of(search.query).sides if self.planned else ()
        if not sides:
            results = self._conclude(search, self.candidates(search, top_k=top_k), top_k=top_k)
            return self._beside_cited(search, results)[:top_k]
        own = {side.label: _documents_of(search, side, sides) for side in sides}
        search = search.within(frozenset().union(*own.values()))
        candidates = self.candidates(search, top_k=top_k * len(sides))
        found = {
            label: self._conclude(
                search, [c for c in candidates if c.chunk.doc_id in doc_ids], top_k=top_k
            )
            for label, doc_ids in own.items()
        }
        return drop_nested(in_turn(found))[:top_k]

    def _beside_cited(self, search: Search, results: list[ScoredChunk]) -> list[ScoredChunk]:
        """Interleave results with those of documents that a quoted one cites, if asked for."""
        if not (self.planned and search.titled and question_of(search.query).asks_on):
            return results
        heads = _heads(cited_documents(search), search.store)
        return drop_nested(in_turn({"the document": results, "cited": heads})) if heads else results

    def _conclude(
        self, search: Search, candidates: Sequence[ScoredChunk], *, top_k: int
    ) -> list[ScoredChunk]:
        """Return final results, with the headings that the question asks to list first."""
        results = self.finish(candidates, search.store, top_k=top_k)
        if not self.parts:
            return results
        leaf = search.settings.leaf
        parts = asked_parts(search.query, candidates, search.store, leaf=leaf)
        return [*parts, *without(results, parts)][:top_k] if parts else results

    def candidates(self, search: Search, *, top_k: int) -> list[ScoredChunk]:
        """Return the fused candidates, best first: at most twice `top_k` chunks.

        Raises:
            ValueError: If top_k < 1.
        """
        if top_k < 1:
            raise ValueError(f"top_k must be at least 1, got {top_k}")
        if not search.terms and not search.query.titles:
            return []
        search = search.with_official_terms() if self.official else search
        search.deepen(top_k * _POOL)
        found = self._asked_by(search)._found(search)
        most = top_k * _POOL
        fused = self.fuse(search, found, top_k=max(most, _RERANKED) if self.rerankers else most)
        by_id = {c.chunk_id: c for c in search.store.chunks([f.chunk_id for f in fused])}
        results = [ScoredChunk(by_id[f.chunk_id], f.score) for f in fused if f.chunk_id in by_id]
        for rerank in self.rerankers:
            results = rerank(search, results)
        found_by = {f.chunk_id: f for f in fused}
        return [
            replace(r, via=(*r.via, *found_by[c.chunk_id].via, *search.read_as(c.text)))
            for r in results[:most]
            for c in [r.chunk]
        ]

    def _asked_by(self, search: Search) -> "Pipeline":
        """Use the retrievers that rely on the encoder alone if few words were translated."""
        by_encoder = tuple(route for route in self.routes if route.begin)
        is_half_read = search.query.unread and not search.query.keywords
        return replace(self, routes=by_encoder) if is_half_read and by_encoder else self

    def _found(self, search: Search) -> list[RetrieverRanking]:
        """Run the retrievers; those with a `begin` step come last."""
        begun = [route.begin for route in self.routes if route.begin]
        if len(begun) < len(self.routes):
            for begin in begun:
                begin(search)
        ordered = sorted(self.routes, key=lambda route: route.begin is not None)
        found = search.store.side_by_side([partial(route.retrieve, search) for route in ordered])
        rankings = dict(zip(ordered, found, strict=True))
        return [(route, rankings[route]) for route in self.routes]

    def finish(
        self, candidates: Sequence[ScoredChunk], store: SearchedStore, *, top_k: int
    ) -> list[ScoredChunk]:
        """Return at most `top_k` of the candidates, best first, after every postprocessor."""
        results = list(candidates)
        for postprocess in self.postprocessors:
            results = postprocess(results, store)
        return drop_nested(results)[:top_k]


def _documents_of(search: Search, side: Side, sides: Sequence[Side]) -> frozenset[str]:
    """Return the documents of a side: those that it names, or about its place or ones inside.

    Those about no place are of every side, unless the national level is one itself; for a title
    that no document has, all are.
    """
    if titled := search.asked(side.query).titled:
        return frozenset(titled)
    ids = frozenset(card.doc_id for card in search.settings.cards)
    if side.query.titles:
        return ids
    about = side.query.places | with_places_inside(side.query.places)
    is_national = side.query.national or not any(one.query.national for one in sides)
    places = search.settings.places
    return frozenset(d for d in ids if (places[d] & about if d in places else is_national))


def _heads(ranking: Ranking, store: SearchedStore) -> list[ScoredChunk]:
    scores = dict(ranking.hits)
    return [
        ScoredChunk(c, scores[c.chunk_id], (ranking.reasons[c.chunk_id],))
        for c in store.chunks(list(scores))
    ]


def merge_and_fill(
    results: Sequence[ScoredChunk],
    store: SearchedStore,
    *,
    coverage: float = 0.0,
    among: Container[str] | None = None,
) -> list[ScoredChunk]:
    """Repeat merge and fill until nothing changes.

    GRIM, section 3.2.1: both are repeated to a fixed point. It terminates: no step drops covered
    text, and each change covers more text or uses fewer chunks. `coverage` is passed to
    `kgrag.retrieval.merge.merge`, `among` to `kgrag.retrieval.merge.fill`.
    """
    current = drop_nested(results)
    families = Families(store)
    while True:
        following = drop_nested(
            fill(merge(current, families, coverage=coverage), store, among=among)
        )
        if {r.chunk.chunk_id for r in following} == {r.chunk.chunk_id for r in current}:
            return following
        current = following


def merge_and_fill_best(results: Sequence[ScoredChunk], store: SearchedStore) -> list[ScoredChunk]:
    """Merge and fill the best results; leave the others unchanged.

    A long ranking contains most chunks of a relevant document: were all counted as found,
    everything would merge, and the relevant clause would be lost in its parent. Hence a parent must
    mostly consist of results, and only candidates fill gaps.
    """
    ordered = best_first(results)
    among = {r.chunk.chunk_id for r in ordered}
    merged = merge_and_fill(ordered[:_FOUND], store, coverage=_COVERAGE, among=among)
    return [*merged, *ordered[_FOUND:]]


# How the weights were chosen, and what they are worth: benchmarks/decisions.md.
_WORDS = WeightedRetriever(words_in_text, weight=0.8, unit="best", margin=10.0, weak_factor=2.0)
_PATH = WeightedRetriever(words_in_path, weight=0.5, unit="best", weak_factor=4.0)
_TITLES = WeightedRetriever(titles_in_text, weight=20.0, unit="present")
_DENSE = WeightedRetriever(
    similar_chunks, weight=1.75, unit="z-score", weak_factor=0.1, begin=begin_similar_chunks
)
_SUMMARIES = WeightedRetriever(summarised_chunks, weight=1.0, unit="best")
_FACTS = WeightedRetriever(chunks_of_facts, weight=4.0, unit="own")
_SIMILAR_FACTS = WeightedRetriever(
    chunks_of_similar_facts,
    weight=0.5,
    unit="best",
    weak_factor=0.1,
    begin=begin_chunks_of_similar_facts,
)
_FIGURES = WeightedRetriever(
    chunks_of_figures,
    weight=0.6,
    unit="own",
    weak_factor=0.1,
    begin=begin_chunks_of_similar_facts,
)
_SECTIONS = WeightedRetriever(chunks_of_asked_sections, weight=4.0, unit="own")
_CITED = WeightedRetriever(cited_documents, weight=24.0, unit="present")
_LEXICAL_ONLY = (
    WeightedRetriever(words_in_coarse_text),
    WeightedRetriever(words_in_coarse_path),
    WeightedRetriever(titles_in_coarse_text, weight=100.0, unit="present"),
)

# Without the graph, words must weigh more. Fused by reciprocal ranks, a chunk that words find far
# ahead of all others would be one first rank among four.
_HYBRID = (
    WeightedRetriever(words_in_text, weight=1.0, unit="best", margin=15.0, weak_factor=2.0),
    WeightedRetriever(words_in_path_above_cut, weight=1.25, unit="best", weak_factor=1.6),
    _TITLES,
    WeightedRetriever(
        similar_chunks, weight=2.0, unit="z-score", weak_factor=0.1, begin=begin_similar_chunks
    ),
)

_ALL = (
    *(_WORDS, _PATH, _TITLES, _DENSE, _SUMMARIES),
    *(_FACTS, _SIMILAR_FACTS, _FIGURES, _SECTIONS, _CITED),
)

_GRIM = Pipeline(
    _ALL,
    WeightedFusion(),
    (merge_and_fill_best,),
    planned=True,
    parts=True,
    official=True,
    rerankers=(by_coverage,),
)

# Its candidates are the nearest chunks (QCG-Rerank, eq. 1).
_QCG = Pipeline((_DENSE,), ReciprocalRankFusion(), rerankers=(ChunkGraph(),))

PRESETS: Mapping[str, Pipeline] = MappingProxyType(
    {
        "grim": _GRIM,
        "grim-no-coverage": replace(_GRIM, rerankers=()),
        "grim-no-merge": replace(_GRIM, postprocessors=()),
        "grim-no-summary": replace(_GRIM, routes=tuple(r for r in _ALL if r is not _SUMMARIES)),
        "grim-no-figures": replace(_GRIM, routes=tuple(r for r in _ALL if r is not _FIGURES)),
        "grim-no-sections": replace(_GRIM, routes=tuple(r for r in _ALL if r is not _SECTIONS)),
        "grim-no-official-terms": replace(_GRIM, official=False),
        "grim-no-plan": replace(_GRIM, planned=False),
        "grim-no-parts": replace(_GRIM, parts=False),
        "bm25": Pipeline(_LEXICAL_ONLY, WeightedFusion(title_weight=100.0, place_weight=0.0)),
        "vector": Pipeline((_DENSE,), ReciprocalRankFusion()),
        "qcg": _QCG,
        "qcg-no-graph": replace(_QCG, rerankers=()),  # Table 4, Wo-CG
        "qcg-no-critical": replace(_QCG, rerankers=(ChunkGraph(critical=""),)),  # Wo-CR
        "hybrid": Pipeline(_HYBRID, WeightedFusion()),
        "recursive": Pipeline(
            (WeightedRetriever(chunks_and_summaries),),
            WeightedFusion(title_weight=0.0, place_weight=0.0),
        ),
        "kg-vector": Pipeline(
            (_DENSE, _FACTS, _SIMILAR_FACTS),
            WeightedFusion(title_weight=0.0, place_weight=0.0),
        ),
    }
)
