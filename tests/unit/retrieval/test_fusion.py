import pytest

from kgrag.retrieval.fusion import ranked, reciprocal_rank_fusion


def test_reciprocal_rank_fusion_sums_weighted_reciprocal_ranks():
    """Exact values of SIGIR 2009 with k = 60."""
    fused = dict(reciprocal_rank_fusion([[("a", 3.0), ("b", 2.0)], [("b", 9.0)]], weights=[1, 2]))
    assert fused == {"a": 1 / 61, "b": 1 / 62 + 2 / 61}


def test_reciprocal_rank_fusion_ignores_the_size_of_scores():
    """Only ranks count."""
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
