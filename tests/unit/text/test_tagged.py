"""A text in which every span is one character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.text.tagged import Alphabet, Span, Tagged, merged

UP, BOTH = frozenset(["up"]), frozenset(["up", "level"])
ALPHABET = Alphabet([UP, BOTH])


def test_a_pattern_speaks_of_tags_and_of_text():
    """A span with several tags is found by each of them."""
    text = "率提高到50"
    read = Tagged(text, [Span(1, 4, BOTH)], ALPHABET)
    for wanted in ("率{up}5", "率{level}5", "{up|level}"):
        match = ALPHABET.compile(wanted).search(read.code)
        assert match is not None
        assert "提高到" in read.words(*match.span())
    assert ALPHABET.compile("提高").search(read.code) is None


def test_a_tag_that_no_span_has_is_an_error():
    """A slip in a grammar is told when it is read."""
    with pytest.raises(ValueError, match="no span has the tag down"):
        ALPHABET.compile("{up|down}")


@pytest.mark.parametrize("strange", ["\ud800", "\U000f0000", "\ue000", "\U001001b0"])
def test_no_character_of_a_text_is_taken_for_a_span(strange):
    """Not half a character, and not the marks of a font, which stand in private planes."""
    read = Tagged(f"率{strange}5", [], ALPHABET)
    assert ALPHABET.compile("{up|level}").search(read.code) is None
    assert read.words(0, 3) == f"率{strange}5"


@given(st.text(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5))))
def test_no_character_is_lost(text, places):
    """Whatever the spans, the words of the whole are the text, and each span has its own."""
    spans = [Span(a, min(a + n, len(text)), UP) for a, n in sorted(places) if a < len(text)]
    kept = merged(*([span] for span in spans))
    read = Tagged(text, kept, ALPHABET)
    assert read.words(0, len(read.code)) == text
    for at, span in read.spans.items():
        assert read.words(at, at + 1) == text[span.start : span.end]


def test_of_spans_that_overlap_the_layer_before_counts():
    """A number within a time is none."""
    time, number, word = Span(0, 5, UP), Span(1, 4, UP), Span(6, 8, BOTH)
    assert merged([time], [number, word]) == [time, word]
