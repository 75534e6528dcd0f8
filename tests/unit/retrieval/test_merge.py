import pytest

from kgrag.retrieval.merge import Families, merge


def scores(results):
    return {r.chunk.chunk_id: r.score for r in results}


def test_merge_puts_the_parent_for_more_than_half_of_its_children(store, hit):
    """3 of 4: r = 0.75 > 0.5 (eq. 1); the parent's score is the mean, 2.0 (eq. 2)."""
    found = merge([hit("a:10:0", 1.0), hit("a:10:1", 2.0), hit("a:10:3", 3.0)], Families(store))
    assert scores(found) == {"a:40:0": 2.0}
    assert found[0].via[0] == "merged from 3 of 4 chunks of 10"


def test_merge_at_the_threshold_leaves_children(store, hit):
    """2 of 4: r = 0.5 is not above 0.5."""
    found = merge([hit("a:10:0", 1.0), hit("a:10:1", 2.0)], Families(store))
    assert scores(found) == {"a:10:1": 2.0, "a:10:0": 1.0}


def test_merge_counts_each_parent_for_itself(store, hit):
    """Children of two parents, or of two documents, do not add up."""
    hits = [hit("a:10:3", 1.0), hit("a:10:4", 1.0), hit("b:10:3", 1.0), hit("b:10:4", 1.0)]
    assert len(merge(hits, Families(store))) == 4


def test_merge_when_the_parent_was_found_too_keeps_the_better_score(store, hit):
    """A parent that came by itself is not made worse by its children."""
    children = [hit(f"a:10:{i}", 1.0) for i in range(4)]
    assert scores(merge([*children, hit("a:40:0", 5.0)], Families(store))) == {"a:40:0": 5.0}
    assert scores(merge([*children, hit("a:40:0", 0.5)], Families(store))) == {"a:40:0": 1.0}


@pytest.mark.parametrize(("tau", "ids"), [(0.2, ["a:40:0"]), (0.25, ["a:10:0"])])
def test_merge_takes_the_threshold_it_is_given(store, hit, tau, ids):
    """1 of 4 is above 0.2 and not above 0.25."""
    assert [r.chunk.chunk_id for r in merge([hit("a:10:0", 1.0)], Families(store), tau=tau)] == ids


def test_merge_of_nothing_is_nothing(store):
    """No results, no error."""
    assert merge([], Families(store)) == []
