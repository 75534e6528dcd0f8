"""Typed values of phrases that models and imports give."""

from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.statements.target_phrases import value_qualifiers


@given(
    st.text(max_size=60),
    st.text(alphabet="0123456789年%万亿家达到比下降、（）()《》. \n\0", max_size=60),
)
def test_any_text_is_read(predicate, phrase):
    """No text raises an error; what is told has a value."""
    told = value_qualifiers(predicate, phrase)
    assert bool(told) == bool(told.value)
