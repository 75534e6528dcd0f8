"""Addresses of places in documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.answer.address import Address
from kgrag.errors import OutOfRangeError

OFFSETS = st.integers(0, 999_999_999)


@given(st.builds(Address, st.text(min_size=1), OFFSETS, OFFSETS))
def test_an_address_survives_being_written(address):
    """Whatever the document's id is: it may hold colons, digits and line breaks."""
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize("text", ["", "d1", ":1-2", "d1:5", "d1:5-", "d1:-5", "d1:1-1234567890"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(OutOfRangeError, match="DOCUMENT:START-END"):
        Address.parse(text)
