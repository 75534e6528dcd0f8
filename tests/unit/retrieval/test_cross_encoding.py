"""Reranking by what reads question and passage together."""

import logging
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.embedding.hashing import HashEmbedder
from kgrag.errors import ModelOutputError
from kgrag.question.query import analyse
from kgrag.results import ScoredChunk
from kgrag.retrieval.cross_encoding import ByCrossEncoder, _falling
from kgrag.retrieval.ranking import best_first
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import settings_of


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


def asked(question, store):
    """A search for a question."""
    settings = settings_of(store, leaf=10, coarse=40)
    return Search(analyse(question), store=store, embed=HashEmbedder, settings=settings)


def ids(results):
    return [r.chunk.chunk_id for r in results]


@pytest.fixture
def candidates(hit):
    """Chunks 0 to 5 of the first document, best first."""
    return [hit(f"a:10:{n}", 6.0 - n, f"words {n}.0") for n in range(6)]


def test_the_best_are_put_in_the_order_of_the_model(store, candidates):
    """The others stay behind them as they are; the scores are those of before."""
    model = Model({"002": 0.93, "003": 0.5, "000": 0.07, "004": 0.99})
    found = ByCrossEncoder(model, n_best=4)(asked("内容", store), candidates)
    assert ids(found) == ["a:10:2", "a:10:3", "a:10:0", "a:10:1", "a:10:4", "a:10:5"]
    assert [r.score for r in found] == [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]
    assert found[0].via == ("reranked: 0.93", "words 2.0")
    assert found[4] == candidates[4]
    assert best_first(found) == found


def test_the_model_reads_title_and_headings_with_the_text(store, candidates):
    """As the encoder does."""
    model = Model()
    ByCrossEncoder(model, n_best=1)(asked("内容", store), candidates)
    assert model.asked == [("内容", ["文件a\n第000段内容甲乙丙"])]


def test_equal_ones_stay_in_their_order_whatever_their_ids(store, hit):
    """Which comes first would else be decided by the id."""
    candidates = [hit("b:10:1", 2.0), hit("a:10:1", 1.0), hit("a:10:0", 1.0)]
    found = ByCrossEncoder(Model({"000": 0.9}), n_best=3)(asked("内容", store), candidates)
    assert ids(found) == ["a:10:0", "b:10:1", "a:10:1"]
    assert ids(best_first(found)) == ids(found)


@given(
    scores=st.lists(st.integers(-3, 3).map(float), min_size=1, max_size=8),
    above=st.integers(-5, 5).map(float),
)
def test_scores_fall_and_stay_above_the_rest(scores, above):
    """Whatever they were."""
    ordered = sorted(scores, reverse=True)
    raised = _falling(ordered, above=above)
    assert all(one > other for one, other in pairwise([*raised, above]))
    assert all(now >= before for now, before in zip(raised, ordered, strict=True))


def test_no_pair_is_read_twice(store, candidates):
    """A question is searched again without copies, and deeper; each pair is paid once."""
    model = Model()
    rerank = ByCrossEncoder(model, n_best=2)
    rerank(asked("内容", store), candidates)
    rerank(asked("内容", store), candidates)
    rerank(asked("内容", store), candidates[1:])
    rerank(asked("另一个问题", store), candidates)
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
        assert rerank(asked("内容", store), candidates[::-1]) == candidates
    (record,) = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert "the model is broken; results are in the order that they have" in record.getMessage()
    assert len(model.asked) == 1


def test_nothing_found_asks_nobody(store):
    """Nor does a question without words."""
    model = Model()
    assert ByCrossEncoder(model, n_best=3)(asked("内容", store), []) == []
    assert model.asked == []
    assert isinstance(ByCrossEncoder(model, n_best=3)(asked(" ", store), []), list)


def test_what_is_known_of_a_result_stays(store, candidates):
    """Only score and reasons change."""
    (found,) = ByCrossEncoder(Model(), n_best=3)(asked("内容", store), candidates[:1])
    assert found == ScoredChunk(candidates[0].chunk, 6.0, ("reranked: 0.00", "words 0.0"))
