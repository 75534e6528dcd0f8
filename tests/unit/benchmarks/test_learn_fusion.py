"""Pairs of candidates, rankings by weights and what is learnt from them."""

import numpy as np
import pytest

from benchmarks import learn_fusion
from benchmarks.learn_fusion import BY_HAND, COVERAGE, NAMES, Asked
from kgrag.evaluation.queries import GoldQuery
from kgrag.evaluation.runs import RunResult


def scores(**named):
    return [named.get(name, 0.0) for name in NAMES]


def result(doc, start, end):
    return RunResult(doc, f"{doc}:{start}", f"{doc}.txt", start, end)


def test_pairs_are_gold_less_other_where_nothing_decides():
    """A candidate with a quoted title makes no pair with one without."""
    features = np.array(
        [
            scores(words_in_text=3.0, coverage=0.5),
            scores(words_in_text=1.0, coverage=0.75),
            scores(words_in_text=9.0, title=1.0),
        ]
    )
    assert learn_fusion.pairs(features, [True, False, False]).tolist() == [
        scores(words_in_text=2.0, coverage=-0.25)
    ]
    assert learn_fusion.pairs(features, [False, False, True]).shape == (0, len(NAMES))


def test_gold_touches_a_span_or_is_of_a_gold_document():
    """Where a question has spans, its documents alone are not enough."""
    spans = GoldQuery("q", "问", ("a",), {"a": ((5, 8),)})
    without = GoldQuery("q", "问", ("a",))
    results = [result("a", 0, 5), result("a", 7, 9), result("b", 5, 8)]
    assert [Asked(spans, ()).is_gold(r) for r in results] == [False, True, False]
    assert [Asked(without, ()).is_gold(r) for r in results] == [True, True, False]


def test_rankings_of_several_searches_come_in_turn():
    """Each chunk once, where it comes first; weights order each search."""
    a, b, c = (result(doc, 0, 1) for doc in "abc")
    first = [a, b], np.array([scores(coverage=0.1), scores(coverage=0.2)])
    second = [b, c], np.array([scores(coverage=0.4), scores(coverage=0.3)])
    asked = Asked(GoldQuery("q", "问", ("b", "c")), (first, second))
    assert asked.ranking(learn_fusion.with_coverage(1.0)) == [b, a, c]
    assert asked.ranking(learn_fusion.with_coverage(-1.0)) == [a, c, b]
    assert learn_fusion.measured([asked], learn_fusion.with_coverage(-1.0)) == "100.0 / - / 50.0"
    assert Asked(asked.query, ()).ranking(BY_HAND) == []


def test_markdown_has_a_head():
    """The first row is the head."""
    assert learn_fusion.markdown([["a", "b"], ["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_what_is_recorded_adds_up_to_what_grim_finds(policies):
    """Routes, title, place and coverage by hand give the scores that rerankers see."""
    query = GoldQuery("q", "四川省到2025年的森林覆盖率达到多少？", ("sichuan",))
    (asked,) = learn_fusion.recorded(policies.store._database.file.parent, [query])
    ((results, features),) = asked.searches
    totals = features @ BY_HAND
    assert totals.tolist() == sorted(totals, reverse=True)
    assert set(features[:, NAMES.index("place")]) == {-1.0, 0.0, 1.0}
    assert features[:, COVERAGE].max() > 0.5
    assert asked.is_gold(results[0])


def test_a_factor_is_learnt_in_units_of_the_sum_by_hand():
    """Pairs drawn by a model with coverage at 3 and the encoder at 1.75 give 3 back."""
    pytest.importorskip("sklearn")
    draw = np.random.default_rng(1)
    pairs = np.zeros((20_000, len(NAMES)))
    pairs[:, COVERAGE] = draw.normal(size=len(pairs))
    pairs[:, NAMES.index("similar_chunks")] = draw.normal(size=len(pairs))
    chance = 1 / (1 + np.exp(-pairs @ learn_fusion.with_coverage(3.0)))
    pairs[draw.random(len(pairs)) > chance] *= -1
    sets = [[pairs, pairs[:0]]]
    assert learn_fusion.factor_learnt(sets)[COVERAGE] == pytest.approx(3.0, rel=0.05)
    every = dict(zip(NAMES, learn_fusion.all_learnt(sets), strict=True))
    assert every["coverage"] == pytest.approx(3.0, rel=0.05)
    assert (every["similar_chunks"], every["words_in_text"], every["title"]) == (1.75, 0.0, 20.0)
