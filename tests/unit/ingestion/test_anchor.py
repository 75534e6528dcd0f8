import pytest

from kgrag.ingestion.anchor import evidence_for
from kgrag.types import Chunk


def leaves(*lengths):
    out, at = [], 0
    for i, n in enumerate(lengths):
        out.append(Chunk(f"d:256:{i}", "d", 256, i, at, at + n, "x" * n, "d:2048:0"))
        at += n
    return out


def positions(start, end, *lengths):
    return [e.chunk_id[-1] for e in evidence_for(leaves(*lengths), start, end, extractor="t")]


def test_evidence_for_a_span_inside_one_leaf_is_that_leaf():
    """The plain case: one record with the span's own offsets."""
    (evidence,) = evidence_for(leaves(100, 100), 110, 150, extractor="t", confidence=0.5)
    assert (evidence.chunk_id, evidence.start, evidence.end) == ("d:256:1", 110, 150)
    assert (evidence.extractor, evidence.confidence) == ("t", 0.5)


def test_evidence_for_a_span_over_leaves_names_each_that_holds_a_fair_share():
    """50 and 50 of 100 characters are fair; 5 of 100 are not."""
    assert positions(50, 150, 100, 100) == ["0", "1"]
    assert positions(95, 195, 100, 100) == ["1"]


def test_evidence_for_a_whole_passage_names_all_its_leaves():
    """A leaf that the span covers counts, however small its share of the span."""
    assert positions(0, 400, 100, 100, 100, 100) == ["0", "1", "2", "3"]


@pytest.mark.parametrize(("start", "end"), [(0, 0), (-1, 5), (0, 101), (60, 50)])
def test_evidence_for_a_span_outside_the_text_is_refused(start, end):
    """Offsets of another version must not be tied to anything."""
    with pytest.raises(ValueError, match="outside the text"):
        evidence_for(leaves(100), start, end, extractor="t")
