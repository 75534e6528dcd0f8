from kgrag.retrieval.ranking import best_first, drop_nested


def ids(results):
    return [r.chunk.chunk_id for r in results]


def test_best_first_breaks_ties_by_chunk_id(hit):
    """The order is total."""
    assert ids(best_first([hit("b:10:0", 1.0), hit("a:10:1", 1.0), hit("a:10:0", 2.0)])) == [
        "a:10:0",
        "a:10:1",
        "b:10:0",
    ]


def test_drop_nested_keeps_the_outer_chunk_with_the_better_score(hit):
    """What lies inside another result is dropped; its score and reason are not lost."""
    found = drop_nested(
        [hit("a:10:5", 3.0, "words"), hit("a:40:1", 1.0, "path"), hit("a:10:0", 2.0)]
    )
    assert [(r.chunk.chunk_id, r.score) for r in found] == [("a:40:1", 3.0), ("a:10:0", 2.0)]
    assert found[0].via == ("words", "path")


def test_drop_nested_does_not_mix_documents(hit):
    """The same offsets in another document are another place."""
    assert len(drop_nested([hit("a:10:5", 3.0), hit("b:40:1", 1.0)])) == 2
