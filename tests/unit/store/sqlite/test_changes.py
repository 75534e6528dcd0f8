from contextlib import closing

import pytest

from kgrag.store.sqlite.changes import (
    Mark,
    changed_since,
    current_mark,
    is_known,
    record_change,
)
from kgrag.store.sqlite.connection import Database


@pytest.fixture
def log(tmp_path):
    """A connection to an empty change log."""
    with closing(Database.open(tmp_path)) as database, database.write() as connection:
        yield connection


def test_an_empty_log_is_at_the_beginning(log):
    """The mark before the first commit is known everywhere."""
    assert current_mark(log) == Mark(0, "")
    assert is_known(log, Mark())
    assert changed_since(log, Mark(), "chunks") == []


def test_each_document_counts_once_per_part_with_its_latest_change(log):
    """A cache that follows one part is not disturbed by the others."""
    record_change(log, ["b", "a"])
    first = current_mark(log)
    record_change(log, ["c"], ["knowledge"])
    record_change(log, ["a"])
    record_change(log, ["a"], ["vectors"])

    assert current_mark(log).seq == 4
    assert changed_since(log, Mark(), "chunks") == ["a", "b"]
    assert changed_since(log, first, "chunks") == ["a"]
    assert changed_since(log, first, "knowledge") == ["a", "c"]
    assert changed_since(log, current_mark(log), "vectors") == []


def test_a_commit_of_another_database_is_not_known(log, tmp_path):
    """The same number with another stamp, or a number that is not there yet."""
    record_change(log, ["a"])
    mine = current_mark(log)
    with closing(Database.open(tmp_path / "other")) as other, other.write() as connection:
        record_change(connection, ["a"])
        theirs = current_mark(connection)

    assert is_known(log, mine)
    assert theirs.seq == mine.seq
    assert not is_known(log, theirs)
    assert not is_known(log, Mark(2, mine.stamp))
