import pytest

from kgrag.results import ScoredChunk
from kgrag.retrieval.merge import Families, merge
from kgrag.types import Chunk
from tests.fixtures.double import Double


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


def test_merge_leaves_children_that_make_up_too_little_of_the_parent(store, hit):
    """3 of 4 children of 10 are 30 of 40 characters."""
    hits = [hit("a:10:0", 1.0), hit("a:10:1", 2.0), hit("a:10:3", 3.0)]
    assert len(merge(hits, Families(store), coverage=0.75)) == 1
    assert len(merge(hits, Families(store), coverage=0.76)) == 3


def test_merge_of_nothing_is_nothing(store):
    """No results, no error."""
    assert merge([], Families(store)) == []


class Nested(Double):
    """A store of one document: a parent of 40, two chunks of 20 in it, four of 10, offset by 40.

    The last chunk of 20 is the last chunk of 10, too.
    """

    def __init__(self):
        self.asked = []
        ends = {40: [(40, 80)], 20: [(40, 60), (60, 70), (70, 80)]}
        ends[10] = [(40, 50), (50, 60), (60, 70), (70, 80)]
        self.by_id = {
            f"d:{size}:{i}": Chunk(
                f"d:{size}:{i}", "d", size, i, start, end, "", None if size == 40 else "d:40:0"
            )
            for size, spans in ends.items()
            for i, (start, end) in enumerate(spans)
        }

    def families(self, parent_ids):
        """Return the parent and all its chunks."""
        self.asked.append(list(parent_ids))
        return list(self.by_id.values())

    def hits(self, **scored):
        """Return chunks of 10 with scores, by position."""
        return [ScoredChunk(self.by_id[f"d:10:{i[1:]}"], s, (i,)) for i, s in scored.items()]


def test_merge_climbs_to_the_next_larger_chunk_around():
    """Two of 10 become the 20 that they make up, and what was not found stays out."""
    store = Nested()
    families = Families(store)
    found = merge(store.hits(p0=3.0, p1=1.0, p2=1.0), families, tau=0.5)
    assert scores(found) == {"d:20:0": 2.0, "d:10:2": 1.0}
    assert found[0].via == ("merged from 2 of 2 chunks of 10", "p0")
    merge(found, families)
    assert store.asked == [["d:40:0"]]


def test_merge_passes_over_a_larger_chunk_with_the_same_text():
    """The last of 20 is the last of 10: around it is the parent."""
    store = Nested()
    found = merge(store.hits(p3=1.0), Families(store), tau=0.2)
    assert scores(found) == {"d:40:0": 1.0}
    assert found[0].via[0] == "merged from 1 of 4 chunks of 10"
