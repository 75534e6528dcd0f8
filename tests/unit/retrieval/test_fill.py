from kgrag.retrieval.fill import fill


def test_fill_adds_the_one_chunk_between_two_with_their_mean(store, hit):
    """Positions 1 and 3 of one document: 2 joins with (1 + 4) / 2 (eq. 3)."""
    found = fill([hit("a:10:3", 4.0), hit("a:10:1", 1.0)], store)
    assert [(r.chunk.chunk_id, r.score) for r in found] == [
        ("a:10:3", 4.0),
        ("a:10:2", 2.5),
        ("a:10:1", 1.0),
    ]
    assert found[1].via == ("filled between 1 and 3",)


def test_fill_looks_for_neighbours_in_document_order(store, hit):
    """A gap is filled though others stand between its ends in the ranking."""
    hits = [hit("a:10:1", 4.0), hit("b:10:7", 3.0), hit("b:10:2", 2.0), hit("a:10:3", 1.0)]
    assert "a:10:2" in {r.chunk.chunk_id for r in fill(hits, store)}


def test_fill_leaves_wider_gaps_and_gaps_between_groups_and_documents(store, hit):
    """Two missing chunks, two sizes or two documents are no gap."""
    hits = [hit("a:10:0", 1.0), hit("a:10:3", 1.0), hit("a:40:1", 1.0), hit("b:10:2", 1.0)]
    assert len(fill(hits, store)) == 4


def test_fill_takes_only_what_may_fill(store, hit):
    """A gap whose chunk is not among those that may stays a gap."""
    hits = [hit("a:10:1", 1.0), hit("a:10:3", 4.0)]
    assert len(fill(hits, store, among={"a:10:1", "a:10:3"})) == 2
    assert len(fill(hits, store, among={"a:10:2"})) == 3
