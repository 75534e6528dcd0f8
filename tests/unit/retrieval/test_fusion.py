"""Reciprocal rank fusion, rankings, and shares of several documents."""

from dataclasses import dataclass, field

import pytest

from kgrag.question.question import analyse
from kgrag.retrieval.grim import Pipeline, merge_and_fill
from kgrag.retrieval.ranking import best_first, drop_nested, ranked, reciprocal_rank_fusion
from kgrag.retrieval.search import Ranking
from kgrag.retrieval.weighted_fusion import ReciprocalRankFusion, WeightedRetriever
from kgrag.types import Query
from tests.fixtures.double import Double


def test_reciprocal_rank_fusion_sums_weighted_reciprocal_ranks():
    """Exact values of SIGIR 2009 with k = 60."""
    fused = dict(reciprocal_rank_fusion([[("a", 3.0), ("b", 2.0)], [("b", 9.0)]], weights=[1, 2]))
    assert fused == {"a": 1 / 61, "b": 1 / 62 + 2 / 61}


def test_reciprocal_rank_fusion_ignores_the_size_of_scores():
    assert reciprocal_rank_fusion([[("a", 1e9), ("b", 0.0)]]) == reciprocal_rank_fusion(
        [[("a", 0.2), ("b", 0.1)]]
    )


@pytest.mark.parametrize(("k", "weights"), [(0, None), (60, [1.0])])
def test_reciprocal_rank_fusion_when_arguments_do_not_fit_is_refused(k, weights):
    """The constant k is at least 1, and each ranking has a weight."""
    with pytest.raises(ValueError, match=r"k must|shorter|longer|zip"):
        reciprocal_rank_fusion([[("a", 1.0)], [("b", 1.0)]], k=k, weights=weights)


def test_ranked_breaks_ties_by_id():
    """The order is total, so that results are the same on every run."""
    assert ranked({"b": 1.0, "c": 1.0, "a": 1.0}) == [("a", 1.0), ("b", 1.0), ("c", 1.0)]


@pytest.mark.parametrize("top_k", range(8))
def test_a_ranking_that_is_cut_is_the_head_of_the_whole(top_k):
    """Also where the cut goes through scores that are the same, or beyond the last."""
    scores = {"d": 1.0, "b": 2.0, "a": 1.0, "c": 1.0, "e": -3.0}
    assert ranked(scores, top_k=top_k) == ranked(scores)[:top_k]


def ids(results):
    return [r.chunk.chunk_id for r in results]


def test_best_first_breaks_ties_by_chunk_id(hit):
    """The order is total."""
    assert ids(best_first([hit("b:10:0", 1.0), hit("a:10:1", 1.0), hit("a:10:0", 2.0)])) == [
        "a:10:0",
        "a:10:1",
        "b:10:0",
    ]


def test_drop_nested_keeps_the_outer_chunk_with_the_better_score(hit):
    """What lies inside another result is dropped; its score and reason are not lost."""
    found = drop_nested(
        [hit("a:10:5", 3.0, "words"), hit("a:40:1", 1.0, "path"), hit("a:10:0", 2.0)]
    )
    assert [(r.chunk.chunk_id, r.score) for r in found] == [("a:40:1", 3.0), ("a:10:0", 2.0)]
    assert found[0].via == ("words", "path")


def test_drop_nested_does_not_mix_documents(hit):
    """The same offsets in another document are another place."""
    assert len(drop_nested([hit("a:10:5", 3.0), hit("b:40:1", 1.0)])) == 2


@dataclass
class Asked(Double):
    """A search whose query tells its route what to find."""

    store: object
    query: Query
    terms: dict[str, float] = field(default_factory=lambda: {"x": 1.0})

    def deepen(self, depth):
        """Find what is listed, however much that is."""

    def read_as(self, _):
        """No wording is read as another."""
        return ()


def listed(search):
    """Find the chunks that the question lists, best first."""
    hits = tuple((c, 1.0 / n) for n, c in enumerate(search.query.text.split(), 1))
    return Ranking(hits, {c: f"own reason of {c}" for c, _ in hits})


@pytest.fixture
def several(store):
    def ask(question, postprocessors=(), top_k=10):
        pipeline = Pipeline((WeightedRetriever(listed),), ReciprocalRankFusion(), postprocessors)
        return pipeline.retrieve(Asked(store, analyse(question)), top_k=top_k)

    return ask


def test_postprocessors_see_what_was_found(several):
    """Children merge into their parent."""
    found = several("a:10:0 a:10:1 a:10:2", postprocessors=(merge_and_fill,))
    assert [r.chunk.chunk_id for r in found] == ["a:40:0"]


def test_no_more_than_asked_for(several):
    """The best stay."""
    found = several("a:10:0 a:10:4 b:10:0", top_k=1)
    assert [r.chunk.chunk_id for r in found] == ["a:10:0"]
