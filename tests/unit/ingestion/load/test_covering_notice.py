"""The notice that covers a document, and the title of what it issues."""

from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.load.covering_notice import split_title


@given(st.text(max_size=80), st.text(max_size=30))
def test_any_text_is_read(text, title):
    """The title stays where no notice is found."""
    found, notice = split_title(text, title)
    assert notice or found == title
