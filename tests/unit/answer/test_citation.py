import pytest

from kgrag.answer.citation import Citation


@pytest.mark.parametrize("quote", ["", " \n"])
def test_a_citation_quotes_something(quote):
    """A row without a quote is no row."""
    with pytest.raises(ValueError, match=r"d:3-4 of '节能规划' quotes nothing"):
        Citation(1, "d", "节能规划", "d.txt", (), None, 3, 4, quote, "c")
