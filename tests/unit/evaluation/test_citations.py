"""What an answer cites of the gold."""

import pytest

from kgrag.answer.citation import Citation
from kgrag.evaluation.citations import (
    QUOTED,
    quoted_scores,
)

GOLD = {"a": ((0, 10), (20, 30)), "b": ((5, 15),)}


def cited(file, start, end):
    return Citation(1, f"d-{file}", "题", f"/p/{file}.txt", (), None, start, end, "文", "c")


def test_shares_of_characters_documents_citations_and_spans():
    """One citation of four touches a span, half of it; one of them is of another document."""
    several = [cited("a", 5, 12), cited("a", 12, 18), cited("b", 20, 30), cited("c", 0, 9)]
    scores = quoted_scores(several, GOLD, ("a", "b"))
    assert scores == {
        "any-gold": 1.0,
        "gold-quoted": pytest.approx(5 / 30),
        "gold-docs": 1.0,
        "cite-P": 0.25,
        "cite-R": pytest.approx(1 / 3),
    }
    assert list(scores) == list(QUOTED)


def test_a_gold_document_may_be_named_by_its_id():
    assert quoted_scores([cited("a", 0, 5)], {}, ("d-a",)) == {"gold-docs": 1.0}
