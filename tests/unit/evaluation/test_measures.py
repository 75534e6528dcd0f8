"""Measures agree with numbers worked out by hand."""

import math

import pytest

from kgrag.evaluation import measures

DOCS = ["x", "a", "y", "b", "z"]
GOLD = {"a", "b", "c"}


@pytest.mark.parametrize(
    ("k", "precision", "recall", "f1", "hit", "everything"),
    [
        (1, 0, 0, 0, 0, 0),
        (2, 1 / 2, 1 / 3, 2 / 5, 1, 0),
        (4, 2 / 4, 2 / 3, 4 / 7, 1, 0),
        (10, 2 / 10, 2 / 3, 4 / 13, 1, 0),
    ],
)
def test_measures_at_k_when_two_of_three_gold_documents_are_found(
    k, precision, recall, f1, hit, everything
):
    """Precision divides by k, recall by the gold, F1 is their harmonic mean."""
    assert measures.precision_at(DOCS, GOLD, k) == precision
    assert measures.recall_at(DOCS, GOLD, k) == recall
    assert measures.f1_at(DOCS, GOLD, k) == pytest.approx(f1)
    assert measures.hit_at(DOCS, GOLD, k) == hit
    assert measures.all_at(DOCS, GOLD, k) == everything


def test_all_at_is_one_when_every_gold_document_is_within_k():
    """all@k asks for every gold document, and k bounds it."""
    assert measures.all_at(DOCS, {"a", "b"}, 4) == 1
    assert measures.all_at(DOCS, {"a", "b"}, 3) == 0


def test_reciprocal_rank_is_of_the_first_gold_document():
    """The second place gives one half, unless k leaves it out; no gold found gives zero."""
    assert measures.reciprocal_rank_at(DOCS, GOLD, 10) == 1 / 2
    assert measures.reciprocal_rank_at(DOCS, GOLD, 1) == 0
    assert measures.reciprocal_rank_at(DOCS, {"c"}, 10) == 0


@pytest.mark.parametrize(
    ("k", "expected"), [(1, (0, 0, 0)), (2, (0, 0, 1)), (4, (1, 0, 0)), (10, (1, 0, 0))]
)
def test_pair_at_tells_which_of_two_documents_are_found(k, expected):
    """The target stands second, the source fourth."""
    assert measures.pair_at(DOCS, "b", "a", k) == expected
    assert measures.pair_at(DOCS, "a", "b", k) == (expected[0], expected[2], expected[1])


def test_ndcg_divides_by_the_ideal_order_cut_at_k():
    """Gold at ranks 2 and 4 of 4, three gold documents: the ideal has them at 1, 2 and 3."""
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)

    assert measures.ndcg_at(DOCS, GOLD, 4) == gain / ideal
    assert measures.ndcg_at(DOCS, GOLD, 2) == (1 / math.log2(3)) / (1 + 1 / math.log2(3))
    assert measures.ndcg_at(["a", "b", "c"], GOLD, 10) == 1


def test_document_measures_are_zero_without_results_or_gold():
    """Nothing found, or nothing to find, scores 0 and never divides by zero."""
    for docs, gold in (([], GOLD), (DOCS, set())):
        for at in (
            measures.precision_at,
            measures.recall_at,
            measures.f1_at,
            measures.hit_at,
            measures.all_at,
            measures.ndcg_at,
            measures.reciprocal_rank_at,
        ):
            assert at(docs, gold, 5) == 0


def test_coverage_counts_a_result_up_to_the_budget():
    """10 characters of the first and 5 of the second fit into 15; 5 + 5 of them are gold."""
    passages = [("d", 0, 10), ("d", 20, 40), ("d", 40, 50)]
    held = measures.coverage(passages, {"d": [(5, 30)]}, 15)

    assert held == measures.Coverage(hit=10, gold=25, used=15)
    assert (held.span_recall, held.span_precision) == (10 / 25, 10 / 15)


def test_coverage_pays_twice_for_text_returned_twice_and_credits_it_once():
    """Overlapping results use up the budget, but a gold character counts once."""
    held = measures.coverage([("d", 0, 10), ("d", 5, 15)], {"d": [(0, 20)]}, 100)

    assert held == measures.Coverage(hit=15, gold=20, used=20)


def test_coverage_is_not_shortened_by_a_result_inside_another():
    """A child returned after its parent takes nothing away."""
    held = measures.coverage([("d", 0, 10), ("d", 2, 5)], {"d": [(0, 20)]}, 100)

    assert held == measures.Coverage(hit=10, gold=20, used=13)


def test_coverage_joins_spans_of_several_documents():
    """Gold lies in two documents; a third one's characters only cost."""
    gold = {"d": [(0, 10), (50, 60)], "e": [(0, 5)]}
    held = measures.coverage([("e", 0, 4), ("f", 0, 6), ("d", 8, 52)], gold, 1000)

    assert held == measures.Coverage(hit=4 + 2 + 2, gold=25, used=4 + 6 + 44)


def test_coverage_is_zero_without_results_or_gold():
    """No results and no gold give 0, not an error."""
    assert measures.coverage([], {"d": [(0, 5)]}, 10) == measures.Coverage(0, 5, 0)
    assert measures.coverage([], {"d": [(0, 5)]}, 10).span_precision == 0
    assert measures.coverage([("d", 0, 5)], {}, 10).span_recall == 0


def test_span_reciprocal_rank_needs_a_shared_character():
    """Spans that only touch share nothing; the same offsets in another document do not count."""
    gold = {"d": [(10, 20)]}

    assert (
        measures.span_reciprocal_rank([("d", 0, 10), ("e", 10, 20), ("d", 19, 30)], gold) == 1 / 3
    )
    assert measures.span_reciprocal_rank([("d", 20, 30)], gold) == 0
