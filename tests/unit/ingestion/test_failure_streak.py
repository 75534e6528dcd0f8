import pytest

from kgrag.errors import ModelOutputError, ModelUnavailableError, TransientModelError
from kgrag.ingestion.enrich import FailureStreak

NONSENSE = ModelOutputError("no JSON", kind="malformed")


def after(n, *, documents=1, error=NONSENSE, streak=None):
    """Return a streak after so many failures, spread over so many documents."""
    streak = streak or FailureStreak()
    for i in range(n):
        streak.failed(f"d-{i % documents}", error)
    return streak


def test_nothing_but_nonsense_is_hopeless_even_in_one_document():
    """Before the first good answer it is the model, not the document."""
    assert after(19).error() is None
    assert isinstance(after(20).error(), ModelUnavailableError)


@pytest.mark.parametrize(("documents", "is_hopeless"), [(1, False), (2, False), (3, True)])
def test_after_a_good_answer_it_takes_three_documents(documents, is_hopeless):
    """One document with bad tables does not stop the others."""
    streak = FailureStreak()
    streak.succeeded()
    after(20, documents=documents, streak=streak)
    assert (streak.error() is not None) is is_hopeless


def test_a_good_answer_begins_the_count_anew():
    """Passages and documents: only what stands in a row counts."""
    streak = after(19, documents=3)
    streak.succeeded()
    after(19, documents=1, streak=streak)
    after(1, documents=1, streak=streak)
    assert streak.error() is None


@pytest.mark.parametrize("kind", ["malformed", "empty", "repeating", "invalid"])
def test_nonsense_of_any_kind_counts(kind):
    """No JSON, none of the form asked for, nothing, or the same over and over."""
    assert after(20, error=ModelOutputError("x", kind=kind)).error()


@pytest.mark.parametrize(
    "error",
    [
        *(ModelOutputError("x", kind=k) for k in ("refused", "filtered", "language", "truncated")),
        TransientModelError("busy"),
    ],
)
def test_what_the_text_or_the_network_is_to_blame_for_does_not_count(error):
    """A model that declines a document reads the next one."""
    assert after(50, documents=5, error=error).error() is None
