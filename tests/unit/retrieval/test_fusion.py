"""Reciprocal rank fusion, rankings, and shares of several documents."""

from dataclasses import dataclass, field, replace

import pytest

from kgrag.question.question import analyse
from kgrag.retrieval.grim import Pipeline, merge_and_fill
from kgrag.retrieval.ranking import best_first, drop_nested, ranked, reciprocal_rank_fusion
from kgrag.retrieval.search import Ranking
from kgrag.retrieval.weighted_fusion import ReciprocalRankFusion, WeightedRetriever
from kgrag.types import Query, SubQuestion
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
    def ask(*questions, postprocessors=(), top_k=10):
        pipeline = Pipeline((WeightedRetriever(listed),), ReciprocalRankFusion(), postprocessors)
        searches = [Asked(store, analyse(q)) for q in questions]
        return pipeline.retrieve(*searches, top_k=top_k)

    return ask


def test_rankings_fuse_by_reciprocal_ranks_with_the_questions_own_first(several):
    """By hand: 1/61 own; all further wordings together weigh 0.7."""
    found = several("a:10:0 a:10:4", "a:10:4 b:10:0", "a:10:4 b:10:8")
    assert [(r.chunk.chunk_id, round(r.score, 6)) for r in found] == [
        ("a:10:4", round(1 / 62 + 0.7 / 61, 6)),
        ("a:10:0", round(1 / 61, 6)),
        ("b:10:0", round(0.35 / 62, 6)),
        ("b:10:8", round(0.35 / 62, 6)),
    ]


def test_wordings_that_agree_on_something_else_do_not_outvote_the_question(several):
    """However many they are: what it puts first stays first."""
    found = several("a:10:0", *["b:10:0"] * 5)
    assert found[0].chunk.chunk_id == "a:10:0"


def test_reasons_name_the_wordings_that_found_a_chunk(several):
    found = several("a:10:0", "a:10:0 b:10:0")
    assert [r.via for r in found] == [
        ("own reason of a:10:0", "also found by 《a:10:0 b:10:0》"),
        ("own reason of b:10:0", "also found by 《a:10:0 b:10:0》"),
    ]


def test_postprocessors_see_what_all_wordings_found(several):
    """Children found by different wordings merge into their parent."""
    found = several("a:10:0 a:10:1", "a:10:2", postprocessors=(merge_and_fill,))
    assert [r.chunk.chunk_id for r in found] == ["a:40:0"]


def test_no_more_than_asked_for(several):
    """The best stay."""
    found = several("a:10:0 a:10:4", "b:10:0", top_k=1)
    assert [r.chunk.chunk_id for r in found] == ["a:10:0"]


@dataclass
class Sided(Asked):
    """A search that may be asked for another question."""

    def asked(self, query):
        """Ask the same store."""
        return Sided(self.store, query)


SUBS = (SubQuestion("目标", place="福建"), SubQuestion("目标", place="河南"))


def test_what_a_model_took_apart_is_asked_beside_the_whole_question(store):
    """The whole in every wording, each part by itself; a model may be wrong about the parts."""
    own = replace(analyse("a:10:0 b:10:4"), sub_questions=SUBS)
    pipeline = Pipeline((WeightedRetriever(parts),), ReciprocalRankFusion(), planned=True)
    searches = [Sided(store, own), Sided(store, analyse("b:10:8"))]
    found = pipeline.retrieve(*searches, top_k=10)
    assert [(r.chunk.chunk_id, r.via[0]) for r in found] == [
        ("a:10:0", "asked for the whole question"),
        ("a:10:8", "asked for 福建"),
        ("b:10:0", "asked for 河南"),
        ("b:10:4", "asked for the whole question"),
        ("b:10:8", "asked for the whole question"),
    ]
    (whole,) = [r for r in found if r.chunk.chunk_id == "b:10:8"]
    assert "also found by 《b:10:8》" in whole.via


def parts(search):
    """Find what is listed, and what is said of a place alone."""
    said = {"福建目标": "a:10:8", "河南目标": "b:10:0"}.get(search.query.text)
    return Ranking(((said, 1.0),), {said: "alone"}) if said else listed(search)
