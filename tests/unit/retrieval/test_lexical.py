"""Lexical routes, over hits that a store is made to give."""

import pytest

from kgrag.embedding.hashing import HashEmbedder
from kgrag.ids import document_of
from kgrag.retrieval.lexical import words_in_path, words_in_path_above_cut
from kgrag.retrieval.search import Search
from kgrag.retrieval.settings import Settings
from kgrag.types import Query
from tests.fixtures.double import Double


class Hits(Double):
    """A store that finds the same by any words."""

    def __init__(self, hits):
        self.hits = hits

    def search_words(self, terms, *, field, size, top_k, doc_ids=None):
        """Return the first of them, for paths of leaves."""
        assert (field, size) == ("path", 256)
        return [h for h in self.hits if doc_ids is None or document_of(h[0]) in doc_ids][:top_k]


@pytest.fixture
def search():
    """Return a function that makes a search over hits."""

    def make(hits, *, depth):
        return Search(
            Query("目标", ("目标",)),
            store=Hits(hits),
            embed=HashEmbedder,
            settings=Settings(depth=depth),
        )

    return make


HITS = [("a:256:0", 9.0), ("a:256:1", 7.5), ("b:256:0", 6.0), ("b:256:1", 5.0)]


def test_paths_above_the_cut_count_from_the_last_hit(search):
    """9 and 7.5 above 6; what is found, its order and its reasons are those of the path."""
    found = words_in_path_above_cut(search(HITS, depth=3))
    assert found.hits == (("a:256:0", 3.0), ("a:256:1", 1.5), ("b:256:0", 0.0))
    assert found.reasons == words_in_path(search(HITS, depth=3)).reasons


def test_paths_above_the_cut_of_a_titled_document_move_it_not(search):
    """What is read of the document beyond the cut counts nothing, and moves nothing else."""
    asked = search([*HITS, ("c:256:0", 1.0)], depth=3)
    asked.titled = {"c": "题"}
    found = words_in_path_above_cut(asked)
    assert found.hits[0] == ("a:256:0", 3.0)
    assert found.hits[-1] == ("c:256:0", 0.0)


def test_paths_above_the_cut_keep_their_scores_when_nothing_was_cut_off(search):
    """Fewer hits than might be: what was not found scores 0."""
    assert words_in_path_above_cut(search(HITS, depth=5)).hits == tuple(HITS)


def test_paths_above_the_cut_when_nothing_is_found_are_none(search):
    """No last hit, no error."""
    assert words_in_path_above_cut(search([], depth=5)).hits == ()
