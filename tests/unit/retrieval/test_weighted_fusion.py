import random
from dataclasses import replace

import pytest

from kgrag.embedding.hashing import HashEmbedder
from kgrag.retrieval.search import Ranking, Search
from kgrag.retrieval.settings import Settings
from kgrag.retrieval.weighted_fusion import (
    Fused,
    ReciprocalRankFusion,
    WeightedFusion,
    WeightedRetriever,
)
from kgrag.types import Query


def route(hits, **options):
    ranking = Ranking(tuple(hits), {c: f"r{c}" for c, _ in hits})

    def retrieve(search):
        return ranking

    return WeightedRetriever(retrieve, **options), ranking


def search(store, query=None, **settings):
    query = query or Query("问题", ("问题",))
    return Search(query, store=store, embed=HashEmbedder, settings=Settings(**settings))


def scores(fused):
    return {f.chunk_id: pytest.approx(f.score) for f in fused}


def test_evidence_adds_scores_in_the_unit_of_each_route(store):
    """4/8 of the best, weight 2, and 3 as it is: 1 + 3."""
    routes = [
        route([("a:10:0", 8.0), ("a:10:1", 4.0)], weight=2.0, unit="best"),
        route([("a:10:1", 3.0)], unit="own"),
        route([("b:10:0", 0.1)], weight=5.0, unit="present"),
    ]
    assert scores(WeightedFusion()(search(store), routes, top_k=20)) == {
        "b:10:0": 5.0,
        "a:10:1": 4.0,
        "a:10:0": 2.0,
    }


def test_evidence_trusts_a_route_more_when_its_best_stands_out(store):
    """1 + margin * ((8 - tenth) / 8)³: 0 for ten alike, 0.5³ for a half, at most 0.8³."""
    alone = [route([("a:10:0", 8.0)], unit="best", margin=8.0)]
    assert WeightedFusion()(search(store), alone, top_k=20)[0].score == pytest.approx(1 + 8 * 0.512)
    alike = [route([(f"a:10:{i}", 8.0) for i in range(10)], unit="best", margin=8.0)]
    assert WeightedFusion()(search(store), alike, top_k=20)[0].score == pytest.approx(1.0)
    half = [("a:10:9", 8.0), *((f"a:10:{i}", 6.0) for i in range(8)), ("a:10:8", 4.0)]
    fused = WeightedFusion()(search(store), [route(half, unit="best", margin=8.0)], top_k=20)
    assert fused[0].score == pytest.approx(2.0)


class Cosines:
    """A store of cosines."""

    def __init__(self, cosines):
        self.cosines = cosines

    def similarities(self, vector, node_ids):
        """Return those that are there."""
        return {node_id: self.cosines[node_id] for node_id in node_ids if node_id in self.cosines}


def test_evidence_counts_similarities_as_z_scores():
    """0.9 / 0.1 of what the route found; what only others found gets its cosine, too."""
    routes = [route([("a:10:0", 0.9)], unit="z-score", weight=2.0), route([("b:10:0", 7.0)])]
    found = search(Cosines({"a:10:0": 0.9, "b:10:0": 0.5}), cosine_std=0.1)
    fused = WeightedFusion()(found, routes, top_k=20)
    assert scores(fused) == {"a:10:0": 18.0, "b:10:0": 7.0 + 10.0}
    assert fused[1].via == ("vector 0.50", "rb:10:0")


def test_evidence_looks_up_no_similarity_that_could_not_matter():
    """The first are the same, with the same scores, as if all had been looked up."""
    asked = []

    class Watched(Cosines):
        def similarities(self, vector, node_ids):
            asked.append(set(node_ids))
            return super().similarities(vector, node_ids)

    rng = random.Random(1)
    for low in [1.0, -0.1] * 25:
        cosines = {f"a:10:{i}": rng.uniform(-1, low) for i in range(60)}
        best = sorted(cosines.items(), key=lambda hit: -hit[1])[:20]
        words = [(c, rng.random() * 3) for c in rng.sample(sorted(cosines), 30)]
        dense, ranking = route(best, unit="z-score")
        cut = (dense, replace(ranking, unseen_score_bound=best[-1][1]))
        found = search(Watched(cosines), cosine_std=0.5)

        pruned = WeightedFusion()(found, [cut, route(words)], top_k=5)
        few = asked.pop()
        whole = WeightedFusion()(found, [(dense, ranking), route(words)], top_k=5)

        assert pruned == whole
        assert few < asked.pop()


def test_evidence_takes_weak_factors_where_the_encoder_is_weak(store):
    """The same route counts double for a question that the encoder cannot read."""
    routes = [route([("a:10:0", 1.0)], weak_factor=2.0)]
    assert WeightedFusion()(search(store), routes, top_k=20)[0].score == 1.0
    assert WeightedFusion()(search(store, weak_encoder=True), routes, top_k=20)[0].score == 2.0


def test_evidence_puts_documents_with_a_quoted_title_first(store):
    """The title that the question quotes decides over any similarity."""
    query = Query("《文件b》的目标", ("目标",), titles=("文件b",), remainder="的目标")
    routes = [route([("a:10:0", 9.0), ("b:10:0", 1.0)])]
    fused = WeightedFusion()(search(store, query), routes, top_k=20)
    assert [(f.chunk_id, f.score) for f in fused] == [("b:10:0", 21.0), ("a:10:0", 9.0)]
    assert fused[0].via == ("title 《文件b》", "rb:10:0")


def test_a_place_beside_a_quoted_title_counts_for_nothing(store):
    query = Query("云岭《文件b》的目标", ("目标",), titles=("文件b",), places=frozenset(["云岭"]))
    routes = [route([("a:10:0", 9.0), ("b:10:0", 1.0)])]
    places = {"a": frozenset(["云岭"])}
    fused = WeightedFusion()(search(store, query, places=places), routes, top_k=20)
    assert scores(fused) == {"b:10:0": 21.0, "a:10:0": 9.0}


def test_a_route_whose_best_score_is_nothing_adds_nothing(store):
    routes = [route([("a:10:0", 0.0)], unit="best"), route([("b:10:0", 1.0)])]
    assert scores(WeightedFusion()(search(store), routes, top_k=20)) == {"b:10:0": 1.0}


def test_evidence_favours_the_places_that_are_asked_for(store):
    """+1 for a document about the place, -1 about another, nothing for a national one."""
    query = Query("云岭的目标", ("目标",), places=frozenset(["云岭"]))
    places = {"a": frozenset(["云岭", "南渡"]), "b": frozenset(["青川"])}
    routes = [route([("a:10:0", 1.0), ("b:10:0", 1.0), ("c:10:0", 1.0)])]
    fused = WeightedFusion()(search(store, query, places=places), routes, top_k=20)
    assert scores(fused) == {"a:10:0": 2.0, "c:10:0": 1.0, "b:10:0": 0.0}
    assert fused[0].via == ("place 云岭", "ra:10:0")


def test_a_city_of_the_province_that_is_asked_for_is_no_other_place(store):
    """Neither favoured nor put off; a city that is asked for itself is favoured."""
    places = {"a": frozenset(["武汉"]), "b": frozenset(["湖北"]), "c": frozenset(["成都"])}
    routes = [route([("a:10:0", 1.0), ("b:10:0", 1.0), ("c:10:0", 1.0)])]
    query = Query("湖北的目标", ("目标",), places=frozenset(["湖北"]))
    fused = WeightedFusion()(search(store, query, places=places), routes, top_k=20)
    assert scores(fused) == {"b:10:0": 2.0, "a:10:0": 1.0, "c:10:0": 0.0}

    query = replace(query, places=frozenset(["湖北", "武汉"]))
    fused = WeightedFusion()(search(store, query, places=places), routes, top_k=20)
    assert scores(fused) == {"a:10:0": 2.0, "b:10:0": 2.0, "c:10:0": 0.0}


def test_evidence_favours_national_documents_when_they_are_asked_for(store):
    """国家层面: a document about no place is national."""
    query = Query("国家层面的目标", ("目标",), national=True)
    routes = [route([("a:10:0", 1.0), ("b:10:0", 1.0)])]
    fused = WeightedFusion()(
        search(store, query, places={"a": frozenset(["云岭"])}), routes, top_k=20
    )
    assert scores(fused) == {"b:10:0": 2.0, "a:10:0": 0.0}


def test_reciprocal_fuses_by_rank_alone(store):
    """1/(1+1) + 1/(1+2) and 1/(1+1), whatever the scores."""
    routes = [route([("x", 9.0), ("y", 8.9)]), route([("y", 0.1)])]
    assert scores(ReciprocalRankFusion(k=1)(search(store), routes, top_k=20)) == {
        "y": 5 / 6,
        "x": 0.5,
    }


def test_a_route_is_as_it_is_unless_something_is_said(store):
    """Weight 1, its own unit, no margin, no weaker and no stronger with a weak encoder."""
    routes = [route([("a:10:0", 3.0), ("a:10:1", 1.0)])]
    for weak in (False, True):
        fused = WeightedFusion()(search(store, weak_encoder=weak), routes, top_k=20)
        assert scores(fused) == {"a:10:0": 3.0, "a:10:1": 1.0}
        assert fused[0].parts == (("ra:10:0", 3.0),)


def test_nine_hits_have_no_tenth(store):
    """Their best leads by all, which counts as 0.8."""
    hits = [(f"a:10:{i}", 8.0) for i in range(9)]
    fused = WeightedFusion()(search(store), [route(hits, unit="best", margin=8.0)], top_k=20)
    assert fused[0].score == pytest.approx(1 + 8 * 0.512)


def test_reciprocal_gives_reasons_without_numbers(store):
    """Ranks say nothing of single routes."""
    (fused,) = ReciprocalRankFusion()(search(store), [route([("x", 9.0)])], top_k=20)
    assert fused.score == 1 / (10 + 1)
    assert fused.parts == (("rx", 0.0),)
    assert fused.via == ("rx",)


def test_reasons_come_weightiest_first_and_each_once():
    """Those of equal weight by their words; what has none is left out."""
    parts = (("c", 1.0), ("a", 1.0), ("", 9.0), ("b", 2.0), ("a", 0.5))
    said = [({"x": reason}, {"x": score}) for reason, score in parts]
    assert Fused("x", 4.5, said).via == ("b", "a", "c")
