import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgrag.ingestion.fingerprints import Fingerprint

hashes = st.text("0123456789abcdef", min_size=1, max_size=16)
marks = st.sets(st.integers(0, 999)).map(lambda found: tuple(sorted(found)))


@given(hashes, hashes, marks)
def test_fingerprint_reads_what_it_writes(offline, model, failed):
    """What the store keeps comes back whole."""
    fingerprint = Fingerprint(offline, model, failed)

    assert Fingerprint.parse(str(fingerprint)) == fingerprint


@pytest.mark.parametrize(
    ("fingerprint", "text"),
    [
        (Fingerprint("ab"), "ab"),
        (Fingerprint("ab", "cd"), "ab+cd"),
        (Fingerprint("ab", "cd", (0, 12)), "ab+cd!0,12"),
    ],
)
def test_fingerprint_is_written_in_parts(fingerprint, text):
    """A knowledge base of before models has the first part only."""
    assert str(fingerprint) == text


@pytest.mark.parametrize(
    ("held", "wanted", "covered"),
    [
        ("ab", "ab", True),
        ("ab", "ax", False),
        ("ab+cd", "ab", True),  # a run without a model drops nothing
        ("ab+cd!1", "ab", True),
        ("ab", "ab+cd", False),
        ("ab+cd", "ab+cd", True),
        ("ab+cd!1", "ab+cd", True),  # failed passages wait for --retry-failed
        ("ab+cd", "ab+xx", False),
        ("ab+cd", "ax+cd", False),
    ],
)
def test_fingerprint_covers_what_needs_no_more_work(held, wanted, covered):
    """Content and rules must be equal, and the model where one is to read."""
    assert Fingerprint.parse(held).covers(Fingerprint.parse(wanted)) is covered


def test_fingerprint_is_of_what_is_stated_too():
    """Nothing stated is the fingerprint that it was before there were statements."""
    plain = Fingerprint.of("c", "txt", settings="s")

    assert Fingerprint.of("c", "txt", settings="s", stated="") == plain
    assert Fingerprint.of("c", "txt", settings="s", stated="ab") != plain
