from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.citation_fit import Cited, Held, contradict
from kgrag.ingestion.link import DocumentNames
from kgrag.metadata import Metadata

YUN = Metadata(issuers=("云岭省人民政府",), regions=("云岭省",), issued="2021-06-01", level="省")


def held(*documents):
    """Return the names of (doc_id, title, metadata)."""
    return DocumentNames(Held(*document) for document in documents)


@given(st.text(max_size=40), st.text(max_size=20), st.text(max_size=20))
def test_any_citation_is_answered(title, number, issuer):
    """Nothing that a text holds makes it fail."""
    names = held(("a", title, Metadata(number=number)), ("b", "节能规划", YUN))
    found = names.resolve(Cited(title, number=number, issuer=issuer, doc_id="a"))
    assert found is None or found[0] == "b"


def test_a_number_that_is_not_known_contradicts_none():
    """A document without a number may have any."""
    assert contradict("", "国发〔2022〕4号") is False
