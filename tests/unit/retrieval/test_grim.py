import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.embedding.hashing import HashEmbedder
from kgrag.retrieval.grim import PRESETS, Pipeline, merge_and_fill, merge_and_fill_best
from kgrag.retrieval.search import Ranking, Search
from kgrag.retrieval.settings import Settings
from kgrag.retrieval.weighted_fusion import WeightedFusion, WeightedRetriever
from kgrag.types import Query


def test_merge_and_fill_alternate_to_a_fixed_point(store, hit):
    """0, 2 and 3 of a parent merge; with parent 2 found, parent 1 between them is filled."""
    hits = [hit("a:10:0", 1.0), hit("a:10:2", 1.0), hit("a:10:3", 1.0), hit("a:40:2", 3.0)]
    found = {r.chunk.chunk_id: r.score for r in merge_and_fill(hits, store)}
    assert found == {"a:40:0": 1.0, "a:40:1": 2.0, "a:40:2": 3.0}


def test_merge_and_fill_uses_a_filled_chunk_for_the_next_merge(store, hit):
    """0 and 2 are half of the parent; the filled 1 makes them three quarters."""
    found = merge_and_fill([hit("a:10:0", 1.0), hit("a:10:2", 2.0)], store)
    assert [(r.chunk.chunk_id, r.score) for r in found] == [("a:40:0", 1.5)]


def test_best_are_filled_by_candidates_only(store, hit):
    """2 lies between the best: it joins them where it was found far below, else it does not."""
    others = [hit(f"b:10:{i}", 4.0 - i / 10) for i in range(0, 12, 4)]
    best = [hit("a:10:0", 9.0), hit("a:10:1", 8.5), hit("a:10:3", 8.0), *others]
    kept = {r.chunk.chunk_id for r in merge_and_fill_best(best, store)}
    assert {"a:10:0", "a:10:1", "a:10:3"} < kept  # three quarters of the parent are not enough
    found = merge_and_fill_best([*best, hit("a:10:2", 1.0)], store)
    assert found[0].chunk.chunk_id == "a:40:0"  # which is all there now


def test_best_merge_is_of_the_first_four_only(store, hit):
    """A whole parent below the best four stays in its pieces."""
    hits = [hit(f"b:10:{i}", 9.0 - i / 10) for i in (0, 4, 8)]
    low = [hit(f"a:10:{i}", 2.0 - i / 10) for i in range(4)]
    assert len(merge_and_fill_best([*hits, *low], store)) == 7
    assert len(merge_and_fill_best(low, store)) == 1


@given(st.dictionaries(st.tuples(st.sampled_from("ab"), st.integers(0, 11)), st.integers(1, 9)))
def test_merge_and_fill_is_a_fixed_point_for_any_hits(store, hit, found):
    """Done again, nothing changes; nothing found is lost; no chunk stands twice."""
    hits = [hit(f"{doc}:10:{i}", float(score)) for (doc, i), score in found.items()]
    once = merge_and_fill(hits, store)
    assert {r.chunk.chunk_id for r in merge_and_fill(once, store)} == {
        r.chunk.chunk_id for r in once
    }
    assert len({r.chunk.chunk_id for r in once}) == len(once)
    for h in hits:
        assert any(
            r.chunk.doc_id == h.chunk.doc_id
            and r.chunk.start <= h.chunk.start
            and h.chunk.end <= r.chunk.end
            for r in once
        )


def test_presets_are_the_promised_ones():
    """The names that the command line documents."""
    assert set(PRESETS) == {
        "grim",
        "bm25",
        "vector",
        "recursive",
        "kg-vector",
        "hybrid",
        "grim-no-coverage",
        "grim-no-merge",
        "grim-no-summary",
        "grim-no-figures",
        "grim-no-sections",
        "grim-no-parts",
        "grim-no-official-terms",
        "grim-no-plan",
    }


def test_hybrid_asks_words_titles_and_vectors_alone():
    """Neither graph nor summaries, and no step after."""
    assert [route.retrieve.__name__ for route in PRESETS["hybrid"].routes] == [
        "words_in_text",
        "words_in_path_above_cut",
        "titles_in_text",
        "similar_chunks",
    ]
    assert PRESETS["hybrid"].postprocessors == ()


@pytest.mark.parametrize(("others", "first"), [(1.0, "a:10:11"), (8.0, "b:10:0")])
def test_hybrid_follows_words_that_stand_out_and_vectors_otherwise(store, others, first):
    """Words find a chunk at 9, the others at 1 or at 8; vectors put b 2 deviations before it."""
    by_words = [("a:10:11", 9.0), *((f"a:10:{i}", others) for i in range(10))]
    by_vector = [("b:10:0", 0.6), ("a:10:11", 0.4), *((f"a:10:{i}", 0.1) for i in range(10))]
    hits = {"words_in_text": by_words, "similar_chunks": by_vector}
    hybrid = PRESETS["hybrid"]
    found = [(r, Ranking(tuple(hits.get(r.retrieve.__name__, ())), {})) for r in hybrid.routes]
    query = Query("问题", ("问题",))
    search = Search(query, store=store, embed=HashEmbedder, settings=Settings(cosine_std=0.1))
    assert hybrid.fuse(search, found, top_k=3)[0].chunk_id == first


@pytest.fixture
def asked(store):
    """Return a function that asks routes by name, and tells what happened in which order."""

    def ask(*routes):
        events = []

        def route(name):
            def retrieve(search):
                events.append(name)
                return Ranking(((f"a:10:{len(events)}", 1.0),), {f"a:10:{len(events)}": name})

            def begin(search):
                events.append(f"begin {name}")

            return WeightedRetriever(retrieve, begin=begin if name.startswith("slow") else None)

        pipeline = tuple(route(name) for name in routes)
        query = Query("问题", ("问题",))
        search = Search(query, store=store, embed=HashEmbedder, settings=Settings())
        found = Pipeline(pipeline, WeightedFusion()).retrieve(search, top_k=9)
        return events, {r.chunk.chunk_id: r.via for r in found}

    return ask


def test_what_takes_long_runs_while_other_routes_are_asked(asked):
    """Routes that begin something are asked last, each in its order; all are fused."""
    events, found = asked("slow 1", "a", "slow 2", "b")

    assert events == ["begin slow 1", "begin slow 2", "a", "b", "slow 1", "slow 2"]
    assert found == {
        "a:10:3": ("a",), "a:10:4": ("b",), "a:10:5": ("slow 1",), "a:10:6": ("slow 2",)
    }  # fmt: skip


def test_what_takes_long_is_not_begun_where_there_is_nothing_else_to_do(asked):
    """Another thread would only add its own cost."""
    assert asked("slow 1")[0] == ["slow 1"]


@pytest.mark.parametrize(("top_k", "depth"), [(20, 100), (50, 100), (300, 600)])
def test_routes_are_as_deep_as_results_are_asked_for(store, top_k, depth):
    """Twice as many candidates as results; a hundred at least."""
    asked = []

    def retrieve(search):
        asked.append(search.settings.depth)
        return Ranking((), {})

    search = Search(Query("问题", ("问题",)), store=store, embed=HashEmbedder, settings=Settings())
    Pipeline((WeightedRetriever(retrieve),), WeightedFusion()).retrieve(search, top_k=top_k)
    assert asked == [depth]
