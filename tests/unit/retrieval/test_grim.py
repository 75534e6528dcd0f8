"""GRIM: merging and filling, summaries, coverage, cross-encoders."""

import logging
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelOutputError
from kgrag.ids import embedding_key
from kgrag.question.question import analyse
from kgrag.results import ScoredChunk
from kgrag.retrieval.coverage import by_coverage, covered
from kgrag.retrieval.cross_encoding import ByCrossEncoder, _falling
from kgrag.retrieval.grim import PRESETS, Pipeline, merge_and_fill, merge_and_fill_best
from kgrag.retrieval.ranking import best_first
from kgrag.retrieval.search import Ranking, Search
from kgrag.retrieval.settings import Settings, settings_of
from kgrag.retrieval.summaries import chunks_and_summaries, summarised_chunks
from kgrag.retrieval.weighted_fusion import WeightedFusion, WeightedRetriever
from kgrag.store.contents import DocumentBundle, NodeVector
from kgrag.types import Document, Query, Summary


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
        "qcg",
        "qcg-no-graph",
        "qcg-no-critical",
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
def asked_by_words(store):
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


def test_what_takes_long_runs_while_other_routes_are_asked(asked_by_words):
    """Routes that begin something are asked last, each in its order; all are fused."""
    events, found = asked_by_words("slow 1", "a", "slow 2", "b")

    assert events == ["begin slow 1", "begin slow 2", "a", "b", "slow 1", "slow 2"]
    assert found == {
        "a:10:3": ("a",), "a:10:4": ("b",), "a:10:5": ("slow 1",), "a:10:6": ("slow 2",)
    }  # fmt: skip


def test_what_takes_long_is_not_begun_where_there_is_nothing_else_to_do(asked_by_words):
    """Another thread would only add its own cost."""
    assert asked_by_words("slow 1")[0] == ["slow 1"]


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


QUESTION = np.array([1.0, 0.0], dtype=np.float32)


def at(cosine):
    """Return the unit vector with this cosine to the question."""
    return np.array([cosine, (1 - cosine**2) ** 0.5], dtype=np.float32)


@pytest.fixture
def search(store):
    """A search over document a: its leaves 0..3 in a summary's span, 4 outside."""
    (document,) = store.documents(["a"])
    chunks = [*store.chunks_of(["a"], size=40), *store.chunks_of(["a"], size=10)]
    summary = Summary("s-1", "a", 0, 40, "总述", "section", "import", ("a:40:0",))
    cosines = {"a:10:0": 0.2, "a:10:1": 0.6, "a:10:4": 0.5, "s-1": 0.8}
    vectors = [
        NodeVector(
            node, "summary" if node == "s-1" else "chunk", embedding_key("t", node), at(cosine)
        )
        for node, cosine in cosines.items()
    ]
    store.upsert_document(
        DocumentBundle(
            Document("a", "文件a", document.text, "a.txt", "txt", "00"),
            "g",
            chunks=chunks,
            summaries=[summary],
            vectors=vectors,
        ),
        source="/a.txt",
    )
    embedder = SimpleNamespace(embed=lambda texts, task: np.stack([QUESTION] * len(texts)))
    settings = Settings(leaf=10, coarse=40)
    return Search(analyse("内容"), store=store, embed=lambda: embedder, settings=settings)


def test_a_chunk_reached_through_a_summary_has_the_mean_of_both(search):
    """GRIM, 3.2.1: what is reached has the similarity that it was reached with."""
    hits = dict(chunks_and_summaries(search).hits)
    assert hits["a:10:1"] == pytest.approx((0.8 + 0.6) / 2)
    assert hits["a:10:0"] == pytest.approx((0.8 + 0.2) / 2)


def test_a_chunk_outside_of_every_summary_keeps_its_own(search):
    """Nothing lifts it; what the summary lifts comes before it."""
    ranking = chunks_and_summaries(search)
    assert dict(ranking.hits)["a:10:4"] == pytest.approx(0.5)
    assert [c for c, _ in ranking.hits][:1] == ["a:10:1"]


def test_only_summarised_chunks_are_found_through_summaries(search):
    """The reason names the summary."""
    ranking = summarised_chunks(search)
    assert {c for c, _ in ranking.hits} == {"a:10:0", "a:10:1"}
    assert ranking.reasons["a:10:1"] == "summary 0.80: 总述"


WORDS = st.dictionaries(st.sampled_from("煤电光风水"), st.floats(0.5, 3), max_size=5)


@given(terms=WORDS, texts=st.lists(st.text("煤电光风水核", max_size=8), max_size=6))
def test_shares_lie_between_none_and_all(terms, texts):
    """A text with every word has all of it; one without any has none."""
    shares = covered(terms, texts)
    assert len(shares) == len(texts)
    for share, text in zip(shares, texts, strict=True):
        assert -1e-9 <= share <= 1 + 1e-9
        if not any(term in text for term in terms):
            assert share == 0
        elif all(term in text for term in terms):
            assert share == pytest.approx(1)


def test_rare_word_counts_more_than_common_one():
    """What nearly all candidates have tells none of them apart."""
    rare, common, *_ = covered({"煤": 1.0, "电": 1.0}, ["煤", "电", "电", "电", "电"])
    assert rare > 3 * common


def test_number_is_not_part_of_another():
    """Nor is a short Latin word part of a long one; an s more is the same word."""
    assert covered({"30": 1.0}, ["到2030年", "300家", "30家"]) == [0.0, 0.0, 1.0]
    assert covered({"plan": 1.0}, ["explanation", "two plans"]) == [0.0, 1.0]


def search_for(question, store):
    """A search for a question."""
    settings = settings_of(store, leaf=10, coarse=40)
    return Search(analyse(question), store=store, embed=HashEmbedder, settings=settings)


def test_chunk_with_more_of_the_question_comes_first(store, hit):
    """Of equal ones; every candidate stays, with its reasons."""
    candidates = [hit(f"a:10:{i}", 1.0, "why") for i in range(12)]
    found = by_coverage(search_for("007段", store), candidates)
    assert found[0].chunk.chunk_id == "a:10:7"
    assert {r.chunk.chunk_id for r in found} == {r.chunk.chunk_id for r in candidates}
    assert found[0].via == ("why", "covers 1.00")
    assert all(r.via[0] == "why" and r.score >= 1.0 for r in found)


def test_title_is_read_with_the_text(store, hit):
    """Which word is only in the title of one decides between chunks of the same text."""
    found = by_coverage(search_for("文件b", store), [hit("a:10:0", 1.0), hit("b:10:0", 1.0)])
    assert [r.chunk.doc_id for r in found] == ["b", "a"]


def test_question_without_words_changes_no_score(store, hit):
    candidates = [hit("a:10:1", 2.0), hit("a:10:0", 1.0)]
    found = by_coverage(search_for("？", store), candidates)
    assert [(r.chunk, r.score) for r in found] == [(c.chunk, c.score) for c in candidates]


def test_grim_reranks_by_it_and_an_ablation_does_not():
    """The part is in the default, and can be left out."""
    assert PRESETS["grim"].rerankers == (by_coverage,)
    assert PRESETS["grim-no-coverage"].rerankers == ()


class Model:
    """A cross-encoder that gives what it is told for a passage's last characters.

    Attributes:
        asked: What it was asked, in order.
    """

    def __init__(self, scores=(), *, fails=False):
        self.asked = []
        self._scores = dict(scores)
        self._fails = fails

    def scores(self, question, passages):
        """Return the scores, 0 for others."""
        self.asked.append((question, list(passages)))
        if self._fails:
            raise ModelOutputError("the model is broken", kind="invalid")
        return [next((s for end, s in self._scores.items() if end in p), 0.0) for p in passages]


def ids(results):
    return [r.chunk.chunk_id for r in results]


@pytest.fixture
def candidates(hit):
    """Chunks 0 to 5 of the first document, best first."""
    return [hit(f"a:10:{n}", 6.0 - n, f"words {n}.0") for n in range(6)]


def test_the_best_are_put_in_the_order_of_the_model(store, candidates):
    """The others stay behind them as they are; the scores are those of before."""
    model = Model({"002": 0.93, "003": 0.5, "000": 0.07, "004": 0.99})
    found = ByCrossEncoder(model, n_best=4)(search_for("内容", store), candidates)
    assert ids(found) == ["a:10:2", "a:10:3", "a:10:0", "a:10:1", "a:10:4", "a:10:5"]
    assert [r.score for r in found] == [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    assert found[0].via == ("reranked: 0.93", "words 2.0")
    assert found[4] == candidates[4]
    assert best_first(found) == found


def test_the_model_reads_title_and_headings_with_the_text(store, candidates):
    model = Model()
    ByCrossEncoder(model, n_best=1)(search_for("内容", store), candidates)
    assert model.asked == [("内容", ["文件a\n第000段内容甲乙丙"])]


def test_equal_ones_stay_in_their_order_whatever_their_ids(store, hit):
    """Which comes first would else be decided by the id."""
    candidates = [hit("b:10:1", 2.0), hit("a:10:1", 1.0), hit("a:10:0", 1.0)]
    found = ByCrossEncoder(Model({"000": 0.9}), n_best=3)(search_for("内容", store), candidates)
    assert ids(found) == ["a:10:0", "b:10:1", "a:10:1"]
    assert ids(best_first(found)) == ids(found)


@given(
    scores=st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=8),
    above=st.integers(-5, 5).map(float),
)
def test_scores_fall_and_stay_above_the_rest(scores, above):
    ordered = sorted(scores, reverse=True)
    raised = _falling(ordered, above=above)
    assert all(one > other for one, other in pairwise([*raised, above]))
    assert all(now >= before for now, before in zip(raised, ordered, strict=True))


def test_no_pair_is_read_twice(store, candidates):
    """A question is searched again without copies, and deeper; each pair is paid once."""
    model = Model()
    rerank = ByCrossEncoder(model, n_best=2)
    rerank(search_for("内容", store), candidates)
    rerank(search_for("内容", store), candidates)
    rerank(search_for("内容", store), candidates[1:])
    rerank(search_for("另一个问题", store), candidates)
    assert [(question, len(passages)) for question, passages in model.asked] == [
        ("内容", 2),
        ("内容", 1),
        ("另一个问题", 2),
    ]


def test_a_model_that_fails_leaves_the_order_and_is_told_once(store, candidates, caplog):
    """Nobody waits for it again with the same question."""
    model = Model(fails=True)
    rerank = ByCrossEncoder(model, n_best=3)
    for _ in range(2):
        assert rerank(search_for("内容", store), candidates[::-1]) == candidates
    (record,) = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert "the model is broken; results are in the order that they have" in record.getMessage()
    assert len(model.asked) == 1


def test_nothing_found_asks_nobody(store):
    model = Model()
    assert ByCrossEncoder(model, n_best=3)(search_for("内容", store), []) == []
    assert model.asked == []
    assert isinstance(ByCrossEncoder(model, n_best=3)(search_for(" ", store), []), list)


def test_what_is_known_of_a_result_stays(store, candidates):
    (found,) = ByCrossEncoder(Model(), n_best=3)(search_for("内容", store), candidates[:1])
    assert found == ScoredChunk(candidates[0].chunk, 6.0, ("reranked: 0.00", "words 0.0"))
