"""Reranking by how much of the question a chunk covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.embedding.hashing import HashEmbedder
from kgrag.question.query import analyse
from kgrag.retrieval.coverage import by_coverage, covered
from kgrag.retrieval.grim import PRESETS
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import settings_of

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


def asked(question, store):
    """A search for a question."""
    settings = settings_of(store, leaf=10, coarse=40)
    return Search(analyse(question), store=store, embed=HashEmbedder, settings=settings)


def test_chunk_with_more_of_the_question_comes_first(store, hit):
    """Of equal ones; every candidate stays, with its reasons."""
    candidates = [hit(f"a:10:{i}", 1.0, "why") for i in range(12)]
    found = by_coverage(asked("007段", store), candidates)
    assert found[0].chunk.chunk_id == "a:10:7"
    assert {r.chunk.chunk_id for r in found} == {r.chunk.chunk_id for r in candidates}
    assert found[0].via == ("why", "covers 1.00")
    assert all(r.via[0] == "why" and r.score >= 1.0 for r in found)


def test_title_is_read_with_the_text(store, hit):
    """Which word is only in the title of one decides between chunks of the same text."""
    found = by_coverage(asked("文件b", store), [hit("a:10:0", 1.0), hit("b:10:0", 1.0)])
    assert [r.chunk.doc_id for r in found] == ["b", "a"]


def test_question_without_words_changes_no_score(store, hit):
    """There is nothing to cover."""
    candidates = [hit("a:10:1", 2.0), hit("a:10:0", 1.0)]
    found = by_coverage(asked("？", store), candidates)
    assert [(r.chunk, r.score) for r in found] == [(c.chunk, c.score) for c in candidates]


def test_grim_reranks_by_it_and_an_ablation_does_not():
    """The part is in the default, and can be left out."""
    assert PRESETS["grim"].rerankers == (by_coverage,)
    assert PRESETS["grim-no-coverage"].rerankers == ()
