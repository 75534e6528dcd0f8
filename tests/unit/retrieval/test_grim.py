from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgrag.retrieval.grim import PRESETS, merge_and_fill


def test_merge_and_fill_alternate_to_a_fixed_point(store, hit):
    """0, 2 and 3 of a parent merge; with parent 2 found, parent 1 between them is filled."""
    hits = [hit("a:10:0", 1.0), hit("a:10:2", 1.0), hit("a:10:3", 1.0), hit("a:40:2", 3.0)]
    found = {r.chunk.chunk_id: r.score for r in merge_and_fill(hits, store)}
    assert found == {"a:40:0": 1.0, "a:40:1": 2.0, "a:40:2": 3.0}


def test_merge_and_fill_uses_a_filled_chunk_for_the_next_merge(store, hit):
    """0 and 2 are half of the parent; the filled 1 makes them three quarters."""
    found = merge_and_fill([hit("a:10:0", 1.0), hit("a:10:2", 2.0)], store)
    assert [(r.chunk.chunk_id, r.score) for r in found] == [("a:40:0", 1.5)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
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
        "grim-no-merge",
        "grim-no-summary",
    }
